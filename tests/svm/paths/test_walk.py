"""The walk over kernels and costs: threads, callbacks, its table and its scores."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from kernelwise.kernels import RBF, Laplacian
from kernelwise.qp import Solution
from kernelwise.svm.paths.kernel_grid import KernelGrid
from kernelwise.svm.paths.rows import TrainingRows
from kernelwise.svm.paths.selection import SpanCriterion
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


def rows_of(X, y):
    """Return rows as they are."""
    classes, ones = np.unique(y, return_inverse=True)[1], np.ones(len(y))
    every = np.arange(len(y))
    return TrainingRows(X, codes_of(y), classes, ones, ones, every, every, ones)


def walked(X, y, kernels, *, criterion=SpanCriterion, solver="smo", **how):
    """Walk over kernels; return the path."""
    rows, steps = rows_of(X, y), how.pop("max_iter", -1)
    values = np.array([kernel.gamma for kernel in kernels])
    grid = KernelGrid(tuple(kernels), "gamma", values)
    solvers = PathSolvers(solver, max_iter=steps)
    return walk(grid, COSTS, rows, criterion(rows, bias=solver == "smo"), solvers, **how)


def some_kernels(cls, X):
    unit = 1 / (
        np.abs(X - X.mean(axis=0)).sum(axis=1).mean() if cls is Laplacian else X.var() * X.shape[1]
    )
    return [cls(gamma=unit * factor) for factor in (3.0, 1.0, 0.3)]


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


def test_a_point_is_scored_by_what_its_machines_leave():
    """Two rows, by hand: each is four away from the other, and wrong without it."""
    X, y = np.array([[-1.0], [1.0]]), np.array([0, 1])
    beta, K = np.array([-0.5, 0.5]), X @ X.T
    machine = Solution(beta, np.zeros(1), K @ beta - codes_of(y)[:, 0], -0.5, 0, 0, 1, "converged")
    found = SpanCriterion(rows_of(X, y)).evaluate(K, 10.0, [machine])
    assert found["loo_error"] == 1
    assert found["score"] == pytest.approx(1 + 1 / (1 + np.exp(-5)), rel=1e-5)
