"""The profile of a training table in a model: ranges, quantiles and levels of each used column.

The profile is a dict of arrays, because model files hold one member per array, and few of them.
Rows of ``points`` and ``at_most`` describe the distribution of one column of numbers or dates: the
share ``at_most[k]`` of its values are at most ``points[k]``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..._typing import Array, Index
from .column_values import as_days, as_numbers, as_text

_MAX_POINTS = 65  # points of a distribution function that are kept per column
_MIN_POINTS = 17  # the same for tables with very many columns
_ALL_POINTS = 20_000  # points of all columns together, unless each has the fewest
_MAX_LEVELS = 1000  # values of a category up to which all of them are kept
_MAX_LENGTH = 60  # characters of a value of a category that are kept


class NumberProfile(NamedTuple):
    """The training values of a column of numbers, or of dates as days since 1970.

    ``missing`` is the share of rows without a value.
    """

    missing: float
    points: Array
    at_most: Array

    @property
    def low(self) -> float:
        """The least value."""
        return float(self.points[0])

    @property
    def high(self) -> float:
        """The largest value."""
        return float(self.points[-1])


class LevelProfile(NamedTuple):
    """The training values of a column of words, and the number of rows of each.

    ``counts`` is empty, and so is ``levels``, where there were too many values to keep.
    """

    missing: float
    levels: Any
    counts: Index


def read_column(
    series: Any, kind: str, *, format: str = "", decimal: str = ".", unit: float = 1.0
) -> Any:
    """Return numbers or days since 1970 with NaN for gaps, or words with "" for gaps."""
    if kind == "number":
        return as_numbers(series, decimal, unit)
    if kind == "date":
        return as_days(series, format)
    return as_text(series)


def training_profile(columns: Mapping[str, Any], texts: Collection[str] = ()) -> dict[str, Any]:
    """Return the profile of a table.

    ``columns``: the values of each used column by `read_column`. ``texts``: those whose words are
    not kept. Returns ``profile``, arrays for
    `column_profile`.
    """
    numbers = {name: values for name, values in columns.items() if values.dtype.kind == "f"}
    n_points = int(np.clip(_ALL_POINTS // max(1, len(numbers)), _MIN_POINTS, _MAX_POINTS))
    points = np.full((len(numbers), n_points), np.nan)
    at_most = np.full((len(numbers), n_points), np.nan, dtype=np.float32)
    for row, values in enumerate(numbers.values()):
        own, shares = _distribution(values[~np.isnan(values)], n_points)
        points[row, : len(own)], at_most[row, : len(own)] = own, shares
    levels, counts = {}, {}
    for name, values in columns.items():
        if name not in numbers:
            words = values[:0] if name in texts else values[values != ""]
            levels[name], counts[name] = _levels(words)
    gaps = [
        float(np.mean(np.isnan(values) if name in numbers else values == ""))
        for name, values in columns.items()
    ]
    return {
        "n_rows": len(next(iter(columns.values()))),
        "columns": list(columns),
        "missing": np.array(gaps),
        "numbers": list(numbers),
        "points": points,
        "at_most": at_most,
        "levels": levels,
        "counts": counts,
    }


def column_profile(profile: Mapping[str, Any], name: str) -> NumberProfile | LevelProfile:
    """Return the profile of one column."""
    missing = float(profile["missing"][profile["columns"].index(name)])
    if name in profile["levels"]:
        return LevelProfile(missing, profile["levels"][name], profile["counts"][name])
    row = profile["numbers"].index(name)
    known = ~np.isnan(profile["points"][row])
    return NumberProfile(missing, profile["points"][row][known], profile["at_most"][row][known])


def as_levels(words: Any) -> Any:
    """Return words as they are kept: in an array of text of limited length."""
    return np.array(words, dtype=f"<U{_MAX_LENGTH}")


def _distribution(values: Array, n_points: int) -> tuple[Array, Array]:
    """Return points between the least and the largest value, and the shares up to them."""
    ordered = np.sort(values)
    points = np.unique(ordered)
    if len(points) > n_points:
        ranks = np.linspace(0, len(ordered) - 1, n_points).round().astype(int)
        points = np.unique(ordered[ranks])
    return points, np.searchsorted(ordered, points, side="right") / max(1, len(ordered))


def _levels(words: Any) -> tuple[Any, Index]:
    """Return the different words and their counts; nothing where there are too many."""
    levels, counts = np.unique(as_levels(words), return_counts=True)
    if len(levels) > _MAX_LEVELS:
        return levels[:0], counts[:0]
    longest = max(1, max(map(len, levels.tolist()), default=1))
    return levels.astype(f"<U{longest}"), counts
