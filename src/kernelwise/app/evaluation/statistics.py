"""Tests: the corrected resampled t-test of Nadeau and Bengio (2003), and Holm's correction.

Training sets of different splits share rows, so the plain t-test finds differences too easily.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ..._typing import Array
from .results import LOSSES, UP_TO_1, Difference, Score

_ANY = (-np.inf, np.inf)
_ROUNDING = 1e-9  # relative range of the differences up to which they count as equal


def corrected_interval(differences: Array, test_ratio: float) -> tuple[float, float, float]:
    """Return the mean of the differences per split, its error, and half its 95 % interval.

    The error and the interval are NaN, not 0, where all differences are equal and not 0: with few
    splits of few rows that happens by chance, and does not show how far off the mean may be.
    """
    from scipy import stats

    n, mean = len(differences), float(differences.mean())
    if mean and np.ptp(differences) <= _ROUNDING * abs(mean):
        return mean, float("nan"), float("nan")
    error = float(np.sqrt((1 / n + test_ratio) * differences.var(ddof=1)))
    return mean, error, float(stats.t.ppf(0.975, n - 1)) * error


def compare_scores(scores: Sequence[Score], metric: str, test_ratio: float) -> Iterable[Difference]:
    """Yield the lead of the first score over each other; see `Evaluation.test_ratio`."""
    from scipy import stats

    first, *others = scores
    for other in others:
        if other.failure or metric not in other.values or len(first.values[metric]) < 2:
            continue
        differences = first.values[metric] - other.values[metric]
        differences = -differences if metric in LOSSES else differences
        mean, error, half = corrected_interval(differences, test_ratio)
        t = abs(mean) / error if error else 0.0  # without an error no split has a difference
        p_value = float(2 * stats.t.sf(t, len(differences) - 1))
        limits = (-1, 1) if metric in UP_TO_1 else _ANY
        low, high = np.clip([mean - half, mean + half], *limits).tolist()
        yield Difference(first.method, other.method, mean, low, high, p_value)


def holm(pvalues: Array) -> Array:
    """Return p-values adjusted by Holm's step-down method."""
    order = np.argsort(pvalues, kind="stable")
    factors = np.arange(len(pvalues), 0, -1)
    adjusted = np.empty(len(pvalues))
    adjusted[order] = np.minimum(1, np.maximum.accumulate(factors * pvalues[order]))
    return adjusted
