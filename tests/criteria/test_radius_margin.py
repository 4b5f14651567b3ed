"""Radius and margin: by hand, against a cone solver, and along the width of a kernel."""

import numpy as np
import pytest

from kernelwise.criteria import RadiusMargin, margin, radius
from kernelwise.kernels import RBF, LazyGram, Linear, Polynomial
from kernelwise.qp import SMO, hard_margin
from tests.criteria.cone import squared_radius
from tests.loop import loop

TIGHT = SMO(tol=1e-10)


def some_rows(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def repeated(n, d):
    X = some_rows(n, d)
    return np.vstack([X, X, X[:3]])


BALLS = {
    "rbf": RBF(gamma=0.2)(some_rows(40, 3)),
    "rbf-narrow": RBF(gamma=20.0)(some_rows(40, 3)),
    "rbf-wide": RBF(gamma=1e-3)(some_rows(40, 3)),
    "polynomial": Polynomial(gamma=0.3, degree=3, coef0=1.0)(some_rows(40, 3)),
    "linear": Linear()(some_rows(60, 2)),
    "linear-more-features-than-rows": Linear()(some_rows(15, 40)),
    "duplicates": RBF(gamma=0.2)(repeated(20, 3)),
    "duplicates-linear": Linear()(repeated(20, 3)),
    "large": Linear()(1e3 * some_rows(40, 3)),
    "small": Linear()(1e-3 * some_rows(40, 3)),
    "far-from-the-origin": Linear()(some_rows(40, 3) + 30.0),
    "many-rows": RBF(gamma=0.1)(some_rows(500, 4)),
}
every_ball = loop("K", BALLS.values(), ids=BALLS.keys())


@every_ball
def test_radius_is_that_of_a_cone_solver(K):
    assert radius(K) ** 2 == pytest.approx(squared_radius(K), rel=1e-6)


@every_ball
def test_radius_of_a_float32_matrix(K):
    single = K.astype(np.float32)
    exact = squared_radius(single.astype(np.float64))
    assert radius(single) ** 2 == pytest.approx(exact, rel=1e-6)


def test_radius_of_a_lazy_matrix():
    X = some_rows(40, 3)
    assert radius(LazyGram(RBF(gamma=0.2), X)) == pytest.approx(radius(RBF(gamma=0.2)(X)), rel=1e-9)


def test_radius_does_not_depend_on_the_origin():
    X = some_rows(40, 3)
    near, far = (radius(Linear()(X + shift)) for shift in (0.0, 1e3))
    assert far == pytest.approx(near, rel=1e-6)


def test_radius_grows_with_the_scale():
    X = some_rows(40, 3)
    for scale in (1e-6, 1e6):
        assert radius(Linear()(scale * X)) == pytest.approx(scale * radius(Linear()(X)), rel=1e-6)


@loop(
    ("X", "expected"),
    [
        ([[-3.0], [0.0], [1.0]], 2.0),
        ([[0.0, 0.0], [3.0, 4.0]], 2.5),
        ([[1.0, 2.0], [1.0, -2.0], [-1.0, 2.0], [-1.0, -2.0], [0.5, 0.5]], np.sqrt(5)),
        (np.sqrt(2) * np.eye(3), np.sqrt(4 / 3)),  # a triangle of side 2
    ],
)
def test_radius_by_hand(X, expected):
    X = np.asarray(X)
    assert radius(X @ X.T) == pytest.approx(expected, rel=1e-9)


def test_radius_of_rows_that_share_nothing():
    # A simplex of n rows at distance sqrt(2) from each other.
    for n in (2, 5, 50):
        assert radius(np.eye(n)) == pytest.approx(np.sqrt(1 - 1 / n), rel=1e-9)


@loop("K", [np.ones((1, 1)), np.full((1, 1), 1e6), np.ones((7, 7)), np.zeros((4, 4)), np.eye(1)])
def test_radius_around_one_place_is_zero(K):
    assert radius(K) == pytest.approx(0, abs=1e-7 * np.sqrt(K.max()))


def test_radius_around_rows_that_are_equal_but_for_rounding():
    X = np.full((6, 3), 0.1) * 7
    assert radius(Linear()(X)) == pytest.approx(0, abs=1e-7)
    assert radius(RBF()(X)) == pytest.approx(0, abs=1e-7)


# --- The margin -------------------------------------------------------------------------------


def test_margin_by_hand():
    X = np.array([[-2.0], [2.0]])
    assert margin(X @ X.T, [-0.125, 0.125]) == pytest.approx(2.0, rel=1e-12)
    assert margin(np.eye(3), [3.0, 0.0, 4.0]) == pytest.approx(0.2, rel=1e-12)
    assert margin(np.eye(3, dtype=np.float32), [3.0, 0.0, 4.0]) == pytest.approx(0.2, rel=1e-6)


def test_margin_without_support_vectors_is_infinite():
    assert margin(np.eye(3), np.zeros(3)) == np.inf
    assert margin(np.ones((2, 2)), [1.0, -1.0]) == np.inf


def test_margin_is_the_distance_of_the_nearest_rows():
    X = np.array([[0.0, 0.0], [0.0, 1.0], [3.0, 4.0], [5.0, 5.0]])
    y = np.array([-1.0, -1.0, 1.0, 1.0])
    solution = TIGHT.solve(hard_margin(X @ X.T, y))
    w = X.T @ solution.beta
    distances = y * (X @ w + solution.nu[0]) / np.linalg.norm(w)
    assert margin(X @ X.T, solution.beta) == pytest.approx(distances.min(), rel=1e-9)
    assert margin(X @ X.T, solution.beta) == pytest.approx(np.sqrt(18) / 2, rel=1e-9)
    lazy = LazyGram(Linear(), X)
    assert margin(lazy, solution.beta) == pytest.approx(distances.min(), rel=1e-9)


# --- The bound --------------------------------------------------------------------------------


@loop(
    ("X", "y", "square", "distance"),
    [
        ([[-1.0], [1.0]], [-1, 1], 1.0, 1.0),
        ([[-1.0], [1.0], [3.0]], [-1, 1, 1], 4.0, 1.0),
        ([[1.0, 2.0], [1.0, -2.0], [-1.0, 2.0], [-1.0, -2.0]], [1, 1, -1, -1], 5.0, 1.0),
        ([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]], [-1, 1, 1], 25.0, 2.5),
    ],
)
def test_bound_of_known_radius_and_margin(X, y, square, distance):
    K = np.asarray(X) @ np.asarray(X).T
    both = RadiusMargin(C=np.inf, solver=TIGHT).evaluate(K, y)
    assert both.value == pytest.approx(square / distance**2, rel=1e-9)
    assert both.by_C == 0
    margin_only = RadiusMargin(C=np.inf, solver=TIGHT, ball=False).evaluate(K, y)
    assert margin_only.value == pytest.approx(1 / distance**2, rel=1e-9)


def test_bound_is_that_of_the_ridged_kernel():
    X = some_rows(30, 3)
    y, weights = np.sign(X[:, 0] + 0.3 * X[:, 1]), np.linspace(0.5, 2.0, 30)
    K = RBF(gamma=0.5)(X)
    ridged = K + np.diag(1 / (4.0 * weights))
    soft = RadiusMargin(C=4.0, solver=TIGHT).evaluate(K, y, weights=weights)
    hard = RadiusMargin(C=np.inf, solver=TIGHT).evaluate(ridged, y)
    assert soft.value == pytest.approx(hard.value, rel=1e-12)
    beta = soft.machines[0].beta
    expected = radius(ridged, tol=1e-10) ** 2 / margin(ridged, beta) ** 2
    assert soft.value == pytest.approx(expected, rel=1e-9)


def test_bound_does_not_depend_on_the_scale():
    X = some_rows(30, 3)
    y, K = np.sign(X[:, 0]), RBF(gamma=0.5)(X)
    values = [
        RadiusMargin(C=4.0 / scale, solver=SMO(tol=1e-10)).evaluate(scale * K, y).value
        for scale in (1e-3, 1.0, 1e3)
    ]
    assert values == pytest.approx([values[1]] * 3, rel=1e-6)


# --- Along the width of a kernel --------------------------------------------------------------


def margins_along(widths):
    """Return the hard margin at each width, warm from the one before."""
    X = some_rows(40, 2)
    y = np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0)
    out, start = [], None
    for width in widths:
        K = RBF(gamma=1 / (2 * width**2))(X)
        start = TIGHT.solve(hard_margin(K, y), start=start)
        assert start.converged
        out.append(margin(K, start.beta))
    return np.array(out)


def test_margin_is_continuous_along_the_width():
    # The paper's theorem: what a step changes shrinks as the step does.
    largest = [
        np.abs(np.diff(margins_along(np.linspace(0.3, 1.0, 1 + steps)))).max()
        for steps in (20, 40, 80, 160)
    ]
    assert largest[0] < 0.1
    ratios = np.array(largest[1:]) / largest[:-1]
    np.testing.assert_allclose(ratios, 0.5, rtol=0, atol=0.05)
