"""The L1 kernel and its gradient against plain loops, at sizes that fill no tile."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelwise.kernels import Cotangent, Laplacian, LazyGram
from kernelwise.kernels.family import KernelFamily
from tests.loop import loop

TYPES = [np.float32, np.float64]
# One row, one column, fewer than a vector, one more than a vector or a block, and wide rows.
SIZES = [(1, 1), (1, 7), (2, 1), (3, 5), (8, 4), (17, 3), (33, 9), (129, 6), (261, 13), (9, 300)]
sizes = loop(("n", "d"), SIZES)
both_types = loop("dtype", TYPES, ids=lambda dtype: dtype.__name__)


def problem(n, d, seed=0):
    """Return rows, and a kernel some of whose weights are zero."""
    rng = np.random.default_rng(seed)
    weights = rng.uniform(0.2, 2, d)
    weights[::3] = 0 if d > 1 else 1
    return rng.normal(3.0, 1.0, size=(n, d)), Laplacian(gamma=0.5 / d, weights=weights)


def naive(kernel, X, Y):
    """Return the kernel by a loop over the features."""
    t = np.zeros((len(X), len(Y)))
    for k, weight in enumerate(kernel.weights):
        t += kernel.gamma * weight * np.abs(X[:, k, None] - Y[None, :, k])
    return np.exp(-t)


def naive_gradient(kernel, X, dK):
    """Return the derivative by each weight, a feature at a time."""
    S = -naive(kernel, X, X) * dK
    return kernel.gamma * np.array([(S * np.abs(x[:, None] - x)).sum() for x in X.T])


def close(found, expected, dtype):
    # A float32 sum of numbers up to t, itself no more than some units, and the exponential's 2e-7.
    tol = 4e-6 if dtype == np.float32 else 1e-13
    assert_allclose(found, expected, rtol=0, atol=tol * max(1.0, np.abs(expected).max()))


@sizes
@both_types
def test_values(n, d, dtype):
    X, kernel = problem(n, d)
    X = X.astype(dtype)
    expected = naive(kernel, *(2 * [X.astype(np.float64)]))
    close(kernel(X), expected, dtype)
    close(LazyGram(kernel, X).dense(dtype), expected, dtype)
    close(KernelFamily(kernel, X, dtype).gram(kernel, dtype), expected, dtype)
    assert_array_equal(kernel(X), kernel(X).T)


@sizes
@both_types
@loop("m", [1, 15, 18, 131])
def test_values_between_two_sets(n, d, m, dtype):
    X, kernel = problem(n, d)
    Y = problem(m, d, seed=1)[0]
    X, Y = X.astype(dtype), Y.astype(dtype)
    close(kernel(X, Y), naive(kernel, X.astype(np.float64), Y.astype(np.float64)), dtype)


def cotangents(n):
    """Return cotangents of each form, and what they are as arrays."""
    rng = np.random.default_rng(2)
    U, diagonal, dense = rng.normal(size=(n, 3)), rng.normal(size=n), rng.normal(size=(n, n))
    dense = dense + dense.T
    scale = np.array([-1.0, 2.0, 0.5])
    return {
        "one factor": (Cotangent(U[:, :1]), U[:, :1] @ U[:, :1].T),
        "factors": (Cotangent(U, scale, diagonal), (U * scale) @ U.T + np.diag(diagonal)),
        "dense": (Cotangent(U, scale, dense=dense), (U * scale) @ U.T + dense),
        "diagonal": (Cotangent(U[:, :0], diagonal=diagonal), np.diag(diagonal)),
        "array": (dense, dense),
    }


@sizes
@both_types
@loop("form", list(cotangents(1)))
def test_gradients(n, d, form, dtype):
    X, kernel = problem(n, d)
    cotangent, dK = cotangents(n)[form]
    gradient = kernel.vjp(X, cotangent, dtype=dtype)
    expected = naive_gradient(kernel, X, dK)
    # Rounding is relative to the sum of the sizes, not to the sum.
    size = np.abs(naive_gradient(kernel, X, np.abs(dK))).max(initial=0.0)
    tol = 1e-6 if dtype == np.float32 else 1e-14
    assert_allclose(gradient["weights"], expected, rtol=0, atol=tol * size)
    by_gamma = kernel.weights @ expected / kernel.gamma
    assert_allclose(gradient["gamma"], by_gamma, rtol=0, atol=10 * tol * d * size / kernel.gamma)


def test_gradients_on_some_rows():
    X, kernel = problem(60, 5)
    rows, beta = np.array([3, 50, 7, 20]), np.array([[1.0], [-2.0], [0.5], [1.0]])
    found = kernel.vjp(X, Cotangent(beta, rows=rows))["weights"]
    assert_allclose(found, naive_gradient(kernel, X[rows], beta @ beta.T), rtol=1e-12)


@both_types
def test_equal_rows_are_as_near_as_rounding_tells(dtype):
    X = np.repeat(np.random.default_rng(0).normal(size=(20, 40)), 2, axis=0).astype(dtype)
    K = Laplacian(gamma=0.2)(X)
    assert_allclose(K[::2, 1::2].diagonal(), 1, rtol=0, atol=16 * np.finfo(dtype).eps)
    assert K.max() <= 1


@loop("offset", [0.0, 1e3, 1e6])
def test_float32_gradients_do_not_see_where_the_rows_lie(offset):
    X, kernel = problem(150, 8)
    beta = np.random.default_rng(3).normal(size=(150, 2))
    exact = kernel.vjp(X, Cotangent(beta))["weights"]
    single = kernel.vjp(X + offset, Cotangent(beta), dtype=np.float32)["weights"]
    assert_allclose(single, exact, rtol=0, atol=1e-5 * np.abs(exact).max())


def test_rows_too_large_for_float32_in_a_feature_without_weight():
    X, _ = problem(20, 3)
    X[:, 0] *= 1e40
    kernel, beta = Laplacian(weights=[0.0, 1.0, 1.0]), np.ones((20, 1))
    exact, single = (kernel.vjp(X, Cotangent(beta), dtype=dtype)["weights"] for dtype in TYPES)
    assert np.isfinite(single).all()
    assert_allclose(single, exact, rtol=1e-12)


@loop("bad", [np.nan, np.inf])
def test_a_feature_without_weight_must_be_finite_too(bad):
    X, _ = problem(20, 3)
    X[4, 0] = bad
    kernel = Laplacian(weights=[0.0, 1.0, 1.0])
    for call in (kernel, lambda X: kernel.vjp(X, np.eye(20)), lambda X: kernel(X[:3], X)):
        with pytest.raises(ValueError, match="X holds NaN"):
            call(X)


@both_types
def test_no_weight_at_all(dtype):
    X = problem(19, 3)[0].astype(dtype)
    for kernel in (Laplacian(gamma=0.0), Laplacian(weights=np.zeros(3))):
        assert_array_equal(kernel(X), np.ones((19, 19)))
    exact = naive_gradient(kernel, X.astype(np.float64), np.ones((19, 19)))
    assert_allclose(kernel.vjp(X, np.ones((19, 19)))["weights"], exact, rtol=1e-12)


def test_rows_in_any_order_of_memory_are_left_as_they_are():
    X, kernel = problem(20, 5)
    for rows in (np.asfortranarray(X), X[::-1], np.repeat(X, 2, axis=1)[:, ::2]):
        before = rows.copy()
        close(kernel(rows), naive(kernel, before, before), np.float64)
        expected = naive_gradient(kernel, before, np.ones((20, 20)))
        assert_allclose(kernel.vjp(rows, np.ones((20, 20)))["weights"], expected, rtol=1e-12)
        assert_array_equal(rows, before)


# --- Categories -------------------------------------------------------------------------------


def mixed_problem(n, d, n_levels=40, seed=0):
    """Return rows whose every other column is a category, and their kernel."""
    X, kernel = problem(n, d, seed)
    categorical = np.arange(d) % 2 == 1 if d > 1 else np.ones(1, dtype=bool)
    codes = np.random.default_rng(seed + 1).integers(0, n_levels, (n, d))
    X[:, categorical] = codes[:, categorical]
    return X, kernel.with_params(categorical=categorical)


def mixed_terms(kernel, X, Y):
    """Return the term of each feature, one (n, m) matrix after the other."""
    gaps = np.abs(X.T[:, :, None] - Y.T[:, None, :])
    return np.where(kernel.categorical[:, None, None], gaps > 0, gaps)


def mixed_naive(kernel, X, Y):
    terms = mixed_terms(kernel, X, Y)
    return np.exp(-np.tensordot(kernel.gamma * kernel.weights, terms, axes=1))


@sizes
@both_types
def test_values_of_categories(n, d, dtype):
    X, kernel = mixed_problem(n, d)
    X = X.astype(dtype)
    expected = mixed_naive(kernel, *(2 * [X.astype(np.float64)]))
    close(kernel(X), expected, dtype)
    close(LazyGram(kernel, X).dense(dtype), expected, dtype)
    close(KernelFamily(kernel, X, dtype).gram(kernel, dtype), expected, dtype)
    for m in (1, 18, 131):
        Y = mixed_problem(m, d, seed=5)[0].astype(dtype)
        close(kernel(X, Y), mixed_naive(kernel, X.astype(float), Y.astype(float)), dtype)


@sizes
@both_types
@loop("form", list(cotangents(1)))
def test_gradients_of_categories(n, d, form, dtype):
    X, kernel = mixed_problem(n, d)
    cotangent, dK = cotangents(n)[form]
    S = -mixed_naive(kernel, X, X) * dK
    terms = mixed_terms(kernel, X, X)
    expected = kernel.gamma * np.array([(S * term).sum() for term in terms])
    size = kernel.gamma * max((np.abs(S) * term).sum() for term in terms)
    tol = 1e-6 if dtype == np.float32 else 1e-14
    gradient = kernel.vjp(X, cotangent, dtype=dtype)
    assert_allclose(gradient["weights"], expected, rtol=0, atol=tol * max(size, 1e-300))


@both_types
def test_codes_up_to_2_to_the_24_are_told_apart(dtype):
    X = (2.0**24 - np.arange(1, 41))[:, None].astype(dtype)
    kernel = Laplacian(gamma=2.0, categorical=[True])
    assert_allclose(kernel(X), np.where(np.eye(40), 1, np.exp(-2.0)), rtol=1e-6)
    gradient = kernel.vjp(X, np.ones((40, 40)), dtype=np.float32)
    assert gradient["weights"] == pytest.approx(-2 * np.exp(-2.0) * 40 * 39, rel=1e-6)


def test_a_category_of_two_levels_is_a_number():
    X, kernel = problem(60, 4)
    X[:, 1] = X[:, 1] > 3
    categorical = kernel.with_params(categorical=[False, True, False, False])
    assert_allclose(categorical(X), kernel(X), rtol=1e-13)
    beta = Cotangent(np.ones((60, 1)))
    assert_allclose(categorical.vjp(X, beta)["weights"], kernel.vjp(X, beta)["weights"], rtol=1e-11)


def test_families_of_numbers_and_of_categories_differ():
    X, kernel = mixed_problem(9, 4)
    with pytest.raises(ValueError, match="does not belong"):
        KernelFamily(kernel, X).gram(kernel.with_params(categorical=None))


@loop("bad", [[0, 1], "yes", [[True]], []])
def test_categorical_is_a_vector_of_booleans(bad):
    with pytest.raises(ValueError, match="categorical must be a vector of booleans"):
        Laplacian(categorical=bad)


def test_categorical_has_one_entry_per_feature():
    with pytest.raises(ValueError, match="categorical has 2 entries, but X has 3"):
        Laplacian(categorical=[True, False])(np.zeros((2, 3)))


@loop("weight", [0.0, 1.0])
def test_a_missing_code_is_refused(weight):
    X = np.array([[0.0, 1.0], [1.0, np.nan]])
    with pytest.raises(ValueError, match="X holds NaN"):
        Laplacian(weights=[1.0, weight], categorical=[False, True])(X)
