"""Algorithm 1 of the paper: gradient descent on the weights, with the optimal step.

    mu = 1/d
    repeat: solve the machine at mu; mu <- mu + t dJ/dmu with the optimal t
    until   the duality gap is below 0.01

Printed like this it cannot run: the step ascends, and it leaves the simplex. Here the direction is
the negative gradient projected onto the feasible directions of the simplex, and the step ends at
its boundary. All else is as printed, the absolute gap included.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from ..._typing import Array
from .problem import Problem, WeightedPoint
from .solver import MachineSolver, MarginRadiusResult, Report

PAPER_GAP = 0.01  # absolute duality gap at which the paper stops
_STEP_TOL = 1e-10  # tolerance of the optimal step, relative to the longest feasible one
_FLAT = 1e-14  # slope relative to J at which no direction descends


def descend(
    problem: Problem,
    *,
    gap: float = PAPER_GAP,
    max_iter: int = 1000,
    start: Array | None = None,
    report: Report | None = None,
) -> MarginRadiusResult:
    """Minimise J over the simplex by gradient descent.

    ``problem``: the problem of one machine. ``gap``: the absolute duality gap to reach, in the
    units of J. ``max_iter``: most steps. ``start`` (k,): where to start; None is equal weights.
    ``report``: called with the number of each step and its point. Returns ``learned``, the weights;
    the gap in it is relative to J and as tight as the dual coefficients allow.
    """
    machines = MachineSolver(problem)
    size = problem.size
    point = machines.at(np.full(size, 1 / max(size, 1)) if start is None else start)
    status, n_iter = "max_iter", 0
    for n_iter in range(1, max_iter + 1):
        if report is not None:
            report(n_iter, point)
        if absolute_gap(point) < gap:
            status = "converged"
            break
        following = _step(machines, point)
        if following is None:
            status = "stalled"
            break
        point = following
    return MarginRadiusResult(point, point.gap(), n_iter, machines.n_solves, status)


def absolute_gap(point: WeightedPoint) -> float:
    """Return J minus the dual value sum a - 1/2 max_k q_k of the dual coefficients at hand."""
    dual = point.total - 0.5 * float(point.q.max(initial=0.0))
    return point.value - dual if len(point.q) else 0.0


def direction(point: WeightedPoint) -> Array:
    """Project the negative gradient q / 2 onto the directions that stay on the simplex.

    Entries without a weight may only grow, and the sum is zero: subtract a common level from the
    entries that move. An entry of weight zero moves if it is above the level.
    """
    pull = point.q / 2
    moving = point.weights > 0
    waiting = np.flatnonzero(~moving)
    waiting = waiting[np.argsort(-pull[waiting], kind="stable")]
    n_moving = int(moving.sum()) + np.arange(len(waiting) + 1)
    levels = (pull[moving].sum() + np.append(0.0, np.cumsum(pull[waiting]))) / n_moving
    below = np.flatnonzero(pull[waiting] <= levels[:-1])  # from the first of these on, none moves
    n_joining = int(below[0]) if len(below) else len(waiting)
    moving[waiting[:n_joining]] = True
    return np.where(moving, pull - levels[n_joining], 0.0)


def _step(machines: MachineSolver, point: WeightedPoint) -> WeightedPoint | None:
    """Go along the direction to the minimum of J, which is convex there; None where it is flat."""
    move = direction(point)
    if float(point.q @ move) / 2 <= _FLAT * point.value:
        return None
    falling = move < 0
    room = np.where(falling, point.weights / np.where(falling, -move, 1.0), np.inf)
    longest = float(room.min())

    def at(length: float) -> WeightedPoint:
        weights = np.maximum(point.weights + length * move, 0.0)
        weights[room <= length] = 0.0
        return machines.at(weights / weights.sum())

    def slope(length: float) -> float:
        return -float(at(length).q @ move) / 2

    end = at(longest)
    if -float(end.q @ move) <= 0:
        return end
    length = brentq(slope, 0.0, longest, xtol=_STEP_TOL * longest, rtol=1e-12)
    trial = at(length)
    return trial if trial.value < point.value else None
