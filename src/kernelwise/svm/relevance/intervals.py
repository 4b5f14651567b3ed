"""Intervals of predicted numbers: left-out residuals over a local deviation.

    log |r| ~ ridge regression on the scores, their sizes and the prediction
    quantile of x = f(x) + s(x) [quantile of r_i / s_i over left-out rows]

Quantiles cannot cross, since s(x) is positive. An interval lies between two of them, at ratios of
rows. Conformal prediction: without the local deviation, and for residuals left out exactly, it has
the target of a new row with the probability asked for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._typing import Array, Index
from .rows import Rows

_MAX_COLUMNS = 50  # scores that the deviation may depend on
_RIDGES = 10.0 ** np.arange(-1, 6)
_MIN_GAIN = 0.99  # left-out error of the regression, relative to a constant, above which it is one


@dataclass(frozen=True)
class LocalDeviation:
    """The deviation of residuals as a function of a row and its prediction."""

    mean: Array  # (q,): what the columns of the regression are standardised by
    deviation: Array
    coefficients: Array  # (q,): of the log of the absolute residual
    centre: float
    limits: tuple[float, float]  # the smallest and largest deviation
    low: float  # the range of the target
    high: float
    columns: Index  # the columns of Z that are read

    @classmethod
    def of(cls, rows: Rows, predictions: Array, y: Array) -> tuple[LocalDeviation, Array]:
        """Fit the regression; return it, and the deviation of each row without itself."""
        residuals, n = y - predictions, len(y)
        columns = np.flatnonzero(~rows.columns.is_category)[:_MAX_COLUMNS]
        low, high = float(y.min()), float(y.max())
        H = _columns(rows, predictions, columns, low, high)
        size = np.abs(residuals)
        logs = np.log(size + 0.1 * np.median(size) + 1e-12)
        mean, deviation = H.mean(axis=0), H.std(axis=0)
        deviation[deviation < 1e-12] = np.inf
        U, s, Vt = np.linalg.svd((H - mean) / deviation, full_matrices=False)
        centre = float(logs.mean())
        p = U.T @ (logs - centre)
        best, left_out, coefficients = np.inf, np.full(n, np.exp(centre)), np.zeros(H.shape[1])
        for ridge in _RIDGES:
            g = s**2 / (s**2 + ridge)
            h = 1 / n + U**2 @ g
            e = (logs - centre - U @ (g * p)) / np.maximum(1 - h, 1e-3)
            if (error := float(np.mean(e**2))) < best:
                best, found = error, (np.exp(logs - e), Vt.T @ (s / (s**2 + ridge) * p))
        constant = float(np.mean(((logs - centre) * n / max(n - 1, 1)) ** 2))
        if best <= _MIN_GAIN * constant:
            left_out, coefficients = found
        limits = float(left_out.min()), float(left_out.max())
        own = cls(mean, deviation, coefficients, centre, limits, low, high, columns)
        return own, left_out

    def __call__(self, rows: Rows, predictions: Array) -> Array:
        """Return the deviation of new rows."""
        H = _columns(rows, predictions, self.columns, self.low, self.high)
        logs = self.centre + (H - self.mean) / self.deviation @ self.coefficients
        out: Array = np.clip(np.exp(logs), *self.limits)
        return out


def _columns(rows: Rows, predictions: Array, columns: Index, low: float, high: float) -> Array:
    Z = rows.Z[:, columns].astype(np.float64)
    f = np.clip(predictions, 2 * low - high, 2 * high - low)
    above = np.maximum(f - low, 0.01 * (high - low) + 1e-12)
    return np.column_stack([Z, np.abs(Z), f, np.log(above)])


def ends(ratios: Array, confidence_level: float) -> Array:
    """Return the quantiles of sorted ratios that a new one lies between at a confidence level."""
    n, tail = len(ratios), (1 - confidence_level) / 2
    k = max(int(np.floor(tail * (n + 1) + 1e-9)), 1)  # (1 - 0.9) / 2 is a little below 0.05
    return ratios[[k - 1, n - k]]


def quantiles(ratios: Array, q: Array) -> Array:
    """Return the ratios that a new one is below with given probabilities, of sorted ratios."""
    out: Array = np.quantile(ratios, q, method="weibull")  # rank q (n + 1)
    return out
