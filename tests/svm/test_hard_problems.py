"""Degenerate tables and problems on which solvers stall end in a usable model, in bounded time."""

import re
import time
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning

from kernelwise import SVC

X = np.random.default_rng(0).normal(size=(20, 3))
Y = np.arange(20) % 2
KERNELS = ["linear", "poly", "rbf", "sigmoid", "laplacian", "matern32", "matern52"]

# --- Small and degenerate tables -----------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_one_sample_a_class(kernel, n_classes):
    rows = 3 * np.eye(n_classes) + 1.0
    model = SVC(kernel=kernel, C=10.0).fit(rows, np.arange(n_classes))
    assert_array_equal(model.predict(rows), np.arange(n_classes))


@pytest.mark.parametrize("kernel", KERNELS)
def test_fewer_rows_than_columns(kernel):
    rows = np.random.default_rng(0).normal(size=(8, 60))
    y = np.arange(8) % 2
    model = SVC(kernel=kernel, C=100.0).fit(rows, y)
    assert_array_equal(model.predict(rows), y)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("value", [0.0, 1.0, -1e3])
def test_all_rows_equal_with_conflicting_labels(kernel, value):
    y = np.array([0, 1, 1] * 5)
    model = SVC(kernel=kernel, gamma=0.1).fit(np.full((15, 2), value), y)
    assert_array_equal(model.predict(np.full((2, 2), value)), [1, 1])
    assert model.fit_status_ == 0


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "matern32", "matern52"])
def test_a_constant_column_does_not_change_a_kernel_of_distances(kernel):
    plain = SVC(kernel=kernel, gamma=0.5).fit(X, Y)
    more = np.c_[X, np.full(20, 7.0)]
    wider = SVC(kernel=kernel, gamma=0.5).fit(more, Y)
    assert_allclose(wider.decision_function(more), plain.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_table_of_constant_columns(kernel):
    model = SVC(kernel=kernel).fit(np.ones((20, 3)), Y)
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("kernel", [k for k in KERNELS if k != "sigmoid"])
def test_duplicate_rows_are_rows_of_double_weight(kernel):
    params = {"kernel": kernel, "gamma": 0.5, "tol": 1e-8}
    doubled = SVC(**params).fit(np.r_[X, X], np.r_[Y, Y])
    heavy = SVC(**params).fit(X, Y, sample_weight=np.full(20, 2.0))
    assert_allclose(doubled.decision_function(X), heavy.decision_function(X), rtol=1e-6, atol=1e-6)


# --- Problems on which solvers stall -------------------------------------------------------------

SECONDS = 30.0  # on a slow machine; what it takes is printed, see pytest -s


def conflicting_duplicates():
    """Return a table of which a tenth comes twice, with both labels."""
    rows, y = make_classification(200, 6, n_informative=4, flip_y=0.02, random_state=0)
    return np.r_[rows, rows[:20]], np.r_[y, 1 - y[:20]]


def raw_columns(sizes):
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(150, len(sizes)))
    return rows * sizes, (rows[:, 0] + 0.5 * rng.normal(size=150) > 0).astype(int)


def income_and_age():
    """Return raw columns as people have them: all positive, of very different size."""
    rng = np.random.default_rng(2)
    income, age = rng.lognormal(13, 1, 150), rng.uniform(18, 90, 150)
    noise = rng.normal(0, 0.3, 150)
    return np.c_[income, age], (np.log(income) - 13 + (age - 54) / 40 + noise > 0).astype(int)


HARD = {
    "conflicting duplicates": ({"C": 1e6}, conflicting_duplicates()),
    "all rows conflict": ({"C": 1e6}, (np.repeat(X, 2, axis=0), np.tile([0, 1], 20))),
    "raw columns": ({}, raw_columns([1e6] * 5)),
    "one raw column": ({}, raw_columns([1e6, 1.0, 1.0])),
    "raw columns and C": ({"C": 1e6}, raw_columns([1e6] * 3)),
    "income and age": ({}, income_and_age()),
}


def fit_in_time(model, rows, y):
    """Fit, and return the warnings; none but a ConvergenceWarning that says by how much."""
    started = time.process_time()  # of the processor: other work on the machine does not count
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(rows, y)
    taken = time.process_time() - started
    print(f"{taken:.1f} s, {model.n_iter_.sum()} steps, violation {model.certificate_.violation}")
    assert taken < SECONDS
    for warning in caught:
        assert warning.category is ConvergenceWarning
        said = re.search(r"violation is (\S+) \(the tolerance is tol=0.001", str(warning.message))
        assert float(said[1]) == pytest.approx(model.certificate_.violation.max(), rel=0.01)
    return caught


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
@pytest.mark.parametrize("case", HARD)
def test_hard_problems_end_in_a_usable_model(case, kernel):
    params, (rows, y) = HARD[case]
    model = SVC(kernel=kernel, **params)
    caught = fit_in_time(model, rows, y)
    assert len(caught) == model.fit_status_
    assert np.isfinite(model.decision_function(rows)).all()
    assert np.isfinite(model.dual_coef_).all()
    assert model.score(rows, y) >= (0.5 if case == "all rows conflict" else 0.6)


@pytest.mark.parametrize("seed", range(3))
def test_a_usable_model_does_not_depend_on_the_order_of_rows(seed):
    """Coefficients of the optimum are so large that float64 holds no margin made of them."""
    rows, y = raw_columns([1e6] * 3)
    order = np.random.default_rng(seed).permutation(len(y))
    model = SVC(kernel="linear", C=1e6)
    assert fit_in_time(model, rows[order], y[order])
    scaled = SVC(kernel="linear", C=10.0).fit(rows / 1e6, y)
    assert model.score(rows, y) >= scaled.score(rows / 1e6, y) - 0.02


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "matern32"])
def test_distances_do_not_suffer_from_a_far_origin(kernel):
    rows, y = make_classification(200, 6, random_state=0)
    near = SVC(kernel=kernel, gamma=0.2).fit(rows, y)
    far = SVC(kernel=kernel, gamma=0.2).fit(rows + 1e6, y)
    assert_allclose(far.decision_function(rows + 1e6), near.decision_function(rows), atol=1e-4)


# --- Solutions that rounding could spoil ---------------------------------------------------------


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("kernel", ["linear", "poly"])
def test_coefficients_balance_where_the_kernel_is_of_low_rank(kernel, seed):
    """With more free rows than the kernel has rank, what is free is not unique; the sum is."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(50, 3))
    y = (rows[:, 0] + 0.5 * rng.normal(size=50) > 0).astype(int)
    model = SVC(kernel=kernel, degree=2).fit(rows, y)
    assert abs(model.dual_coef_.sum()) <= 1e-10 * np.abs(model.dual_coef_).sum()
    assert model.certificate_.violation[0] <= 1e-3


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_intercept_does_not_hang_on_one_rounding(n_classes):
    """Balanced weights put every row at its bound, on some paths short of it by a rounding.

    The intercept is then any of an interval, and must not depend on the path.
    """
    params = {"gamma": 1.0, "class_weight": "balanced"}
    for seed in range(30):
        rng = np.random.default_rng(seed)
        rows, y = rng.normal(size=(30, 2)), rng.integers(0, n_classes, 30)
        order = rng.permutation(30)
        cold = SVC(C=0.05, **params).fit(rows, y)
        shuffled = SVC(C=0.05, **params).fit(rows[order], y[order])
        warm = SVC(C=0.1, warm_start=True, **params).fit(rows, y).set_params(C=0.05).fit(rows, y)
        for model in (shuffled, warm):
            assert_allclose(model.intercept_, cold.intercept_, atol=1e-6, err_msg=f"seed {seed}")
