"""A test of columns: the score test of a variance component under the learned prior.

    prior   learned from all columns
    for each group of columns j:
        V = covariance of the target by the prior without j and its near copies
        P = V^-1,   r = P t
        S = A_j A_j'             what j does alone: line, score, levels
        S = H_j, A_j taken out   the same, curved: H_j = centred exp(-d_j / median)
        S = K_w * H_j            what j does together: K_w a kernel of the other columns
        p = P(sum_i lam_i chi2_1 > r' S r),   lam = eigenvalues of P^1/2 S P^1/2
    p_j = Cauchy's combination of these

If t' P t / n > 1, V is scaled up by it. Several targets share P; T' P T / n is their covariance.
All rows are read, up to some thousands; kernels of many rows are on landmarks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg
from scipy.optimize import brentq
from scipy.stats import false_discovery_control, norm

from ..._threads import run
from ..._typing import Array, Index
from .evidence import learn
from .joint import NUGGET, Features
from .prior import CONSTANT, Prior, equal_prior
from .rows import Rows
from .settings import Settings

_ROWS = 5000  # most rows; memory
_LANDMARKS = 300  # of the kernels of what columns do together
_CURVE_LANDMARKS = 50  # of the kernel of a column
_EVALUATIONS = 6  # of the evidence for the prior without a column
_LEARNING = 500  # rows of these
_MIN_SHARE = 0.02  # share from which a group is left out of the prior alone; time
_COPY = 0.75  # correlation above which columns are left out together: else copies hide each other
_TAIL = 1e-300  # smallest p-value
_LARGE = 0.99  # p-values above count as this in a combination


@dataclass(frozen=True)
class ColumnTests:
    """The tests of all columns of a table."""

    shares: Array  # (d,), the share of each column in the prior variance; they sum to one
    alone: Array  # (d,), the p-values of what a column does by itself, and together with others
    together: Array  # (d,)
    pvalues: Array  # (d,), both combined
    group: Index  # (d,), the group of each column; columns of a group are tested together

    def adjusted(self, error_rate: str) -> Array:
        """Return p-values that account for the number of tests.

        ``error_rate``: the rate to bound: the expected share of false columns among the selected
        ones, by Benjamini and Hochberg, or the probability of any, by Holm. Returns ``adjusted``
        (d,), a column is selected at level alpha where this is at most alpha.
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

    ``rows``: the rows; their weights are relative. ``T`` (n, k): the targets, of mean zero and
    deviation one. ``rng``: picks landmarks, and rows that learn the prior. ``threads``: threads
    over the groups. Returns ``tests``, the tests of the user's columns.
    """
    columns, layout = rows.columns, rows.columns.encoding.layout
    varying = np.unique(columns.group[np.ptp(rows.Z, axis=0) > 0])
    alone, together = np.ones(columns.n_groups), np.ones(columns.n_groups)
    shares: Array = np.zeros(columns.n_groups)
    if len(varying):
        some = np.sort(rng.permutation(len(rows))[:_ROWS])
        part = rows.part(some)
        part = replace(part, weight=part.weight / part.weight.mean())
        tests = _Tests(part, T[some], varying, rng, settings)
        shares = tests.prior.shares(columns.group_size)
        alone[varying], together[varying] = np.array(tests.pvalues(threads)).T
    own = layout.to_source((shares / columns.group_size)[columns.group])
    both = np.ones(columns.n_groups)
    both[varying] = [combined([alone[j], together[j]]) for j in varying]
    order = np.argsort(layout.source, kind="stable")
    ends = np.searchsorted(layout.source[order], np.arange(1, layout.n_source))
    groups = [np.unique(each) for each in np.split(columns.group[order], ends)]
    return ColumnTests(
        own / own.sum() if own.any() else np.full(len(own), 1 / len(own)),
        _least(alone, groups),
        _least(together, groups),
        _least(both, groups),
        np.array([each[0] if len(each) else columns.n_groups for each in groups]),
    )


def _least(pvalues: Array, groups: Sequence[Index]) -> Array:
    """Return the least p-value of the groups of each column, by Bonferroni; one without any."""
    least = (max(len(own), 1) * min(pvalues[own], default=1.0) for own in groups)
    return np.minimum(1.0, list(least))


class _Tests:
    """The tests of the groups of some rows.

    ``prior`` is learned from all columns that vary.
    """

    def __init__(
        self, rows: Rows, T: Array, varying: Index, rng: np.random.Generator, settings: Settings
    ) -> None:
        self._rows, self._T, self._settings = rows, T, settings
        self._root = np.sqrt(rows.weight)[:, None]
        mixed = rng.permutation(len(rows))
        some = np.sort(mixed[: 2 * settings.rows])
        own, equal = rows.part(some), equal_prior(rows, varying, self._rng())
        self.prior = learn(own, T[some], equal, equal, settings.evaluations, settings)
        self._shares = self.prior.shares(rows.columns.group_size)
        self._few = np.sort(mixed[:_LEARNING])
        self._near = rows.part(mixed[:_LANDMARKS])
        self._group, self._is_category = rows.columns.group, np.asarray(rows.columns.is_category)
        Z = rows.Z - rows.Z.mean(axis=0)
        self._scores = Z / np.maximum(np.sqrt((Z**2).sum(axis=0)), 1e-12)
        self._D = rows.distances(self._near, self.prior.w)
        self._D_near = self._near.distances(self._near, self.prior.w)

    @staticmethod
    def _rng() -> np.random.Generator:
        """Return the source of landmarks, which are the same for all columns."""
        return np.random.default_rng(0)

    def pvalues(self, threads: int) -> list[tuple[float, float]]:
        """Return the p-values of each group, alone and together.

        Groups of small shares are left out of the prior together, the others one by one, each with
        its near copies.
        """
        kept = self.prior.kept
        small = kept[self._shares[kept] < _MIN_SHARE]
        shared = self._null(small) if len(small) else None
        has_number = np.bincount(self._group, ~self._is_category) > 0

        def both(j: int) -> tuple[float, float]:
            apart = np.union1d(j, self._copies(j))
            null = shared if shared and np.isin(apart, small).all() else self._null(apart)
            line = self._line(j)
            alone = [null.pvalue(line)]
            if has_number[j]:
                alone.append(null.pvalue(self._curve(j, line)))
            return combined(alone), null.pvalue(self._together(j))

        return run(both, kept.tolist(), threads)

    def _copies(self, j: int) -> Index:
        """Return the groups with a number that nearly says what one of a group says."""
        own = np.flatnonzero((self._group == j) & ~self._is_category)
        correlation = self._scores.T @ self._scores[:, own]
        out: Index = self._group[(np.abs(correlation) > _COPY).any(axis=1) & ~self._is_category]
        return np.unique(out)

    def _null(self, groups: Index) -> _Null:
        """Return the distribution of the targets by the prior without some groups."""
        prior, rows, T = self._without(groups), self._rows, self._T
        if not len(prior.kept):
            U = np.full((len(rows), 1), np.sqrt(CONSTANT))
            return _Null(U * self._root, 1.0, T * self._root)
        features = Features.of(rows, prior, self._rng(), self._settings)
        U = features.of_landmarks(rows).astype(np.float64)
        return _Null(U * self._root, prior.noise, T * self._root)

    def _without(self, groups: Index) -> Prior:
        """Return the prior without some groups, learned anew; first their share is noise."""
        w, v, noise = self.prior.w.copy(), self.prior.v.copy(), self.prior.noise
        w[groups] = v[groups] = 0
        noise += float(self._shares[groups].sum()) * max(1 - noise, 0)
        start = replace(self.prior, w=w, v=v, noise=noise)
        if not len(start.kept):
            return start
        rows, T = self._rows.part(self._few), self._T[self._few]
        centre = equal_prior(rows, start.kept, self._rng())
        return learn(rows, T, start, centre, _EVALUATIONS, self._settings)

    def _line(self, j: int) -> Array:
        """Return the lines, scores and levels of a group, centred."""
        additive = self._rows.additive(np.arange(len(self.prior.v)) == j, steps=False)
        A = additive.A[:, 1:].astype(np.float64)
        return (A - A.mean(axis=0)) * self._root

    def _curve(self, j: int, line: Array) -> Array:
        """Return features whose products are a centred kernel of a group, beside its line."""
        H, M, _, _ = self._kernel(j, _CURVE_LANDMARKS)
        Phi = _features(H, M) * self._root
        out: Array = Phi - line @ np.linalg.lstsq(line, Phi)[0]
        return out

    def _together(self, j: int) -> Array:
        """Return features whose products are that kernel times one of the other columns."""
        H, M, d, d_near = self._kernel(j, _LANDMARKS)
        H *= np.exp(self.prior.w[j] * d - self._D)
        M *= np.exp(self.prior.w[j] * d_near - self._D_near)
        return _features(H, M) * self._root

    def _kernel(self, j: int, most: int) -> tuple[Array, Array, Array, Array]:
        """Return a centred kernel of rows and landmarks, of landmarks, and their distances."""
        one, near = (np.arange(len(self.prior.w)) == j).astype(float), self._near
        near = near.part(np.arange(len(near))[:most])
        d, d_near = (own.distances(near, one) for own in (self._rows, near))
        apart = d_near[d_near > 0]
        width = float(np.median(apart)) if len(apart) else 1.0
        H, M = np.exp(-d / width), np.exp(-d_near / width)
        mean = M.mean(axis=0)
        H += mean.mean() - mean - H.mean(axis=1, keepdims=True)
        M += mean.mean() - mean - mean[:, None]
        return H, M, d, d_near


def _features(K: Array, M: Array) -> Array:
    """Return features of rows from their kernel with landmarks, and that of these."""
    M = M.astype(np.float64)
    M[np.diag_indices_from(M)] += NUGGET
    L = scipy.linalg.cholesky(M, lower=True, check_finite=False)
    Phi: Array = scipy.linalg.solve_triangular(L, K.T.astype(np.float64), lower=True).T
    return Phi


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


def combined(pvalues: Sequence[float]) -> float:
    """Return Cauchy's combination of p-values; one near one does not outweigh a small one."""
    mean = np.mean(1 / np.tan(np.pi * np.clip(pvalues, _TAIL, _LARGE)))
    return float(np.arctan2(1, mean) / np.pi)
