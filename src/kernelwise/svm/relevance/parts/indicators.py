"""Categories as numbers, for parts that read numbers only.

Each level with enough rows gets a column that is one for its rows and zero for others; the levels
with fewer rows share the value zero in all of them. Where no level has enough rows, the most
frequent one gets a column, so that a table of such categories has one. Of a category with two such
levels one column says it all. The columns of a category are a group, which has one weight.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ...._records import dataclass
from ...._typing import Array, Index
from ..columns import ColumnLayout
from .part import Part
from .rows import PartRows

_MIN_LEVEL_ROWS = 5  # rows of a level that gets a column of its own


@dataclass(frozen=True)
class Indicators:
    """A step from encoded columns to numbers: those that are numbers, then one per level.

    Parameters
    ----------
    numbers : ndarray of shape (n_numbers,)
        The encoded columns that are numbers.
    columns : ndarray of shape (n_levels,)
        The encoded column of each level.
    codes : ndarray of shape (n_levels,)
        The code of each level.
    """

    numbers: Index
    columns: Index
    codes: Array

    @classmethod
    def of(cls, rows: PartRows) -> Indicators:
        """Find the levels with enough training rows."""
        is_category = np.asarray(rows.layout.is_category)
        columns: list[int] = []
        codes: list[int] = []
        for j in np.flatnonzero(is_category).tolist():
            size = np.bincount(rows.X[:, j].astype(np.intp), rows.count)
            found = np.flatnonzero(size >= _MIN_LEVEL_ROWS).tolist() or [int(size.argmax())]
            if len(found) == np.count_nonzero(size) == 2:
                found = found[1:]
            columns += [j] * len(found)
            codes += found
        return cls(
            np.flatnonzero(~is_category),
            np.array(columns, dtype=np.intp),
            np.array(codes, dtype=np.float64),
        )

    @property
    def source(self) -> Index:
        """The encoded column that each number comes from."""
        return np.append(self.numbers, self.columns)

    def apply(self, X: Array) -> Array:
        """Return the numbers of encoded rows."""
        return np.hstack([X[:, self.numbers], (X[:, self.columns] == self.codes).astype(float)])

    def rows(self, rows: PartRows) -> PartRows:
        """Return training rows as numbers."""
        X, source = self.apply(rows.X), self.source
        layout = ColumnLayout(
            is_category=np.zeros(len(source), dtype=bool),
            source=rows.layout.source[source],
            group=rows.layout.group[source],
            n_source=rows.layout.n_source,
        )
        return replace(rows, X=X, layout=layout)


@dataclass(frozen=True)
class IndicatorPart:
    """A part that reads numbers, on a table with categories.

    Parameters
    ----------
    part : Part
        The part.
    indicators : Indicators
        What makes numbers of encoded rows.
    left_out : ndarray of shape (m, k)
        Leave-one-out decisions of the training rows.
    importances : ndarray of shape (d,)
        The share of each encoded column; a category has those of its levels.
    """

    part: Any
    indicators: Indicators
    left_out: Array
    importances: Array

    @property
    def name(self) -> str:
        """The kind of part."""
        name: str = self.part.name
        return name

    def decision_values(self, X: Array) -> Array:
        """Return the decisions on new encoded rows."""
        values: Array = self.part.decision_values(self.indicators.apply(X))
        return values

    def additive_values(self, X: Array) -> Array | None:
        """Return what single columns add to the decisions; None is nothing."""
        values: Array | None = self.part.additive_values(self.indicators.apply(X))
        return values


def fit_on_numbers(rows: PartRows, *fits: Callable[[PartRows], Part]) -> list[Part]:
    """Fit parts that read numbers only.

    Parameters
    ----------
    rows : PartRows
        The rows, with or without categories.
    *fits : callable
        Each fits a part to rows of numbers.

    Returns
    -------
    parts : list of Part
        The parts, which read encoded rows.
    """
    if not rows.layout.has_categories:
        return [fit(rows) for fit in fits]
    indicators = Indicators.of(rows)
    numbers, parts = indicators.rows(rows), []
    for fit in fits:
        part: Any = fit(numbers)
        shares = np.zeros(rows.X.shape[1])
        np.add.at(shares, indicators.source, part.importances)
        bare = replace(part, left_out=part.left_out[:0])
        parts.append(IndicatorPart(bare, indicators, part.left_out, shares))
    return list[Part](parts)
