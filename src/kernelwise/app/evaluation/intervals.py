"""95 % confidence intervals of metrics on one table of held-out rows.

None of them shrinks to a point where every row is right: few rows without an error are no proof.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..._typing import Array, Index

_ROUNDING = 1e-9  # areas closer than this to 0 or 1 are not told apart from them
Z = 1.959964  # the 97.5 % quantile of the normal distribution


class ConfidenceInterval(NamedTuple):
    """A value with its 95 % confidence interval."""

    value: float
    low: float
    high: float


def share_interval(share: float, n: float) -> ConfidenceInterval:
    """Return the interval of a share of n rows, by Wilson (1927)."""
    if not n:
        return ConfidenceInterval(share, 0.0, 1.0)
    spread = Z * np.sqrt(share * (1 - share) / n + Z**2 / (4 * n**2))
    middle, size = share + Z**2 / (2 * n), 1 + Z**2 / n
    # At a share of 0 or 1 the limit is exact, up to rounding.
    low, high = min((middle - spread) / size, share), max((middle + spread) / size, share)
    return ConfidenceInterval(share, float(max(0.0, low)), float(min(1.0, high)))


def mean_share_interval(shares: Array, counts: Index) -> ConfidenceInterval:
    """Return the interval of the mean of independent shares.

    The distances of their limits are combined like standard errors (Zou and Donner 2008).
    """
    each = [
        share_interval(share, n) for share, n in zip(shares.tolist(), counts.tolist(), strict=True)
    ]
    value = float(np.mean(shares))
    below = np.sqrt(sum((one.value - one.low) ** 2 for one in each)) / len(each)
    above = np.sqrt(sum((one.high - one.value) ** 2 for one in each)) / len(each)
    return ConfidenceInterval(value, float(max(0.0, value - below)), float(min(1.0, value + above)))


def area_interval(area: float, n_positive: int, n_negative: int) -> ConfidenceInterval:
    """Return the interval of an area under the ROC curve, by method 5 of Newcombe (2006)."""
    half = (n_positive + n_negative) / 2 - 1

    def error(theta: float) -> float:
        factor = 1 + half * (1 - theta) / (2 - theta) + half * theta / (1 + theta)
        return float(np.sqrt(theta * (1 - theta) * factor / (n_positive * n_negative)))

    # The limits are roots of these functions, besides 0 and 1, where the error is zero.
    below, above = min(area, 1 - _ROUNDING), max(area, _ROUNDING)
    low = _root(lambda theta: area - theta - Z * error(theta), 0.0, below)
    high = _root(lambda theta: theta - area - Z * error(theta), above, 1.0)
    return ConfidenceInterval(area, low, high)


def mean_interval(losses: Array) -> ConfidenceInterval:
    """Return the interval of the mean of the losses of rows, by Student's t."""
    from scipy.stats import t

    value = float(losses.mean())
    if len(losses) < 2:
        return ConfidenceInterval(value, 0.0, float("inf"))
    half = float(t.ppf(0.975, len(losses) - 1) * losses.std(ddof=1) / np.sqrt(len(losses)))
    return ConfidenceInterval(value, max(0.0, value - half), value + half)


def mean_of_intervals(intervals: list[ConfidenceInterval]) -> ConfidenceInterval:
    """Return the mean of intervals; it is wide enough however they depend on each other."""
    value, low, high = np.mean(intervals, axis=0)
    return ConfidenceInterval(float(value), float(low), float(high))


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function changes its sign, or the closer end if it does not."""
    from scipy.optimize import brentq

    if function(low) * function(high) >= 0:
        return low if abs(function(low)) < abs(function(high)) else high
    return float(brentq(function, low, high, xtol=_ROUNDING))


_MAX_BINS = 10
_MIN_BIN_ROWS = 10


@dataclass(frozen=True)
class CalibrationBin:
    """Rows of similar probability, and how often the event happened in them.

    Parameters
    ----------
    rows : int
        Number of rows.
    lowest, highest : float
        Range of their probabilities.
    expected : float
        Mean of their probabilities.
    observed, low, high : float
        Share of the rows with the event, and its 95 % confidence interval.
    """

    rows: int
    lowest: float
    highest: float
    expected: float
    observed: float
    low: float
    high: float


def events(actual: Any, proba: Array, classes: Any, positive: Any) -> tuple[Array, Any]:
    """Return probabilities and whether the event happened: the positive or most probable class."""
    classes = np.asarray(classes)
    if positive is not None:
        return proba[:, classes == positive].ravel(), actual == positive
    return proba.max(axis=1), classes[proba.argmax(axis=1)] == actual


def calibration_bins(probability: Array, happened: Any) -> tuple[CalibrationBin, ...]:
    """Return up to ten bins of about equally many rows, by rising probability."""
    order = np.argsort(probability, kind="stable")
    n_bins = max(1, min(_MAX_BINS, len(order) // _MIN_BIN_ROWS))
    return tuple(_bin(probability[own], happened[own]) for own in np.array_split(order, n_bins))


def _bin(probability: Array, happened: Any) -> CalibrationBin:
    ends = float(probability[0]), float(probability[-1])
    observed = share_interval(float(happened.mean()), len(happened))
    return CalibrationBin(len(happened), *ends, float(probability.mean()), *observed)
