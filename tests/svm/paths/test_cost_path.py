"""One machine for ascending C: each solution is that of a cold start, from fewer steps."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelwise.kernels import RBF, Sigmoid
from kernelwise.qp import SMO, Adatron, StoredGram, c_svc
from kernelwise.svm.paths.cost_path import CostMachine, cost_path, decision_values
from tests.svm.problems import data

COSTS = [0.01, 0.1, 1.0, 10.0, 100.0]
EXACT = SMO(tol=1e-8)


def problem(name="noisy", n=120, gamma=0.2):
    """Return a kernel matrix, codes and cost factors."""
    X, labels = data(name)
    rows = np.random.default_rng(0).permutation(len(labels))[:n]
    K = RBF(gamma)(X[rows])
    y = np.where(labels[rows] == labels.max(), 1.0, -1.0)
    return K, y, np.random.default_rng(1).uniform(0.5, 2.0, n)


def path_of(K, y, factor, costs=COSTS, solver=EXACT, is_psd=True, **how):
    gram, bias = StoredGram(K, is_psd), how.pop("bias", True)
    return cost_path(lambda C: gram, CostMachine.of(y, factor, costs, bias=bias), solver, **how)


@pytest.mark.parametrize("stretch", [False, True])
@pytest.mark.parametrize("held", [False, True])
def test_each_machine_is_that_of_a_cold_start(held, stretch):
    K, y, factor = problem()
    if held:
        y[::4] = 0
    path = path_of(K, y, factor, stretch=stretch)
    assert [step.C for step in path.steps] == COSTS
    for number, C in enumerate(COSTS):
        alone = EXACT.solve(c_svc(K, y, C * factor))
        step = path[number]
        assert step.solution.converged
        assert_allclose(step.solution.beta, alone.beta, atol=1e-5 * C)
        assert_allclose(path.decisions(number), K @ alone.beta + alone.nu[0], atol=1e-5)
        assert_array_equal(step.solution.beta[y == 0], 0)


def test_warm_starts_take_fewer_steps():
    K, y, factor = problem()
    solver = SMO(exact=False)
    warm = path_of(K, y, factor, solver=solver)
    assert warm.n_iter < path_of(K, y, factor, solver=solver, warm=False).n_iter


def test_larger_c_are_not_solved_once_no_coefficient_is_at_its_bound():
    K, y, factor = problem(gamma=20.0)  # nearly the identity
    path = path_of(K, y, factor, costs=[0.1, 10.0, 100.0, np.inf])
    assert [step.solved for step in path.steps] == [True, True, False, False]
    assert not path[0].is_inside_bounds
    assert path[1].is_inside_bounds
    assert path[3].solution is path[1].solution
    assert (path[3].C, path[3].seconds) == (np.inf, 0)
    assert path.n_solves == 2
    assert path.n_iter == path[0].solution.n_iter + path[1].solution.n_iter


def test_a_machine_that_did_not_converge_is_solved_again():
    K, y, factor = problem(gamma=20.0)
    path = path_of(K, y, factor, costs=[10.0, 100.0], solver=SMO(max_iter=5, exact=False))
    assert not path[0].solution.converged
    assert path[1].solved


def test_the_same_c_twice_is_solved_once():
    K, y, factor = problem()
    path = path_of(K, y, factor, costs=[1.0, 1.0, 2.0])
    assert [step.solved for step in path.steps] == [True, False, True]


def test_a_stretched_start_grows_with_c_where_most_coefficients_are_bounded():
    K, y, factor = problem(gamma=1e-4)  # nearly constant: all but two rows are at their bounds
    step = path_of(K, y, factor, costs=[0.01])[0]
    beta, product = step.start_for(0.1, stretch=True)
    assert_allclose(beta, 10 * step.solution.beta)
    assert_allclose(product, 10 * (K @ step.solution.beta), atol=1e-8)
    beta, product = step.start_for(0.1, stretch=False)
    assert_array_equal(beta, step.solution.beta)
    assert_allclose(product, K @ beta, atol=1e-8)
    assert_array_equal(step.start_for(np.inf, stretch=True)[0], step.solution.beta)


def test_the_precision_may_change_along_the_path():
    K, y, factor = problem()
    coarse, fine = StoredGram(K.astype(np.float32)), StoredGram(K)
    solver = SMO(exact=False)
    machine = CostMachine.of(y, factor, COSTS)
    path = cost_path(lambda C: coarse if C < 1 else fine, machine, solver, stretch=True)
    for number, C in enumerate(COSTS):
        alone = solver.solve(c_svc(K, y, C * factor))
        assert_allclose(path.decisions(number), K @ alone.beta + alone.nu[0], atol=5e-3)


def test_cold_starts_of_an_indefinite_kernel_are_those_of_machines_alone():
    X, labels = data("noisy")
    y, factor, K = np.where(labels == 1, 1.0, -1.0), np.ones(len(labels)), Sigmoid(0.5)(X)
    solver = SMO(exact=False)
    path = path_of(K, y, factor, costs=[0.1, 1.0], solver=solver, is_psd=False, warm=False)
    alone = solver.solve(c_svc(K, y, factor, is_psd=False))
    assert_array_equal(path[1].solution.beta, alone.beta)


def test_machines_without_a_bias():
    K, y, factor = problem()
    solver = Adatron()
    path = path_of(K, y, factor, costs=[0.1, 1.0], solver=solver, bias=False)
    alone = solver.solve(c_svc(K, y, factor, bias=False))
    assert len(path[1].solution.nu) == 0
    assert_allclose(path.decisions(1), K @ alone.beta, atol=5e-3)
    assert_allclose(decision_values(alone, y), K @ alone.beta, atol=1e-9)


def test_a_hard_margin_with_rows_held_out():
    K, y, factor = problem(gamma=5.0)
    y[:10] = 0
    path = path_of(K, y, factor, costs=[1.0, np.inf])
    alone = EXACT.solve(c_svc(K, y, np.inf))
    assert_allclose(path.decisions(1), K @ alone.beta + alone.nu[0], atol=1e-5)
