"""The values of a table's columns as a reader sees them: numbers, dates or words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._typing import Array
from ...svm.relevance.columns.raw import CATEGORY, RawColumn, columns_of
from ..tabular.encoder import TableEncoder

MISSING = "missing"
_DAY = np.timedelta64(1, "D")


@dataclass(frozen=True)
class ColumnValues:
    """The values of one column."""

    name: str
    # (n,), its numbers, NaN where one is missing; days since 1970 for dates; None for words
    numbers: Array | None
    words: Any = None  # its words, "missing" where there is none; None for numbers
    is_date: bool = False  # whether the numbers are dates

    def text(self, row: int) -> str:
        """Return one value as text."""
        if self.numbers is None:
            return str(self.words[row])
        number = float(self.numbers[row])
        if number != number:
            return MISSING
        if self.is_date:
            return str(np.datetime64("1970-01-01") + int(np.floor(number)) * _DAY)
        return f"{number:.4g}" if number != round(number) else f"{number:.12g}"


def column_values(X: Any, name: str, column: int, encoder: TableEncoder | None) -> ColumnValues:
    """Read a column of a table; an encoder knows its kind, else it goes by its type."""
    if encoder is None:
        own = X[[name]] if hasattr(X, "columns") else X[:, [column]]
        (raw,) = columns_of(own, [name])
        return _typed(raw)
    values = encoder.read_column(X, name)
    if values.dtype.kind == "f":
        return ColumnValues(name, values, is_date=encoder.kinds_[name] == "date")
    return ColumnValues(name, None, np.where(values == "", MISSING, values))


def _typed(raw: RawColumn) -> ColumnValues:
    if raw.kind != CATEGORY:
        return ColumnValues(raw.name, raw.numbers())
    places, levels = raw.levels()
    return ColumnValues(
        raw.name, None, np.array([_word(level) for level in levels], object)[places]
    )


def _word(level: Any) -> str:
    if level is None or level == "":
        return MISSING
    return f"{level:g}" if isinstance(level, float) else str(level)
