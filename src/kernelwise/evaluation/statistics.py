"""The corrected resampled t-test: splits share rows, which makes the plain test too sure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from .._typing import Array
from .results import Difference, Score

_ROUNDING = 1e-9  # of differences that are equal, as part of them


def corrected(gains: Array, test_ratio: float) -> tuple[float, float, float]:
    """Return a mean over splits that share rows, its error, and half of its 95 % interval.

    The last two are NaN where all splits gain the same, and not 0: equal gains, which few splits
    and few rows have by chance, do not tell how far their mean may be off.
    """
    from scipy import stats

    n, mean = len(gains), float(gains.mean())
    if mean and np.ptp(gains) <= _ROUNDING * abs(mean):
        return mean, float("nan"), float("nan")
    error = float(np.sqrt((1 / n + test_ratio) * gains.var(ddof=1)))
    return mean, error, float(stats.t.ppf(0.975, n - 1)) * error


def differences(scores: Sequence[Score], metric: str, test_ratio: float) -> Iterable[Difference]:
    """Yield the first score's lead over each other; the ratio is that of `Evaluation`."""
    from scipy import stats

    first, *others = scores
    for other in others:
        if other.failure or len(first.values[metric]) < 2:
            continue
        gains = first.values[metric] - other.values[metric]
        mean, error, reach = corrected(gains, test_ratio)
        t = abs(mean) / error if error else 0.0  # no error: no split has a difference
        p_value = float(2 * stats.t.sf(t, len(gains) - 1))
        yield Difference(first.method, other.method, mean, mean - reach, mean + reach, p_value)
