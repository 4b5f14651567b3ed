"""The walk over kernels and costs: pruning must not change what it chooses."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from kernelwise.criteria.span import least_spans, span
from kernelwise.kernels import RBF, Laplacian, Linear, Polynomial
from kernelwise.qp import SMO, Adatron, Solution
from kernelwise.svm.paths.kernel_grid import KernelGrid
from kernelwise.svm.paths.selection import ByBound, BySpan, Problem
from kernelwise.svm.paths.walk import PathGrams, WidthPath
from tests.svm.problems import data

COSTS = np.array([0.1, 1.0, 10.0, 100.0])


def codes_of(y):
    codes = np.where(y[:, None] == np.unique(y), 1.0, -1.0)
    return codes[:, 1:] if codes.shape[1] == 2 else codes


def some(name, n, seed=0):
    X, y = data(name)
    rows = np.random.default_rng(seed).permutation(len(y))[:n]
    return X[rows], y[rows]


def walk(X, y, kernels, *, counts=None, judge=BySpan, solver=None, **how):
    """Walk over kernels; return the path and its judge."""
    counts = np.ones(len(y)) if counts is None else counts
    solver = SMO(exact=False, budget=0) if solver is None else solver
    bias = not isinstance(solver, Adatron)
    problem = Problem(codes_of(y), counts, counts, bias, lambda C: solver)
    values = np.array([kernel.gamma for kernel in kernels])
    grid = KernelGrid(tuple(kernels), "gamma", values, None)
    path = WidthPath(problem, grid, COSTS, judge(problem), PathGrams(kernels, X, 1), **how)
    for number in range(len(kernels)):
        path.walk(number)
    return path


def some_kernels(cls, X):
    unit = 1 / (
        np.abs(X - X.mean(axis=0)).sum(axis=1).mean() if cls is Laplacian else X.var() * X.shape[1]
    )
    return [cls(gamma=unit * factor) for factor in (3.0, 1.0, 0.3)]


def check_same_choice(all_of_them, pruned):
    """Hold a pruned path against the whole one; return how many points it left out."""
    assert pruned.best == all_of_them.best
    for one, other in zip(pruned.machines, all_of_them.machines, strict=True):
        assert_array_equal(one.beta, other.beta)
    left_out = 0
    best = all_of_them.points[all_of_them.best]
    for one, other in zip(pruned.points, all_of_them.points, strict=True):
        assert (one.C, one.value, one.converged, one.n_iter) == (
            *(other.C, other.value, other.converged, other.n_iter),
        )
        if np.isnan(one.score):
            assert np.isnan(one.loo_error)
            assert other.order > best.order
            left_out += 1
        else:
            assert (one.score, one.loo_error) == (other.score, other.loo_error)
    return left_out


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("cls", [Laplacian, RBF])
@pytest.mark.parametrize(
    ("name", "n"),
    [
        ("moons", 120),
        ("noisy", 100),
        ("imbalanced", 120),
        ("cancer", 150),
        ("iris", 90),
        ("wine", 100),
        ("eight blobs", 120),
        ("digits", 150),
    ],
)
def test_pruning_does_not_change_the_choice(name, n, cls, weighted):
    X, y = some(name, n)
    counts = np.random.default_rng(1).integers(1, 4, n).astype(float) if weighted else None
    for kernels in (some_kernels(cls, X), some_kernels(cls, X)[::-1]):
        whole = walk(X, y, kernels, counts=counts)
        assert not np.isnan([point.score for point in whole.points]).any()
        assert check_same_choice(whole, walk(X, y, kernels, counts=counts, prune=True)) > 0


def test_pruning_keeps_ties():
    # K is the identity at both gammas, and no coefficient reaches a bound from C = 10 on.
    X, y = np.arange(4.0)[:, None], np.array([0, 1, 0, 1])
    for gammas in ([1e4, 2e4], [2e4, 1e4]):
        kernels = [RBF(gamma=gamma) for gamma in gammas]
        whole = walk(X, y, kernels)
        check_same_choice(whole, walk(X, y, kernels, prune=True))
        scores = [point.score for point in whole.points]
        assert scores.count(min(scores)) > 2
        assert whole.points[whole.best].value == 1e4


def test_pruning_prefers_points_that_converged():
    X, y = some("noisy", 100)
    solver = SMO(exact=False, budget=0, max_iter=120)
    whole = walk(X, y, some_kernels(RBF, X), solver=solver)
    converged = [point.converged for point in whole.points]
    assert any(converged)
    assert not all(converged)
    assert check_same_choice(whole, walk(X, y, some_kernels(RBF, X), solver=solver, prune=True)) > 0
    never = SMO(exact=False, budget=0, max_iter=5)
    whole = walk(X, y, some_kernels(RBF, X), solver=never)
    assert not any(point.converged for point in whole.points)
    check_same_choice(whole, walk(X, y, some_kernels(RBF, X), solver=never, prune=True))


def test_pruning_without_a_bias():
    X, y = some("moons", 60)
    solver = Adatron()
    whole = walk(X, y, some_kernels(RBF, X), solver=solver)
    check_same_choice(whole, walk(X, y, some_kernels(RBF, X), solver=solver, prune=True))


def test_a_judge_without_floors_judges_all_points():
    X, y = some("iris", 60)
    kernels = some_kernels(RBF, X)
    pruned = walk(X, y, kernels, judge=ByBound, prune=True)
    assert not np.isnan([point.score for point in pruned.points]).any()
    assert pruned.best == walk(X, y, kernels, judge=ByBound).best


@pytest.mark.parametrize(("name", "n"), [("moons", 100), ("digits", 120)])
def test_no_score_is_below_its_floor(name, n):
    X, y = some(name, n)
    counts = np.random.default_rng(1).integers(1, 3, n).astype(float)
    problem = Problem(codes_of(y), counts, counts, True, lambda C: SMO(exact=False, budget=0))
    judge = BySpan(problem)
    for kernel in some_kernels(Laplacian, X):
        K = kernel(X)
        points = [
            (C, [problem.solver(C).solve(qp) for qp in problem.qps(K, problem.Y, C, True)])
            for C in COSTS
        ]
        scores = [judge.verdict(K, C, machines)["score"] for C, machines in points]
        loose = [problem.score(judge._decisions(machines).T)[1] for _, machines in points]
        tight = judge.floors(K, points, np.inf)
        assert (np.array(loose) <= tight).all()
        assert (np.array(tight) <= scores).all()
        # Ten machines share K: the least spans tell more than no spans do.
        assert (np.array(tight) > np.add(loose, 0.01)).any() == (name == "digits")


# --- The least spans -----------------------------------------------------------------------------


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("kernel", [Laplacian(gamma=0.2), RBF(gamma=0.1), RBF(gamma=1e-4),
                                    Linear(), Polynomial(gamma=1.0, degree=3)])  # fmt: skip
def test_no_span_is_below_the_least(kernel, bias):
    X, y = some("noisy", 60)
    K = kernel(X)
    least, rng = least_spans(K, bias=bias), np.random.default_rng(0)
    assert (least >= 0).all()
    for size in (0, 1, 2, 10, 40, 60):  # of what is free; the rest is bounded, or no support
        alpha = np.concatenate([np.full(size, 0.5), rng.integers(0, 2, 60 - size)])
        alpha = rng.permutation(alpha)
        squared = span(K, alpha * codes_of(y)[:, 0], 1.0, bias=bias)
        assert (least <= squared + 1e-12)[alpha > 0].all()


def test_the_least_spans_are_those_of_a_machine_in_which_all_rows_are_free():
    X, y = some("noisy", 60)
    K = Laplacian(gamma=0.2)(X)
    beta = 0.5 * codes_of(y)[:, 0]
    squared = np.minimum(span(K, beta, 1.0), np.diagonal(K))  # the span of one that is alone
    np.testing.assert_allclose(least_spans(K), squared, rtol=1.1e-4)


def test_an_indefinite_matrix_has_no_least_spans():
    assert_array_equal(least_spans(np.array([[1.0, 2.0], [2.0, 1.0]])), 0)


def test_a_point_is_judged_by_what_its_machines_leave():
    """Two rows, by hand: each is four away from the other, and wrong without it."""
    X, y = np.array([[-1.0], [1.0]]), np.array([0, 1])
    problem = Problem(codes_of(y), np.ones(2), np.ones(2), True, lambda C: SMO())
    beta, K = np.array([-0.5, 0.5]), X @ X.T
    machine = Solution(beta, np.zeros(1), K @ beta - codes_of(y)[:, 0], -0.5, 0, 0, 1, "converged")
    found = BySpan(problem).verdict(K, 10.0, [machine])
    assert found["loo_error"] == 1
    assert found["score"] == pytest.approx(1 + 1 / (1 + np.exp(-5)), rel=1e-5)
