"""The empirical kernel map: its scalar products are the kernel, and nothing in it is by chance."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from kernelwise.kernels import (
    RBF,
    EmpiricalMap,
    FunctionKernel,
    Laplacian,
    Linear,
    Matern32,
    Normalized,
    Polynomial,
    Precomputed,
    Ridge,
    Sigmoid,
)
from tests.loop import loop

KERNELS = [
    RBF(gamma=0.3),
    Laplacian(gamma=0.3),
    Matern32(gamma=0.5),
    Linear(),
    Polynomial(gamma=0.5, degree=2, coef0=1.0),
    2.0 * RBF(gamma=0.1) + Normalized(Linear()),
    FunctionKernel(lambda X, Y: (X @ Y.T + 1) ** 2),
]
X = np.random.default_rng(0).normal(size=(30, 4))
NEW = np.random.default_rng(1).normal(size=(12, 4))


@loop("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
def test_scalar_products_are_the_kernel(kernel):
    columns = EmpiricalMap.of(kernel, X)
    F, K = columns.training, kernel(X)
    largest = columns.eigenvalues[0]
    # What is dropped is at most 1e-10 of the largest eigenvalue each.
    assert_allclose(F @ F.T, K, atol=3e-9 * largest)
    assert_allclose(F.T @ F, np.diag(columns.eigenvalues), atol=1e-13 * largest)
    # Between new rows and training rows: the projection loses what training rows do not span.
    G = columns.apply(NEW)
    assert_allclose(G @ F.T, kernel(NEW, X), atol=1e-4 * largest)


@loop("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
def test_training_rows_are_mapped_as_any_rows(kernel):
    columns = EmpiricalMap.of(kernel, X, tol=1e-6)
    # Rounding of K over the root of the smallest eigenvalue, 1e-3 of the root of the largest.
    atol = 1e-11 * np.sqrt(columns.eigenvalues[0])
    assert_allclose(columns.apply(X), columns.training, atol=atol)


def test_rank_of_the_kernel_is_the_number_of_components():
    assert EmpiricalMap.of(Linear(), X).n_components == 4
    quadratic = Polynomial(degree=2, coef0=1.0)
    assert EmpiricalMap.of(quadratic, X).n_components == 15  # 1 + 4 + 10 monomials
    assert EmpiricalMap.of(RBF(), np.vstack([X, X])).n_components == 30
    assert EmpiricalMap.of(RBF(), X[:1]).training == pytest.approx(1.0)


def test_linear_kernel_gives_the_principal_axes_around_the_origin():
    F = EmpiricalMap.of(Linear(), X).training
    U, s, _ = np.linalg.svd(X, full_matrices=False)
    assert_allclose(np.abs(F), np.abs(U * s), atol=1e-12)


def test_number_of_components():
    everything = EmpiricalMap.of(RBF(gamma=0.1), X)
    for r in (1, 5, 12, 1000):
        some = EmpiricalMap.of(RBF(gamma=0.1), X, n_components=r)
        assert some.n_components == min(r, everything.n_components)
        assert_array_equal(some.training, everything.training[:, :r])
        assert_allclose(some.apply(NEW), everything.apply(NEW)[:, :r], rtol=0, atol=1e-12)


@loop("share", [0.01, 0.5, 0.9, 0.999])
def test_share_of_the_energy(share):
    eigenvalues = EmpiricalMap.of(RBF(gamma=0.1), X).eigenvalues
    kept = EmpiricalMap.of(RBF(gamma=0.1), X, n_components=share).n_components
    assert eigenvalues[:kept].sum() >= share * eigenvalues.sum() > eigenvalues[: kept - 1].sum()


def test_share_of_equal_eigenvalues_is_exact():
    for n in (4, 10, 100):
        kept = EmpiricalMap.of(Precomputed(), 0.1 * np.eye(n), n_components=0.5)
        assert kept.n_components == n // 2


def test_tolerance_drops_small_eigenvalues():
    K = np.diag([1.0, 1e-3, 1e-6, 0.0])
    for tol, rank in [(0.0, 3), (1e-10, 3), (1e-5, 2), (1e-3, 1), (0.5, 1)]:
        assert EmpiricalMap.of(Precomputed(), K, tol=tol).n_components == rank


def test_negative_eigenvalues_are_dropped():
    kernel = Sigmoid(gamma=1.0, coef0=-1.0)
    eigenvalues = np.linalg.eigvalsh(kernel(X))
    assert eigenvalues[0] < -0.1
    columns = EmpiricalMap.of(kernel, X)
    assert columns.n_components == np.sum(eigenvalues > 1e-10 * eigenvalues[-1])


# --- Nothing by chance ---------------------------------------------------------------------------


@loop("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
def test_largest_entry_is_positive_and_the_order_descends(kernel):
    columns = EmpiricalMap.of(kernel, X)
    U = columns.vectors
    assert (U[np.abs(U).argmax(axis=0), np.arange(U.shape[1])] > 0).all()
    assert (np.diff(columns.eigenvalues) < 0).all()


@loop("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
def test_order_of_the_rows_does_not_matter(kernel):
    order = np.random.default_rng(2).permutation(len(X))
    one = EmpiricalMap.of(kernel, X, tol=1e-6)
    other = EmpiricalMap.of(kernel, X[order], tol=1e-6)
    size = np.sqrt(one.eigenvalues[0])
    # Vectors turn by rounding over the gap between eigenvalues, here 1e-9 and more.
    assert_allclose(other.training, one.training[order], atol=1e-6 * size)
    assert_allclose(other.apply(NEW), one.apply(NEW), atol=1e-3 * size)


def with_equal_eigenvalues(n=12, seed=0):
    """Return a kernel matrix with the eigenvalues 3, 2 three times, and 1 twice."""
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(n, n)))[0]
    L = np.array([3, 2, 2, 2, 1, 1] + [0] * (n - 6), dtype=float)
    return (Q * L) @ Q.T


def test_equal_eigenvalues_are_one_with_a_basis_of_its_own():
    K = with_equal_eigenvalues()
    columns = EmpiricalMap.of(Precomputed(), K)
    assert_array_equal(np.diff(columns.eigenvalues) == 0, [False, True, True, False, True])
    assert_allclose(columns.training @ columns.training.T, K, atol=1e-13)
    assert_allclose(columns.vectors.T @ columns.vectors, np.eye(6), atol=1e-13)
    # Rounding that parts the eigenvalues in another way, and turns their vectors at will.
    noise = np.random.default_rng(1).normal(size=K.shape)
    for size in (1e-16, 1e-15):
        other = EmpiricalMap.of(Precomputed(), K + size * (noise + noise.T))
        assert_allclose(other.training, columns.training, atol=1e-12)


def test_equal_eigenvalues_do_not_depend_on_the_order_of_the_rows():
    K = with_equal_eigenvalues()
    order = np.random.default_rng(3).permutation(len(K))
    one = EmpiricalMap.of(Precomputed(), K)
    other = EmpiricalMap.of(Precomputed(), K[np.ix_(order, order)])
    assert_allclose(other.training, one.training[order], atol=1e-12)
    cut = EmpiricalMap.of(Precomputed(), K[np.ix_(order, order)], n_components=3)
    assert_allclose(cut.training, one.training[order, :3], atol=1e-12)


def test_rows_that_are_all_alike_far_apart_are_the_axes_in_their_order():
    columns = EmpiricalMap.of(RBF(), 100.0 * np.arange(6.0)[:, None])  # the kernel is the identity
    assert_allclose(columns.training, np.eye(6), atol=1e-14)


# --- Kinds of rows -------------------------------------------------------------------------------


@loop("kernel", [RBF(gamma=0.3), Linear(), Polynomial(degree=2)], ids=repr)
def test_sparse_rows(kernel):
    rows = np.where(np.abs(X) < 0.8, 0.0, X)
    dense, sparse = EmpiricalMap.of(kernel, rows), EmpiricalMap.of(kernel, sp.csr_array(rows))
    assert_allclose(sparse.eigenvalues, dense.eigenvalues, atol=1e-12)
    F = sparse.training
    assert_allclose(F @ F.T, kernel(rows), atol=1e-7)
    assert sparse.apply(sp.csr_array(NEW)).shape == (12, sparse.n_components)


def test_precomputed_values():
    kernel = RBF(gamma=0.3)
    columns = EmpiricalMap.of(kernel, X)
    values = EmpiricalMap.of(Precomputed(), kernel(X))
    assert values.rows is None
    assert_allclose(values.training, columns.training, atol=1e-9)
    assert_allclose(values.apply(kernel(NEW, X)), columns.apply(NEW), atol=1e-9)


def test_single_precision_rows_are_computed_in_double():
    single = EmpiricalMap.of(RBF(gamma=0.3), X.astype(np.float32))
    double = EmpiricalMap.of(RBF(gamma=0.3), X.astype(np.float32).astype(np.float64))
    assert_array_equal(single.training, double.training)
    assert single.apply(NEW.astype(np.float32)).dtype == np.float64


def test_ridge_counts_on_the_training_rows_only():
    columns = EmpiricalMap.of(RBF(gamma=0.3) + Ridge(0.5), X)
    assert columns.eigenvalues.min() >= 0.5 - 1e-12
    F = columns.training
    assert_allclose(F @ F.T, RBF(gamma=0.3)(X) + 0.5 * np.eye(30), atol=1e-12)
    assert_allclose(columns.apply(NEW) @ F.T, RBF(gamma=0.3)(NEW, X), atol=1e-12)


def test_blocks_of_rows(monkeypatch):
    columns = EmpiricalMap.of(RBF(gamma=0.3), X)
    whole = columns.apply(NEW)
    monkeypatch.setattr("kernelwise.kernels.empirical._BLOCK", 5 * len(X))
    assert_allclose(columns.apply(NEW), whole, rtol=0, atol=1e-9)


def test_it_is_a_frozen_value():
    columns = EmpiricalMap.of(RBF(gamma=0.3), X, n_components=3)
    arrived = pickle.loads(pickle.dumps(columns))
    assert_array_equal(arrived.apply(NEW), columns.apply(NEW))
    assert repr(columns) == "EmpiricalMap(RBF(gamma=0.3), n_components=3)"
    for value in (columns, arrived):
        with pytest.raises(ValueError, match="read-only"):
            value.vectors[0, 0] = 1.0
    with pytest.raises(AttributeError):
        columns.kernel = Linear()


@loop(
    ("kernel", "rows", "settings", "message"),
    [
        *(
            (RBF(), X, {"n_components": value}, "n_components must be a positive integer")
            for value in (0, -1, 0.0, 1.0, 1.5, True, "half", np.nan)
        ),
        *((RBF(), X, {"tol": tol}, "tol must be") for tol in (-1e-3, 1.0, np.nan, None)),
        (Linear(), np.zeros((3, 2)), {}, "no positive eigenvalue"),
        (Precomputed(), X, {}, r"must be square; got shape \(30, 4\)"),
        (Precomputed(), [[1.0, 2.0], [0.0, 1.0]], {}, "must be symmetric"),
        (Precomputed(), [[1.0, np.nan], [np.nan, 1.0]], {}, "not finite"),
    ],
)
def test_bad_input_is_refused_by_name(kernel, rows, settings, message):
    with pytest.raises(ValueError, match=message):
        EmpiricalMap.of(kernel, rows, **settings)


def test_kernel_values_against_other_rows_are_refused():
    columns = EmpiricalMap.of(Precomputed(), np.eye(3))
    with pytest.raises(ValueError, match="kernel values against 3 rows"):
        columns.apply(np.ones((2, 4)))


def test_parts_of_a_map_that_do_not_fit_are_refused():
    made = EmpiricalMap.of(RBF(), np.eye(3))
    with pytest.raises(TypeError, match="kernel must be of type Kernel"):
        EmpiricalMap(None, made.rows, made.vectors, made.eigenvalues)
    with pytest.raises(ValueError, match=r"eigenvalues of shape \(r,\)"):
        EmpiricalMap(made.kernel, made.rows, made.vectors, made.eigenvalues[:2].copy())
    with pytest.raises(ValueError, match="rows must have 3 rows"):
        EmpiricalMap(made.kernel, made.rows[:2], made.vectors, made.eigenvalues)
