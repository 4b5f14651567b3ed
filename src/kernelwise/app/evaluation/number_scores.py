"""Scores of predicted numbers and of their intervals."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._typing import Array, Index
from .intervals import CalibrationBin, ConfidenceInterval, Z, mean_interval, share_interval
from .results import HeldOut
from .scoring import Metric, with_interval

LEVELS = (0.5, 0.8, 0.9, 0.95)  # of the intervals that are checked
_MAIN = 2  # the level of coverage, width and pinball loss: 90 %


@dataclass(frozen=True)
class NumberScoring:
    """Predictions of numbers; the squared error decides."""

    def predict(self, model: Any, X: Any, rows: Index, actual: Any) -> HeldOut:
        """Return all that a fitted model predicts for some rows."""
        predicted = np.asarray(model.predict(X), dtype=np.float64)
        return HeldOut(rows, actual, predicted, ends=interval_ends(model, X))

    def scores(self, held_out: HeldOut) -> dict[str, tuple[float, float]]:
        """Return each metric with its standard error."""
        return {
            each.name: (each.value, (each.high - each.low) / (2 * Z))
            for each in number_metrics(held_out)
        }

    def default_metric(self, measured: Collection[str], balanced: bool) -> str:
        """Return the metric to go by, of those that were measured."""
        return "rmse"

    def losses(self, held_out: HeldOut) -> tuple[str, Array, Array] | None:
        """Return the squared error of each row, and that of guessing the mean."""
        y = held_out.actual
        return "mean squared error", (held_out.predicted - y) ** 2, (y - y.mean()) ** 2


def interval_ends(model: Any, X: Any) -> Array | None:
    """Return the ends of the intervals at `LEVELS`, of shape (n, n_levels, 2); None without any."""
    if not hasattr(model, "predict_interval"):
        return None
    pairs = [model.predict_interval(X, confidence_level=level) for level in LEVELS]
    return np.stack([np.column_stack(pair) for pair in pairs], axis=1)


def number_metrics(held_out: HeldOut) -> list[Metric]:
    """Return the metrics of one table with their intervals, beside guessing.

    Guessing predicts the mean, for the absolute error the median, and quantiles of the table.
    """
    y, n = held_out.actual, len(held_out.actual)
    squares, spread = (held_out.predicted - y) ** 2, (y - y.mean()) ** 2
    root = ConfidenceInterval(*np.sqrt(mean_interval(squares)).tolist())
    absolute = mean_interval(np.abs(held_out.predicted - y))
    metrics = [
        with_interval("rmse", root, spread.mean() ** 0.5),
        _r2(squares, spread),
        with_interval("mae", absolute, np.abs(y - np.median(y)).mean()),
    ]
    if held_out.ends is None:
        return metrics
    ends = held_out.ends[:, _MAIN]
    quantiles = np.quantile(y, _tails(LEVELS[_MAIN]))
    guess = np.tile(quantiles, (n, 1))
    covered = share_interval(float(_inside(y, ends).mean()), n)
    return [
        *metrics,
        with_interval("pinball", mean_interval(_pinball(y, ends)), _pinball(y, guess).mean()),
        with_interval("coverage", covered, _inside(y, guess).mean()),
        with_interval("width", mean_interval(np.ptp(ends, axis=1)), np.ptp(quantiles)),
    ]


def coverage_bins(held_out: HeldOut) -> tuple[CalibrationBin, ...]:
    """Return the share of rows whose interval has the target, for each level of the intervals."""
    if held_out.ends is None:
        return ()
    n = len(held_out.actual)
    bins = []
    for k, level in enumerate(LEVELS):
        share = share_interval(float(_inside(held_out.actual, held_out.ends[:, k]).mean()), n)
        bins.append(CalibrationBin(n, level, level, level, *share))
    return tuple(bins)


def _r2(squares: Array, spread: Array) -> Metric:
    """Return the explained share of the variance, with the error of a ratio of two means."""
    n, variance = len(squares), float(spread.mean())
    if not variance:
        return Metric("r2", float("nan"), float("nan"), float("nan"), guess=0.0)
    value = 1 - float(squares.mean()) / variance
    error = float((squares - (1 - value) * spread).std() / variance / np.sqrt(n))
    return Metric("r2", value, value - Z * error, min(1.0, value + Z * error), guess=0.0)


def _inside(y: Array, ends: Array) -> Any:
    return (ends[:, 0] <= y) & (y <= ends[:, 1])


def _pinball(y: Array, ends: Array) -> Array:
    """Return the mean pinball loss of both ends for each row."""
    losses = [
        np.maximum(q * (y - end), (q - 1) * (y - end))
        for q, end in zip(_tails(LEVELS[_MAIN]), ends.T, strict=True)
    ]
    return np.mean(losses, axis=0)


def _tails(level: float) -> tuple[float, float]:
    return (1 - level) / 2, (1 + level) / 2
