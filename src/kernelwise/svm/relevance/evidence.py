"""The Gaussian evidence, which learns the prior.

    E = sum_k 1/2 t_k' C^-1 t_k + K/2 log|C| + 1/2 sum ((log theta - log centre) / deviation)^2
    C = A diag(var) A' + steps and levels + s2 exp(-D) + r2 exp(-rho/2 Q) + noise diag(1 / weight)

over the logs theta of w, v and the amplitudes, for K targets that share one factorisation. With
G = K C^-1 - (C^-1 T)(C^-1 T)' the derivative along dC is 1/2 sum(G * dC). All matrices are
symmetric; only the lower triangle is computed.

Steps and levels have as many columns as a number has bins and a category levels, but their
covariance is a distance between bins b: the steps of a number, each of size c above its cut, have
covariance c^2 min(b, b') = c^2 (b + b' - |b - b'|) / 2, and levels have 1 - [b != b'].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.linalg.blas import dsymm, dsyrk, dtrmm, ssymm, ssyrk, strmm
from scipy.linalg.lapack import dlauum, dpotrf, dtrtri, slauum, spotrf, strtri
from scipy.optimize import minimize

from ..._native import exp_of_minus_rows, limited_contraction, limited_distances
from ..._typing import Array, Index
from .prior import AMPLITUDES, CONSTANT, Prior
from .rows import Rows, step_size
from .settings import Settings

_BELOW, _ABOVE = 6.0, 4.0  # how far the logs of w and v may move from the centre
_BLOCK = 100  # rows whose distances to later rows are computed at a time
_MIN_NOISE = 1e-3  # floor of the noise in float32, which holds no less
_LEAF = 64  # rows of a triangle that LAPACK inverts; it is slow on larger ones
_FAILED = 1e10  # value if C is not positive definite, from which a line search turns back
_ROUNDING = 3e-6  # nugget of float64 solves, whose kernels are float32


class _Distances:
    """Distances sum_j s_j min(|x_j - z_j|, limit_j) of rows to later rows, and their derivatives.

    Matrices are in C order, and hold the upper triangle.
    """

    def __init__(self, X: Array, limits: Array) -> None:
        self._X = np.ascontiguousarray(X, dtype=np.float32)
        self._right = np.ascontiguousarray(self._X.T)
        self._limits = limits.astype(np.float32)
        self._blocks = [slice(a, a + _BLOCK) for a in range(0, len(X), _BLOCK)]

    def fill(self, scales: Array, out: Array) -> None:
        """Write the distances."""
        scales = scales.astype(np.float32)
        for rows in self._blocks:
            later = slice(rows.start, None)
            limited_distances(
                self._X[rows], self._right[:, later], scales, self._limits, out[rows, later]
            )

    def contract(self, S: Array) -> Array:
        """Return sum_(i < k) S_ik min(|x_ij - x_kj|, limit_j) for each column j."""
        S, sums = S.astype(np.float32, copy=False), np.zeros(len(self._limits))
        for rows in self._blocks:
            later = slice(rows.start, None)
            limited_contraction(
                S[rows, later], self._X[rows], self._right[:, later], self._limits, sums
            )
        return sums


class Evidence:
    """E and its gradient for some rows and targets, as a function of the logs of the prior.

    Amplitudes that are zero in ``centre`` stay zero. Targets ``T`` of shape (n, K) have mean zero
    and deviation one; C is factorised in the type ``real``.
    """

    def __init__(
        self,
        rows: Rows,
        T: Array,
        centre: Prior,
        settings: Settings,
        real: Any = np.float32,
    ) -> None:
        kept = self._kept = centre.kept
        g, n = len(kept), len(rows)
        self._g = g
        mask, new = centre.v > 0, np.full(len(centre.w), -1)
        new[kept] = np.arange(g)
        self._names = [a for a in AMPLITUDES if getattr(centre, a) > 0 and _matters(a, centre)]
        self._real, self._noise_of_row = real, (1 / rows.weight).astype(real)
        self._syrk, self._symm, self._factor = (
            (ssyrk, ssymm, spotrf) if real is np.float32 else (dsyrk, dsymm, dpotrf)
        )
        self._T = np.asfortranarray(T, dtype=real)
        columns = np.flatnonzero(mask[rows.columns.group])
        self._z_group = new[rows.columns.group[columns]]
        self._scores = _Distances(rows.Z[:, columns], rows.columns.limits[columns])
        R, r_group = rows.gaussian(mask)
        self._R = np.asfortranarray(R - R.mean(axis=0), dtype=real)
        self._R2, self._r_group = self._R**2, new[r_group]
        A, a_group = rows.linear_columns(mask)
        self._A = np.asfortranarray(A, dtype=real)
        self._a_group = np.where(a_group < 0, -1, new[a_group])
        self._constant = CONSTANT
        self._set_bins(rows, mask, new, steps=centre.tau > 0)
        self._C = np.zeros((n, n), dtype=real, order="F")
        self._D, self._K1, self._K2 = (np.zeros((n, n), dtype=np.float32) for _ in range(3))
        self._half = np.zeros((n, n), dtype=real, order="F")
        self._centre = self.pack(centre)
        deviations = [settings.spreads[a] for a in self._names]
        self._deviation = np.concatenate([np.full(2 * g, settings.spread), deviations])

    def _set_bins(self, rows: Rows, mask: Any, new: Index, *, steps: bool) -> None:
        """Keep the bins of numbers with steps, and the levels of categories."""
        bins = rows.columns.binned(mask, steps=steps)
        self._bins = np.asarray(rows.places[:, bins], dtype=np.float32)
        self._b_group = new[rows.columns.group[bins]]
        self._is_level = np.asarray(rows.columns.is_category)[bins]
        self._step_size = step_size(np.diff(rows.columns.bins.starts)[bins])
        self._between_bins = _Distances(self._bins, np.where(self._is_level, 1.0, np.inf))

    def pack(self, prior: Prior) -> Array:
        """Return the logs of a prior."""
        amplitudes = [getattr(prior, a) for a in self._names]
        return np.log(np.concatenate([prior.w[self._kept], prior.v[self._kept], amplitudes]))

    def unpack(self, theta: Array, prior: Prior) -> Prior:
        """Return the prior of logs; amplitudes that are not among them are those of ``prior``."""
        w, v, g = np.zeros(len(prior.w)), np.zeros(len(prior.v)), self._g
        w[self._kept], v[self._kept] = np.exp(theta[:g]), np.exp(theta[g : 2 * g])
        found = {a: float(np.exp(x)) for a, x in zip(self._names, theta[2 * g :], strict=True)}
        return replace(prior, w=w, v=v, **found)

    def bounds(self, settings: Settings, hold: Sequence[str], begin: Array) -> list[Any]:
        """Return the bounds of the logs; amplitudes or weights to hold stay where they begin."""
        g = self._g
        bounds = [(b - _BELOW, b + _ABOVE) for b in self._centre[: 2 * g]]
        if "w" in hold:
            bounds[:g] = [(x, x) for x in begin[:g]]
        for a, x in zip(self._names, begin[2 * g :], strict=True):
            low, high = settings.bounds[a]
            if a == "noise" and self._real is np.float32:
                low = max(low, _MIN_NOISE)
            bounds.append((x, x) if a in hold else (np.log(low), np.log(high)))
        return bounds

    def __call__(self, theta: Array) -> tuple[float, Array]:
        """Return E and its gradient."""
        g = self._g
        w, v = np.exp(theta[:g]), np.exp(theta[g : 2 * g])
        at = dict.fromkeys(AMPLITUDES, 0.0)
        at |= {a: float(np.exp(x)) for a, x in zip(self._names, theta[2 * g :], strict=True)}
        C = self._covariance(w, v, at)
        L, failed = self._factor(C, lower=True, overwrite_a=True)
        if failed:
            return _FAILED, np.zeros_like(theta)
        off = (theta - self._centre) / self._deviation
        value = self._T.shape[1] * float(np.log(np.diagonal(L)).sum(dtype=np.float64))
        G, fit = self._cotangent(L)
        gradient = np.zeros_like(theta)
        by_w, by_v, by_amplitude = gradient[:g], gradient[g : 2 * g], dict.fromkeys(at, 0.0)
        diagonal = np.diagonal(G).astype(np.float64)
        by_amplitude["noise"] = 0.5 * at["noise"] * float(diagonal @ self._noise_of_row)
        by_amplitude["tau"] = self._additive_gradient(G, v, at, by_v)
        if at["s2"]:
            by_amplitude["s2"] = self._laplacian_gradient(G, w, at, diagonal, by_w)
        if at["r2"]:
            by_amplitude["r2"], by_amplitude["rho"] = self._gaussian_gradient(
                G, w, at, diagonal, by_w
            )
        gradient[2 * g :] = [by_amplitude[a] for a in self._names]
        return value + fit + 0.5 * float(off @ off), gradient + off / self._deviation

    # --- The covariance -------------------------------------------------------------------

    def _covariance(self, w: Array, v: Array, at: dict[str, float]) -> Array:
        """Return the lower triangle of C."""
        real = self._real
        var = np.where(self._a_group < 0, self._constant, v[self._a_group])
        C = self._syrk(
            1.0, self._A * np.sqrt(var).astype(real), lower=True, c=self._C, overwrite_c=True
        )
        if self._bins.shape[1]:
            var = self._bin_variances(v, at["tau"])
            self._between_bins.fill(var, self._D)
            C -= self._D.T
            level = self._is_level
            self_part = self._bins[:, ~level] @ var[~level] + 0.5 * var[level].sum()
            C += self_part.astype(real)[:, None]
            C += self_part.astype(real)
        if at["s2"]:
            K = self._K1
            self._scores.fill(w[self._z_group], K)
            exp_of_minus_rows(K)
            K *= np.float32(at["s2"])
            C += K.T
        if at["r2"]:
            C += self._gaussian(w, at)
        diagonal = real(at["noise"]) * self._noise_of_row
        if real is np.float64:
            diagonal = diagonal + _ROUNDING * (at["s2"] + at["r2"])
        C[np.diag_indices_from(C)] += diagonal
        return C

    def _bin_variances(self, v: Array, tau: float) -> Array:
        """Return half the variance of a step of each number, and that of a level of a category."""
        of_column = v[self._b_group]
        return np.where(self._is_level, of_column, 0.5 * tau * of_column * self._step_size**2)

    def _gaussian(self, w: Array, at: dict[str, float]) -> Array:
        """Return the lower triangle of r2 exp(-rho/2 Q), and keep that of rho/2 Q."""
        real = self._real
        P = self._R * w[self._r_group].astype(real)
        half = self._syrk(-at["rho"], P, lower=True, c=self._half, overwrite_c=True)
        d = np.diagonal(half) * real(-0.5)
        half += d[:, None]
        half += d
        np.maximum(half, 0, out=half)
        K = self._K2
        np.copyto(K, half.T, casting="same_kind")
        exp_of_minus_rows(K)
        K *= np.float32(at["r2"])
        return K.T

    def _cotangent(self, L: Array) -> tuple[Array, float]:
        """Return the lower triangle of G, and 1/2 sum_k t_k' C^-1 t_k."""
        M = inverse_of_factored(L)
        alpha = self._symm(1.0, M, self._T, lower=True)
        fit = 0.5 * float(np.sum(self._T * alpha, dtype=np.float64))
        K = float(self._T.shape[1])
        G = self._syrk(-1.0, alpha, beta=K, c=M, lower=True, overwrite_c=True)
        return G, fit

    # --- The gradient ---------------------------------------------------------------------

    def _additive_gradient(self, G: Array, v: Array, at: dict[str, float], by_v: Array) -> float:
        """Add the derivatives of additive columns along log v, and return that along log tau."""
        GA = self._symm(1.0, G, self._A, lower=True)  # the first column of A is one
        forms = np.einsum("ij,ij->j", self._A, GA, dtype=np.float64)[1:]
        group = self._a_group[1:]
        by_v += 0.5 * np.bincount(group, v[group] * forms, minlength=self._g)
        if not self._bins.shape[1]:
            return 0.0
        sums, rows = self._between_bins.contract(G.T), GA[:, 0].astype(np.float64)
        var, level = self._bin_variances(v, at["tau"]), self._is_level
        forms = np.where(level, 0.5 * rows.sum(), rows @ self._bins) - sums
        of_column = var * forms
        by_v += np.bincount(self._b_group, of_column, minlength=self._g)
        return float(of_column[~level].sum())

    def _laplacian_gradient(
        self, G: Array, w: Array, at: dict[str, float], diagonal: Array, by_w: Array
    ) -> float:
        """Add the derivatives of the Laplacian along log w, and return that along log s2."""
        S = np.multiply(self._K1, G.T, out=self._K1, casting="same_kind")
        sums = w[self._z_group] * self._scores.contract(S)
        by_w -= np.bincount(self._z_group, sums, minlength=self._g)
        return _triangle_sum(S) - 0.5 * at["s2"] * float(diagonal.sum())

    def _gaussian_gradient(
        self, G: Array, w: Array, at: dict[str, float], diagonal: Array, by_w: Array
    ) -> tuple[float, float]:
        """Add the derivatives of the Gaussian along log w; return those along log r2 and rho."""
        K = np.multiply(self._K2, G.T, out=self._K2, casting="same_kind")
        S, half = K.T, self._half
        if self._real is np.float64:
            S = S.astype(np.float64, order="F")
        half *= S
        both = S.sum(axis=0) + S.sum(axis=1)
        products = self._symm(1.0, S, self._R, lower=True)
        twice = np.einsum("ij,ij->j", self._R, products)
        twice = twice + np.diagonal(S) @ self._R2  # `both` counts the diagonal twice
        squares = w[self._r_group] ** 2 * (both @ self._R2 - twice)
        by_w -= at["rho"] * np.bincount(self._r_group, squares, minlength=self._g)
        by_r2 = _triangle_sum(K) - 0.5 * at["r2"] * float(diagonal.sum())
        return by_r2, -_triangle_sum(half)


def _triangle_sum(S: Array) -> float:
    """Return the sum of a matrix whose other triangle is zero; float32 sums by rows lose little."""
    return float(S.sum(axis=0).sum(dtype=np.float64))


def inverse_of_factored(L: Array) -> Array:
    """Return the lower triangle of (L L')^-1, zeros above it."""
    lauum = slauum if L.dtype == np.float32 else dlauum
    out: Array = lauum(_inverse_of_triangle(L), lower=True, overwrite_c=True)[0]
    return out


def _inverse_of_triangle(L: Array) -> Array:
    """Return L^-1 by halves: products are several times as fast as LAPACK's inverse."""
    n, single = len(L), L.dtype == np.float32
    if n <= _LEAF:
        out: Array = (strtri if single else dtrtri)(L, lower=True)[0]
        return out
    trmm, h = (strmm if single else dtrmm), n // 2
    out = np.zeros_like(L, order="F")
    out[:h, :h], out[h:, h:] = _inverse_of_triangle(L[:h, :h]), _inverse_of_triangle(L[h:, h:])
    right = trmm(-1.0, out[h:, h:], L[h:, :h], lower=True)
    out[h:, :h] = trmm(1.0, out[:h, :h], right, side=True, lower=True, overwrite_b=True)
    return out


def _matters(name: str, prior: Prior) -> bool:
    return name != "rho" or prior.r2 > 0


def learn(
    rows: Rows,
    T: Array,  # (n, K): their targets
    start: Prior,  # where the descent begins
    centre: Prior,  # the centre of the prior of the hyperparameters
    evaluations: int,  # the most evaluations of E
    settings: Settings,
    *,
    hold: Sequence[str] = (),  # the amplitudes that stay as they are; "w" holds the weights
    fine: bool = False,  # whether a descent that ends at little noise goes on in float64
) -> Prior:
    """Return the prior of least E, after at most so many evaluations."""
    evidence = Evidence(rows, T, centre, settings)
    begin = evidence.pack(start)
    bounds = evidence.bounds(settings, hold, begin)
    found = _descend(evidence, begin, bounds, evaluations)
    prior = evidence.unpack(found, start)
    if fine and "noise" not in hold and prior.noise < settings.fine_noise:
        evidence = Evidence(rows, T, centre, settings, np.float64)
        bounds = evidence.bounds(settings, hold, begin)
        prior = evidence.unpack(_descend(evidence, found, bounds, evaluations), start)
    return prior


def _descend(evidence: Evidence, begin: Array, bounds: list[Any], evaluations: int) -> Array:
    low, high = np.array(bounds).T
    found: Array = minimize(
        evidence,
        np.clip(begin, low, high),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxfun": evaluations, "maxcor": 20, "ftol": 0.0},
    ).x
    return found
