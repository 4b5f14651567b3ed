"""Algorithm 1 of the margin-radius paper, completed in three ways.

Printed, a step ascends and leaves the simplex. Each completion descends along dJ/dmu = -q/2:

    boundary    project the gradient onto the directions that stay on the simplex; the step ends at
                the first boundary
    reduced     SimpleMKL's reduced gradient, which the paper cites as its optimiser: past each
                boundary the step goes on without that weight while J falls
    projection  the whole step, then the nearest point of the simplex
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from kernelwise._typing import Array
from kernelwise.svm.margin_radius.descent import PAPER_GAP, absolute_gap, descend
from kernelwise.svm.margin_radius.problem import CentredColumns, Problem, WeightedPoint
from kernelwise.svm.margin_radius.solver import MachineSolver

MOMENTS = (1, 2, 5, 10, 20, 50, 100, 200)  # steps after which columns are counted


@dataclass(frozen=True)
class Completed:
    """A run of Algorithm 1."""

    point: WeightedPoint
    used: list[int]  # columns with a weight after the steps of `MOMENTS`, as far as it came
    n_steps: int
    stopped: bool  # at the paper's gap, not for want of steps


def completed(name: str, X: Array, y: Array, C: float, most: int) -> Completed:
    """Run a completion from equal weights, to the paper's gap or a number of steps."""
    columns = CentredColumns.of(X, own_units=False)
    problem = Problem(columns.apply(X), columns.ridge(C), y, np.ones(len(y)))
    scale = columns.unit[0] ** 2  # the paper's J is in the units of the columns
    used: list[int] = []

    def report(step: int, point: WeightedPoint) -> None:
        if step - 1 in MOMENTS:  # the report comes before the step
            used.append(int(np.count_nonzero(point.weights)))

    if name == "boundary":
        found = descend(problem, gap=PAPER_GAP * scale, max_iter=most, report=report)
        return Completed(found.point, used, found.n_iter, found.status == "converged")
    machines = MachineSolver(problem)
    point = machines.at(np.full(problem.size, 1 / problem.size))
    step = {"reduced": _reduced, "projection": _projected}[name]
    for number in range(1, most + 1):
        report(number, point)
        if absolute_gap(point) < PAPER_GAP * scale:
            return Completed(point, used, number, True)
        following = step(machines, point)
        if following.value >= point.value * (1 - 1e-14):
            return Completed(point, used, number, False)
        point = following
    return Completed(point, used, most, False)


def reduced_direction(point: WeightedPoint) -> tuple[Array, int]:
    """Return SimpleMKL's direction (Rakotomamonjy et al. 2008, eq. 12), and its pivot."""
    slopes, pivot = -point.q / 2, int(point.weights.argmax())
    relative = slopes - slopes[pivot]
    move = np.where((point.weights == 0) & (relative > 0), 0.0, -relative)
    move[pivot] = 0.0
    move[pivot] = -move.sum()
    return move, pivot


def _reduced(machines: MachineSolver, point: WeightedPoint) -> WeightedPoint:
    """Pass boundaries while J falls, then take the best step on the last stretch."""
    move, pivot = reduced_direction(point)

    def along(t: float) -> Array:
        return point.weights + t * move

    while True:
        falling = np.flatnonzero(move < 0)
        if not len(falling):
            return point
        rooms = -point.weights[falling] / move[falling]
        longest, gone = float(rooms.min()), falling[rooms.argmin()]
        end = machines.at(_on_simplex(point.weights + longest * move, gone))
        if end.value >= point.value:
            return _best_on(machines, point, along, longest)
        point = end
        move[pivot] += move[gone]
        move[gone] = 0.0
        if gone == pivot:
            return point


def _projected(machines: MachineSolver, point: WeightedPoint) -> WeightedPoint:
    """Take the best step along the projections of the half line of the negative gradient."""

    def arc(t: float) -> Array:
        return nearest_on_simplex(point.weights + t * point.q / 2)

    longest = 1 / max(float(point.q.max()), 1e-300) / len(point.q)
    value = point.value
    while (further := machines.at(arc(2 * longest)).value) < value:
        longest, value = 2 * longest, further
    return _best_on(machines, point, arc, 2 * longest)


def _best_on(
    machines: MachineSolver, point: WeightedPoint, arc: Callable[[float], Array], longest: float
) -> WeightedPoint:
    def value(t: float) -> float:
        return machines.at(_on_simplex(arc(t))).value

    options: Any = {"xatol": 1e-8 * longest}
    t = float(minimize_scalar(value, bounds=(0.0, longest), method="bounded", options=options).x)
    best = machines.at(_on_simplex(arc(t)))
    return best if best.value < point.value else point


def _on_simplex(weights: Array, gone: Any = None) -> Array:
    weights = np.maximum(weights, 0.0)
    if gone is not None:
        weights[gone] = 0.0
    scaled: Array = weights / weights.sum()
    return scaled


def nearest_on_simplex(v: Array) -> Array:
    """Return the nearest point of the simplex."""
    ordered = np.sort(v)[::-1]
    excess = (np.cumsum(ordered) - 1) / np.arange(1, len(v) + 1)
    level = excess[np.flatnonzero(ordered > excess)[-1]]
    return np.maximum(v - level, 0.0)
