"""Every refusal names the argument that is wrong."""

import numpy as np
import pytest
import scipy.sparse as sp

from kernelwise.kernels import (
    RBF,
    Cotangent,
    FunctionKernel,
    Laplacian,
    LazyGram,
    Linear,
    Matern32,
    Matern52,
    Normalized,
    Polynomial,
    Precomputed,
    Product,
    Ridge,
    Scaled,
    Sigmoid,
    Sum,
)
from tests.loop import loop

X = np.random.default_rng(0).normal(size=(6, 3))
OF_FEATURES = [
    Linear(),
    Polynomial(),
    Sigmoid(),
    RBF(),
    Laplacian(),
    Matern32(),
    Matern52(),
    Normalized(RBF()),
    2.0 * RBF(),
    RBF() + Linear(),
    RBF() * Linear(),
]
weighted = loop("make", [Linear, Polynomial, Sigmoid, RBF, Laplacian, Matern32, Matern52])
of_features = loop("kernel", OF_FEATURES, ids=repr)


# --- Parameters -------------------------------------------------------------------------------


@weighted
@loop(
    "weights",
    [[-1.0, 1.0, 1.0], [np.nan, 1.0, 1.0], [np.inf, 1.0, 1.0], np.ones((3, 1)), [], 2.0, "abc"],
    ids=str,
)
def test_weights_that_are_no_weights(make, weights):
    with pytest.raises(ValueError, match="weights"):
        make(weights=weights)


@weighted
@loop("n_weights", [1, 2, 4])
def test_weights_of_the_wrong_length(make, n_weights):
    kernel = make(weights=np.ones(n_weights))
    calls = {
        "call": lambda: kernel(X),
        "call on two sets": lambda: kernel(X, X),
        "vjp": lambda: kernel.vjp(X, np.eye(6)),
        "reader": lambda: LazyGram(kernel, X).open(np.float32),
    }
    for name, call in calls.items():
        with pytest.raises(ValueError, match=f"weights has {n_weights} entries.*3 features"):
            pytest.fail(f"{name} returned {call()!r}")


@weighted
@loop("gamma", [-0.1, np.nan, np.inf, None, "scale", [1.0, 2.0], [1.0]], ids=str)
def test_gamma_that_is_no_width(make, gamma):
    with pytest.raises((ValueError, TypeError), match="gamma"):
        make(gamma=gamma)


@loop("degree", [2.5, -1, np.nan, "three", None, 2.0])
def test_degree_that_is_no_whole_number(degree):
    with pytest.raises((ValueError, TypeError), match="degree"):
        Polynomial(degree=degree)


def test_degree_may_be_a_numpy_integer():
    assert Polynomial(degree=np.int64(2))([[3.0]])[0, 0] == 81.0


@loop("make", [Polynomial, Sigmoid])
@loop("coef0", [np.nan, np.inf, "one", None])
def test_coef0_that_is_no_number(make, coef0):
    with pytest.raises((ValueError, TypeError), match="coef0"):
        make(coef0=coef0)


@loop("scale", [-1.0, np.nan, np.inf])
def test_scale_that_is_no_factor(scale):
    with pytest.raises(ValueError, match="scale"):
        Scaled(RBF(), scale)
    with pytest.raises(ValueError, match="scale"):
        scale * RBF()


@loop("value", [-1.0, np.nan, np.inf, "one", None])
def test_ridge_that_is_no_ridge(value):
    with pytest.raises((ValueError, TypeError), match="value"):
        Ridge(value)


@loop("value", [[-1.0, 1.0], [np.nan, 1.0], [[1.0, 1.0]], [1.0, 2.0, 3.0]])
def test_ridge_of_a_vector_names_the_vector(value):
    with pytest.raises(ValueError, match="value"):
        Ridge(value, weights=[1.0, 1.0])


def test_ridge_of_a_vector_needs_weights():
    with pytest.raises(ValueError, match="weights"):
        Ridge([1.0, 2.0])
    with pytest.raises(ValueError, match="weights"):
        Ridge(1.0, weights=[-1.0])


@loop(
    ("make", "name"),
    [
        (lambda: Sum(RBF(), 3.0), "right"),
        (lambda: Product("rbf", RBF()), "left"),
        (lambda: Scaled(None, 2.0), "kernel"),
        (lambda: Normalized(np.eye(2)), "kernel"),
        (lambda: FunctionKernel("rbf"), "function"),
    ],
)
def test_parts_of_the_wrong_type(make, name):
    with pytest.raises(TypeError, match=name):
        make()


def test_sums_with_what_is_no_kernel():
    with pytest.raises(TypeError):
        RBF() + 1.0


@loop(
    ("kernel", "params", "name"),
    [
        (RBF(), {"sigma": 1.0}, "sigma"),
        (RBF() + Linear(), {"gamma": 1.0}, "gamma"),
        (RBF() + Linear(), {"left__sigma": 1.0}, "sigma"),
        (RBF() + Linear(), {"middle__gamma": 1.0}, "middle"),
        (RBF(), {"gamma__inner": 1.0}, "gamma"),
        (RBF(), {"gamma": -1.0}, "gamma"),
        (2.0 * RBF(), {"kernel__weights": [-1.0]}, "weights"),
    ],
)
def test_with_params_names_what_it_does_not_know(kernel, params, name):
    with pytest.raises(ValueError, match=name):
        kernel.with_params(**params)


# --- Rows -------------------------------------------------------------------------------------


@of_features
@loop("rows", [np.ones(3), np.ones((2, 3, 1)), 5.0], ids=["1-D", "3-D", "0-D"])
def test_rows_that_are_no_rows(kernel, rows):
    for call in (kernel, kernel.diag, lambda Z: kernel.vjp(Z, np.eye(3))):
        with pytest.raises(ValueError, match="X must be"):
            call(rows)
    with pytest.raises(ValueError, match="Y must be"):
        kernel(X, rows)


@of_features
def test_rows_with_other_columns(kernel):
    with pytest.raises(ValueError, match="X has 3 features, but Y has 2"):
        kernel(X, X[:, :2])


@of_features
@loop("bad", [np.nan, np.inf])
@loop("at", [0, 5])
def test_rows_that_are_not_finite(kernel, bad, at):
    rows = X.copy()
    rows[at, 1] = bad
    with pytest.raises(ValueError, match="X"):
        kernel(rows)
    with pytest.raises(ValueError, match="X"):
        kernel(rows, X)
    with pytest.raises(ValueError, match=r"[XY]"):
        kernel(X, rows)


OVERFLOWING = [Linear(), Polynomial(), Sigmoid(), RBF(), Matern32(), Matern52()]


@loop("kernel", OVERFLOWING, ids=repr)
@loop("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@loop("size", [1e200, 1e308])
def test_huge_values_are_an_error_that_says_what_to_do(kernel, form, size):
    rows = X.copy()
    rows[2] = size
    rows = form(rows)
    for call in (
        lambda: kernel(rows),
        lambda: kernel(rows, X),
        lambda: kernel.vjp(rows, np.eye(6)),
    ):
        with pytest.raises(ValueError, match=r"X.*scale"):
            call()


@loop("kernel", [Linear(), Polynomial(degree=2)], ids=repr)
def test_the_diagonal_does_not_overflow_silently(kernel):
    with pytest.raises(ValueError, match=r"X.*scale"):
        kernel.diag(np.full((2, 2), 1e200))


def test_a_power_that_overflows():
    with pytest.raises(ValueError, match=r"X.*scale"):
        Polynomial(degree=3)(np.full((2, 2), 1e120))


@loop("kernel", [Linear(), Polynomial(), Sigmoid()], ids=repr)
def test_products_that_overflow_float32_only(kernel):
    rows = np.full((2, 2), 1e30, dtype=np.float32)
    with pytest.raises(ValueError, match=r"X.*scale"):
        kernel(rows)


def test_a_distance_of_1e200_is_a_number_for_the_laplacian():
    rows = X.copy()
    rows[2] = 1e200
    K = Laplacian()(rows)
    assert np.delete(K[2], 2).max() < 1e-250  # values end at exp(-600)
    np.testing.assert_allclose(K[3:, 3:], Laplacian()(X[3:]), rtol=0, atol=1e-6)


def test_distances_beyond_all_numbers_in_the_laplacian():
    with pytest.raises(ValueError, match=r"X.*scale"):
        Laplacian()(np.array([[1e308, 1e308], [-1e308, -1e308], [0.0, 0.0]]))


# --- What the user gives ----------------------------------------------------------------------


def shape_of_rows_only(X, Y):
    return np.ones(len(X))


def too_few_columns(X, Y):
    return np.ones((len(X), len(Y) - 1))


def not_a_number(X, Y):
    return np.full((len(X), len(Y)), np.nan)


def infinite(X, Y):
    return np.full((len(X), len(Y)), np.inf)


@loop(
    ("function", "says"),
    [
        (shape_of_rows_only, r"kernel function returned shape \(6,\).*\(6, 6\)"),
        (too_few_columns, r"kernel function returned shape \(6, 5\).*\(6, 6\)"),
        (not_a_number, "kernel function returned NaN"),
        (infinite, "kernel function returned NaN or infinite"),
    ],
)
def test_functions_that_return_something_else(function, says):
    kernel = FunctionKernel(function)
    with pytest.raises(ValueError, match=says):
        kernel(X)
    with pytest.raises(ValueError, match="kernel function returned"):
        kernel.diag(X)


def test_what_a_function_returns_is_not_written_to():
    kept = np.full((6, 6), 2.0)
    kernel = FunctionKernel(lambda X, Y: kept) * Ridge(3.0)
    kernel(X)
    Normalized(FunctionKernel(lambda X, Y: kept))(X)
    np.testing.assert_array_equal(kept, np.full((6, 6), 2.0))


def test_precomputed_needs_a_square_matrix_for_its_diagonal():
    with pytest.raises(ValueError, match=r"X must be a square kernel matrix; got shape \(2, 3\)"):
        Precomputed().diag(np.ones((2, 3)))


def test_normalised_needs_a_diagonal_that_is_not_negative():
    with pytest.raises(ValueError, match="diagonal"):
        Normalized(Sigmoid(coef0=-5.0))(X)


# --- Cotangents -------------------------------------------------------------------------------


@of_features
@loop(
    "dK",
    [
        np.eye(5),
        np.ones((6, 5)),
        np.ones(6),
        Cotangent(np.ones((5, 1))),
        Cotangent(np.ones((6, 1)), rows=np.array([0, 1])),
    ],
    ids=["small", "not square", "vector", "few factors", "few rows"],
)
def test_cotangents_of_the_wrong_shape(kernel, dK):
    with pytest.raises(ValueError, match="dK"):
        kernel.vjp(X, dK)


@loop(
    ("parts", "name"),
    [
        ({"factors": np.ones(6)}, "factors"),
        ({"factors": np.ones((6, 2)), "scale": np.ones(3)}, "scale"),
        ({"factors": np.ones((6, 1)), "diagonal": np.ones(5)}, "diagonal"),
        ({"factors": np.ones((6, 1)), "dense": np.ones((6, 5))}, "dense"),
    ],
)
def test_parts_of_a_cotangent_that_do_not_fit(parts, name):
    with pytest.raises(ValueError, match=name):
        RBF().vjp(X, Cotangent(**parts))


@loop("make", [np.asarray, sp.csr_matrix])
@loop("kernel", [Linear(), RBF()])
def test_complex_rows_are_refused(kernel, make):
    with pytest.raises(ValueError, match="X must be real, but it is complex"):
        kernel(make(np.eye(3) * 1j))
