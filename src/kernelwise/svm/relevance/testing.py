"""A test of columns: the score test of a variance component under the learned prior.

    prior   learned from all columns
    for each group of columns j:
        V = covariance of the target by the prior without j,   P = V^-1,   r = P t
        S = A_j diag(var) A_j'   what j does alone: line, score, steps, levels
        S = K_w * H_j            what j does together: K_w a kernel of the other columns,
                                 H_j = centred exp(-d_j / median)
        p = P(sum_i lam_i chi2_1 > r' S r),   lam = eigenvalues of P^1/2 S P^1/2
    p_j = Cauchy's combination of both

If t' P t / n > 1, V is scaled up by it. Several targets share P; T' P T / n is their covariance.
All rows are read, up to some thousands; kernels of many rows are on landmarks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg
from scipy.optimize import brentq
from scipy.stats import cauchy, false_discovery_control, norm

from ..._threads import run
from ..._typing import Array, Index
from .evidence import learn
from .joint import NUGGET, Features
from .prior import Prior, equal_prior
from .rows import Rows
from .settings import Settings

_ROWS = 5000  # most rows; memory
_LANDMARKS = 300  # of the kernels of what columns do together
_EVALUATIONS = 6  # of the evidence for the prior without a column
_LEARNING = 500  # rows of these
_MIN_SHARE = 0.02  # share of a group from which the prior is learned anew without it
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


def column_tests(
    rows: Rows, T: Array, rng: np.random.Generator, settings: Settings, threads: int = 1
) -> ColumnTests:
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
    threads : int, default=1
        Threads over the groups.

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
        some = np.sort(rng.permutation(len(rows))[:_ROWS])
        tests = _Tests(rows.part(some), T[some], varying, rng, settings)
        shares = tests.prior.shares()
        alone[varying], together[varying] = np.array(tests.pvalues(threads)).T
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
        self._rows, self._T, self._settings = rows, T, settings
        self._root = np.sqrt(rows.weight / rows.weight.mean())[:, None]
        mixed = rng.permutation(len(rows))
        some = np.sort(mixed[: settings.final_rows])
        own, equal = rows.part(some), equal_prior(rows, varying, self._rng())
        self.prior = learn(own, T[some], equal, equal, settings.evaluations, settings)
        self._few = np.sort(mixed[:_LEARNING])
        self._near = rows.part(np.sort(mixed[:_LANDMARKS]))
        self._D = rows.distances(self._near, self.prior.w)
        self._D_near = self._near.distances(self._near, self.prior.w)

    @staticmethod
    def _rng() -> np.random.Generator:
        """Return the source of landmarks, which are the same for all columns."""
        return np.random.default_rng(0)

    def pvalues(self, threads: int) -> list[tuple[float, float]]:
        """Return the p-values of each group, alone and together."""
        shares, kept = self.prior.shares(), self.prior.kept
        is_large = (shares >= _MIN_SHARE) & (len(kept) > 1)
        whole = None if is_large[kept].all() else self._null(self.prior)

        def both(j: int) -> tuple[float, float]:
            null = whole if whole and not is_large[j] else self._null(self._without(j))
            return null.pvalue(self._alone(j)), null.pvalue(self._together(j))

        return run(both, kept.tolist(), threads)

    def _without(self, j: int) -> Prior:
        """Return the prior without a group, learned anew."""
        w, v = self.prior.w.copy(), self.prior.v.copy()
        w[j] = v[j] = 0
        start = replace(self.prior, w=w, v=v)
        rows, T = self._rows.part(self._few), self._T[self._few]
        centre = equal_prior(rows, start.kept, self._rng())
        return learn(rows, T, start, centre, _EVALUATIONS, self._settings)

    def _null(self, prior: Prior) -> _Null:
        features = Features.of(self._rows, prior, self._rng(), self._settings)
        U = features.of_landmarks(self._rows, self._settings).astype(np.float64)
        return _Null(U * self._root, prior.noise, self._T * self._root)

    def _alone(self, j: int) -> Array:
        """Return the additive columns of a group, centred and times their deviations."""
        additive = self._rows.additive(np.arange(len(self.prior.v)) == j)
        scale = np.where(additive.is_step, np.sqrt(self.prior.tau), 1.0)[1:]
        A = additive.A[:, 1:].astype(np.float64) * scale
        return (A - A.mean(axis=0)) * self._root

    def _together(self, j: int) -> Array:
        """Return features whose products are the kernel of a group together with the others."""
        one = (np.arange(len(self.prior.w)) == j).astype(float)
        d, d_near = (own.distances(self._near, one) for own in (self._rows, self._near))
        apart = d_near[d_near > 0]
        width = float(np.median(apart)) if len(apart) else 1.0
        H, H_near = np.exp(-d / width), np.exp(-d_near / width)
        mean = H_near.mean(axis=0)
        H += mean.mean() - mean - H.mean(axis=1, keepdims=True)
        H_near += mean.mean() - mean - mean[:, None]
        H *= np.exp(self.prior.w[j] * d - self._D)  # the kernel of the other columns
        H_near *= np.exp(self.prior.w[j] * d_near - self._D_near)
        M = H_near.astype(np.float64)
        M[np.diag_indices_from(M)] += NUGGET
        L = scipy.linalg.cholesky(M, lower=True, check_finite=False)
        Phi = scipy.linalg.solve_triangular(L, H.T.astype(np.float64), lower=True).T
        return Phi * self._root


class _Null:
    """Targets of covariance UU' + noise."""

    def __init__(self, U: Array, noise: float, T: Array) -> None:
        self._U, self._noise = U, noise
        n, r = U.shape
        self._in_rows = r >= n
        H = U @ U.T if self._in_rows else U.T @ U
        H[np.diag_indices_from(H)] += noise
        self._factor = scipy.linalg.cho_factor(H, lower=True, check_finite=False)
        self._R = self.solve(T)
        own = np.maximum(np.linalg.eigvalsh(T.T @ self._R / n), 0)
        self._scales = own / min(1.0, max(float(own.mean()), 1e-12))

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
        q = float(np.sum((Phi.T @ self._R) ** 2))
        return mixture_sf(q, np.multiply.outer(lam, self._scales).ravel())


def mixture_sf(q: float, values: Array) -> float:
    """Return P(sum_i values_i chi2_1 > q), all values >= 0, by a saddlepoint (Kuonen, 1999)."""
    lam = values[values > 1e-10 * values.max(initial=0.0)]
    if not len(lam) or q <= 1e-12 * lam.sum():
        return 1.0
    lam, q = lam / lam.max(), q / float(lam.max())

    def slope(z: float) -> float:
        """Return the derivative of the cumulant function, less q."""
        return float((lam / (1 - 2 * z * lam)).sum()) - q

    z = float(brentq(slope, -0.5 * len(lam) / q, 0.5 * (1 - 1 / (2 * q + 2)), xtol=1e-14))
    K2 = 2 * float(((lam / (1 - 2 * z * lam)) ** 2).sum())
    squared = 2 * z * q + float(np.log1p(-2 * z * lam).sum())
    w, v = np.sign(z) * np.sqrt(max(squared, 0.0)), z * np.sqrt(K2)
    if abs(w) < 1e-4:  # q is the mean
        return float(norm.sf(8 * float((lam**3).sum()) / K2**1.5 / 6))
    return max(float(norm.sf(w + np.log(v / w) / w)), _TAIL)


def combined(pvalues: Array) -> Array:
    """Return Cauchy's combination of the p-values of each row."""
    p = np.clip(pvalues, 1e-15, 1 - 1e-12)
    exact = cauchy.sf(np.tan((0.5 - p) * np.pi).mean(axis=1))
    tiny = np.minimum(1, pvalues.shape[1] * pvalues.min(axis=1))
    out: Array = np.where(pvalues.min(axis=1) < 1e-14, tiny, exact)
    return out
