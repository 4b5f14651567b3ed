"""Exactness: an active-set method on the free variables, in float64.

SMO ends within a tolerance, at a point that depends on where it started. From there the set of free
variables is nearly right, and on that set the optimum is one linear system:

    K_FF d + nu 1 = -g_F,   1'd = 0

A variable that runs into its bound on the way leaves the set; one that a bound holds back against
its gradient joins it.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from .._typing import Array, Index
from .problem import DualQP, Solution

_CHEAP = 1e5  # kernel entries (and a hundredth of a factorisation's operations) worth spending
_TIGHT_CHEAP = 3e7  # the same when a tight tolerance was asked for
_ROUNDS = 100
_RIDGE = 1e-10  # on the free block, relative: equal rows make it singular


def polish(qp: DualQP, solution: Solution, tol: float) -> Solution:
    """Solve exactly on the free variables where that is cheap; else return the solution as it is.

    Parameters
    ----------
    qp : DualQP
        The problem.
    solution : Solution
        A solution within ``tol``.
    tol : float
        Its tolerance.

    Returns
    -------
    solution : Solution
        One with a violation that is not larger.
    """
    beta = solution.beta
    free = int(np.count_nonzero((beta > qp.lo) & (beta < qp.hi)))
    entries = qp.n * np.count_nonzero(beta) + free**3 / 100
    if not free or not qp.gram.is_psd or entries > (_CHEAP if tol >= 1e-5 else _TIGHT_CHEAP):
        return solution
    residual = solution.gradient + solution.nu[0]
    near = (qp.lo < qp.hi) & ((beta != 0) | (np.abs(residual) < 10 * max(tol, solution.violation)))
    polished = _active_set(qp, beta, np.flatnonzero(near))
    if polished is None:
        return solution
    better = Solution.at(qp, polished, qp.gradient(polished), solution.n_iter, solution.status)
    if not better.violation <= solution.violation:
        return solution
    return better


def _active_set(qp: DualQP, beta: Array, near: Index) -> Array | None:
    """Improve the variables in ``near``; the rest stays."""
    K = qp.gram.block(near, near)
    lo, hi, b = qp.lo[near], qp.hi[near], beta[near].copy()
    # The support lies in ``near``, so K b is complete.
    gradient = K @ b - qp.p[near]
    ridge = _RIDGE * float(np.diagonal(K).max(initial=0.0))
    free = (b > lo) & (b < hi)
    tiny = 1e-11 * (1.0 + np.abs(gradient).max(initial=0.0))
    for _ in range(_ROUNDS):
        step = _newton_step(K, gradient, np.flatnonzero(free), ridge)
        if step is None:
            return None
        direction, nu = step
        length = _room(b, lo, hi, direction)
        moved = np.clip(b + min(1.0, length) * direction, lo, hi)
        gradient += K @ (moved - b)
        b = moved
        if length < 1:
            free &= (b > lo) & (b < hi)
            continue
        residual = gradient + nu
        held = np.where((b <= lo) & (hi > lo), -residual, np.where(b >= hi, residual, 0.0))
        worst = int(np.argmax(held))
        if held[worst] > tiny:
            free[worst] = True
        elif np.abs(residual[free]).max(initial=0.0) <= tiny:
            break  # the ridge's trace is gone as well
    out = beta.copy()
    out[near] = b
    return out


def _newton_step(
    K: Array, gradient: Array, free: Index, ridge: float
) -> tuple[Array, float] | None:
    """Return the step to the optimum over the free variables, and the multiplier there."""
    direction = np.zeros(len(gradient))
    if len(free) == 0:
        return None
    block = K[np.ix_(free, free)]
    block[np.diag_indices_from(block)] += ridge
    try:
        factor = cho_factor(block, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return None
    ones, slope = cho_solve(
        factor, np.column_stack([np.ones(len(free)), -gradient[free]]), check_finite=False
    ).T
    nu = float(slope.sum() / ones.sum())
    direction[free] = slope - nu * ones
    return direction, nu


def _room(b: Array, lo: Array, hi: Array, direction: Array) -> float:
    """Return how much of the direction fits between the bounds."""
    up, down = direction > 0, direction < 0
    lengths = np.concatenate(
        [(hi[up] - b[up]) / direction[up], (lo[down] - b[down]) / direction[down]]
    )
    return float(lengths.min(initial=np.inf))
