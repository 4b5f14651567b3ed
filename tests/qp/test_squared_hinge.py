"""The linear machine with squared slack: exact, by features and by rows, from any start."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelwise.qp import SMO, l2_svm
from kernelwise.qp.squared_hinge import squared_hinge
from tests.loop import loop


def problem(n, d, seed=0):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, d))
    y = np.where(Z[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
    return Z, y, 10.0 ** rng.uniform(-1, 1, size=n)


SHAPES = [(40, 3), (60, 20), (20, 60), (200, 10), (5, 5)]


@loop("shape", SHAPES, ids=str)
@loop("scale", [1e-3, 1.0, 1e4])
def test_primal_and_dual_meet(shape, scale):
    Z, y, cost = problem(*shape)
    cost = cost * scale
    found = squared_hinge(Z, y, cost)
    beta = found.alpha * y
    assert (found.alpha >= 0).all()
    assert beta.sum() == pytest.approx(0.0, abs=1e-14 * found.alpha.sum())
    assert_allclose(beta @ Z, found.coef, rtol=1e-7, atol=1e-9 * np.abs(found.coef).max())
    w = beta @ Z
    dual = found.alpha.sum() - 0.5 * (w @ w + found.alpha**2 @ (1 / cost))
    assert dual == pytest.approx(found.value, rel=1e-9)
    assert_array_equal(found.violators, found.alpha > 0)


@loop("shape", SHAPES, ids=str)
def test_agrees_with_the_dual_solver(shape):
    Z, y, cost = problem(*shape)
    found = squared_hinge(Z, y, cost)
    solution = SMO(tol=1e-9).solve(l2_svm(Z @ Z.T, y, cost))
    assert_allclose(found.alpha * y, solution.beta, atol=1e-6)
    assert found.intercept == pytest.approx(solution.nu[0], abs=1e-6)
    assert found.value == pytest.approx(-solution.objective, rel=1e-8)


@loop("shape", SHAPES, ids=str)
def test_any_start_ends_at_the_same_point(shape):
    Z, y, cost = problem(*shape)
    cold = squared_hinge(Z, y, cost)
    rng = np.random.default_rng(1)
    starts = [rng.random(len(y)) < 0.3, np.zeros(len(y), dtype=bool), y > 0, y < 0]
    for start in starts:
        assert squared_hinge(Z, y, cost, start).value == pytest.approx(cold.value, rel=1e-12)
    assert squared_hinge(Z, y, cost, cold.violators).n_systems == 1


@loop("seed", range(20))
def test_steps_that_overshoot_are_shortened(seed):
    """Full Newton steps go up here: as many columns as violators, and a large cost."""
    Z, y, _ = problem(60, 20, seed)
    cost = np.full(60, 1e5)
    found = squared_hinge(Z, y, cost)
    w = (found.alpha * y) @ Z
    dual = found.alpha.sum() - 0.5 * (w @ w + found.alpha**2 @ (1 / cost))
    assert dual == pytest.approx(found.value, rel=1e-8)
    assert found.n_systems < 40


def test_without_columns_there_is_an_intercept():
    y = np.array([1.0, 1.0, 1.0, -1.0])
    found = squared_hinge(np.empty((4, 0)), y, np.ones(4))
    assert found.intercept == pytest.approx(0.5)  # the mean of the codes
