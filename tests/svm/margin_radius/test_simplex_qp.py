"""Quadratic programs on the simplex."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelwise.outer import ProjectedGradient, Simplex, minimize
from kernelwise.svm.margin_radius.solver import simplex_qp
from tests.loop import loop


def problem(k, rank, seed):
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(rank, k))
    return B.T @ B, rng.normal(size=k)


def value(H, c, x):
    return 0.5 * x @ H @ x + c @ x


@loop("seed", range(10))
@loop(("k", "rank"), [(1, 1), (5, 5), (30, 30), (30, 8), (40, 2)])
def test_optimality_conditions(k, rank, seed):
    H, c = problem(k, rank, seed)
    x = simplex_qp(H, c, np.full(k, 1 / k))
    slopes = H @ x + c
    level = x @ slopes
    size = np.abs(slopes).max()
    assert (x >= 0).all()
    assert x.sum() == pytest.approx(1.0)
    assert (slopes >= level - 1e-7 * size).all()
    assert_allclose(slopes[x > 0], level, atol=1e-7 * size)


@loop("seed", range(5))
def test_any_start_ends_at_the_same_point(seed):
    H, c = problem(20, 20, seed)
    expected = simplex_qp(H, c, np.full(20, 1 / 20))
    for start in [np.eye(20)[3], np.repeat([0.0, 0.1], 10)]:
        assert_allclose(simplex_qp(H, c, start), expected, atol=1e-7)
    assert_allclose(simplex_qp(H, c, expected), expected, atol=1e-9)


def test_agrees_with_projected_gradients():
    H, c = problem(6, 6, 0)
    found = minimize(
        lambda x: (value(H, c, x), H @ x + c),
        np.full(6, 1 / 6),
        method=ProjectedGradient(),
        domain=Simplex(),
        max_evaluations=2000,
        tol=1e-14,
    )
    assert_allclose(simplex_qp(H, c, np.full(6, 1 / 6)), found.theta, atol=1e-5)


def test_equal_columns_stay_equal():
    """The minimum is not unique: the one nearest to the start is taken."""
    H, c = np.ones((4, 4)), np.zeros(4)
    # To rounding over the ridge, 1e-16 / 1e-11.
    assert_allclose(simplex_qp(H, c, np.full(4, 0.25)), 0.25, atol=1e-5)


def test_without_curvature_it_is_a_vertex():
    assert_array_equal(
        simplex_qp(np.zeros((3, 3)), np.array([2.0, 1.0, 3.0]), np.full(3, 1 / 3)), [0, 1, 0]
    )
