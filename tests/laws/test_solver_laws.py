"""What every solver keeps, each law once, over all solvers and all problems of the registry."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from sklearn.svm import SVC

from kernelwise import qp as qp_package
from kernelwise.kernels import RBF, LazyGram, Linear, Ridge
from kernelwise.qp import SMO, DualQP, Terms, c_svc, hard_margin, l2_svm
from tests.laws.registry import EQUALITIES_SOLVERS, PROBLEMS, SOLVERS, named, solvable
from tests.loop import loop
from tests.oracles import descend, objective, violation

every_solver = loop("case", named(SOLVERS))
every_supported = loop(("case", "problem"), solvable(SOLVERS + EQUALITIES_SOLVERS))
every_solver_and_problem = loop(("case", "problem"), solvable(SOLVERS))


def is_sharp(case):
    """Return whether a solver is more precise than its default tolerance."""
    return case.exact or case.tol < 1e-5


SHARP = [case for case in SOLVERS if is_sharp(case)]
sharp_solvers = loop("case", named(SHARP))
sharp_solvers_and_problems = loop(("case", "problem"), solvable(SHARP))


@cache
def optimum(problem, form):
    """Return the oracle's solution of a problem and its objective."""
    reference = problem.reference(form)
    beta = descend(reference)
    return beta, objective(reference, beta)


@cache
def solved(case, problem):
    """Return a cold solution; most laws look at the same ones."""
    return case.solve(case.qp(problem))


def test_every_public_solver_is_in_the_registry():
    exported = (getattr(qp_package, name) for name in qp_package.__all__)
    solvers = {item for item in exported if hasattr(item, "solve")}
    assert solvers <= {type(case.solver(10)) for case in SOLVERS + EQUALITIES_SOLVERS}


# --- The certificate --------------------------------------------------------------------------


@every_supported
def test_solution_is_certified_and_where_a_warm_start_stays(case, problem):
    qp, solution = problem.reference(case.form), solved(case, problem)
    beta = solution.beta
    assert solution.status == "converged"
    assert solution.converged
    assert solution.violation <= case.tol
    assert violation(qp, beta) <= case.tol
    # Feasible
    assert (qp.lo <= beta).all()
    assert (beta <= qp.hi).all()
    assert beta.sum() == pytest.approx(qp.c[0], abs=case.balance * (1 + np.abs(beta).sum()))
    # The certificate is true: float32 rows may move a gradient by a fifth of the tolerance.
    single = case.form != "stored64" and case.tol >= 1e-5
    felt = 0.2 * case.tol if single else 1e-9
    gradient = qp.gram.K @ beta - qp.p
    np.testing.assert_allclose(solution.gradient, gradient, rtol=0, atol=felt)
    fresh = qp.kkt_violation(beta, solution.nu)
    assert solution.violation == pytest.approx(fresh, abs=2 * felt)
    # So is the objective: float32 rows leave |b'(K32 - K)b| / 2, an entry one part in 2^23.
    single = case.form == "lazy" and case.tol >= 1e-5
    size = np.diag(qp.gram.K).max() * np.abs(beta).sum() ** 2
    fresh = objective(qp, beta)
    assert abs(solution.objective - fresh) <= 1e-6 * abs(fresh) + single * size / 2**24
    for start in (solution, beta):
        again = case.solve(case.qp(problem), start=start)
        assert again.n_iter == 0
        np.testing.assert_allclose(again.beta, beta, rtol=1e-9, atol=1e-12)


@every_solver_and_problem
def test_gap_bounds_what_is_left(case, problem):
    solution = solved(case, problem)
    best_beta, best = optimum(problem, case.form)
    found = objective(problem.reference(case.form), solution.beta)
    left = found - best
    assert left <= solution.gap + 1e-12 * abs(best)
    # A gradient that is off by the violation cannot hide more than this.
    distance = np.abs(solution.beta - best_beta).sum()
    assert left <= 1.2 * solution.violation * distance + 1e-12 * abs(best)
    assert 0 <= solution.gap <= 5 * case.tol * (np.abs(solution.beta).sum() + abs(best))
    # Sharp solvers find the oracle's optimum, and all do for machines of classes; the objective of
    # others is small beside their coefficients.
    if is_sharp(case) or not ("ball" in problem.name or "svr" in problem.name):
        assert found == pytest.approx(best, rel=1e-9 if is_sharp(case) else 1e-6)


# --- Warm starts ------------------------------------------------------------------------------


def some_starts(n):
    rng = np.random.default_rng(7)
    yield "random", rng.normal(size=n)
    yield "random-large", 1e4 * rng.normal(size=n)
    yield "infeasible", np.full(n, 3.0)
    yield "zero", np.zeros(n)


@sharp_solvers_and_problems
def test_warm_from_anywhere_equals_cold(case, problem):
    cold = solved(case, problem)
    for _, start in some_starts(len(problem.X)):
        warm = case.solve(case.qp(problem), start=start)
        assert warm.converged
        assert warm.objective == pytest.approx(cold.objective, rel=1e-9)
        # K b is the same at all minima, where b itself need not be.
        np.testing.assert_allclose(warm.gradient, cold.gradient, rtol=0, atol=1e-6)


@every_solver
def test_warm_from_another_cost_equals_cold_and_is_shorter(case):
    at_10, at_1000 = (p for p in PROBLEMS if p.name in {"moons-C10", "moons-C1000"})
    cold = solved(case, at_10)
    nearby = replace(at_10, build=lambda gram: c_svc(gram, at_10.build(gram).p, 10.5))
    warm = case.solve(case.qp(nearby), start=cold)
    assert warm.converged
    assert warm.objective == pytest.approx(optimum(nearby, case.form)[1], rel=1e-6)
    assert warm.n_iter < case.solve(case.qp(nearby)).n_iter
    down = case.solve(case.qp(at_10), start=solved(case, at_1000))
    assert down.objective == pytest.approx(cold.objective, rel=1e-6)


# --- Equal problems have equal solutions ------------------------------------------------------


@sharp_solvers_and_problems
def test_permuting_the_rows_permutes_the_solution(case, problem):
    order = np.random.default_rng(3).permutation(len(problem.X))
    parts = problem.reference(case.form)

    def build(gram):
        return DualQP(
            gram,
            Terms(
                p=parts.p[order],
                lo=parts.lo[order],
                hi=parts.hi[order],
                c=parts.c,
                kink=None if parts.kink is None else parts.kink[order],
            ),
        )

    permuted = replace(problem, X=problem.X[order], build=build)
    solution, other = solved(case, problem), case.solve(case.qp(permuted))
    assert other.objective == pytest.approx(solution.objective, rel=1e-9)
    np.testing.assert_allclose(other.gradient, solution.gradient[order], rtol=0, atol=1e-6)
    if not isinstance(problem.kernel, Linear):  # a strictly convex problem has one solution
        size = np.abs(solution.beta).max()
        np.testing.assert_allclose(other.beta, solution.beta[order], rtol=0, atol=1e-4 * size)


@sharp_solvers
def test_rows_outside_a_machine_do_not_count(case):
    problem = next(p for p in PROBLEMS if p.name == "rows-outside")
    solution = solved(case, problem)
    y = problem.reference("stored64").p
    inside = np.flatnonzero(y)
    small = replace(problem, X=problem.X[inside], build=lambda gram: c_svc(gram, y[inside], 5.0))
    alone = case.solve(case.qp(small))
    assert not solution.beta[y == 0].any()
    np.testing.assert_allclose(solution.beta[inside], alone.beta, rtol=0, atol=1e-5)
    # The gradient of a row outside the machine is its decision value without the intercept.
    values = problem.kernel(problem.X, problem.X[inside]) @ alone.beta
    np.testing.assert_allclose(solution.gradient[y == 0], values[y == 0], atol=1e-5)


def test_squared_slack_is_a_ridge():
    problem = next(p for p in PROBLEMS if p.name == "l2-svm")
    y = problem.reference("stored64").p
    K = RBF(gamma=1.0)(problem.X)
    stored = SMO(tol=1e-8).solve(l2_svm(K, y, C=4.0))
    lazy = SMO(tol=1e-8).solve(hard_margin(LazyGram(RBF(gamma=1.0) + Ridge(0.25), problem.X), y))
    np.testing.assert_allclose(stored.beta, lazy.beta, rtol=0, atol=1e-8)
    assert K[0, 0] == 1.0  # the caller's matrix has no ridge


@every_solver
@loop("name", ["ball", "ball-linear"])
def test_radius_of_the_ball(case, name):
    problem = next(p for p in PROBLEMS if p.name == name)
    K, solution = problem.kernel(problem.X), solved(case, problem)
    quadratic = solution.beta @ K @ solution.beta
    squared_radius = 2 * solution.nu[0] + quadratic
    centre_to_row = np.diagonal(K) - 2 * K @ solution.beta + quadratic
    brute = smallest_enclosing(problem)
    assert squared_radius == pytest.approx(brute, rel=1e-6 if is_sharp(case) else 1e-2)
    assert centre_to_row.max() == pytest.approx(brute, rel=1e-6 if is_sharp(case) else 1e-2)


def smallest_enclosing(problem):
    """Return the squared radius of the smallest ball, between two bounds that meet.

    The farthest row from any centre is at least a radius away; the variance of the rows under
    any weights is at most the squared radius.
    """
    K = problem.kernel(problem.X)
    weights = optimum(problem, "stored64")[0]
    inner = weights @ K @ weights
    above = (np.diagonal(K) - 2 * K @ weights + inner).max()
    below = weights @ np.diagonal(K) - inner
    assert above == pytest.approx(below, rel=1e-9)
    return above


# --- Agreement with scikit-learn --------------------------------------------------------------


@loop("exact", [True, False])
@loop("C", [0.1, 1.0, 10.0, 100.0, 1000.0])
@loop("kernel", [RBF(gamma=0.5), RBF(gamma=0.05), Linear(gamma=0.1)])
def test_agrees_with_scikit_learn(kernel, C, exact):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6))
    y = np.where(X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.7 * rng.normal(size=200) > 0.4, 1.0, -1.0)
    K = kernel(X).astype(np.float32)  # LIBSVM keeps its rows in float32
    qp = c_svc(K.astype(np.float64), y, C)
    peer = SVC(kernel="precomputed", C=C, tol=1e-6).fit(qp.gram.K, y)
    beta = np.zeros(200)
    beta[peer.support_] = peer.dual_coef_[0]
    solution = SMO(exact=exact).solve(c_svc(K, y, C))
    expected = objective(qp, beta)
    assert objective(qp, solution.beta) == pytest.approx(expected, rel=1e-6)
    assert solution.objective == pytest.approx(expected, rel=1e-6)
    values = qp.gram.K @ solution.beta + solution.nu[0]
    np.testing.assert_allclose(values, peer.decision_function(qp.gram.K), rtol=0, atol=5e-3)


# --- Refusals and limits ----------------------------------------------------------------------


@every_solver
def test_refuses_what_it_does_not_support(case):
    n, solver = 4, case.solver(4)
    box = {"p": np.ones(n), "lo": np.zeros(n), "hi": np.ones(n)}
    two = DualQP(np.eye(n), Terms(A=np.array([[1.0, 1, 1, 1], [1, -1, 1, -1]]), **box))
    signed = DualQP(np.eye(n), Terms(A=np.array([[1.0, -1, 1, -1]]), **box))
    for qp, reason in ((two, "one equality; this one has 2"), (signed, "sum b = c")):
        assert reason in solver.supports(qp)
        with pytest.raises(ValueError, match=reason):
            solver.solve(qp)
    assert solver.supports(DualQP(np.eye(n), Terms(**box))) is None


@every_solver
@loop("max_iter", [0, 1, 5])
def test_ends_when_it_is_out_of_steps(case, max_iter):
    problem = next(p for p in PROBLEMS if p.name == "moons-C1000")
    qp = problem.reference(case.form)
    solution = case.solve(case.qp(problem), max_iter=max_iter)
    assert solution.status == "max_iter"
    assert not solution.converged
    assert solution.n_iter <= max_iter
    # What it returns is feasible, and says how far it is.
    assert solution.beta.sum() == pytest.approx(0, abs=1e-9)
    assert (qp.lo <= solution.beta).all()
    assert (solution.beta <= qp.hi).all()
    assert solution.violation > case.tol
    assert solution.objective - optimum(problem, case.form)[1] <= solution.gap


# --- More rows than the growing set starts with -----------------------------------------------


@pytest.fixture(scope="module")
def many_rows():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2400, 4))
    return X, np.where(np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=2400) > X[:, 1], 1.0, -1.0)


@pytest.fixture(scope="module")
def whole_solution(many_rows):
    X, y = many_rows
    return SMO(tol=1e-6).solve(c_svc(RBF(gamma=0.3)(X), y, 1.0))


@loop("rows", [2400, 1500, 300])
def test_growing_and_evicting_find_the_solution_of_the_whole(many_rows, whole_solution, rows):
    X, y = many_rows
    gram = LazyGram(RBF(gamma=0.3), X)
    solution = SMO(memory=4 * len(X) * rows).solve(c_svc(gram, y, 1.0))
    assert solution.converged
    assert solution.objective == pytest.approx(whole_solution.objective, rel=1e-6)
    again = SMO(memory=4 * len(X) * rows).solve(c_svc(gram, y, 1.0), start=solution)
    assert again.n_iter == 0


@loop("C", [1.0, 100.0])
def test_certificate_of_many_rows_is_true(C):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 6))
    noise = 0.7 * rng.normal(size=1200)
    y = np.where(X[:, 0] + 0.5 * X[:, 1] ** 2 + noise > 0.4, 1.0, -1.0)
    qp = c_svc(LazyGram(RBF(gamma=0.05), X), y, C)
    solver = SMO()
    solution = solver.solve(qp)
    gradient = qp.gradient(solution.beta)
    least, most = qp.terms.reach(solution.beta, gradient)
    assert most - least <= solver.tol
    np.testing.assert_allclose(solution.gradient, gradient, rtol=0, atol=0.2 * solver.tol)
    # The objective is that of the float32 rows which the solver reads.
    read = c_svc(qp.gram.dense(np.float32).astype(np.float64), y, C)
    assert solution.objective == pytest.approx(read.objective(solution.beta), rel=1e-6)
    fresh_gap = qp.duality_gap(solution.beta, solution.nu, gradient)
    assert solution.gap == pytest.approx(fresh_gap, rel=0.1)
