"""Newton steps between sets of variables at their bounds (a primal-dual active-set method).

Where it is known which variables stand at which bound, the rest is one linear system. What then
leaves its bounds goes onto them, what a bound holds back against its multiplier is set free, and so
on until neither happens: the point is then exact. From a good start that takes two to five systems,
from a bad one it may never end, so that it gives up when things get worse.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError

from .._typing import Array
from .kkt_system import Saddle
from .reduced import Reduced

_MOST_STEPS = 20
_SNAP = 1e-10  # of what moves a row by a margin: what is closer to a bound stands on it


@dataclass(frozen=True)
class Settled:
    """A point that satisfies all conditions, and its multipliers."""

    beta: Array
    nu: Array


def settle(problem: Reduced, beta: Array, nu: Array, tol: float) -> tuple[Settled | None, int]:
    """Step between sets, from those of a point.

    Parameters
    ----------
    problem : Reduced
        The problem.
    beta : ndarray of shape (n,)
        Coefficients within the bounds.
    nu : ndarray of shape (r,)
        Multipliers; the two tell in which sets to start.
    tol : float
        How much of the wrong sign a multiplier of a bound may have.

    Returns
    -------
    settled : Settled or None
        The solution; None where the steps do not lead there.
    n_steps : int
        Linear systems solved.
    """
    K, Q, lo, hi = problem.K, problem.Q, problem.lo, problem.hi
    gradient = problem.product(beta) - problem.p
    residual = gradient + Q @ nu
    at_lo, at_hi = (beta <= lo) & (residual >= 0), (beta >= hi) & (residual <= 0)
    fewest, patience = np.inf, 2
    for n_steps in range(1, _MOST_STEPS + 1):
        free = np.flatnonzero(~(at_lo | at_hi))
        try:
            system = Saddle(K[np.ix_(free, free)], Q[free], problem.rho)
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
            # Drawn to where they are, the multipliers leave nothing of the equalities.
            closer = replace(problem, centre=nu)
            step, nu = system.solve(-gradient[free], -closer.excess(beta, np.zeros_like(nu)))
            new[free] = beta[free] + step
            return Settled(_snapped(problem, new), nu), n_steps
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
    """Return the point with what rounding left beside a bound, or beyond it, put onto it."""
    lo, hi = problem.lo, problem.hi
    near = _SNAP * np.minimum(hi - lo, 1 / max(problem.size, 1e-300))
    snapped: Array = np.where(beta < lo + near, lo, np.where(beta > hi - near, hi, beta))
    return snapped
