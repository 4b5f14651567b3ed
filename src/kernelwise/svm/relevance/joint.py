"""The prior as a linear model, solved with the logistic or the squared loss.

    U = [A sqrt(var), K(rows, Z) L^-T],  LL' = K(Z, Z) + nugget,  f = U b,  b ~ N(0, scale)

The landmarks Z are all rows, up to some hundreds, or some of them. Left-out decisions follow in
closed form: f - h / (1 - h) (t - p) / W for the logistic loss, t - alpha / (C^-1)_ii for the
squared one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from scipy.linalg.lapack import dpotri
from scipy.special import expit

from ..._typing import Array
from .prior import Prior
from .rows import Rows
from .settings import Settings

NUGGET = 1e-3  # added to the diagonal of K(Z, Z), relative to the amplitude
_STEPS = 6  # Newton steps at most
_CLOSE = 0.05  # largest change of log-odds at which they end
_LARGEST = 30.0  # log-odds at which decisions are cut off
_SURE = 15.0  # the same for left-out ones
_MIN_VARIANCE = 1e-6  # floor of p (1 - p)


@dataclass(frozen=True)
class Features:
    """The map from rows to U."""

    prior: Prior
    near: Rows | None  # the landmarks; None without a kernel
    L: Array | None  # (m, m): the Cholesky factor of their covariances

    @classmethod
    def of(cls, rows: Rows, prior: Prior, rng: np.random.Generator, settings: Settings) -> Features:
        """Choose landmarks, and factorise their covariances."""
        if not prior.has_kernel:
            return cls(prior, None, None)
        n = len(rows)
        m = n if n <= 2 * settings.landmarks else settings.landmarks
        near = rows if m == n else rows.part(np.sort(rng.permutation(n)[:m]))
        M = prior.kernel(near, near).astype(np.float64)
        M = 0.5 * (M + M.T)
        M[np.diag_indices_from(M)] = (prior.s2 + prior.r2) * (1 + NUGGET)
        return cls(prior, near, scipy.linalg.cholesky(M, lower=True, check_finite=False))

    def of_landmarks(self, rows: Rows) -> Array:
        """Return U of the rows that the landmarks were chosen from."""
        if self.near is not None and self.L is not None and len(self.near) == len(rows):
            return np.hstack([self.prior.root(rows), self.L])
        return self.apply(rows)

    def apply(self, rows: Rows) -> Array:
        """Return U of rows."""
        root = self.prior.root(rows)
        if self.near is None or self.L is None:
            return root.astype(np.float64)
        K = self.prior.kernel(rows, self.near)
        Phi = scipy.linalg.solve_triangular(
            self.L.astype(K.dtype), K.T, lower=True, check_finite=False
        ).T
        return np.hstack([root, Phi])


@dataclass(frozen=True)
class Joint:
    """A linear model on the features of a prior."""

    prior: Prior
    near: Rows | None
    additive: Array  # (q, k): the coefficients of the additive columns times their prior deviations
    weights: Array  # (m, k): the coefficients of the covariances with the landmarks
    scale: float  # the prior variance of the coefficients, or the factor of the noise
    left_out: Array | None = None  # (n, k): decisions on the training rows without each of them

    @classmethod
    def of(
        cls, features: Features, coefficients: Array, scale: float, left_out: Array | None
    ) -> Joint:
        """Return the model of coefficients of U."""
        coefficients = coefficients.astype(np.float64, copy=False)
        if features.L is None:
            return cls(features.prior, None, coefficients, np.zeros((0, 0)), scale, left_out)
        q = len(coefficients) - len(features.L)
        weights = scipy.linalg.solve_triangular(
            features.L, coefficients[q:], lower=True, trans=1, check_finite=False
        )
        near = None if features.near is None else features.near.bare()
        return cls(features.prior, near, coefficients[:q], weights, scale, left_out)

    def decide(self, rows: Rows) -> Array:
        """Return the decisions on rows."""
        out: Array = self.prior.root(rows) @ self.additive
        if self.near is not None:
            out += self.prior.exact_kernel(rows, self.near) @ self.weights
        return out.astype(np.float64, copy=False)


def fit_joint(
    rows: Rows,
    targets: Array,  # (n, k): codes 0 and 1 for the logistic loss, numbers for the squared one
    cost_factor: Array,  # (n,): the weight of each row's loss
    prior: Prior,
    loss: str,
    # prior variances of the coefficients; for the squared loss, factors of 1 / noise
    scales: Sequence[float],
    rng: np.random.Generator,
    settings: Settings,
    *,
    left_out: bool = True,  # whether left-out decisions are needed
) -> list[Joint]:
    """Fit one model per scale of the prior variance."""
    features = Features.of(rows, prior, rng, settings)
    U = features.of_landmarks(rows)
    if loss == "squared":
        fits = [squared_fit(U, targets, prior.noise / (c * cost_factor)) for c in scales]
        return [Joint.of(features, b, c, out) for c, (b, out) in zip(scales, fits, strict=True)]
    G = None
    if U.shape[1] >= len(U):  # a solve in the space of the rows
        G = U if left_out else U.astype(np.float32)
        G = G @ G.T
    models, F = [], np.zeros(targets.shape)
    for scale in scales:
        columns = [
            logistic_fit(U, G, targets[:, k], cost_factor, scale, F[:, k], left_out=left_out)
            for k in range(targets.shape[1])
        ]
        F = np.column_stack([fit.decisions for fit in columns])
        out = np.column_stack([fit.left_out for fit in columns]) if left_out else None
        coefficients = np.column_stack([fit.coefficients for fit in columns])
        models.append(Joint.of(features, coefficients, scale, out))
    return models


def squared_fit(U: Array, t: Array, noise: Array) -> tuple[Array, Array]:
    """Return coefficients and left-out decisions of ridge regression with unit prior variances.

    ``noise`` is the variance of each row's target.
    """
    n, r = U.shape
    if r >= n:
        C = (U @ U.T).astype(np.float64)
        C[np.diag_indices(n)] += noise
        L = scipy.linalg.cholesky(C, lower=True, overwrite_a=True, check_finite=False)
        alpha = scipy.linalg.cho_solve((L, True), t, check_finite=False)
        inverse = dpotri(L, lower=True)[0]
        return U.T @ alpha, t - alpha / np.diagonal(inverse)[:, None]
    V = U / np.sqrt(noise)[:, None]
    H = (V.T @ V).astype(np.float64)
    H[np.diag_indices(r)] += 1
    L = scipy.linalg.cholesky(H, lower=True, overwrite_a=True, check_finite=False)
    b = scipy.linalg.cho_solve((L, True), V.T @ (t / np.sqrt(noise)[:, None]), check_finite=False)
    half = scipy.linalg.solve_triangular(L, V.T, lower=True, check_finite=False)
    h = np.minimum(np.einsum("ij,ij->j", half, half), 1 - 1e-6)[:, None]
    return b, t - (t - U @ b) / (1 - h)


@dataclass(frozen=True)
class LogisticFit:
    """Coefficients, decisions and left-out decisions of a logistic regression."""

    coefficients: Array
    decisions: Array
    left_out: Array


def logistic_fit(
    U: Array,
    G: Array | None,
    t: Array,
    cost_factor: Array,
    scale: float,
    start: Array,
    *,
    left_out: bool,
) -> LogisticFit:
    """Minimise the logistic loss plus |b|^2 / (2 scale) by Newton steps.

    With ``G = U U'`` the steps are in the space of the rows, else in that of the coefficients.
    """
    solve = _in_row_space if G is not None else _in_coefficient_space
    coefficients, f, leverage = solve(U, G, t, cost_factor, scale, start, left_out)
    if not left_out:
        return LogisticFit(coefficients, f, f)
    p = expit(f)
    h = np.clip(leverage, 0, 1 - 1e-4)
    without = f - h / (1 - h) * (t - p) / np.maximum(p * (1 - p), _MIN_VARIANCE)
    return LogisticFit(coefficients, f, np.clip(without, -_SURE, _SURE))


def _in_row_space(
    U: Array, G: Any, t: Array, cost_factor: Array, scale: float, f: Array, left_out: bool
) -> tuple[Array, Array, Array]:
    real = G.dtype.type
    t, f, cost_factor, factor = (
        t.astype(real),
        f.astype(real),
        cost_factor.astype(real),
        real(scale),
    )
    diagonal = np.diag_indices(len(G))
    for _ in range(_STEPS):
        p = expit(f)
        W = cost_factor * np.maximum(p * (1 - p), real(_MIN_VARIANCE))
        root = np.sqrt(W)
        B = (factor * root[:, None]) * G * root
        B[diagonal] += 1
        L = scipy.linalg.cholesky(B, lower=True, overwrite_a=True, check_finite=False)
        b = W * f + cost_factor * (t - p)
        inner = scipy.linalg.cho_solve((L, True), root * (factor * (G @ b)), check_finite=False)
        alpha = b - root * inner
        new = factor * (G @ alpha)
        done = np.max(np.abs(new - f)) < _CLOSE
        f = np.clip(new, real(-_LARGEST), real(_LARGEST))
        if done:
            break
    leverage = 1 - np.diagonal(dpotri(L, lower=True)[0]) if left_out else f
    return scale * (U.T @ alpha), f, leverage


def _in_coefficient_space(
    U: Array, G: Any, t: Array, cost_factor: Array, scale: float, f: Array, left_out: bool
) -> tuple[Array, Array, Array]:
    V = U.astype(np.float32)
    diagonal = np.diag_indices(U.shape[1])
    for _ in range(_STEPS):
        p = expit(f)
        W = cost_factor * np.maximum(p * (1 - p), _MIN_VARIANCE)
        R = V * np.sqrt(W).astype(np.float32)[:, None]
        H = (R.T @ R).astype(np.float64)
        H[diagonal] += 1 / scale + 1e-5 * np.diagonal(H)  # float32 sums round, by column
        L = scipy.linalg.cholesky(H, lower=True, overwrite_a=True, check_finite=False)
        b = scipy.linalg.cho_solve(
            (L, True), U.T @ (W * f + cost_factor * (t - p)), check_finite=False
        )
        new = U @ b
        done = np.max(np.abs(new - f)) < _CLOSE
        f = np.clip(new, -_LARGEST, _LARGEST)
        if done:
            break
    if not left_out:
        return b, f, f
    L32 = L.astype(np.float32)
    half = scipy.linalg.solve_triangular(L32, V.T, lower=True, check_finite=False)
    return b, f, W * np.einsum("ij,ij->j", half, half)
