"""The problem and its solution, as plain data.

    min 1/2 b'Kb - p'b   s.t.   A b = c,   lo <= b <= hi

in signed form: b = alpha * y, so that K is the same for all machines. With the Lagrangian
L = objective + nu'(A b - c) the multiplier nu is the intercept when A is a row of ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from .._typing import Array
from .gram import Gram, StoredGram


@dataclass(frozen=True)
class DualQP:
    """A box-constrained quadratic program with linear equalities, in signed form.

    Parameters
    ----------
    K : ndarray of shape (n, n) or Gram
        The kernel matrix, stored or lazy.
    p : ndarray of shape (n,)
        The linear term.
    lo : ndarray of shape (n,)
        The lower bounds; -inf is allowed.
    hi : ndarray of shape (n,)
        The upper bounds; inf is allowed. ``lo = hi`` holds a row out of the problem.
    A : ndarray of shape (l, n), default=None
        The equalities; None is one row of ones.
    c : ndarray of shape (l,), default=None
        Their right sides; None is zeros.
    is_psd : bool, default=True
        Whether K is positive semi-definite; asked of K itself when it is lazy. Without it
        there is no duality gap.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.qp import SMO, DualQP
    >>> y = np.array([1.0, 1.0, -1.0])
    >>> qp = DualQP(np.eye(3), p=y, lo=np.minimum(0, y), hi=np.maximum(0, y))
    >>> SMO().solve(qp).beta.round(3)
    array([ 0.5,  0.5, -1. ])
    """

    K: Array | Gram
    p: Array
    lo: Array
    hi: Array
    A: Any = None
    c: Any = None
    is_psd: bool = True
    gram: Gram = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check that the parts fit, and give the defaults."""
        if isinstance(self.K, np.ndarray) and self.K.dtype not in (np.float32, np.float64):
            object.__setattr__(self, "K", self.K.astype(np.float64))
        n = self.K.shape[0]
        if len(self.K.shape) != 2 or self.K.shape[1] != n:
            raise ValueError(f"K must be square; got shape {tuple(self.K.shape)}.")
        for name in ("p", "lo", "hi"):
            value = np.asarray(getattr(self, name), dtype=np.float64)
            if value.shape != (n,):
                raise ValueError(f"{name} must have shape ({n},), as K has; got {value.shape}.")
            object.__setattr__(self, name, value)
        if np.isnan(self.lo).any() or np.isnan(self.hi).any() or (self.lo > self.hi).any():
            raise ValueError("lo must not exceed hi, and neither may be NaN.")
        if not np.isfinite(self.p).all():
            raise ValueError("p must be finite.")
        A = np.ones((1, n)) if self.A is None else np.asarray(self.A, dtype=np.float64)
        if A.ndim != 2 or A.shape[1] != n:
            raise ValueError(f"A must have shape (l, {n}); got {A.shape}.")
        c = np.zeros(A.shape[0]) if self.c is None else np.asarray(self.c, dtype=np.float64)
        if c.shape != (A.shape[0],):
            raise ValueError(f"c must have shape ({A.shape[0]},), as A has rows; got {c.shape}.")
        if not np.isfinite(A).all() or not np.isfinite(c).all():
            raise ValueError("A and c must be finite.")
        object.__setattr__(self, "A", A)
        object.__setattr__(self, "c", c)
        gram = StoredGram(self.K, self.is_psd) if isinstance(self.K, np.ndarray) else self.K
        object.__setattr__(self, "gram", gram)

    @property
    def n(self) -> int:
        """Number of variables."""
        return len(self.p)

    @cached_property
    def sums_to_constant(self) -> bool:
        """Whether the one equality is sum b = c, the form that SMO solves."""
        return self.A.shape[0] == 1 and bool((self.A == 1).all())

    def gradient(self, beta: Array) -> Array:
        """Compute K b - p.

        Parameters
        ----------
        beta : ndarray of shape (n,)
            A point.

        Returns
        -------
        gradient : ndarray of shape (n,)
            The gradient of the objective.
        """
        return self.gram.matvec(beta) - self.p

    def objective(self, beta: Array, gradient: Array | None = None) -> float:
        """Compute 1/2 b'Kb - p'b.

        Parameters
        ----------
        beta : ndarray of shape (n,)
            A point.
        gradient : ndarray of shape (n,), default=None
            K b - p where it is known.

        Returns
        -------
        objective : float
            The objective.
        """
        gradient = self.gradient(beta) if gradient is None else gradient
        return float(0.5 * beta @ (gradient - self.p))

    def kkt_violation(self, beta: Array, nu: Array, gradient: Array | None = None) -> float:
        """Compute the largest violation of the optimality conditions, in units of the margin.

        Parameters
        ----------
        beta : ndarray of shape (n,)
            A feasible point.
        nu : ndarray of shape (l,)
            The multipliers.
        gradient : ndarray of shape (n,), default=None
            K b - p where it is known.

        Returns
        -------
        violation : float
            Zero at the optimum.
        """
        gradient = self.gradient(beta) if gradient is None else gradient
        residual = gradient + self.A.T @ nu
        up = np.where(beta < self.hi, -residual, 0)
        down = np.where(beta > self.lo, residual, 0)
        return float(max(up.max(initial=0), down.max(initial=0)))

    def reach(self, beta: Array, gradient: Array) -> tuple[float, float]:
        """Compute the least gradient of what can rise and the largest of what can fall.

        Parameters
        ----------
        beta : ndarray of shape (n,)
            A feasible point.
        gradient : ndarray of shape (n,)
            K b - p there.

        Returns
        -------
        least, most : float
            At the optimum ``most <= least``; ``most - least`` is LIBSVM's stop test.
        """
        up, down = gradient[beta < self.hi], gradient[beta > self.lo]
        return float(up.min(initial=np.inf)), float(down.max(initial=-np.inf))

    def intercept(self, beta: Array, gradient: Array) -> float:
        """Compute the multiplier of sum b = c, as LIBSVM does.

        Parameters
        ----------
        beta : ndarray of shape (n,)
            A feasible point.
        gradient : ndarray of shape (n,)
            K b - p there.

        Returns
        -------
        nu : float
            Minus the mean gradient of the free variables; without any, the middle of what
            the bounded ones allow.
        """
        free = (beta > self.lo) & (beta < self.hi)
        if free.any():
            return -float(gradient[free].mean())
        ends = [end for end in self.reach(beta, gradient) if np.isfinite(end)]
        return -float(np.mean(ends)) if ends else 0.0

    def duality_gap(self, beta: Array, nu: Array, gradient: Array | None = None) -> float:
        """Compute how far the objective is from its minimum, at most.

        For a positive semi-definite K and any x in the box, with r = t (K b + A'nu) - p,

            objective(x) >= -1/2 t^2 b'Kb - t nu'c + sum_i min(lo_i r_i, hi_i r_i).

        t = 1 unless bounds are infinite: then it is the least that leaves those terms finite.

        Parameters
        ----------
        beta : ndarray of shape (n,)
            A feasible point.
        nu : ndarray of shape (l,)
            The multipliers.
        gradient : ndarray of shape (n,), default=None
            K b - p where it is known.

        Returns
        -------
        gap : float
            Zero at the optimum; NaN when K is not known to be positive semi-definite.
        """
        if not self.gram.is_psd:
            return float("nan")
        gradient = self.gradient(beta) if gradient is None else gradient
        scores = gradient + self.p + self.A.T @ nu
        free_up, free_down = np.isinf(self.hi), np.isinf(self.lo)
        t = self._stretch(scores) if free_up.any() or free_down.any() else 1.0
        if np.isinf(t):
            return float("inf")
        residual = t * scores - self.p
        # Where a bound is infinite the residual has the right sign, up to the rounding of t.
        residual[free_up] = np.maximum(residual[free_up], 0)
        residual[free_down] = np.minimum(residual[free_down], 0)
        at = np.where(residual > 0, self.lo, self.hi)
        lowest = np.multiply(at, residual, out=np.zeros(self.n), where=residual != 0)
        quadratic = float(beta @ (gradient + self.p))
        bound = -0.5 * t**2 * quadratic - t * float(nu @ self.c) + float(lowest.sum())
        return max(0.0, self.objective(beta, gradient) - bound)

    def _stretch(self, scores: Array) -> float:
        """Return the least t >= 1 with t * scores - p of the right sign at infinite bounds."""
        t = 1.0
        for bound, sign in ((self.hi, 1.0), (self.lo, -1.0)):
            free = np.isinf(bound)
            have, need = sign * scores[free], sign * self.p[free]
            short = have < need
            if (have[short] <= 0).any():
                return float("inf")
            t = max(t, float((need[short] / have[short]).max(initial=1.0)))
        return t

    def project(self, beta: Array) -> Array:
        """Return the nearest point that satisfies the bounds and the equality.

        Parameters
        ----------
        beta : ndarray of shape (n,)
            Any point.

        Returns
        -------
        feasible : ndarray of shape (n,)
            The nearest feasible point.
        """
        if not self.sums_to_constant:
            raise ValueError("project needs the one equality sum b = c.")
        return _project_to_sum(np.asarray(beta, dtype=np.float64), self.lo, self.hi, self.c[0])

    def snap(self, beta: Array) -> Array:
        """Put what rounding left an ulp off its bound onto it: it would pin the intercept.

        Parameters
        ----------
        beta : ndarray of shape (n,)
            A feasible point.

        Returns
        -------
        snapped : ndarray of shape (n,)
            The point, with its sum kept to rounding.
        """
        rounding = 1e-14 * float(np.abs(beta).max(initial=0.0))
        beta = np.where(beta - self.lo <= rounding, self.lo, beta)
        return np.where(self.hi - beta <= rounding, self.hi, beta)

    def repair(self, beta: Array) -> Array:
        """Make a point feasible by moving its non-zeros alone, where that is possible.

        A warm start keeps its zeros: each row that leaves zero would have to be computed.

        Parameters
        ----------
        beta : ndarray of shape (n,)
            Any point.

        Returns
        -------
        feasible : ndarray of shape (n,)
            A feasible point.
        """
        clipped = np.clip(beta, self.lo, self.hi)
        support = clipped != 0
        lo, hi, total = self.lo[support], self.hi[support], self.c[0]
        if lo.sum() <= total <= hi.sum():
            clipped[support] = _project_to_sum(clipped[support], lo, hi, total)
            return clipped
        return self.project(beta)


def _project_to_sum(beta: Array, lo: Array, hi: Array, total: float) -> Array:
    """Find the shift with sum clip(beta - shift, lo, hi) = total: the sum falls with the shift."""
    feasible = np.clip(beta, lo, hi)
    scale = 1.0 + np.abs(feasible).sum() + abs(total)
    rounding = 1e-12 * scale
    if lo.sum() > total + rounding or hi.sum() < total - rounding:
        raise ValueError("no point satisfies both the bounds and sum b = c.")
    # What differs by rounding alone is not shifted: that would take every row off its bound.
    if abs(feasible.sum() - total) > rounding:
        left, right = -scale, scale
        while np.clip(beta - left, lo, hi).sum() < total - rounding:
            left *= 2
        while np.clip(beta - right, lo, hi).sum() > total + rounding:
            right *= 2
        for _ in range(200):
            middle = 0.5 * (left + right)
            if np.clip(beta - middle, lo, hi).sum() > total:
                left = middle
            else:
                right = middle
        feasible = np.clip(beta - right, lo, hi)
    rest = total - feasible.sum()
    room = np.where((feasible > lo) & (feasible < hi), np.minimum(hi - feasible, feasible - lo), 0)
    widest = int(np.argmax(room)) if len(room) else 0
    if rest != 0 and len(room) and room[widest] > abs(rest):
        feasible[widest] += rest
    return feasible


@dataclass(frozen=True)
class Point:
    """A feasible point on the way to a solution, without its certificate."""

    beta: Array
    gradient: Array
    violation: float
    n_iter: int
    status: str


@dataclass(frozen=True)
class Solution:
    """A solution and its certificate.

    Parameters
    ----------
    beta : ndarray of shape (n,)
        The signed dual coefficients.
    nu : ndarray of shape (l,)
        The multipliers of the equalities; the intercept for a support vector machine.
    gradient : ndarray of shape (n,)
        K b - p; a row's decision value is ``gradient + p + A'nu``.
    objective : float
        1/2 b'Kb - p'b.
    gap : float
        How far the objective is from its minimum, at most; NaN for indefinite kernels.
    violation : float
        The largest violation of the optimality conditions.
    n_iter : int
        Steps taken.
    status : str
        "converged", "max_iter" (out of steps) or "stalled" (no step makes progress any more).
    """

    beta: Array
    nu: Array
    gradient: Array
    objective: float
    gap: float
    violation: float
    n_iter: int
    status: str

    @property
    def converged(self) -> bool:
        """Whether the solver reached its tolerance."""
        return self.status == "converged"

    @classmethod
    def at(cls, qp: DualQP, point: Point) -> Solution:
        """Certify a point.

        Parameters
        ----------
        qp : DualQP
            The problem.
        point : Point
            Where a solver ended.

        Returns
        -------
        solution : Solution
            The point with its multiplier, objective, gap and violation.
        """
        beta, gradient = point.beta, point.gradient
        nu = np.array([qp.intercept(beta, gradient)])
        return cls(
            beta=beta,
            nu=nu,
            gradient=gradient,
            objective=qp.objective(beta, gradient),
            gap=qp.duality_gap(beta, nu, gradient),
            violation=qp.kkt_violation(beta, nu, gradient),
            n_iter=point.n_iter,
            status=point.status,
        )
