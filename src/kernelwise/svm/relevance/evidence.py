"""The Gaussian evidence, which learns the prior.

    E = sum_k 1/2 t_k' C^-1 t_k + K/2 log|C| + 1/2 sum ((log theta - log centre) / deviation)^2
    C = A diag(var) A' + s2 exp(-D) + r2 exp(-rho/2 Q) + noise diag(1 / weight)

over the logs theta of w, v and the amplitudes, for K targets that share one factorisation. With
G = K C^-1 - (C^-1 T)(C^-1 T)' the derivative along dC is 1/2 sum(G * dC). All matrices are
symmetric, and one triangle is computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.linalg
from scipy.linalg.blas import dsymm, dsyrk, ssymm, ssyrk
from scipy.linalg.lapack import dpotri, spotri
from scipy.optimize import minimize

from ..._native import exp_of_minus_rows, limited_contraction, limited_distances
from ..._typing import Array
from .prior import AMPLITUDES, Prior
from .rows import Rows
from .settings import Settings

_BELOW, _ABOVE = 6.0, 4.0  # how far the logs of w and v may move from the centre
_BLOCK = 100  # rows whose distances to later rows are computed at a time
_FAILED = 1e10  # value where C is not positive definite, from which a line search turns back
_ROUNDING = 3e-6  # nugget of float64 solves, whose kernels are float32


class Evidence:
    """E and its gradient for some rows and targets, as a function of the logs of the prior.

    Parameters
    ----------
    rows : Rows
        The rows.
    T : ndarray of shape (n, K)
        The targets, of mean zero and deviation one.
    centre : Prior
        The centre of the log-normal prior of the hyperparameters. Amplitudes that are zero there
        stay zero.
    settings : Settings
        The constants.
    spread : float
        The prior deviation of log w and log v.
    real : type
        float32 or float64, in which C is factorised.
    """

    def __init__(
        self,
        rows: Rows,
        T: Array,
        centre: Prior,
        settings: Settings,
        spread: float,
        real: Any = np.float32,
    ) -> None:
        kept = self._kept = centre.kept
        g = self._g = len(kept)
        mask, new = centre.v > 0, np.full(len(centre.w), -1)
        new[kept] = np.arange(g)
        self._names = [a for a in AMPLITUDES if getattr(centre, a) > 0 and _matters(a, centre)]
        self._real, self._noise_of_row = real, (1 / rows.weight).astype(real)
        self._syrk, self._symm, self._inverse = (
            (ssyrk, ssymm, spotri) if real is np.float32 else (dsyrk, dsymm, dpotri)
        )
        self._T = np.asfortranarray(T, dtype=real)
        self._constant = settings.constant
        columns = np.flatnonzero(new[rows.columns.group] >= 0)
        self._Z = np.ascontiguousarray(rows.Z[:, columns])
        self._right = np.ascontiguousarray(self._Z.T)
        self._z_group, self._limits = new[rows.columns.group[columns]], rows.columns.limits[columns]
        R, r_group = rows.gaussian(mask)
        self._R = np.asfortranarray(R - R.mean(axis=0), dtype=real)
        self._R2, self._r_group = self._R**2, new[r_group]
        additive = rows.additive(mask, steps=centre.tau > 0)
        varies = (additive.group < 0) | (np.ptp(additive.A, axis=0) > 0)
        self._A = np.asfortranarray(additive.A[:, varies], dtype=real)
        group = additive.group[varies]
        self._free = group >= 0
        self._a_group = np.where(self._free, new[group], 0)
        self._step = additive.is_step[varies]
        self._centre = self.pack(centre)
        deviations = [settings.spreads[a] for a in self._names]
        self._deviation = np.concatenate([np.full(2 * g, spread), deviations])

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

    def index(self, name: str) -> int:
        """Return the place of an amplitude among the logs."""
        return 2 * self._g + self._names.index(name)

    def bounds(self, settings: Settings, hold: Sequence[str], begin: Array) -> list[Any]:
        """Return the bounds of the logs; amplitudes or weights to hold stay where they begin."""
        g = self._g
        bounds = [(b - _BELOW, b + _ABOVE) for b in self._centre[: 2 * g]]
        if "w" in hold:
            bounds[:g] = [(x, x) for x in begin[:g]]
        for a, x in zip(self._names, begin[2 * g :], strict=True):
            low, high = settings.bounds[a]
            bounds.append((x, x) if a in hold else (np.log(low), np.log(high)))
        return bounds

    def __call__(self, theta: Array) -> tuple[float, Array]:
        """Return E and its gradient."""
        g, real = self._g, self._real
        w, v = np.exp(theta[:g]), np.exp(theta[g : 2 * g])
        at = dict.fromkeys(AMPLITUDES, 0.0)
        at |= {a: float(np.exp(x)) for a, x in zip(self._names, theta[2 * g :], strict=True)}
        var = np.where(
            self._free, v[self._a_group] * np.where(self._step, at["tau"], 1.0), self._constant
        )
        C = self._syrk(1.0, self._A * np.sqrt(var).astype(real), lower=True)
        K1 = self._laplacian(w) if at["s2"] else None
        K2, half = self._gaussian(w, at["rho"]) if at["r2"] else (None, None)
        if K1 is not None:
            C += real(at["s2"]) * K1.T
        if K2 is not None:
            C += real(at["r2"]) * K2
        diagonal = real(at["noise"]) * self._noise_of_row
        if real is np.float64:
            diagonal = diagonal + _ROUNDING * (at["s2"] + at["r2"])
        C[np.diag_indices_from(C)] += diagonal
        try:
            L = scipy.linalg.cholesky(C, lower=True, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError:
            return _FAILED, np.zeros_like(theta)
        off = (theta - self._centre) / self._deviation
        value = self._T.shape[1] * float(np.log(np.diagonal(L)).sum(dtype=np.float64))
        G, fit = self._cotangent(L)
        gradient = self._gradient(G, w, var, at, K1, K2, half)
        return value + fit + 0.5 * float(off @ off), gradient + off / self._deviation

    def _laplacian(self, w: Array) -> Array:
        """Return the upper triangle of exp(-D)."""
        each, n = w[self._z_group].astype(np.float32), len(self._Z)
        K = np.zeros((n, n), dtype=np.float32)
        for a in range(0, n, _BLOCK):
            block = slice(a, a + _BLOCK)
            limited_distances(self._Z[block], self._right[:, a:], each, self._limits, K[block, a:])
        exp_of_minus_rows(K)
        return K

    def _gaussian(self, w: Array, rho: float) -> tuple[Array, Array]:
        """Return the lower triangles of exp(-rho/2 Q) and of rho/2 Q."""
        real = self._real
        P = self._R * w[self._r_group].astype(real)
        half = self._syrk(-rho, P, lower=True)
        d = np.diagonal(half) * real(-0.5)
        half += d[:, None]
        half += d
        np.maximum(half, 0, out=half)
        K = np.array(half.T, dtype=np.float32, order="C")
        exp_of_minus_rows(K)
        return K.T, half

    def _cotangent(self, L: Array) -> tuple[Array, float]:
        """Return the lower triangle of G, and 1/2 sum_k t_k' C^-1 t_k."""
        M = self._inverse(L, lower=True, overwrite_c=True)[0]
        alpha = self._symm(1.0, M, self._T, lower=True)
        fit = 0.5 * float(np.sum(self._T * alpha, dtype=np.float64))
        K = float(self._T.shape[1])
        G = self._syrk(-1.0, alpha, beta=K, c=M, lower=True, overwrite_c=True)
        return G, fit

    def _gradient(
        self,
        G: Array,
        w: Array,
        var: Array,
        at: dict[str, float],
        K1: Array | None,
        K2: Array | None,
        half: Array | None,
    ) -> Array:
        """Return the derivatives along log w, log v and the logs of the amplitudes."""
        g, own = self._g, self._free
        forms = np.einsum("ij,ij->j", self._A, self._symm(1.0, G, self._A, lower=True))
        of_columns = 0.5 * var * forms
        by_v = np.bincount(self._a_group[own], of_columns[own], minlength=g)
        by_w, grad = np.zeros(g), dict.fromkeys(self._names, 0.0)
        diagonal = np.diagonal(G).astype(np.float64)
        trace = 0.5 * float(diagonal.sum())
        grad["tau"] = float(of_columns[self._step].sum())
        grad["noise"] = 0.5 * at["noise"] * float(diagonal @ self._noise_of_row)
        if K1 is not None:
            S = np.multiply(K1, G.T, out=K1, casting="same_kind")
            grad["s2"] = at["s2"] * (float(S.sum(dtype=np.float64)) - trace)
            sums, n = np.zeros(len(self._limits)), len(S)
            for a in range(0, n, _BLOCK):
                block = slice(a, a + _BLOCK)
                limited_contraction(
                    S[block, a:], self._Z[block], self._right[:, a:], self._limits, sums
                )
            by_w -= at["s2"] * np.bincount(self._z_group, w[self._z_group] * sums, minlength=g)
        if K2 is not None and half is not None:
            S = K2 * G
            grad["r2"] = at["r2"] * (float(S.sum(dtype=np.float64)) - trace)
            half *= S
            grad["rho"] = -at["r2"] * float(half.sum(dtype=np.float64))
            both = S.sum(axis=0) + S.sum(axis=1)
            products = self._symm(1.0, S, self._R, lower=True)
            twice = np.einsum("ij,ij->j", self._R, products)
            twice = twice + np.diagonal(S) @ self._R2  # `both` counts the diagonal twice
            sums = 2 * (both @ self._R2 - twice)
            squares = w[self._r_group] ** 2 * sums
            by_w -= 0.5 * at["r2"] * at["rho"] * np.bincount(self._r_group, squares, minlength=g)
        return np.concatenate([by_w, by_v, [grad[a] for a in self._names]])


def _matters(name: str, prior: Prior) -> bool:
    return name != "rho" or prior.r2 > 0


def learn(
    rows: Rows,
    T: Array,
    start: Prior,
    centre: Prior,
    evaluations: int,
    settings: Settings,
    *,
    spread: float | None = None,
    hold: Sequence[str] = (),
    fine: bool = False,
) -> Prior:
    """Return the prior of least E, after at most so many evaluations.

    Parameters
    ----------
    rows : Rows
        The rows.
    T : ndarray of shape (n, K)
        Their targets.
    start : Prior
        Where the descent begins.
    centre : Prior
        The centre of the prior of the hyperparameters.
    evaluations : int
        The most evaluations of E.
    settings : Settings
        The constants.
    spread : float, default=None
        The prior deviation of log w and log v; None is that of the settings.
    hold : sequence of str, default=()
        The amplitudes that stay as they are; "w" holds the weights.
    fine : bool, default=False
        Whether a descent that ends at little noise goes on in float64.

    Returns
    -------
    prior : Prior
        The learned prior.
    """
    spread = settings.spread if spread is None else spread
    evidence = Evidence(rows, T, centre, settings, spread)
    begin = evidence.pack(start)
    bounds = evidence.bounds(settings, hold, begin)
    found = _descend(evidence, begin, bounds, evaluations)
    prior = evidence.unpack(found, start)
    if fine and "noise" not in hold and prior.noise < settings.fine_noise:
        evidence = Evidence(rows, T, centre, settings, spread, np.float64)
        k = evidence.index("noise")
        bounds[k] = (np.log(settings.least_noise), bounds[k][1])
        prior = evidence.unpack(_descend(evidence, found, bounds, evaluations), start)
    return prior


def _descend(evidence: Evidence, begin: Array, bounds: list[Any], evaluations: int) -> Array:
    low, high = np.array(bounds).T
    options = {"maxfun": evaluations, "maxcor": 20, "ftol": 1e-6}
    found: Array = minimize(
        evidence,
        np.clip(begin, low, high),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options=options,
    ).x
    return found
