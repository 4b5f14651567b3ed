"""Weights that minimise the margin-radius problem: by Newton steps, down to a certified gap.

    min J(m)   s.t.   |m|_p <= 1,  m >= 0

p = 1: sequential quadratic programming on the simplex with the exact Hessian; where there are many
columns only on those with a weight and on those that violate the optimality conditions most
(column generation). The gap is over all columns.

p != 1: the closed-form alternating update m_k ~ (m_k^2 q_k)^(1 / (p + 1)), which always descends,
and for p > 1 a Newton step in the logarithms of m before it. For p < 1 the problem is not convex:
the answer is a stationary point.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.lapack import dposv
from scipy.optimize import nnls

from ..._typing import Array, Index
from .problem import Problem, WeightedPoint

_RIDGE = 1e-11  # ridge relative to the largest diagonal entry: H may be singular
_SLACK = 1e-12  # relative tolerance on the sign of a multiplier


def simplex_qp(H: Array, c: Array, start: Array) -> Array:
    """Minimise 1/2 x'Hx + c'x over the simplex.

    Shapes: ``c`` (k,). ``H`` (k, k): a positive semi-definite matrix. A little of the identity is
    added, so that the minimum is unique. ``start`` (k,): a point of the simplex; its positive
    entries are free at first. Returns ``x`` (k,): the minimum, with exact zeros. Never above the
    start, also where rounding ends it early.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.svm.margin_radius.solver import simplex_qp
    >>> simplex_qp(np.eye(3), np.array([0.0, 0.5, 2.0]), np.full(3, 1 / 3))
    array([0.75, 0.25, 0.  ])
    """
    size = float(np.diagonal(H).max()) or 1.0
    # The same number everywhere changes no minimum of sum one, and is the curvature that H may lack
    # across the simplex. The ridge pulls towards the start.
    H, c = H + size * (1 + _RIDGE * np.eye(len(H))), c - _RIDGE * size * start
    x, free = start.copy(), start > 0
    for _ in range(10 * len(H) + 10):
        target, level = _on_face(H, c, free)
        if (target >= 0).all():
            x[free] = target
            slopes = H @ x + c - level  # gain from raising an entry above the common level
            slopes[free] = 0
            worst = int(slopes.argmin())
            if slopes[worst] >= -_SLACK * (abs(level) + np.abs(c).max()):
                break
            free[worst] = True
        else:
            x, free = _to_the_boundary(x, free, target)
    return x / x.sum()


def _on_face(H: Array, c: Array, free: Any) -> tuple[Array, float]:
    """Minimise over the free entries with sum one, signs aside; also the common slope there."""
    A, rhs = H[np.ix_(free, free)], np.column_stack([-c[free], np.ones(int(free.sum()))])
    scale = float(np.diagonal(A).max())
    for ridge in (0.0, 1e-9, 1e-6):
        A.flat[:: len(A) + 1] += ridge * scale
        _, solved, failed = dposv(A, rhs)
        if not failed:
            by_c, by_one = solved.T
            level = float((1 - by_c.sum()) / by_one.sum())
            return by_c + level * by_one, level
    # A ridge of 1e-6 suffices for anything that is nearly PSD.
    raise ValueError("H must be positive semi-definite.")  # pragma: no cover


def _to_the_boundary(x: Array, free: Any, target: Array) -> tuple[Array, Any]:
    """Go towards the target until an entry is zero, and hold that entry."""
    own = x[free]
    falling = target < 0
    room = np.where(falling, own / np.where(falling, own - target, 1.0), np.inf)
    step = float(room.min())
    moved = own + step * (target - own)
    moved[room <= step] = 0.0
    x, free = x.copy(), free.copy()
    x[free] = np.maximum(moved, 0.0)
    where = np.flatnonzero(free)
    free[where[room <= step]] = False
    return x, free


_FEW = 200  # with at most this many columns, every step considers all of them
_MORE = 50  # columns added per step where there are more
_ARMIJO = 1e-4  # share of the predicted decrease that a step must reach
_TRIALS = 100  # step lengths tried before a step counts as stalled
_ROUNDING = 1e-12  # relative rounding error of J
_LOG_STEP = 3.0  # largest change of a log weight in one Newton step
_NO_WEIGHT = 1e-9  # weights below this fraction of the largest become zero (p < 1)


@dataclass(frozen=True)
class MarginRadiusResult:
    """Weights that were learned."""

    point: WeightedPoint  # the problem at the weights
    gap: float
    n_iter: int
    n_solves: int
    status: str  # "converged", "max_iter" or "stalled"


Report = Callable[[int, WeightedPoint], Any]


class MachineSolver:
    """Solves machines, each from the violators of the one before, and counts them."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.n_solves = problem, 0
        self._violators: Any = None

    def at(self, weights: Array) -> WeightedPoint:
        """Solve the machine at some weights."""
        self.n_solves += 1
        point = self.problem.at(weights, self._violators)
        self._violators = point.violators
        return point


def learn(
    problem: Problem,
    *,
    p: float = 1.0,
    tol: float = 1e-4,
    max_iter: int = 1000,
    start: Array | None = None,
    report: Report | None = None,
) -> MarginRadiusResult:
    """Minimise J over the weights of lp norm one.

    ``problem``: the problem of one machine. ``tol``: the relative duality gap to reach; for p < 1
    the violation of stationarity. ``max_iter``: most steps. ``start`` (k,): where to start; None is
    equal weights, and so are zeros where p is not 1. ``report``: called with the number of each
    step and its point. Returns ``learned``, the weights and their certificate.
    """
    solver = MachineSolver(problem)
    point = _first(solver, start, p)
    step = _newton_step if p == 1 else _lp_step
    status, n_iter = "max_iter", 0
    for n_iter in range(1, max_iter + 1):
        if report is not None:
            report(n_iter, point)
        if _is_optimal(point, p, tol):
            status = "converged"
            break
        following = step(solver, point, p)
        if following is None:
            status = "stalled"
            break
        point = following
    if p == 1 and status == "converged":
        point = _basic(solver, point, tol)
    return MarginRadiusResult(point, point.gap(p), n_iter, solver.n_solves, status)


def _basic(solver: MachineSolver, point: WeightedPoint, tol: float) -> WeightedPoint:
    """Make at most as many weights as rows, where columns depend on each other.

    The decision values of the rows, up to a constant, and rho are linear in the weights at a fixed
    a: n equations, of which non-negative least squares finds a solution on independent columns.
    """
    problem, used = solver.problem, np.flatnonzero(point.weights)
    if len(used) <= len(problem.y):
        return point
    Z = problem.Z[:, used]
    values = Z * (point.beta @ Z)
    equations = np.vstack([values - values.mean(axis=0), problem.ridge[used]])
    equations /= np.linalg.norm(equations, axis=1, keepdims=True).max()
    weights = np.zeros(problem.size)
    weights[used] = nnls(equations, equations @ point.weights[used])[0]
    basic = solver.at(weights / weights.sum())
    return basic if basic.gap() <= tol else point


def _first(solver: MachineSolver, start: Array | None, p: float) -> WeightedPoint:
    """Solve at the start: given weights, equal weights, or equal weights of the best columns."""
    size = solver.problem.size
    if size == 0:  # nothing varies: an intercept alone, and no gap
        return solver.at(np.empty(0))
    if start is not None and (p == 1 or start.all()):  # the updates of p != 1 keep a zero
        return solver.at(start / _norm(start, p))
    point = solver.at(np.full(size, size ** (-1 / p)))
    if p != 1 or size <= _FEW:
        return point
    best = np.argsort(-point.q, kind="stable")[:_MORE]
    weights = np.zeros(size)
    weights[best] = 1 / len(best)
    return solver.at(weights)


def _norm(weights: Array, p: float) -> float:
    most = float(weights.max())
    return most * float(((weights / most) ** p).sum() ** (1 / p))


def _is_optimal(point: WeightedPoint, p: float, tol: float) -> bool:
    if p >= 1 or len(point.weights) == 0:
        return point.gap(p) <= tol
    # Stationary: m_k q_k = m_k^p sum(m q) for every column.
    share = point.weights * point.q
    return float(np.abs(share / share.sum() - point.weights**p).sum()) <= tol


# --- p = 1 ---------------------------------------------------------------------------------------


def _in_view(point: WeightedPoint) -> Index:
    """Return the columns of a step: all, or those with a weight and the worst violators."""
    if len(point.weights) <= _FEW:
        return np.arange(len(point.weights))
    has = point.weights > 0
    without = np.flatnonzero(~has & (point.q > float(point.weights @ point.q)))
    worst = without[np.argsort(-point.q[without], kind="stable")[:_MORE]]
    return np.sort(np.concatenate([np.flatnonzero(has), worst]))


def _newton_step(solver: MachineSolver, point: WeightedPoint, p: float) -> WeightedPoint | None:
    """Minimise the quadratic model on the simplex, then shorten the step until J falls."""
    columns = _in_view(point)
    H, gradient = solver.problem.hessian(point, columns), -point.q[columns] / 2
    here = point.weights[columns]
    move = simplex_qp(H, gradient - H @ here, here) - here
    slope, length = float(gradient @ move), 1.0
    for _ in range(_TRIALS):
        weights = np.zeros(len(point.weights))
        weights[columns] = here + length * move
        trial = solver.at(weights)
        if trial.value <= point.value + _ARMIJO * length * slope or _is_closer(trial, point):
            return trial
        if -slope * length <= _ROUNDING * point.value:
            return None
        there = -float(trial.q[columns] @ move) / 2
        length *= _lowest_of_cubic(trial.value - point.value, length * slope, length * there)
    return None


def _lowest_of_cubic(rise: float, slope: float, there: float) -> float:
    """Return where in [0.1, 0.9] a cubic is lowest, by its slopes at 0 and 1 and the rise between.

    J has a pole where a weight that is needed is zero; the slope shows how near it is.
    """
    middle = slope + there - 3 * rise
    root = float(np.sqrt(max(0.0, middle**2 - slope * there)))
    lowest = 1 - (there + root - middle) / (there - slope + 2 * root)
    return float(np.clip(lowest, 0.1, 0.9))


def _is_closer(trial: WeightedPoint, point: WeightedPoint) -> bool:
    """Return whether J is equal up to rounding and the gap has at least halved."""
    return trial.value <= point.value * (1 + _ROUNDING) and trial.gap() < point.gap() / 2


# --- p != 1 --------------------------------------------------------------------------------------


def _lp_step(solver: MachineSolver, point: WeightedPoint, p: float) -> WeightedPoint | None:
    """Take a Newton step where it descends, else the alternating update."""
    if p > 1 and len(point.weights) <= 2 * _FEW:
        trial = solver.at(_newton_weights(solver.problem, point, p))
        if trial.value < point.value:
            return trial
    weights = (point.weights**2 * point.q) ** (1 / (p + 1))
    if p < 1:
        weights[weights < _NO_WEIGHT * weights.max()] = 0.0
    trial = solver.at(weights / _norm(weights, p))
    return trial if trial.value < point.value else None


def _newton_weights(problem: Problem, point: WeightedPoint, p: float) -> Array:
    """Take a Newton step on J(m) + J0 sum(m^p) / p in log m, which has its minimum at norm one."""
    m, J = point.weights, point.value
    power = J * m**p
    pull = -m * point.q / 2
    H = m[:, None] * problem.hessian(point, np.arange(len(m))) * m
    # The exact diagonal is p * power + pull; far from the minimum it may be negative.
    H[np.diag_indices_from(H)] += np.maximum(p * power + pull, (p - 1) * power)
    step = cho_solve(cho_factor(H, check_finite=False), -(pull + power))
    weights = m * np.exp(np.clip(step, -_LOG_STEP, _LOG_STEP))
    return weights / _norm(weights, p)
