"""What every kernel keeps, each law once, over all kernels of the registry."""

import pickle
from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from kernelwise.kernels import (
    RBF,
    Kernel,
    Laplacian,
    Linear,
    Normalized,
    Ridge,
)
from tests.laws.registry import (
    KERNELS,
    WEIGHTS,
    D,
    both_types,
    differentiable,
    every_kernel,
    every_kernel_of_features,
    every_stationary_kernel,
    every_weighted_kernel,
    is_stationary,
    kernels_where,
    parts,
    public_kernels,
    rows_for,
)
from tests.loop import loop
from tests.oracles import naive_kernel


def test_every_public_kernel_is_in_the_registry():
    present = {type(part) for kernel in KERNELS.values() for part in parts(kernel)}
    assert public_kernels() <= present, "add an instance of each to tests/laws/registry.py"


# --- Values -----------------------------------------------------------------------------------


@every_kernel
def test_agrees_with_the_formula(kernel):
    X = rows_for(kernel)
    np.testing.assert_allclose(kernel(X), naive_kernel(kernel, X), rtol=1e-12, atol=1e-12)


@every_kernel_of_features
def test_agrees_with_the_formula_between_two_sets(kernel):
    X, Y = rows_for(kernel, n=7), rows_for(kernel, n=5, seed=1)
    np.testing.assert_allclose(kernel(X, Y), naive_kernel(kernel, X, Y), rtol=1e-12, atol=1e-12)


@every_kernel
def test_agrees_with_the_formula_in_float32(kernel):
    X = rows_for(kernel, dtype=np.float32)
    np.testing.assert_allclose(kernel(X), naive_kernel(kernel, X), rtol=0, atol=1e-5)


@every_kernel
@both_types
def test_type_follows_the_rows(kernel, dtype):
    X = rows_for(kernel, dtype=dtype)
    assert kernel(X).dtype == dtype


@every_kernel_of_features
def test_mixed_types_give_float64(kernel):
    X, Y = rows_for(kernel, dtype=np.float32), rows_for(kernel, seed=1)
    assert kernel(X, Y).dtype == np.float64
    assert kernel(Y, X).dtype == np.float64


@every_kernel
@both_types
def test_symmetric(kernel, dtype):
    K = kernel(rows_for(kernel, n=150, dtype=dtype))  # more than one block of rows
    np.testing.assert_allclose(K, K.T, rtol=0, atol=8 * np.finfo(dtype).eps * np.abs(K).max())


@every_kernel
def test_positive_semi_definite_where_tagged(kernel):
    eigenvalues = np.linalg.eigvalsh(kernel(rows_for(kernel, n=60)))
    if kernel.is_psd:
        assert eigenvalues.min() >= -1e-13 * 60 * eigenvalues.max()
    else:
        assert any(not part.is_psd for part in parts(kernel))


@every_kernel
@both_types
def test_diag_is_the_diagonal(kernel, dtype):
    X = rows_for(kernel, n=150, dtype=dtype)
    tol = 4 * np.finfo(dtype).eps
    np.testing.assert_allclose(kernel.diag(X), np.diagonal(kernel(X)), rtol=tol, atol=tol)


@every_kernel
def test_lists_are_rows_as_well(kernel):
    X = rows_for(kernel, n=5)
    np.testing.assert_array_equal(kernel(X.tolist()), kernel(X))
    np.testing.assert_array_equal(kernel.diag(X.tolist()), kernel.diag(X))


@every_kernel_of_features
@both_types
def test_blocks_are_those_of_the_stacked_rows(kernel, dtype):
    X, Y = rows_for(kernel, n=130, dtype=dtype), rows_for(kernel, n=9, dtype=dtype, seed=1)
    stacked = kernel(np.vstack([X, Y]))
    tol = 1e-13 if dtype == np.float64 else 1e-5
    np.testing.assert_allclose(kernel(X, Y), stacked[:130, 130:], rtol=tol, atol=tol)


@every_kernel_of_features
def test_no_rows_give_an_empty_matrix(kernel):
    nothing, X = np.empty((0, D)), rows_for(kernel, n=3)
    assert kernel(nothing).shape == (0, 0)
    assert kernel(X, nothing).shape == (3, 0)
    assert kernel(nothing, X).shape == (0, 3)
    assert kernel.diag(nothing).shape == (0,)


@every_kernel
def test_rows_are_left_as_they_are(kernel):
    X = rows_for(kernel)
    before = X.copy()
    kernel(X)
    kernel.diag(X)
    kernel.vjp(X, np.eye(len(X)))
    np.testing.assert_array_equal(X, before)


@loop("kernel", kernels_where(lambda kernel: kernel.accepts_sparse))
def test_sparse_rows_give_what_dense_rows_give(kernel):
    X, Y = rows_for(kernel, n=140), rows_for(kernel, n=6, seed=1)
    X[X < 0.3], Y[Y < 0.3] = 0, 0
    for form in (sp.csr_array, sp.csr_matrix, sp.csc_array):
        A, B = form(X), form(Y)
        np.testing.assert_allclose(kernel(A), kernel(X), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(kernel(A, B), kernel(X, Y), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(kernel(A, Y), kernel(X, Y), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(kernel.diag(A), kernel.diag(X), rtol=1e-12, atol=1e-12)


@loop("kernel", kernels_where(lambda kernel: not kernel.accepts_sparse))
def test_sparse_rows_are_refused_by_name(kernel):
    with pytest.raises((TypeError, ValueError), match="sparse"):
        kernel(sp.csr_array(rows_for(kernel)))


# --- Weights ----------------------------------------------------------------------------------


@every_weighted_kernel
def test_weights_are_a_scaling_of_the_columns(kernel):
    X = rows_for(kernel)
    scales = kernel.weights if isinstance(kernel, Laplacian) else np.sqrt(kernel.weights)
    plain = kernel.with_params(weights=None)
    ones = kernel.with_params(weights=np.ones(D))
    np.testing.assert_allclose(ones(X), plain(X), rtol=1e-14, atol=1e-14)
    if kernel.categorical is not None:  # codes have no scale: categories keep their weights
        scales = np.where(kernel.categorical, 1.0, scales)
        plain = kernel.with_params(weights=np.where(kernel.categorical, kernel.weights, 1.0))
    np.testing.assert_allclose(kernel(X), plain(X * scales), rtol=1e-12, atol=1e-12)


@every_weighted_kernel
def test_zero_weights_drop_the_feature(kernel):
    X = rows_for(kernel)
    weights = np.array([0.0, 2.0, 0.0, 1.3])
    kept = weights > 0
    without, small = kernel.with_params(weights=weights), kernel.with_params(weights=weights[kept])
    if kernel.categorical is not None:
        small = small.with_params(categorical=kernel.categorical[kept])
    np.testing.assert_allclose(without(X), small(X[:, kept]), rtol=1e-13, atol=1e-13)
    X[:, 0] = 1e9  # a feature without weight may hold anything finite
    np.testing.assert_allclose(without(X), small(X[:, kept]), rtol=1e-13, atol=1e-13)


@every_weighted_kernel
def test_gamma_multiplies_all_weights(kernel):
    X = rows_for(kernel)
    folded = kernel.with_params(gamma=1.0, weights=kernel.gamma * kernel.weights)
    np.testing.assert_allclose(kernel(X), folded(X), rtol=1e-12, atol=1e-12)


# --- Sums and products ------------------------------------------------------------------------


@every_kernel
def test_sums_products_and_multiples(kernel):
    X, other = rows_for(kernel), RBF(gamma=0.01)
    K, L = kernel(X), other(X)
    np.testing.assert_allclose((kernel + other)(X), K + L, rtol=1e-14)
    np.testing.assert_allclose((kernel * other)(X), K * L, rtol=1e-14)
    np.testing.assert_allclose((other * kernel)(X), K * L, rtol=1e-14)
    np.testing.assert_allclose((3 * kernel)(X), 3 * K, rtol=1e-14)
    np.testing.assert_allclose((kernel * 3)(X), 3 * K, rtol=1e-14)


def test_normalised_has_a_unit_diagonal_and_leaves_zero_rows_zero():
    X = rows_for(Linear())
    X[3] = 0
    K = Normalized(Linear())(X)
    np.testing.assert_allclose(np.delete(np.diagonal(K), 3), 1, rtol=1e-14)
    assert not K[3].any()


def test_ridge_stands_on_the_diagonal_of_the_same_rows_only():
    X = rows_for(Linear())
    np.testing.assert_array_equal(Ridge(2.0)(X), 2 * np.eye(len(X)))
    np.testing.assert_array_equal(Ridge(2.0)(X, X), np.zeros((len(X), len(X))))


# --- Values that do not change ----------------------------------------------------------------


@every_kernel
def test_clone_and_pickle_return_an_equal_kernel(kernel):
    X = rows_for(kernel)
    for copy in (clone(kernel), pickle.loads(pickle.dumps(kernel)), kernel.with_params()):
        assert copy == kernel
        assert hash(copy) == hash(kernel)
        np.testing.assert_array_equal(copy(X), kernel(X))


def test_kernels_with_other_parameters_are_not_equal():
    names = list(KERNELS)
    for i, name in enumerate(names):
        for other in names[:i]:
            assert KERNELS[name] != KERNELS[other], (name, other)


@every_kernel
def test_nothing_can_be_set(kernel):
    for field in fields(kernel):
        with pytest.raises(FrozenInstanceError):
            setattr(kernel, field.name, 1.0)
    with pytest.raises((FrozenInstanceError, AttributeError)):
        kernel.something_new = 1.0


@every_kernel
def test_arrays_are_read_only(kernel):
    for name, value in kernel.get_params().items():
        if isinstance(value, np.ndarray):
            with pytest.raises(ValueError, match="read-only"):
                value[0] = 9.0
            with pytest.raises(ValueError, match="read-only"):
                pickle.loads(pickle.dumps(kernel)).get_params()[name][0] = 9.0


def test_a_kernel_keeps_a_copy_of_the_weights():
    weights = np.ones(3)
    kernel = RBF(weights=weights)
    weights[0] = 5.0
    np.testing.assert_array_equal(kernel.weights, np.ones(3))


@every_kernel
def test_with_params_changes_one_parameter_and_no_other(kernel):
    before = kernel.get_params()
    for name in differentiable(kernel):
        value = before[name]
        new = np.full(D, 0.9) if value is None else 0.9 * np.asarray(value) + 0.1
        changed = kernel.with_params(**{name: new if np.ndim(new) else float(new)}).get_params()
        np.testing.assert_array_equal(changed[name], new)
        for other, old in before.items():
            if not isinstance(old, Kernel) and other != name:
                np.testing.assert_array_equal(changed[other], old)
    for name, value in kernel.get_params().items():
        assert value is before[name]


@every_kernel
def test_parameters_make_the_kernel_again(kernel):
    assert type(kernel)(**kernel.get_params(deep=False)) == kernel


def test_with_params_reaches_several_inner_kernels_at_once():
    kernel = RBF(gamma=1.0) + 2.0 * Linear(gamma=1.0)
    changed = kernel.with_params(left__gamma=3.0, right__scale=4.0, right__kernel__gamma=5.0)
    assert changed == RBF(gamma=3.0) + 4.0 * Linear(gamma=5.0)
    replaced = kernel.with_params(left=Linear(), left__gamma=7.0)
    assert replaced == Linear(gamma=7.0) + 2.0 * Linear(gamma=1.0)


@every_kernel
def test_the_representation_names_the_class(kernel):
    assert repr(kernel).startswith(type(kernel).__name__ + "(")


# --- Accuracy far from the origin -------------------------------------------------------------


@every_stationary_kernel
def test_translation_leaves_a_stationary_kernel_alone(kernel):
    X = rows_for(kernel, n=40)
    far = X + 1e6
    np.testing.assert_allclose(kernel(far), kernel(far - 1e6), rtol=0, atol=1e-6)
    np.testing.assert_allclose(kernel(far), naive_kernel(kernel, far), rtol=0, atol=1e-9)


@loop("kernel", kernels_where(lambda kernel: is_stationary(kernel) and kernel.accepts_sparse))
def test_sparse_rows_far_from_the_origin(kernel):
    X = rows_for(kernel, n=20) + 100.0
    np.testing.assert_allclose(kernel(sp.csr_array(X)), naive_kernel(kernel, X), rtol=0, atol=1e-9)


@every_stationary_kernel
@loop("offset", [1e2, 1e4])
def test_float32_rows_far_from_the_origin(kernel, offset):
    X = (rows_for(kernel, n=20) + offset).astype(np.float32)
    np.testing.assert_allclose(kernel(X), naive_kernel(kernel, X), rtol=0, atol=1e-5)


@every_stationary_kernel
@loop("distance", [1e2, 1e4])
def test_float32_rows_in_two_distant_clusters(kernel, distance):
    X = rows_for(kernel, n=20)
    X[::2] += distance
    X = X.astype(np.float32)
    np.testing.assert_allclose(kernel(X), naive_kernel(kernel, X), rtol=0, atol=1e-5)


@every_stationary_kernel
@loop("distance", [1e5, 1e8])
def test_one_far_row_does_not_hurt_the_others(kernel, distance):
    X = rows_for(kernel, n=20)
    X[7] = distance
    np.testing.assert_allclose(kernel(X), naive_kernel(kernel, X), rtol=0, atol=1e-6)


@every_stationary_kernel
@both_types
def test_equal_rows_have_kernel_one(kernel, dtype):
    X = rows_for(kernel, n=30, dtype=dtype)
    K = kernel(np.vstack([X, X]))
    tol = 1e-12 if dtype == np.float64 else 1e-5
    np.testing.assert_allclose(np.diagonal(K, offset=30), 1, rtol=0, atol=tol)


def test_weights_of_the_registry_fit_its_rows():
    assert len(WEIGHTS) == D
