"""A primal-dual interior-point method for bounds and several equalities (Mehrotra 1992).

    min 1/2 b'Kb - p'b   s.t.   Q'b = c + rho nu,   lo <= b <= hi

A ridge rho on the multipliers relaxes the equalities. Without it there may be no interior point:
features that separate some rows force their b to zero, and the multipliers diverge. With it they
are unique (the shortest ones as rho vanishes), and the equalities are violated by at most
sqrt(2 rho sum(hi - lo)).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError

from .._typing import Array
from .kkt_system import KKTSystem
from .reduced import Reduced

_MOST_STEPS = 200  # limit on the number of steps
_PATIENCE = 30  # steps near the end without a better point, after which only rounding is left
_NEAR = 1e-3  # mean product of distance to a bound and its multiplier, below which the end is near
_INSIDE = 0.9995  # largest step, as a fraction of the way to the nearest bound
_SIDES = np.array([[1.0], [-1.0]])  # derivatives of the distances to lo and to hi by b


@dataclass(frozen=True)
class InteriorMinimum:
    """The result: a point on or between the bounds, and the multipliers."""

    beta: Array
    nu: Array
    n_iter: int


@dataclass
class _State:
    beta: Array
    nu: Array
    rooms: Array  # distances to lo and to hi, one row each, kept as a subtraction would round to 0
    pushes: Array  # multipliers of these bounds

    def moved(self, step: _State, length: float) -> _State:
        return _State(
            self.beta + length * step.beta,
            self.nu + length * step.nu,
            self.rooms + length * step.rooms,
            self.pushes + length * step.pushes,
        )


def interior_point(problem: Reduced, tol: float) -> InteriorMinimum:
    """Minimise from the middle of the box.

    ``tol``: the violation at which to stop. Returns ``interior``, the minimum; variables closer to
    a bound than the size of its multiplier are put onto it.
    """
    state, n_iter, patience = _first(problem), 0, _PATIENCE
    best, least = InteriorMinimum(np.clip(0.0, problem.lo, problem.hi), state.nu, 0), np.inf
    while n_iter < _MOST_STEPS and patience:
        beta = _onto_bounds(problem, state)
        left = problem.violation(beta, state.nu)
        patience -= float((state.pushes * state.rooms).mean()) < _NEAR
        if left < least:
            best, least = InteriorMinimum(beta, state.nu, n_iter), left
            patience = _PATIENCE
        if least <= tol:
            break
        try:
            # An overflow leads to a step that is not finite, or to a system without a factor.
            with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
                step, length = _step(problem, state)
        except LinAlgError:
            break
        if not np.isfinite(step.nu).all():
            break
        state = state.moved(step, length)
        n_iter += 1
    return replace(best, n_iter=n_iter)


def _first(problem: Reduced) -> _State:
    """Return a point well inside the bounds, near the one that is closer to zero."""
    lo, hi = problem.lo, problem.hi
    inset = np.minimum((hi - lo) / 2, 1 / max(problem.size, 1e-300))
    beta = np.where(np.abs(lo) <= np.abs(hi), lo + inset, hi - inset)
    gradient = problem.K @ beta - problem.p
    product = inset.mean()  # of the distance to a bound and the bound's multiplier
    rooms = np.maximum(np.stack([beta - lo, hi - beta]), inset)  # where the inset is rounded away
    pushes = np.maximum(_SIDES * gradient, 0) + product / rooms
    return _State(beta, np.zeros(len(problem.c)), rooms, pushes)


def _step(problem: Reduced, state: _State) -> tuple[_State, float]:
    """Predict, measure how far that leads, correct; return the step and its length."""
    rooms, pushes = state.rooms, state.pushes
    residual = problem.K @ state.beta - problem.p + problem.Q @ state.nu - pushes[0] + pushes[1]
    excess = problem.excess(state.beta, state.nu)
    slopes = pushes / rooms
    system = KKTSystem(problem.K, problem.Q, problem.rho, slopes[0] + slopes[1])

    def towards(falls: Array) -> _State:
        """Return the step by which the products fall by given amounts."""
        pulls = falls / rooms
        d, nu = system.solve(-residual - pulls[0] + pulls[1], -excess)
        grown = _SIDES * d
        return _State(d, nu, grown, -pulls - slopes * grown)

    products = pushes * rooms
    mean = float(products.mean())
    step = towards(products)
    trial = state.moved(step, _length(state, step))
    reached = float((trial.pushes * trial.rooms).mean())
    target = mean * min(1.0, reached / mean) ** 3
    step = towards(products + step.rooms * step.pushes - target)
    length = _length(state, step)
    return step, 1.0 if length >= 1 else min(_INSIDE, max(0.9, 1 - mean)) * length


def _length(state: _State, step: _State) -> float:
    """Return the longest length up to 1 that keeps distances and multipliers positive."""
    shrink = min((step.rooms / state.rooms).min(), (step.pushes / state.pushes).min())
    return 1 / max(1.0, -float(shrink))


def _onto_bounds(problem: Reduced, state: _State) -> Array:
    (low, high), (below, above) = state.rooms, state.pushes
    at_low = (low < below) & (low <= high)
    at_high = (high < above) & (high < low)
    inside = np.clip(state.beta, problem.lo, problem.hi)
    beta: Array = np.where(at_low, problem.lo, np.where(at_high, problem.hi, inside))
    return beta
