"""Quantile bins of columns, and the levels of categories, as places of one-hot columns.

Bins are found on some rows; every row then has one place per column, and counts of places add up
over blocks of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...._typing import Array, Index

_ROUNDING = 1e-9  # difference of two shares of the rows that counts as none


@dataclass(frozen=True)
class ColumnBins:
    """The bins of each column, which lie side by side."""

    # (n_cuts,): the inner cuts of the numbers, ascending, column by column. A value is above a cut
    # or not
    cuts: Array
    # (d + 1,): where the cuts of each column begin, and the end of the last; a category has none
    cut_stops: Index
    # (n_levels,): the place of each code of a category, counted from its first one, category by
    # category
    levels: Index
    # (d + 1,): where the codes of each column begin, and the end of the last; a number has none
    level_stops: Index
    # (d + 1,): the first place of each column, and the number of all places. The last place of a
    # category is for rare codes, and for those that the rows of the bins did not have
    starts: Index
    is_category: Any  # (d,): whether a column holds codes of a category

    @classmethod
    def of(
        cls, X: Array, is_category: Any, count: Array, n_bins: int, max_levels: int | None = None
    ) -> ColumnBins:
        """Find the bins of columns."""
        plain = bool((count == count[0]).all())
        cuts: list[Array] = []
        levels: list[Index] = []
        sizes = []
        for j, category in enumerate(is_category):
            cuts.append(np.empty(0))
            levels.append(np.empty(0, dtype=np.intp))
            if category:
                levels[j] = _level_places(X[:, j], count, max_levels)
                own = len(levels[j])
                sizes.append(1 + (own if max_levels is None else min(own, max_levels)))
            else:
                cuts[j] = _inner_cuts(X[:, j], None if plain else count, n_bins)
                sizes.append(1 + len(cuts[j]))
        return cls._side_by_side(cuts, levels, sizes, np.asarray(is_category))

    @classmethod
    def _side_by_side(
        cls, cuts: list[Array], levels: list[Index], sizes: Any, is_category: Any
    ) -> ColumnBins:
        return cls(
            np.concatenate([np.empty(0), *cuts]),
            np.cumsum([0, *map(len, cuts)]),
            np.concatenate([np.empty(0, dtype=np.intp), *levels]),
            np.cumsum([0, *map(len, levels)]),
            np.cumsum([0, *sizes]),
            is_category,
        )

    @property
    def n_places(self) -> int:
        """The number of places of all columns."""
        return int(self.starts[-1])

    @property
    def column(self) -> Index:
        """The column of each place."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def cuts_of(self, j: int) -> Array:
        """Return the cuts of a column."""
        return self.cuts[self.cut_stops[j] : self.cut_stops[j + 1]]

    def levels_of(self, j: int) -> Index:
        """Return the places of the codes of a column, counted from its first place."""
        return self.levels[self.level_stops[j] : self.level_stops[j + 1]]

    def places(self, X: Array) -> Any:
        """Return the place of each value."""
        places = np.empty(X.shape, dtype=np.int32)
        for j, category in enumerate(self.is_category):
            if category:
                unknown = self.starts[j + 1] - self.starts[j] - 1
                levels = np.append(self.levels_of(j), unknown)
                known = (X[:, j] >= 0) & (X[:, j] < len(levels) - 1)
                places[:, j] = levels[np.where(known, X[:, j], -1).astype(np.intp)]
            else:
                places[:, j] = np.searchsorted(self.cuts_of(j), X[:, j])
        places += self.starts[:-1].astype(np.int32)
        return places

    def part(self, columns: Index) -> ColumnBins:
        """Return the bins of some columns."""
        return self._side_by_side(
            [self.cuts_of(j) for j in columns],
            [self.levels_of(j) for j in columns],
            np.diff(self.starts)[columns],
            self.is_category[columns],
        )


def _level_places(codes: Array, count: Array, max_levels: int | None) -> Index:
    """Return a place for each code: its own, or one behind these that the rarer codes share."""
    weight = np.bincount(codes.astype(np.intp), count)
    if max_levels is None or len(weight) <= max_levels:
        return np.arange(len(weight))
    kept = np.sort(np.argsort(-weight, kind="stable")[:max_levels])
    places = np.full(len(weight), max_levels)
    places[kept] = np.arange(max_levels)
    return places


def _inner_cuts(values: Array, count: Array | None, n_bins: int) -> Array:
    """Return cuts half-way between neighbouring values; the weights are equal without counts."""
    if n_bins < 2:
        return np.empty(0)
    if count is None:
        ordered = np.sort(values)
        through = np.arange(1, len(ordered) + 1) / len(ordered)
    else:
        order = np.argsort(values, kind="stable")
        ordered, through = values[order], np.cumsum(count[order]) / count.sum()
    last = np.flatnonzero(ordered[1:] != ordered[:-1])  # the last row of each value but the largest
    if len(last) >= n_bins:
        shares = np.arange(1, n_bins) / n_bins - _ROUNDING
        chosen = np.unique(np.searchsorted(through[last], shares))
        last = last[chosen[chosen < len(last)]]
    cuts: Array = 0.5 * ordered[last] + 0.5 * ordered[last + 1]
    return cuts
