"""An interior-point method for a kernel matrix of low rank, where steps on pairs of rows crawl.

    min 1/2 |w|^2 - p'b   s.t.   w = F'b,   sum b = c,   lo <= b <= hi,         K = F F'

Columns of unlike scales and large bounds make the free variables of a linear machine depend on each
other nearly exactly: SMO then takes millions of small steps. Newton steps do not mind. With w as a
variable of its own each of them solves a system of the rank of K (Ferris and Munson 2002):

    (I + F'E F - m m' / sum E) dw = r,    m = F'E 1,    E the inverse slopes of the barrier

The end is left to the active-set method, which is exact on the variables between their bounds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.linalg.lapack import dpstrf

from .._typing import Array, Index
from .active_set import DEAR, polish
from .problem import DualQP, SolverState

_MOST_ROWS = 2000  # rows up to which K is stored and factored
_MOST_WORK = 3e8  # limit on rows times squared rank, the operations of a step: about 0.1 s
_MOST_STEPS = 100  # limit on the number of Newton steps
_PATIENCE = 8  # steps without a smaller violation after which only rounding is left
_INSIDE = 0.9995  # largest step, as a fraction of the way to the nearest bound
_SIDES = np.array([[1.0], [-1.0]])  # derivatives of the distances to lo and to hi by b


def solve_factored(qp: DualQP, state: SolverState, tol: float) -> SolverState:
    """Solve a problem that steps did not; return the state that was given where that fails.

    ``qp``: a problem with the equality sum b = c. ``tol``: the violation to reach.
    """
    bounded = np.isfinite(qp.lo).all() and np.isfinite(qp.hi).all()
    if qp.n > _MOST_ROWS or not qp.gram.is_psd or not bounded:
        return state
    movable = np.flatnonzero(qp.lo < qp.hi)
    if len(movable) < 2:
        return state
    try:
        beta = _Newton.of(qp, movable).run(qp, tol)
    except LinAlgError:
        return state
    gradient = qp.gradient(beta)
    least, most = qp.terms.reach(beta, gradient)
    found = replace(state, beta=beta, gradient=gradient, violation=most - least, status="max_iter")
    found = polish(qp, found, tol, DEAR)
    if found.violation <= tol:
        return replace(found, status="converged")
    lower = qp.objective(found.beta, found.gradient) < qp.objective(state.beta, state.gradient)
    return found if lower else state


@dataclass
class _Point:
    beta: Array
    w: Array
    nu: float
    rooms: Array  # distances to lo and to hi, one row each, kept as a subtraction would round to 0
    pushes: Array  # multipliers of these bounds

    def moved(self, step: _Point, length: float) -> _Point:
        return _Point(
            self.beta + length * step.beta,
            self.w + length * step.w,
            self.nu + length * step.nu,
            self.rooms + length * step.rooms,
            self.pushes + length * step.pushes,
        )


@dataclass(frozen=True)
class _Newton:
    """The problem on the variables that may move, with its factor."""

    movable: Index  # (m,), their numbers
    fixed: Array  # (n,), the values of all others; zero for these
    F: Array  # (m, r)
    p: Array  # (m,), with the share of the fixed variables in the gradient
    lo: Array
    hi: Array
    c: float

    @classmethod
    def of(cls, qp: DualQP, movable: Index) -> _Newton:
        """Factor the kernel matrix of the variables that may move."""
        fixed = np.where(qp.lo < qp.hi, 0.0, qp.lo)
        p = qp.p if not fixed.any() else -qp.gradient(fixed)
        K = qp.gram.block(movable, movable).astype(np.float64)
        lo, hi, c = qp.lo[movable], qp.hi[movable], float(qp.c[0] - fixed.sum())
        if c == 0:  # then centred rows make the same machine, with smaller terms
            means = K.mean(axis=0)
            K = K - means - means[:, None] + means.mean()
        return cls(movable, fixed, _factor(K), p[movable], lo, hi, c)

    def run(self, qp: DualQP, tol: float) -> Array:
        """Take steps from the middle of the box; return the best point, all variables."""
        point, best, least, idle = self._first(), qp.terms.start(), np.inf, 0
        for _ in range(_MOST_STEPS):
            beta = self._all(qp, point)
            low, high = qp.terms.reach(beta, qp.gradient(beta))
            idle += 1
            if high - low < least:
                best, least, idle = beta, high - low, 0
            if least <= 0.1 * tol or (idle >= _PATIENCE and _mean_product(point) < tol):
                break
            with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
                following = self._step(point)
            if not np.isfinite(following.beta).all() or not np.isfinite(following.nu):
                break
            point = following
        return best

    def _all(self, qp: DualQP, point: _Point) -> Array:
        """Return all variables, with those on a bound whose multiplier outweighs the distance."""
        (low, high), (below, above) = point.rooms, point.pushes
        unit = (self.hi - self.lo) / max(1.0, float(np.abs(point.pushes).max()))
        at_low = (low < below * unit) & (low <= high)
        at_high = (high < above * unit) & (high < low)
        beta = np.where(at_low, self.lo, np.where(at_high, self.hi, point.beta))
        inside = ~(at_low | at_high)  # the others stay exactly where they are
        beta[inside] -= (beta.sum() - self.c) / max(1, np.count_nonzero(inside))
        every = self.fixed.copy()
        every[self.movable] = np.clip(beta, self.lo, self.hi)
        return qp.terms.snap(qp.terms.repair(every))

    def _first(self) -> _Point:
        beta = (self.lo + self.hi) / 2
        rooms = np.stack([beta - self.lo, self.hi - beta])
        return _Point(beta, self.F.T @ beta, 0.0, rooms, 1.0 + np.zeros_like(rooms))

    def _step(self, point: _Point) -> _Point:
        """Predict, measure how far that leads, correct (Mehrotra 1992)."""
        rooms, pushes, F = point.rooms, point.pushes, self.F
        slopes = pushes / rooms
        E = 1 / (slopes[0] + slopes[1])
        total = float(E.sum())
        mean = (E @ F) / total
        centred = F - mean
        M = np.eye(F.shape[1]) + centred.T @ (E[:, None] * centred)
        unit = 1 / np.sqrt(np.diagonal(M))
        if not np.isfinite(unit).all():
            raise LinAlgError("the system overflows")
        factor = cho_factor(unit[:, None] * M * unit, check_finite=False)
        by_b = self.p - F @ point.w - point.nu + pushes[0] - pushes[1]
        by_w = self.F.T @ point.beta - point.w
        by_sum = self.c - float(point.beta.sum())

        def towards(falls: Array) -> _Point:
            """Return the step by which the products fall by given amounts."""
            pulls = falls / rooms
            r = by_b - pulls[0] + pulls[1]
            right = by_w + centred.T @ (E * r) + mean * by_sum
            w = unit * cho_solve(factor, unit * right, check_finite=False)
            nu = (float(E @ (r - F @ w)) - by_sum) / total
            d = E * (r - F @ w - nu)
            grown = _SIDES * d
            return _Point(d, w, nu, grown, -pulls - slopes * grown)

        products, now = rooms * pushes, _mean_product(point)
        step = towards(products)
        reached = _mean_product(point.moved(step, _length(point, step)))
        target = now * min(1.0, reached / now) ** 3
        step = towards(products + step.rooms * step.pushes - target)
        length = _length(point, step)
        return point.moved(step, 1.0 if length >= 1 else _INSIDE * length)


def _mean_product(point: _Point) -> float:
    return float((point.rooms * point.pushes).mean())


def _length(point: _Point, step: _Point) -> float:
    """Return the longest length up to 1 that keeps distances and multipliers positive."""
    shrink = min((step.rooms / point.rooms).min(), (step.pushes / point.pushes).min())
    return 1 / max(1.0, -float(shrink))


def _factor(K: Array) -> Array:
    """Return F with K = F F', by a Cholesky factorisation with pivots."""
    lower, pivots, rank, _ = dpstrf(K, lower=1)
    if len(K) * rank**2 > _MOST_WORK:
        raise LinAlgError("the rank is too large for fast steps")
    F = np.zeros((len(K), rank))
    F[pivots - 1] = np.tril(lower)[:, :rank]
    return F
