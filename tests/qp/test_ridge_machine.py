"""The machine of squared slack in one call is that of the general solver on K + diag(1 / cost)."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelwise.kernels import RBF
from kernelwise.qp import SMO, hard_margin
from kernelwise.qp.ridge_machine import solve_ridge_machine
from tests.loop import loop


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = np.where(X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=300) > 0, 1.0, -1.0)
    return RBF(gamma=0.5)(X), y, rng.uniform(0.5, 20.0, size=300)


def ridged(K, cost):
    return K.astype(np.float64) + np.diag(1 / cost)


@loop("dtype", [np.float32, np.float64])
@loop("share_left_out", [0.0, 0.2])
def test_it_equals_the_general_solver(problem, dtype, share_left_out):
    K, y, cost = problem
    y = np.where(np.arange(300) < 300 * share_left_out, 0.0, y)
    tol = 1e-4
    exact = SMO(tol=1e-10).solve(hard_margin(ridged(K, cost), y))
    beta, nu = solve_ridge_machine(
        SMO(tol=tol, budget=0), K.astype(dtype), K.diagonal().copy(), y, cost
    )
    assert beta.sum() == pytest.approx(0, abs=1e-9)
    assert (beta * y >= 0).all()
    assert (beta[y == 0] == 0).all()
    slope = ridged(K, cost) @ beta - y + nu
    at_zero = (beta == 0) & (y != 0)
    assert np.abs(slope[beta != 0]).max() <= 2 * tol
    assert (slope * y)[at_zero].min(initial=0.0) >= -2 * tol
    assert_allclose(nu, exact.nu[0], atol=20 * tol)
    assert_allclose(beta, exact.beta, atol=100 * tol)


def test_a_start_leads_to_the_same_machine(problem):
    K, y, cost = problem
    solver, diag = SMO(tol=1e-6, budget=0), K.diagonal().copy()
    cold, _ = solve_ridge_machine(solver, K.copy(), diag, y, cost)
    warm, _ = solve_ridge_machine(solver, K.copy(), diag, y, cost, np.where(y > 0, cold, 3.0))
    assert_allclose(warm, cold, atol=1e-4)


def test_what_needs_more_is_left_to_the_solver(problem):
    K, y, cost = problem
    diag, single = K.diagonal().copy(), K.astype(np.float32)
    assert solve_ridge_machine(SMO(tol=1e-6, budget=0), single, diag, y, cost) is None
    assert solve_ridge_machine(SMO(max_iter=3, budget=0), single, diag, y, cost) is None
    assert solve_ridge_machine(SMO(tol=1e-4, budget=0), single, diag, y, 1e9 * cost) is None
    assert solve_ridge_machine(SMO(budget=1e9), single, diag, y, cost) is None, "to be polished"
