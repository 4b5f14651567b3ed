"""The walk over kernels and costs: pruning must not change what it chooses."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from kernelwise.criteria.span import least_spans, span
from kernelwise.kernels import RBF, Laplacian, Linear, Polynomial
from kernelwise.qp import SMO, Solution, StoredGram
from kernelwise.svm.paths.cost_path import CostMachine, cost_path
from kernelwise.svm.paths.kernel_grid import KernelGrid
from kernelwise.svm.paths.rows import TrainingRows
from kernelwise.svm.paths.selection import BoundCriterion, SpanCriterion
from kernelwise.svm.paths.solvers import PathSolvers
from kernelwise.svm.paths.walk import walk
from tests.svm.problems import data

COSTS = np.array([0.1, 1.0, 10.0, 100.0])


def codes_of(y):
    codes = np.where(y[:, None] == np.unique(y), 1.0, -1.0)
    return codes[:, 1:] if codes.shape[1] == 2 else codes


def some(name, n, seed=0):
    X, y = data(name)
    rows = np.random.default_rng(seed).permutation(len(y))[:n]
    return X[rows], y[rows]


def rows_of(X, y, weight=None):
    """Return rows as they are."""
    labels, classes = np.unique(y, return_inverse=True)
    weight = np.ones(len(y)) if weight is None else weight
    return TrainingRows.of_table(X, codes_of(y), classes, weight, np.ones(len(labels)), merge=False)


def walked(X, y, kernels, *, weight=None, criterion=SpanCriterion, solver="smo", **how):
    """Walk over kernels; return the path."""
    rows, steps = rows_of(X, y, weight), how.pop("max_iter", -1)
    values = np.array([kernel.gamma for kernel in kernels])
    grid = KernelGrid(tuple(kernels), "gamma", values)
    solvers = PathSolvers(solver, max_iter=steps)
    return walk(grid, COSTS, rows, criterion(rows, bias=solver == "smo"), solvers, **how)


def some_kernels(cls, X):
    unit = 1 / (
        np.abs(X - X.mean(axis=0)).sum(axis=1).mean() if cls is Laplacian else X.var() * X.shape[1]
    )
    return [cls(gamma=unit * factor) for factor in (3.0, 1.0, 0.3)]


def check_same_choice(all_of_them, pruned):
    """Hold a pruned path against the whole one; return how many points it left out."""
    assert pruned.best_index == all_of_them.best_index
    for one, other in zip(pruned.solutions, all_of_them.solutions, strict=True):
        assert_array_equal(one.beta, other.beta)
    left_out = 0
    best = all_of_them.best
    for one, other in zip(pruned.points, all_of_them.points, strict=True):
        assert (one.C, one.value, one.converged, one.n_iter) == (
            *(other.C, other.value, other.converged, other.n_iter),
        )
        if np.isnan(one.score):
            assert np.isnan(one.loo_error)
            assert other.rank > best.rank
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
    weight = np.random.default_rng(1).integers(1, 4, n).astype(float) if weighted else None
    for kernels in (some_kernels(cls, X), some_kernels(cls, X)[::-1]):
        whole = walked(X, y, kernels, weight=weight)
        assert not np.isnan([point.score for point in whole.points]).any()
        assert check_same_choice(whole, walked(X, y, kernels, weight=weight, prune=True)) > 0


def test_pruning_keeps_ties():
    # K is the identity at both gammas, and no coefficient reaches a bound from C = 10 on.
    X, y = np.arange(4.0)[:, None], np.array([0, 1, 0, 1])
    for gammas in ([1e4, 2e4], [2e4, 1e4]):
        kernels = [RBF(gamma=gamma) for gamma in gammas]
        whole = walked(X, y, kernels)
        check_same_choice(whole, walked(X, y, kernels, prune=True))
        scores = [point.score for point in whole.points]
        assert scores.count(min(scores)) > 2
        assert whole.best.value == 1e4


def test_pruning_prefers_points_that_converged():
    X, y = some("noisy", 100)
    kernels = some_kernels(RBF, X)
    whole = walked(X, y, kernels, max_iter=120)
    converged = [point.converged for point in whole.points]
    assert any(converged)
    assert not all(converged)
    assert check_same_choice(whole, walked(X, y, kernels, max_iter=120, prune=True)) > 0
    whole = walked(X, y, kernels, max_iter=5)
    assert not any(point.converged for point in whole.points)
    check_same_choice(whole, walked(X, y, kernels, max_iter=5, prune=True))


def test_pruning_without_a_bias():
    X, y = some("moons", 60)
    whole = walked(X, y, some_kernels(RBF, X), solver="adatron")
    check_same_choice(whole, walked(X, y, some_kernels(RBF, X), solver="adatron", prune=True))


def test_a_criterion_without_floors_scores_all_points():
    X, y = some("iris", 60)
    kernels = some_kernels(RBF, X)
    pruned = walked(X, y, kernels, criterion=BoundCriterion, prune=True)
    assert not np.isnan([point.score for point in pruned.points]).any()
    assert pruned.best_index == walked(X, y, kernels, criterion=BoundCriterion).best_index


@pytest.mark.parametrize(("name", "n"), [("moons", 100), ("digits", 120)])
def test_no_score_is_below_its_floor(name, n):
    X, y = some(name, n)
    rows = rows_of(X, y, np.random.default_rng(1).integers(1, 3, n).astype(float))
    criterion, solver = SpanCriterion(rows), SMO(exact=False, budget=0)
    for kernel in some_kernels(Laplacian, X):
        gram = StoredGram(kernel(X))
        machines = [CostMachine.of(codes, rows.cost_factor, COSTS) for codes in rows.Y.T]
        paths = [cost_path(lambda C, gram=gram: gram, each, solver) for each in machines]
        points = [(C, [path[c].solution for path in paths]) for c, C in enumerate(COSTS)]
        scores = [criterion.evaluate(gram.K, C, machines)["score"] for C, machines in points]
        loose = [criterion.score(criterion.decisions(machines).T)[1] for _, machines in points]
        tight = criterion.floors(gram.K, points, np.inf)
        assert (np.array(loose) <= tight).all()
        assert (np.array(tight) <= scores).all()
        # Ten machines share K: the least spans tell more than no spans do.
        assert (np.array(tight) > np.add(loose, 0.01)).any() == (name == "digits")


def test_threads_do_not_change_the_path():
    X, y = some("digits", 120)
    one, two = (walked(X, y, some_kernels(RBF, X), threads=threads) for threads in (1, 2))
    assert [point.score for point in one.points] == [point.score for point in two.points]
    assert_array_equal(one.n_iter, two.n_iter)
    assert one.n_solves == two.n_solves


def test_a_callback_ends_the_walk_after_its_kernel():
    X, y = some("moons", 60)
    path = walked(X, y, some_kernels(RBF, X), callback=lambda point: COSTS[1] == point.C)
    assert len(path.points) == len(COSTS)


def test_the_points_of_a_path_are_a_table():
    X, y = some("iris", 60)
    path = walked(X, y, some_kernels(RBF, X))
    table = path.table()
    assert list(table)[:2] == ["gamma", "C"]
    assert {len(column) for column in table.values()} == {len(path.points)}
    assert path.best.score == np.nanmin(table["score"])
    assert path.kernel.gamma == table["gamma"][path.best_index]


def test_machines_are_solved_in_float32_where_that_will_do():
    X, y = some("noisy", 100)
    seen = []

    class Watched(SpanCriterion):
        def evaluate(self, K, C, solutions):
            seen.append(K.dtype)
            return super().evaluate(K, C, solutions)

    kernels = some_kernels(RBF, X)
    double = walked(X, y, kernels)
    single = walked(X, y, kernels, criterion=Watched, single=True)
    assert set(seen) == {np.dtype(np.float64)}  # they are scored in float64
    for one, other in zip(single.points, double.points, strict=True):
        assert one.score == pytest.approx(other.score, abs=2e-3)
    assert not np.array_equal(single.solutions[0].beta, double.solutions[0].beta)


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


def test_a_point_is_scored_by_what_its_machines_leave():
    """Two rows, by hand: each is four away from the other, and wrong without it."""
    X, y = np.array([[-1.0], [1.0]]), np.array([0, 1])
    beta, K = np.array([-0.5, 0.5]), X @ X.T
    machine = Solution(beta, np.zeros(1), K @ beta - codes_of(y)[:, 0], -0.5, 0, 0, 1, "converged")
    found = SpanCriterion(rows_of(X, y)).evaluate(K, 10.0, [machine])
    assert found["loo_error"] == 1
    assert found["score"] == pytest.approx(1 + 1 / (1 + np.exp(-5)), rel=1e-5)
