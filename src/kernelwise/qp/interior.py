"""A primal-dual interior-point method for a box and several equalities (Mehrotra 1992).

    min 1/2 b'Kb - p'b   s.t.   Q'b = c + rho nu,   lo <= b <= hi

The equalities are held by a ridge rho on their multipliers. Without it there
may be no interior point at all: features that separate some rows force their b to zero, and the
multipliers run off to infinity. With it they are unique, the shortest as rho vanishes, and
what is left of the equalities is at most sqrt(2 rho sum(hi - lo)), whatever the problem.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError

from .._typing import Array
from .reduced import Reduced
from .saddle import Saddle

_MOST_STEPS = 80
_PATIENCE = 30  # steps without a better point, after which rounding is all that moves
_INSIDE = 0.9995  # of the way to the nearest bound, at most


@dataclass(frozen=True)
class Interior:
    """Where the method ended: a point on or between the bounds, and the multipliers."""

    beta: Array
    nu: Array
    n_iter: int


@dataclass
class _State:
    beta: Array
    nu: Array
    below: Array  # multipliers of lo <= b
    above: Array  # of b <= hi

    def moved(self, step: _State, length: float) -> _State:
        return _State(
            self.beta + length * step.beta,
            self.nu + length * step.nu,
            self.below + length * step.below,
            self.above + length * step.above,
        )


def interior_point(problem: Reduced, tol: float) -> Interior:
    """Minimise from the middle of the box.

    Parameters
    ----------
    problem : Reduced
        The problem.
    tol : float
        The violation at which to stop.

    Returns
    -------
    interior : Interior
        The minimum, with what is closer to a bound than it is held away put onto it.
    """
    state, n_iter, patience = _first(problem), 0, _PATIENCE
    best, least = Interior(np.clip(0.0, problem.lo, problem.hi), state.nu, 0), np.inf
    while n_iter < _MOST_STEPS and patience:
        beta = _onto_bounds(problem, state)
        left = problem.violation(beta, state.nu)
        patience -= 1
        if left < least:
            best, least = Interior(beta, state.nu, n_iter), left
            patience = _PATIENCE
        if least <= tol:
            break
        try:
            step, length = _step(problem, state)
        except LinAlgError:
            break
        if not np.isfinite(step.nu).all():
            break
        state = state.moved(step, length)
        n_iter += 1
    return replace(best, n_iter=n_iter)


def _first(problem: Reduced) -> _State:
    """Return a point well inside, near the bound that is nearer to zero."""
    lo, hi = problem.lo, problem.hi
    inset = np.minimum((hi - lo) / 2, 1 / max(problem.size, 1e-300))
    beta = np.where(np.abs(lo) <= np.abs(hi), lo + inset, hi - inset)
    gradient = problem.K @ beta - problem.p
    product = inset.mean()  # of a variable's distance to a bound and the bound's multiplier
    below = np.maximum(gradient, 0) + product / (beta - lo)
    above = np.maximum(-gradient, 0) + product / (hi - beta)
    return _State(beta, np.zeros(len(problem.c)), below, above)


def _step(problem: Reduced, state: _State) -> tuple[_State, float]:
    """Predict, look how far that leads, correct; return the step and how much of it to take."""
    residual = problem.residual(state.beta, state.nu) - state.below + state.above
    excess = problem.excess(state.beta, state.nu)
    low, high = state.beta - problem.lo, problem.hi - state.beta
    shift = state.below / low + state.above / high
    system = Saddle(problem.K, problem.Q, problem.rho, shift)

    def towards(at_low: Array, at_high: Array) -> _State:
        """Step to where the products fall by what is given."""
        d, nu = system.solve(-residual - at_low / low + at_high / high, -excess)
        below = (-at_low - state.below * d) / low
        above = (-at_high + state.above * d) / high
        return _State(d, nu, below, above)

    products = state.below * low, state.above * high
    mean = float((products[0].sum() + products[1].sum()) / (2 * len(low)))
    step = towards(*products)
    trial = state.moved(step, _room(state, step, low, high))
    reached = trial.below @ (trial.beta - problem.lo) + trial.above @ (problem.hi - trial.beta)
    target = mean * min(1.0, float(reached / (2 * len(low) * mean))) ** 3
    step = towards(
        products[0] + step.beta * step.below - target, products[1] - step.beta * step.above - target
    )
    room = _room(state, step, low, high)
    return step, 1.0 if room >= 1 else min(_INSIDE, max(0.9, 1 - mean)) * room


def _room(state: _State, step: _State, low: Array, high: Array) -> float:
    """Return how much of a step keeps everything positive, at most all of it."""
    changes = step.beta / low, -step.beta / high, step.below / state.below
    most = max(-float(change.min()) for change in (*changes, step.above / state.above))
    return 1 / max(1.0, most)


def _onto_bounds(problem: Reduced, state: _State) -> Array:
    low, high = state.beta - problem.lo, problem.hi - state.beta
    at_low = (low < state.below) & (low <= high)
    at_high = (high < state.above) & (high < low)
    beta: Array = np.where(at_low, problem.lo, np.where(at_high, problem.hi, state.beta))
    return beta
