"""The linear machine with squared slack, solved exactly by a finite active-set Newton method.

    min over v, b of  1/2 v'v + 1/2 sum_i s_i max(0, 1 - y_i (z_i'v + b))^2

The objective is a quadratic on each set of violators (rows inside the margin). A step solves the
quadratic of the current set; when the solution has the same violators, it is the minimum up to
rounding. There are finitely many sets and every step descends, so the method ends (Keerthi and
DeCoste 2005). The system has one row per feature or one per violator, whichever is fewer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError
from scipy.linalg.lapack import dposv

from .._typing import Array

_MAX_SYSTEMS = 200  # limit on the number of linear systems
_SEARCHES = 60  # limit on the number of trial steps of a line search
_ROUNDING = 1e-15  # relative decrease that is only rounding


@dataclass(frozen=True)
class HingeMinimum:
    """The minimum, in primal and dual form."""

    coef: Array  # (d,)
    intercept: float
    alpha: Array  # (n,), the dual coefficients s_i max(0, 1 - y_i f_i)
    value: float
    violators: Any  # (n,), the rows inside the margin, a start for a similar problem
    n_systems: int  # number of linear systems solved


@dataclass(frozen=True)
class _HingePoint:
    coef: Array
    intercept: float
    decision: Array
    beta: Array | None  # the signed dual coefficients, where the point is the minimum of a system


def squared_hinge(Z: Array, y: Array, cost: Array, start: Any = None) -> HingeMinimum:
    """Minimise 1/2 v'v + 1/2 sum_i cost_i max(0, 1 - y_i (z_i'v + b))^2.

    ``Z`` (n, d): the rows; without columns only the intercept is fitted. ``y`` (n,): codes -1 and
    +1; both must occur. ``cost`` (n,): the positive cost of each row's squared slack. ``start``
    (n,): the first set of violators; None is all rows.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.qp.squared_hinge import squared_hinge
    >>> Z, y = np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0])
    >>> squared_hinge(Z, y, np.ones(2)).alpha.round(4)
    array([0.3333, 0.3333])
    """
    system = _System(Z, y, cost)
    inside = np.ones(len(y), dtype=bool) if start is None or not np.any(start) else start
    point = system.solve(inside, 0.0)
    value = system.value(point)
    n_systems = 1
    while n_systems < _MAX_SYSTEMS:
        now = y * point.decision < 1
        if point.beta is not None and np.array_equal(now, inside):
            break  # the minimum of the quadratic of this set is that of the objective
        inside, n_systems = now, n_systems + 1
        target = system.solve(inside, point.intercept)
        previous, (point, value) = value, system.descend(point, value, target)
        if previous - value <= _ROUNDING * previous:
            break  # rows lie on the margin, and rounding decides on which side
    now = y * point.decision < 1
    # Where the slack is tiny and the cost large, this product is less precise than the system.
    beta = cost * (y - point.decision) if point.beta is None else point.beta
    alpha = _balanced(np.where(now, np.maximum(0.0, y * beta), 0.0), y)
    return HingeMinimum(point.coef, point.intercept, alpha, value, now, n_systems)


def _balanced(alpha: Array, y: Array) -> Array:
    """Make y'alpha exactly zero, so that alpha is feasible and certifies the minimum."""
    sums = np.array([alpha[y < 0].sum(), alpha[y > 0].sum()])
    if not sums.all():
        return np.zeros_like(alpha)
    return alpha * np.where(y > 0, sums.min() / sums[1], sums.min() / sums[0])


class _System:
    """The quadratic of a set of violators, and the objective along a line."""

    def __init__(self, Z: Array, y: Array, cost: Array) -> None:
        self._Z, self._y, self._cost = Z, y, cost
        self._gram: Array | None = None

    def solve(self, inside: Any, intercept: float) -> _HingePoint:
        """Minimise the quadratic with the squared slack of the given rows only."""
        Z, cost, y = self._Z[inside], self._cost[inside], self._y[inside]
        if len(y) == 0:  # no violators: zero weights, any intercept
            return self._at(np.zeros(self._Z.shape[1]), intercept)
        if Z.shape[1] <= Z.shape[0]:
            point = self._at(*_by_features(Z, y, cost))
            return replace(point, beta=self._cost * (self._y - point.decision))
        if self._gram is None:
            self._gram = self._Z @ self._Z.T
        own, intercept = _by_rows(self._gram[np.ix_(inside, inside)], y, cost)
        beta = np.zeros(len(self._y))
        beta[inside] = own
        return replace(self._at(own @ Z, intercept), beta=beta)

    def _at(self, coef: Array, intercept: float) -> _HingePoint:
        return _HingePoint(coef, intercept, self._Z @ coef + intercept, None)

    def value(self, point: _HingePoint) -> float:
        slack = np.maximum(0.0, 1 - self._y * point.decision)
        return float(0.5 * point.coef @ point.coef + 0.5 * self._cost @ slack**2)

    def descend(
        self, point: _HingePoint, value: float, target: _HingePoint
    ) -> tuple[_HingePoint, float]:
        """Move to the target, or to the lowest point on the line to it."""
        there = self.value(target)
        if there <= value:
            return target, there
        step = self._step(point, target)
        coef = point.coef + step * (target.coef - point.coef)
        intercept = point.intercept + step * (target.intercept - point.intercept)
        between = self._at(coef, intercept)
        return between, self.value(between)

    def _step(self, point: _HingePoint, target: _HingePoint) -> float:
        """Find the zero of the slope along the line, which is piecewise linear and increasing."""
        move, rate = target.coef - point.coef, self._y * (target.decision - point.decision)
        low, high, step = 0.0, 1.0, 0.5  # the value is higher at the target, so the zero is before
        for _ in range(_SEARCHES):
            slack = 1 - self._y * point.decision - step * rate
            pull = np.where(slack > 0, self._cost, 0.0) * rate
            slope = float(move @ point.coef + step * (move @ move) - pull @ slack)
            low, high = (low, step) if slope > 0 else (step, high)
            newton = step - slope / float(move @ move + pull @ rate)
            if abs(newton - step) <= _ROUNDING * step:
                break
            step = newton if low < newton < high else (low + high) / 2
        return step


def _by_features(Z: Array, y: Array, cost: Array) -> tuple[Array, float]:
    """Solve (I + Z'SZ) v = Z'S y on columns centred by means with weights S."""
    share = cost / cost.sum()
    centre, level = share @ Z, float(share @ y)
    root = np.sqrt(cost)
    rows = root[:, None] * (Z - centre)
    A = rows.T @ rows
    A.flat[:: len(A) + 1] += 1.0
    coef = _solved(A, rows.T @ (root * (y - level)))
    return coef, level - float(centre @ coef)


def _by_rows(K: Array, y: Array, cost: Array) -> tuple[Array, float]:
    """Solve (K + 1/S) beta + b = y with sum beta = 0."""
    A = K.copy()
    A.flat[:: len(A) + 1] += 1 / cost
    by_y, by_one = _solved(A, np.column_stack([y, np.ones(len(y))])).T
    intercept = float(by_y.sum() / by_one.sum())
    return by_y - intercept * by_one, intercept


def _solved(A: Array, right: Array) -> Array:
    """Solve a positive definite system, whose matrix is overwritten.

    LAPACK is called without SciPy's wrappers, which take longer than a system of few columns.
    """
    if len(A) == 0:  # LAPACK refuses an empty matrix
        return right
    # A is symmetric, and its transpose needs no copy
    solved: Array
    _, solved, failed = dposv(A.T, right, overwrite_a=True)
    if failed:
        raise LinAlgError("the system of the violators is not positive definite")
    return solved
