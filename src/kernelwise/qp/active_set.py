"""The polish: an active-set method on the free variables, in float64.

SMO ends within a tolerance, at a point that depends on its start. The set of free variables is then
nearly right, and on that set the optimum solves one linear system:

    K_FF d + nu 1 = -g_F,   sum d = 0

A variable that reaches a bound on the way leaves the set; one whose gradient points away from its
bound joins it. A kink is a bound as well: each variable stays on one side of it, where the
objective is smooth, and at zero takes the side to which it is pulled.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.linalg.lapack import dposv

from .._native import centre, newton_system, residuals, walk
from .._typing import Array, Index
from .problem import DualQP, SolverState
from .terms import slopes

DEAR = 3e7  # budget in kernel entries for a tight tolerance, or where steps did not converge
_OPERATIONS_PER_ENTRY = 300  # floating-point operations per kernel entry of the budget
_ROUNDING = 1e-15  # rounding error of a gradient, relative to the length of the vector of its terms
_REFINEMENTS = 5  # largest number of extra steps that remove the effect of the ridge
_RIDGES = (1e-13, 1e-11, 1e-9)  # ridges on the free block, relative to its diagonal; tried in turn


def affordable(qp: DualQP, beta: Array, budget: float) -> bool:
    """Return whether polishing a point is possible and cheap.

    Shapes: ``beta`` (n,). ``budget``: limit on the cost, in kernel entries and hundreds of
    operations. Returns ``affordable``, whether `polish` would try.
    """
    entries = qp.n * np.count_nonzero(beta)
    if not qp.gram.is_psd or entries > budget:
        return False
    free = int(np.count_nonzero(qp.terms.free(beta)))
    return bool(entries + free**3 / 100 <= budget)


def polish(qp: DualQP, state: SolverState, tol: float, budget: float) -> SolverState:
    """Solve exactly on the free variables where that is cheap.

    ``state``: a solution within ``tol``, or a state on the way. ``budget``: limit on the cost, in
    kernel entries and hundreds of operations. Returns ``state``: a better one, or the given one.
    """
    if not affordable(qp, state.beta, budget):
        return state
    beta = state.beta
    residual = state.gradient + qp.terms.intercept(beta, state.gradient)
    reach = 10 * max(tol, state.violation)
    margin = np.abs(residual) if qp.kink is None else qp.kink - np.abs(residual)
    near = (qp.lo < qp.hi) & ((beta != 0) | (margin < reach))
    if not near.any():
        return state
    polished = _active_set(qp, beta, residual, np.flatnonzero(near), _OPERATIONS_PER_ENTRY * budget)
    if polished is None:
        return state
    gradient = qp.gradient(polished)
    least, most = qp.terms.reach(polished, gradient)
    better = replace(state, beta=polished, gradient=gradient, violation=most - least)
    if better.violation <= min(tol, state.violation):
        return replace(better, status="converged")
    # On the way the violation may increase temporarily; the objective only decreases.
    progress = qp.objective(polished, gradient) < qp.objective(beta, state.gradient)
    return better if state.status != "converged" and progress else state


class _Sides:
    """The bounds of each variable on its side of the kink, and the slope of the kink there."""

    def __init__(self, lo: Array, hi: Array, kink: Array | None) -> None:
        self.lo, self.hi, self.kink, self.box = lo, hi, kink, (lo, hi)
        self._signs = np.ones(len(lo))

    def choose(self, b: Array, pull: Array) -> None:
        """Put variables at zero on the side to which a pull moves them."""
        if self.kink is None:
            return
        self._signs = np.where(b != 0, np.sign(b), np.where(pull > 0, -1.0, 1.0))
        (lo, hi), above = self.box, self._signs > 0
        middle = np.clip(0, lo, hi)
        self.lo, self.hi = np.where(above, middle, lo), np.where(above, hi, middle)

    def slopes(self, gradient: Array) -> Array:
        """Add the slope of the kinks to the gradient."""
        return gradient if self.kink is None else gradient + self._signs * self.kink

    def free(self, b: Array) -> Any:
        return (b > self.lo) & (b < self.hi)


def _active_set(
    qp: DualQP, beta: Array, pull: Array, near: Index, operations: float
) -> Array | None:
    """Improve the variables in ``near``, within a number of operations; the rest stays fixed."""
    K = qp.gram.block(near, near)
    kink = None if qp.kink is None else qp.kink[near]
    p, b, sides = qp.p[near], beta[near].copy(), _Sides(qp.lo[near], qp.hi[near], kink)
    gradient = K @ b - p  # complete, as ``near`` contains the support
    sides.choose(b, pull[near])
    free, held = sides.free(b), np.empty(len(near))
    largest = float(np.diagonal(K).max())
    refinements = 0
    for _ in range(100 + 20 * len(near)):
        operations -= np.count_nonzero(free) ** 3 / 3 + K.size
        if operations < 0:
            break
        if not free.any() and not _free_a_pair(b, sides, gradient, free):
            break
        some = np.flatnonzero(free)
        step = _newton_step(K, sides.slopes(gradient), some)
        if step is None:
            return None
        if walk(K, b, sides.lo, sides.hi, gradient, some, step) < 1:
            free &= sides.free(b)
            continue
        gradient = K @ b - p  # recomputed, as large terms cancel and errors would accumulate
        tiny = 1e-12 + _ROUNDING * largest * float(np.linalg.norm(b))
        sides.choose(b, gradient - sides.slopes(gradient)[free].mean())
        left = residuals(b, sides.lo, sides.hi, sides.slopes(gradient), free, held)
        worst = int(np.argmax(held))
        if held[worst] > tiny:
            free[worst] = True
        elif refinements < _REFINEMENTS and left > tiny:
            refinements += 1  # another step removes the effect of the ridge
        else:
            break
    out = beta.copy()
    out[near] = b
    return out


def _free_a_pair(b: Array, sides: _Sides, gradient: Array, free: Any) -> bool:
    """Free the two variables at bounds that violate most; return whether any do."""
    rising, falling = slopes(b, gradient, sides.kink)
    lo, hi = sides.box
    up, down = np.where(b < hi, rising, np.inf), np.where(b > lo, falling, -np.inf)
    i, j = int(np.argmin(up)), int(np.argmax(down))
    free[[i, j]] = down[j] - up[i] > 1e-12
    if free.any():
        sides.choose(b, gradient - (up[i] + down[j]) / 2)
    return bool(free.any())


def _newton_step(K: Array, gradient: Array, free: Index) -> Array | None:
    """Return the step to the optimum over the free variables; None where K is indefinite.

    The step keeps the sum. Where the system is singular (equal rows, more free variables than
    dimensions) it is long and ends at a bound.
    """
    block, slope = np.empty((len(free), len(free))), np.empty(len(free))
    for ridge in _RIDGES:
        newton_system(K, gradient, free, ridge, block, slope)
        # The block is symmetric, and its transpose needs no copy.
        _, step, failed = dposv(block.T, slope, lower=True, overwrite_a=True, overwrite_b=True)
        if not failed:
            centre(step)
            return step
    return None
