"""Problems that make coefficients diverge or steps vanish: the solver ends, and tells the truth."""

import numpy as np
import pytest

from kernelwise.kernels import RBF, LazyGram, Linear, Sigmoid
from kernelwise.qp import SMO, c_svc, hard_margin
from tests.loop import loop


def solve_and_check(qp, **options):
    """Solve, and check what holds whatever the status."""
    solution = SMO(**options).solve(qp)
    assert solution.status in {"converged", "max_iter", "stalled"}
    assert np.isfinite(solution.beta).all()
    assert (qp.lo <= solution.beta).all()
    assert (solution.beta <= qp.hi).all()
    size = np.abs(solution.beta).sum()
    assert solution.beta.sum() == pytest.approx(qp.c[0], abs=1e-12 * (1 + size))
    return solution


def doubled_rows(n=150):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(n, 3))
    return np.vstack([rows, rows])


@loop("exact", [True, False])
@loop("kernel", [RBF(), Linear()])
def test_all_duplicates_in_conflict(kernel, exact):
    X = doubled_rows()
    y = np.repeat([1.0, -1.0], len(X) // 2)
    solution = solve_and_check(c_svc(LazyGram(kernel, X), y, 1e6), exact=exact)
    # Each pair cancels in K b, so that all of them go to the bound.
    assert solution.converged
    assert solution.objective == pytest.approx(-1e6 * len(X), rel=1e-9)


@loop("exact", [True, False])
def test_some_duplicates_in_conflict(exact):
    X = doubled_rows()
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    y[:40] *= -1
    qp = c_svc(LazyGram(RBF(gamma=0.5), X), y, 1e6)
    solution = solve_and_check(qp, exact=exact)
    assert solution.converged
    gradient = qp.gradient(solution.beta)
    assert qp.kkt_violation(solution.beta, solution.nu, gradient) <= 1e-3


@loop("spread", [0, 6])
def test_raw_columns_with_a_linear_kernel(spread):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5)) * 10.0 ** rng.integers(6 - spread, 7, size=5)
    y = np.where(X[:, 0] / X[:, 0].std() + 0.3 * rng.normal(size=200) > 0, 1.0, -1.0)
    qp = c_svc(LazyGram(Linear(), X), y, 1.0)
    solution = solve_and_check(qp)
    # A usable model: it separates what one column separates.
    assert np.mean(np.sign(solution.gradient + qp.p + solution.nu[0]) == y) > 0.8
    assert solution.gap >= 0
    if not solution.converged:
        assert solution.violation > 1e-3 / 2  # and it says so


@loop("C", [1.0, 1e3, 1e6])
@loop("kernel", [Sigmoid(gamma=0.5), Sigmoid(gamma=2.0, coef0=-1.0)])
def test_indefinite_kernels_end(kernel, C):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0)
    solution = solve_and_check(c_svc(LazyGram(kernel, X), y, C))
    assert np.isnan(solution.gap)
    assert solution.objective < 0
    if solution.converged:
        assert solution.violation <= 1e-3


def test_a_hard_margin_that_does_not_exist_is_not_called_solved():
    qp = hard_margin(np.ones((4, 4)), [1.0, -1.0, 1.0, -1.0])
    solution = solve_and_check(qp, max_iter=10_000)
    assert not solution.converged
    assert solution.gap == np.inf  # the problem is unbounded


def test_equal_rows_of_one_class():
    y = np.array([1.0, 1.0, 1.0, -1.0, -1.0])
    X = np.array([[1.0], [1.0], [1.0], [-1.0], [-1.0]])
    solution = solve_and_check(c_svc(X @ X.T, y, 10.0))
    assert solution.converged
    assert solution.objective == pytest.approx(-0.5)


@loop("dtype", [np.float32, np.float64])
def test_a_kernel_of_zeros(dtype):
    y = np.array([1.0, 1.0, -1.0])
    solution = solve_and_check(c_svc(np.zeros((3, 3), dtype=dtype), y, 2.0))
    assert solution.converged
    assert solution.objective == pytest.approx(-4.0)  # all of the smaller class at its bound
