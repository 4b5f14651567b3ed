"""A problem with several equalities in the form in which it is solved.

    min 1/2 b'Kb - p'b   s.t.   Q'b = c + rho (nu - centre),   lo <= b <= hi

on the rows that are in the problem, with orthonormal features Q in place of the given ones, so that
dependent, equal, zero or badly scaled columns do no harm. The multipliers of the given features,
and the shortest ones where several are optimal, are computed here as well.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import qr, solve_triangular, svd
from scipy.optimize import nnls

from .._typing import Array, Index
from .problem import DualQP

# Pivot below which a column, of length one, depends on earlier ones: the square root of the machine
# precision. A coefficient beyond its inverse loses more digits than it keeps.
_RANK = 1.5e-8
_LEFT = 1e-4  # largest violation of the equalities that the ridge may leave
_CONSISTENT = 1e-6  # relative tolerance for the right-hand side of a dependent equality
_FREE_RANK = 1e-9  # singular value of the free rows that counts as zero, relative to the largest
_SLACK = 1e-10  # tolerance of the sign conditions, in units of the margin
_FEASIBLE = 1e-12  # value of 1 / (1 + |t|^2) below which no point t is feasible


@dataclass(frozen=True)
class Basis:
    """Orthonormal features, and the way back to the given ones."""

    Q: Array  # (n, r), orthonormal columns that span the features
    R: Array  # (r, r), upper triangular: the kept features, each scaled to length one, are Q R
    kept: Index  # (r,), which features those are
    scales: Array  # (r,)
    n_features: int  # number of given features

    @classmethod
    def of(cls, F: Array) -> Basis:
        """Choose the columns by a pivoted QR decomposition, after scaling them to length one."""
        largest = np.abs(F).max(axis=0, initial=0.0)
        lengths = largest * np.sqrt(((F / np.where(largest > 0, largest, 1)) ** 2).sum(axis=0))
        own = np.flatnonzero(lengths > 0)
        if len(own) == 0:  # scipy before 1.14 refuses an empty matrix
            return cls(np.zeros((len(F), 0)), np.zeros((0, 0)), own, lengths[own], F.shape[1])
        Q, R, order = qr(F[:, own] / lengths[own], mode="economic", pivoting=True)
        pivots = np.abs(np.diagonal(R))
        rank = int((pivots > _RANK).sum())
        kept = own[order[:rank]]
        return cls(
            np.ascontiguousarray(Q[:, :rank]), R[:rank, :rank], kept, lengths[kept], F.shape[1]
        )

    def target(self, F: Array, c: Array) -> Array:
        """Return Q'b for all b with F'b = c; raise an error where there is none."""
        target = _solve_triangular(self.R, c[self.kept] / self.scales, trans="T")
        missed = np.abs(F.T @ (self.Q @ target) - c)
        if not (missed <= _CONSISTENT * (np.abs(c) + np.abs(c).max(initial=0.0))).all():
            raise ValueError("no point satisfies A b = c: dependent rows of A ask for different c.")
        return target

    def multipliers(self, nu: Array) -> Array:
        """Return the multipliers of the given features, zero for those that were dropped."""
        out = np.zeros(self.n_features)
        out[self.kept] = _solve_triangular(self.R, nu) / self.scales + 0.0  # no minus zero
        return out


@dataclass(frozen=True)
class Reduced:
    """The problem on its rows, in orthonormal features."""

    K: Array  # (m, m), the kernel matrix of the rows, in float64
    Q: Array  # (m, r)
    p: Array  # (m,)
    lo: Array  # (m,), the bounds, finite and different
    hi: Array  # (m,)
    c: Array  # (r,), the right-hand side of Q'b = c
    rho: float  # the ridge on the multipliers
    centre: Array  # (r,), the centre of the ridge; at the multipliers themselves it has no effect

    @property
    def n(self) -> int:
        """Number of variables."""
        return len(self.p)

    @property
    def size(self) -> float:
        """Largest entry of the diagonal of K."""
        return float(np.diagonal(self.K).max(initial=0.0))

    def on(self, rows: Index, beta: Array) -> Reduced:
        """Return the problem in some of its variables, with the others fixed at ``beta``."""
        rest = beta.copy()
        rest[rows] = 0
        held = np.flatnonzero(rest)
        return replace(
            self,
            K=self.K[np.ix_(rows, rows)],
            Q=self.Q[rows],
            p=self.p[rows] - self.K[np.ix_(rows, held)] @ rest[held],
            lo=self.lo[rows],
            hi=self.hi[rows],
            c=self.c - self.Q[held].T @ rest[held],
        )

    def product(self, vector: Array) -> Array:
        """Return K times a vector that may have many zeros."""
        rows = np.flatnonzero(vector)
        if 2 * len(rows) > len(vector):
            return self.K @ vector
        return vector[rows] @ self.K[rows]

    def residual(self, beta: Array, nu: Array) -> Array:
        """Return K b - p + Q nu, which at the optimum is zero between the bounds."""
        return self.product(beta) - self.p + self.Q @ nu

    def violations(self, beta: Array, residual: Array) -> Array:
        """Return the violation of the optimality conditions by each variable."""
        rises = np.where(beta < self.hi, -residual, 0.0)
        falls = np.where(beta > self.lo, residual, 0.0)
        return np.maximum(rises, falls)

    def violation(self, beta: Array, nu: Array) -> float:
        """Return the largest violation of a variable plus that of the equalities."""
        margins = self.violations(beta, self.residual(beta, nu))
        worst = float(margins.max(initial=0.0)) + self.imbalance(beta)
        return worst if np.isfinite(worst) else np.inf

    def excess(self, beta: Array, nu: Array) -> Array:
        """Return the violation of the relaxed equalities."""
        return self.Q.T @ beta - self.c - self.rho * (nu - self.centre)

    def imbalance(self, beta: Array) -> float:
        """Return |Q'b - c| relative to the size of b."""
        excess = self.Q.T @ beta - self.c
        return float(np.sqrt(excess @ excess) / max(1.0, np.abs(beta).sum()))


def _solve_triangular(R: Array, b: Array, trans: str = "N") -> Array:
    """Solve R x = b or R'x = b; R may be empty, which scipy before 1.14 refuses."""
    if len(b) == 0:
        return b
    x: Array = solve_triangular(R, b, trans=trans)
    return x


def reduce(qp: DualQP, rows: Index) -> tuple[Reduced, Basis]:
    """Bring a problem into reduced form.

    ``qp``: the problem; its bounds are finite. ``rows``: the variables with different bounds.
    Returns ``problem``, the problem in those variables; ``basis``, the way back to the multipliers
    of the given features.
    """
    fixed = np.flatnonzero((qp.lo == qp.hi) & (qp.lo != 0))
    F, lo, hi = qp.A[:, rows].T, qp.lo[rows], qp.hi[rows]
    c, p = qp.c - qp.A[:, fixed] @ qp.lo[fixed], qp.p[rows]
    if len(fixed):
        p = p - qp.gram.block(rows, fixed) @ qp.lo[fixed]
    basis = Basis.of(F)
    # With a centre of zero the equalities are violated by at most _LEFT.
    rho = _LEFT**2 / (2 * max(float((hi - lo).sum()), 1e-300))
    target = basis.target(F, c)
    K = _dense(qp, rows)
    return Reduced(K, basis.Q, p, lo, hi, target, rho, np.zeros(len(target))), basis


def _dense(qp: DualQP, rows: Index) -> Array:
    whole = len(rows) == qp.n
    K = qp.gram.dense(np.float64) if whole else qp.gram.block(rows, rows)
    return np.ascontiguousarray(K, dtype=np.float64)


def shortest_multipliers(problem: Reduced, beta: Array, nu: Array) -> Array:
    """Return the shortest multipliers of a solution.

    At a solution b with gradient g = K b - p the multipliers are those with

        g + Q nu = 0 between the bounds,   >= 0 at the lower ones,   <= 0 at the upper ones.

    Where there are several, the shortest are returned: with orthonormal features |nu| is |Q nu|,
    so that they do not depend on the way the features are written. They solve a least-distance
    problem, by non-negative least squares (Lawson and Hanson 1974, chapter 23).

    Shapes: ``beta`` (n,). ``nu`` (r,): multipliers of the solution. Returns ``nu`` (r,): the
    shortest ones; the given ones where they are unique, or none is found.
    """
    at_lo, at_hi = beta <= problem.lo, beta >= problem.hi
    fixed, freedom = _determined(problem, beta, np.flatnonzero(~(at_lo | at_hi)))
    if freedom.shape[1] == 0:
        return nu
    signs = np.where(at_lo, 1.0, -1.0)[at_lo | at_hi]
    sides = signs[:, None] * problem.Q[at_lo | at_hi]
    gradient = problem.product(beta) - problem.p
    needed = -signs * gradient[at_lo | at_hi] - sides @ fixed - _SLACK
    # The shortest multipliers are no longer than the given ones: in this scale at most 1.
    scale = max(1.0, float(np.linalg.norm(nu)))
    short = _least_distance(sides @ freedom, needed / scale)
    return nu if short is None else fixed + freedom @ (scale * short)


def _determined(problem: Reduced, beta: Array, rows: Index) -> tuple[Array, Array]:
    """Return the multipliers that the free rows determine, and a basis of the open directions."""
    n_features = len(problem.c)
    if len(rows) == 0 or n_features == 0:
        return np.zeros(n_features), np.eye(n_features)
    gradient = beta @ problem.K[:, rows] - problem.p[rows]
    few = len(rows) < n_features  # else the thin decomposition has all right directions
    left, sizes, right = svd(problem.Q[rows], full_matrices=few, lapack_driver="gesvd")
    rank = int((sizes > _FREE_RANK * sizes[0]).sum()) if len(sizes) else 0
    fixed = right[:rank].T @ ((left[:, :rank].T @ -gradient) / sizes[:rank])
    return fixed, right[rank:].T


def _least_distance(G: Array, h: Array) -> Array | None:
    """Return the shortest t with G t >= h, or None where there is none."""
    if not (h > 0).any():
        return np.zeros(G.shape[1])
    target = np.zeros(G.shape[1] + 1)
    target[-1] = 1.0
    system = np.vstack([G.T, h])
    try:
        weights, _ = nnls(system, target)
    except RuntimeError:  # out of iterations
        return None
    residual = system @ weights - target
    squared = -residual[-1]  # 1 / (1 + |t|^2), or zero where there is no such t
    return residual[:-1] / squared if squared > _FEASIBLE else None
