"""Newton steps between sets of variables at their bounds (a primal-dual active-set method).

Once it is known which variables are at which bound, the others solve one linear system. Variables
that leave their bounds in its solution are put onto them, variables whose multiplier has the wrong
sign are freed, until neither happens: the point is then exact. From a good start that takes two to
five systems. From a bad one it may cycle, so it stops when the number of wrong variables grows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError

from .._typing import Array
from .kkt_system import KKTSystem
from .reduced import Reduced

_MOST_STEPS = 20  # limit on the number of linear systems
_SNAP = 1e-10  # distance to a bound within which a variable is put onto it, in units of the margin


@dataclass(frozen=True)
class SettledPoint:
    """A point that satisfies all conditions, and its multipliers."""

    beta: Array
    nu: Array


def switch_bounds(
    problem: Reduced, beta: Array, nu: Array, tol: float
) -> tuple[SettledPoint | None, int]:
    """Step between sets of variables at their bounds, starting from the bounds of a point.

    ``beta`` (n,): coefficients within the bounds. ``nu`` (r,): multipliers; with the coefficients
    they determine the first sets. ``tol``: tolerance for a multiplier of a bound that has the wrong
    sign. Returns ``settled``, the solution; None where the steps do not lead to it; ``n_steps``,
    number of linear systems solved.
    """
    K, Q, lo, hi = problem.K, problem.Q, problem.lo, problem.hi
    gradient = problem.product(beta) - problem.p
    residual = gradient + Q @ nu
    at_lo, at_hi = (beta <= lo) & (residual >= 0), (beta >= hi) & (residual <= 0)
    fewest, patience = np.inf, 2
    for n_steps in range(1, _MOST_STEPS + 1):
        free = np.flatnonzero(~(at_lo | at_hi))
        try:
            system = KKTSystem(K[np.ix_(free, free)], Q[free], problem.rho)
        except LinAlgError:
            break
        step, nu = system.solve(-gradient[free], -problem.excess(beta, np.zeros_like(nu)))
        reached = beta[free] + step
        residual = gradient + step @ K[free] + Q @ nu
        freed = (at_lo & (residual < -tol)) | (at_hi & (residual > tol))
        below, above = reached < lo[free], reached > hi[free]
        wrong = int(freed.sum() + below.sum() + above.sum())
        new = beta.copy()
        new[free] = np.clip(reached, lo[free], hi[free])
        if wrong == 0:
            # With the ridge centred on the multipliers the equalities hold exactly.
            closer = replace(problem, centre=nu)
            step, nu = system.solve(-gradient[free], -closer.excess(beta, np.zeros_like(nu)))
            new[free] = beta[free] + step
            return SettledPoint(_snapped(problem, new), nu), n_steps
        if not wrong < fewest:
            patience -= 1
            if patience < 0 or wrong > 2 * fewest + 10:
                break
        fewest = min(fewest, wrong)
        at_lo, at_hi = at_lo & ~freed, at_hi & ~freed
        at_lo[free], at_hi[free] = below, above
        gradient = gradient + problem.product(new - beta)
        beta = new
    return None, n_steps


def _snapped(problem: Reduced, beta: Array) -> Array:
    """Put variables onto a bound that rounding left next to it or beyond it."""
    lo, hi = problem.lo, problem.hi
    near = _SNAP * np.minimum(hi - lo, 1 / max(problem.size, 1e-300))
    snapped: Array = np.where(beta < lo + near, lo, np.where(beta > hi - near, hi, beta))
    return snapped
