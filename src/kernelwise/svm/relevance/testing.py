"""A test of columns: the score test of a variance component under the learned prior.

    prior   learned from all columns
    for each group of columns j:
        V = covariance of the target by the prior without j,   P = V^-1,   r = P t
        S = A_j diag(var) A_j'   what j does alone: line, score, steps, levels
        S = K_w * H_j            what j does together: K_w a kernel of the other columns,
                                 H_j = centred exp(-d_j / median)
        p = P(sum_i lam_i chi2_1 > r' S r),   lam = eigenvalues of P^1/2 S P^1/2
    p_j = Cauchy's combination of both

The scale of V is estimated, so that the ratio of r' S r and t' P t is what is tested. Kernels are
on landmarks, with all rows. Several targets share P; their covariance is T' P T / n.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg
from scipy.optimize import brentq
from scipy.stats import cauchy, false_discovery_control, norm

from ..._typing import Array, Index
from .evidence import learn
from .joint import NUGGET, Features
from .prior import Prior, equal_prior
from .rows import Rows
from .settings import Settings

_LANDMARKS = 300  # of the kernels of what columns do together
_EVALUATIONS = 6  # of the evidence for the prior without a column
_LEARNING = 500  # rows of these
_MIN_SHARE = 0.2  # share of a group, relative to an equal one, from which the prior is learned anew
_TAIL = 1e-300  # smallest p-value


@dataclass(frozen=True)
class ColumnTests:
    """The tests of all columns of a table.

    Parameters
    ----------
    shares : ndarray of shape (d,)
        The share of each column in the prior variance; they sum to one.
    alone, together : ndarray of shape (d,)
        The p-values of what a column does by itself, and together with others.
    pvalues : ndarray of shape (d,)
        Both combined.
    group : ndarray of shape (d,)
        The group of each column; columns of a group are tested together.
    """

    shares: Array
    alone: Array
    together: Array
    pvalues: Array
    group: Index

    def adjusted(self, error_rate: str) -> Array:
        """Return p-values that account for the number of tests.

        Parameters
        ----------
        error_rate : {"fdr", "fwer"}
            The rate to bound: the expected share of false columns among the selected ones, by
            Benjamini and Hochberg, or the probability of any, by Holm.

        Returns
        -------
        adjusted : ndarray of shape (d,)
            A column is selected at level alpha where this is at most alpha.
        """
        _, first, of_column = np.unique(self.group, return_index=True, return_inverse=True)
        own = self.pvalues[first]
        adjusted = false_discovery_control(own) if error_rate == "fdr" else holm(own)
        out: Array = adjusted[of_column]
        return out


def holm(pvalues: Array) -> Array:
    """Return p-values adjusted by Holm's step-down method."""
    order = np.argsort(pvalues, kind="stable")
    factors = np.arange(len(pvalues), 0, -1)
    adjusted = np.empty(len(pvalues))
    adjusted[order] = np.minimum(1, np.maximum.accumulate(factors * pvalues[order]))
    return adjusted


def column_tests(rows: Rows, T: Array, rng: np.random.Generator, settings: Settings) -> ColumnTests:
    """Test every group of columns.

    Parameters
    ----------
    rows : Rows
        The rows; their weights are relative.
    T : ndarray of shape (n, k)
        The targets, of mean zero and deviation one.
    rng : Generator
        Picks landmarks, and rows that learn the prior.
    settings : Settings
        The constants.

    Returns
    -------
    tests : ColumnTests
        The tests of the user's columns.
    """
    columns, layout = rows.columns, rows.columns.encoding.layout
    varying = np.unique(columns.group[np.ptp(rows.Z, axis=0) > 0])
    alone, together = np.ones(columns.n_groups), np.ones(columns.n_groups)
    shares: Array = np.zeros(columns.n_groups)
    if len(varying):
        tests = _Tests(rows, T, varying, rng, settings)
        shares = tests.prior.shares()
        for j, pair in tests.pvalues():
            alone[j], together[j] = pair
    group = np.empty(layout.n_source, dtype=np.intp)
    group[layout.source] = columns.group
    size = np.bincount(columns.group, minlength=columns.n_groups)
    own = layout.to_source((shares / size)[columns.group])
    both = combined(np.column_stack([alone, together]))
    return ColumnTests(
        own / own.sum() if own.any() else np.full(len(own), 1 / len(own)),
        alone[group],
        together[group],
        both[group],
        group,
    )


class _Tests:
    """The tests of the groups of some rows.

    ``prior`` is learned from all columns that vary.
    """

    def __init__(
        self, rows: Rows, T: Array, varying: Index, rng: np.random.Generator, settings: Settings
    ) -> None:
        self._rows, self._T, self._varying = rows, T, varying
        self._rng, self._settings = rng, settings
        self._root = np.sqrt(rows.weight / rows.weight.mean())[:, None]
        some = np.sort(rng.permutation(len(rows))[: settings.final_rows])
        own = rows.part(some)
        equal = equal_prior(own, varying, rng)
        self.prior = learn(own, T[some], equal, equal, settings.evaluations, settings)
        self._some = some[np.sort(rng.permutation(len(some))[:_LEARNING])]
        self._near = rows.part(np.sort(rng.permutation(len(rows))[:_LANDMARKS]))

    def pvalues(self) -> Iterator[tuple[int, tuple[float, float]]]:
        """Yield each group with its p-values, alone and together."""
        shares, whole = self.prior.shares(), None
        for j in self._varying.tolist():
            if shares[j] * len(self._varying) >= _MIN_SHARE and len(self._varying) > 1:
                null = self._null(self._without(j))
            else:
                whole = null = whole or self._null(self.prior)
            yield j, (null.pvalue(self._alone(j)), null.pvalue(self._together(j)))

    def _without(self, j: int) -> Prior:
        """Return the prior without a group, learned anew."""
        w, v = self.prior.w.copy(), self.prior.v.copy()
        w[j] = v[j] = 0
        start = replace(self.prior, w=w, v=v)
        rows, T = self._rows.part(self._some), self._T[self._some]
        centre = equal_prior(rows, start.kept, self._rng)
        return learn(rows, T, start, centre, _EVALUATIONS, self._settings)

    def _null(self, prior: Prior) -> _Null:
        features = Features.of(self._rows, prior, self._rng, self._settings)
        U = features.of_landmarks(self._rows, self._settings).astype(np.float64)
        return _Null(U * self._root, prior.noise, self._T * self._root)

    def _alone(self, j: int) -> Array:
        """Return the additive columns of a group, centred and times their deviations."""
        mask = np.arange(len(self.prior.v)) == j
        additive = self._rows.additive(mask)
        scale = np.where(additive.is_step, np.sqrt(self.prior.tau), 1.0)[1:]
        A = additive.A[:, 1:].astype(np.float64) * scale
        return (A - A.mean(axis=0)) * self._root

    def _together(self, j: int) -> Array:
        """Return features whose products are the kernel of a group together with the others."""
        one = (np.arange(len(self.prior.w)) == j).astype(float)
        w = self.prior.w * (1 - one)
        rows, near = self._rows, self._near
        d, d_near = rows.distances(near, one), near.distances(near, one)
        median = max(float(np.median(d_near[d_near > 0], axis=0)), 1e-6) if d_near.any() else 1.0
        H, H_near = np.exp(-d / median), np.exp(-d_near / median)
        mean = H_near.mean(axis=0)
        H = H - H.mean(axis=1, keepdims=True) - mean + mean.mean()
        H_near = H_near - mean[:, None] - mean + mean.mean()
        S = (H * rows.laplacian(near, w)).astype(np.float64)
        M = (H_near * near.laplacian(near, w)).astype(np.float64)
        M[np.diag_indices_from(M)] += NUGGET
        L = scipy.linalg.cholesky(0.5 * (M + M.T), lower=True, check_finite=False)
        Phi = scipy.linalg.solve_triangular(L, S.T, lower=True, check_finite=False).T
        return Phi * self._root


class _Null:
    """The distribution of targets of covariance UU' + noise, up to its scale."""

    def __init__(self, U: Array, noise: float, T: Array) -> None:
        self._U, self._noise = U, noise
        n, r = U.shape
        self._in_rows = r >= n
        H = U @ U.T if self._in_rows else U.T @ U
        H[np.diag_indices_from(H)] += noise
        self._factor = scipy.linalg.cho_factor(H, lower=True, check_finite=False)
        self._n, self._R = n, self.solve(T)
        self._sigma = T.T @ self._R / n

    def solve(self, B: Array) -> Array:
        """Return P B."""
        if self._in_rows:
            out: Array = scipy.linalg.cho_solve(self._factor, B, check_finite=False)
            return out
        inner = scipy.linalg.cho_solve(self._factor, self._U.T @ B, check_finite=False)
        out = (B - self._U @ inner) / self._noise
        return out

    def pvalue(self, Phi: Array) -> float:
        """Return the p-value of the variance component of covariance Phi Phi'."""
        lam = np.maximum(np.linalg.eigvalsh(Phi.T @ self.solve(Phi)), 0)
        mu = np.maximum(np.linalg.eigvalsh(self._sigma), 0)
        q = float(np.sum((Phi.T @ self._R) ** 2))
        ratio = q / (self._n * float(mu.sum()))
        rest = max(self._n - len(lam), 0)
        values = np.multiply.outer(np.append(lam, 0.0) - ratio, mu)
        counts = np.append(np.ones(len(lam)), rest)[:, None] * np.ones(len(mu))
        return mixture_sf(0.0, values.ravel(), counts.ravel())


def mixture_sf(q: float, values: Array, counts: Array) -> float:
    """Return P(sum_i values_i chi2(counts_i) > q) by a saddlepoint (Kuonen, 1999)."""
    kept = (counts > 0) & (np.abs(values) > 1e-12 * np.abs(values).max(initial=0.0))
    lam, count = values[kept], counts[kept]
    if not len(lam) or lam.max() <= 0:
        return _TAIL if q >= 0 and len(lam) else 1.0

    def slope(z: float) -> float:
        return float((count * lam / (1 - 2 * z * lam)).sum()) - q

    high = 0.5 / lam.max() * (1 - 1e-10)
    if lam.min() < 0:
        low = 0.5 / lam.min() * (1 - 1e-10)
    else:
        if q <= 0:
            return 1.0
        low = -0.5 * float(count.sum()) / q
    if slope(high) < 0:
        return _TAIL
    if slope(low) > 0:
        return 1.0
    z = float(brentq(slope, low, high, xtol=1e-14 * (high - low)))
    K2 = 2 * float((count * (lam / (1 - 2 * z * lam)) ** 2).sum())
    squared = 2 * (z * q + 0.5 * float((count * np.log1p(-2 * z * lam)).sum()))
    w, v = np.sign(z) * np.sqrt(max(squared, 0.0)), z * np.sqrt(K2)
    if abs(w) < 1e-4:
        K3 = 8 * float((count * lam**3).sum())
        return float(norm.sf(K3 / K2**1.5 / 6))
    return max(float(norm.sf(w + np.log(v / w) / w)), _TAIL)


def combined(pvalues: Array) -> Array:
    """Return Cauchy's combination of the p-values of each row."""
    p = np.clip(pvalues, 1e-15, 1 - 1e-12)
    exact = cauchy.sf(np.tan((0.5 - p) * np.pi).mean(axis=1))
    tiny = np.minimum(1, pvalues.shape[1] * pvalues.min(axis=1))
    out: Array = np.where(pvalues.min(axis=1) < 1e-14, tiny, exact)
    return out
