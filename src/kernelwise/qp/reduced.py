"""A problem with several equalities in the form in which it is solved.

    min 1/2 b'Kb - p'b   s.t.   Q'b = c + rho (nu - centre),   lo <= b <= hi

on the rows that are in the problem, with orthonormal features Q in the place of the given ones:
what dependent, equal, zero or badly scaled columns do is over when the basis is chosen.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import qr, solve_triangular

from .._typing import Array, Index
from .problem import DualQP

_RANK = 1e-9  # of the largest pivot: below it a column depends on those before it
_LEFT = 1e-4  # of the equalities, by the ridge
_CONSISTENT = 1e-6  # how well a dependent equality must agree with the others, relative


@dataclass(frozen=True)
class Basis:
    """Orthonormal features, and the way back to the given ones.

    Parameters
    ----------
    Q : ndarray of shape (n, r)
        Orthonormal columns that span the features.
    R : ndarray of shape (r, r)
        Upper triangular: the kept features, each scaled to length one, are Q R.
    kept : ndarray of shape (r,)
        Which features those are.
    scales : ndarray of shape (r,)
        Their lengths.
    n_features : int
        How many features were given.
    """

    Q: Array
    R: Array
    kept: Index
    scales: Array
    n_features: int

    @classmethod
    def of(cls, F: Array) -> Basis:
        """Choose the columns by a pivoted QR decomposition, after scaling them to length one."""
        largest = np.abs(F).max(axis=0, initial=0.0)
        lengths = largest * np.sqrt(((F / np.where(largest > 0, largest, 1)) ** 2).sum(axis=0))
        own = np.flatnonzero(lengths > 0)
        Q, R, order = qr(F[:, own] / lengths[own], mode="economic", pivoting=True)
        pivots = np.abs(np.diagonal(R))
        rank = int((pivots > _RANK).sum())
        kept = own[order[:rank]]
        return cls(
            np.ascontiguousarray(Q[:, :rank]), R[:rank, :rank], kept, lengths[kept], F.shape[1]
        )

    def target(self, F: Array, c: Array) -> Array:
        """Return what Q'b is where F'b = c; an error where no b satisfies that."""
        target = solve_triangular(self.R, c[self.kept] / self.scales, trans="T")
        missed = np.abs(F.T @ (self.Q @ target) - c)
        if not (missed <= _CONSISTENT * (np.abs(c) + np.abs(c).max(initial=0.0))).all():
            raise ValueError("no point satisfies A b = c: dependent rows of A ask for different c.")
        return target

    def multipliers(self, nu: Array) -> Array:
        """Return the multipliers of the given features, zero for those that were dropped."""
        out = np.zeros(self.n_features)
        out[self.kept] = solve_triangular(self.R, nu) / self.scales + 0.0  # no minus zero
        return out


@dataclass(frozen=True)
class Reduced:
    """The problem on its own rows, in orthonormal features.

    Parameters
    ----------
    K : ndarray of shape (m, m)
        The kernel matrix of the rows, in float64.
    Q : ndarray of shape (m, r)
        Their features.
    p : ndarray of shape (m,)
        The linear term.
    lo, hi : ndarray of shape (m,)
        The bounds, finite and apart.
    c : ndarray of shape (r,)
        What Q'b should be.
    rho : float
        The ridge on the multipliers.
    centre : ndarray of shape (r,)
        Where the ridge draws them; at the multipliers themselves it has no effect.
    """

    K: Array
    Q: Array
    p: Array
    lo: Array
    hi: Array
    c: Array
    rho: float
    centre: Array

    @property
    def n(self) -> int:
        """Number of variables."""
        return len(self.p)

    @property
    def size(self) -> float:
        """Largest entry of the diagonal of K."""
        return float(np.diagonal(self.K).max(initial=0.0))

    def on(self, rows: Index, beta: Array) -> Reduced:
        """Return the problem in some of its variables, the others being where ``beta`` is."""
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
        """Return K times a vector of which much may be zero."""
        rows = np.flatnonzero(vector)
        if 2 * len(rows) > len(vector):
            return self.K @ vector
        return vector[rows] @ self.K[rows]

    def residual(self, beta: Array, nu: Array) -> Array:
        """Return K b - p + Q nu: of a right sign at a bound and zero between them."""
        return self.product(beta) - self.p + self.Q @ nu

    def violations(self, beta: Array, residual: Array) -> Array:
        """Return by how much each variable violates the conditions of the margin."""
        rises = np.where(beta < self.hi, -residual, 0.0)
        falls = np.where(beta > self.lo, residual, 0.0)
        return np.maximum(rises, falls)

    def violation(self, beta: Array, nu: Array) -> float:
        """Return the largest violations of the margin and of the equalities, added."""
        margins = self.violations(beta, self.residual(beta, nu))
        worst = float(margins.max(initial=0.0)) + self.imbalance(beta)
        return worst if np.isfinite(worst) else np.inf

    def excess(self, beta: Array, nu: Array) -> Array:
        """Return what is left of the equalities as they are held."""
        return self.Q.T @ beta - self.c - self.rho * (nu - self.centre)

    def imbalance(self, beta: Array) -> float:
        """Return |Q'b - c| relative to the size of b."""
        excess = self.Q.T @ beta - self.c
        return float(np.sqrt(excess @ excess) / max(1.0, np.abs(beta).sum()))


def reduce(qp: DualQP, rows: Index) -> tuple[Reduced, Basis]:
    """Bring a problem into the form in which it is solved.

    Parameters
    ----------
    qp : DualQP
        The problem; its bounds are finite.
    rows : ndarray of int
        The variables whose bounds are apart.

    Returns
    -------
    problem : Reduced
        The problem in those variables.
    basis : Basis
        The way back to its multipliers.
    """
    fixed = np.flatnonzero((qp.lo == qp.hi) & (qp.lo != 0))
    F, lo, hi = qp.A[:, rows].T, qp.lo[rows], qp.hi[rows]
    c, p = qp.c - qp.A[:, fixed] @ qp.lo[fixed], qp.p[rows]
    if len(fixed):
        p = p - qp.gram.block(rows, fixed) @ qp.lo[fixed]
    basis = Basis.of(F)
    # With a centre of zero it leaves this much in the equalities, at the very most.
    rho = _LEFT**2 / (2 * max(float((hi - lo).sum()), 1e-300))
    target = basis.target(F, c)
    K = _dense(qp, rows)
    return Reduced(K, basis.Q, p, lo, hi, target, rho, np.zeros(len(target))), basis


def _dense(qp: DualQP, rows: Index) -> Array:
    whole = len(rows) == qp.n
    K = qp.gram.dense(np.float64) if whole else qp.gram.block(rows, rows)
    return np.ascontiguousarray(K, dtype=np.float64)
