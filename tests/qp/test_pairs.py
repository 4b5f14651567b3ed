"""The machines of all pairs of classes in one call equal the machines solved one by one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelwise.kernels import RBF
from kernelwise.qp import SMO, StoredGram, c_svc
from kernelwise.qp.pairs import PairSolver, pairs_of
from tests.loop import loop

SIZES = [30, 1, 25, 60, 9]
STARTS = np.cumsum([0, *SIZES])
N = int(STARTS[-1])


def problem(dtype=np.float64, seed=0, gamma=0.3):
    rng = np.random.default_rng(seed)
    classes = np.repeat(np.arange(len(SIZES)), SIZES)
    X = rng.normal(size=(N, 3)) + 0.6 * classes[:, None]
    return RBF(gamma)(X).astype(dtype), rng.uniform(0.5, 2.0, N)


def machines(K, costs):
    """Return the rows and the problem of each machine."""
    for first, second in zip(*pairs_of(len(SIZES)), strict=True):
        own, other = (np.arange(STARTS[c], STARTS[c + 1]) for c in (first, second))
        rows = np.concatenate([own, other])
        y = np.repeat([1.0, -1.0], [len(own), len(other)])
        yield rows, c_svc(np.ascontiguousarray(K[np.ix_(rows, rows)]), y, costs[rows])


@loop("dtype", [np.float32, np.float64])
@loop("C", [0.1, 1.0, 100.0])
@loop("threads", [1, 2])
def test_every_machine_is_solved_and_certified(dtype, C, threads):
    K, costs = problem(dtype)
    costs = C * costs
    found = PairSolver(SMO(budget=0.0), threads).solve(StoredGram(K), STARTS, costs)
    assert len(found) == 10
    for j, (_, qp) in enumerate(machines(K, costs)):
        solution, reference = found[j], SMO(budget=0.0).solve(qp)
        assert solution.status == "converged"
        assert solution.violation <= 1e-3
        assert ((qp.lo <= solution.beta) & (solution.beta <= qp.hi)).all()
        assert abs(solution.beta.sum()) <= 1e-9 * C
        assert_allclose(solution.gradient, qp.gradient(solution.beta), atol=1e-9 * C)
        assert_allclose(solution.objective, reference.objective, rtol=1e-4)
        assert_allclose(solution.objective, qp.objective(solution.beta), rtol=1e-9)
        assert qp.kkt_violation(solution.beta, solution.nu) == pytest.approx(solution.violation)
        assert qp.duality_gap(solution.beta, solution.nu) == pytest.approx(solution.gap, abs=1e-9)


def test_small_machines_are_solved_exactly():
    K, costs = problem()
    found = PairSolver(SMO(budget=1e5)).solve(StoredGram(K), STARTS, costs)
    assert found.certificates[:, 3].max() < 1e-11
    for j, (_, qp) in enumerate(machines(K, costs)):
        assert_allclose(found[j].beta, SMO().solve(qp).beta, atol=1e-9)


def test_a_tight_tolerance_is_reached():
    K, costs = problem()
    found = PairSolver(SMO(tol=1e-9, budget=0.0)).solve(StoredGram(K), STARTS, 100 * costs)
    assert found.certificates[:, 3].max() <= 1e-9


def test_a_warm_start_from_the_solution_takes_no_step():
    K, costs = problem()
    cold = PairSolver(SMO(budget=0.0)).solve(StoredGram(K), STARTS, costs)
    warm = PairSolver(SMO(budget=0.0)).solve(
        StoredGram(K), STARTS, costs, [solution.beta for solution in cold]
    )
    assert cold.n_iter.min() > 0
    assert_array_equal(warm.n_iter, 0)
    assert_allclose(warm.dual, cold.dual, atol=1e-12)


def test_a_start_that_is_not_feasible_is_made_so():
    K, costs = problem()
    given = [None, *(np.full(len(rows), 9.0) for rows, _ in list(machines(K, costs))[1:])]
    found = PairSolver(SMO(budget=0.0)).solve(StoredGram(K), STARTS, costs, given)
    for j, (_, qp) in enumerate(machines(K, costs)):
        assert found[j].converged
        assert_allclose(found[j].objective, SMO().solve(qp).objective, rtol=1e-4)


def test_steps_that_end_early_are_told_of_with_a_certificate():
    K, costs = problem()
    found = PairSolver(SMO(max_iter=3)).solve(StoredGram(K), STARTS, 100 * costs)
    assert set(found.status) == {"max_iter"}
    assert found.n_iter.max() == 3
    for j, (_, qp) in enumerate(machines(K, 100 * costs)):
        solution = found[j]
        assert solution.violation > 1e-3
        assert qp.kkt_violation(solution.beta, solution.nu) == pytest.approx(solution.violation)


def test_machines_that_are_hard_for_steps_go_on(monkeypatch):
    monkeypatch.setattr("kernelwise.qp.pairs.SWEEP", 1000.0)
    K, costs = problem()
    heard = []
    solver = PairSolver(
        SMO(budget=0.0), listener_of=lambda machine: lambda event: heard.append(machine)
    )
    found = solver.solve(StoredGram(K), STARTS, 1e4 * costs)
    assert heard
    assert set(found.status) == {"converged"}
    for j, (_, qp) in enumerate(machines(K, 1e4 * costs)):
        assert found[j].objective == pytest.approx(SMO().solve(qp).objective, rel=1e-4)
        assert qp.kkt_violation(found[j].beta, found[j].nu) <= 1e-3


def test_an_indefinite_kernel_has_no_gap():
    K, costs = problem()
    found = PairSolver(SMO()).solve(StoredGram(np.tanh(K - 0.5), is_psd=False), STARTS, costs)
    assert np.isnan(found.certificates[:, 2]).all()
    assert found.certificates[:, 3].max() <= 1e-3


def test_values_that_are_not_numbers_are_refused():
    K, costs = problem()
    K[3, :] = K[:, 3] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        PairSolver(SMO()).solve(StoredGram(K), STARTS, costs)


def test_solutions_are_a_sequence():
    K, costs = problem()
    told = []
    solver = PairSolver(SMO(), done=lambda machine, solution: told.append((machine, solution)))
    found = solver.solve(StoredGram(K), STARTS, costs)
    assert [machine for machine, _ in told] == list(range(10))
    assert_array_equal(found[-1].beta, told[9][1].beta)
    assert [len(s.beta) for s in found[2:4]] == found.sizes()[2:4].tolist() == [90, 39]
    assert_array_equal([np.count_nonzero(s.beta) for s in found], found.n_support)
    with pytest.raises(IndexError):
        found[10]
