"""Whether probabilities are right: how often events of similar probability happened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._typing import Array
from .intervals import share_interval

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
