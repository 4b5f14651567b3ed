"""Rows of a table whose columns are recombined, and what any fitted model gives for them.

Partial dependence, shuffling and Shapley values put values of some rows into columns of others; no
value is ever made up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import is_regressor
from sklearn.utils.validation import check_is_fitted

from ..._typing import Array, Index
from ...svm.relevance.columns.raw import CATEGORY, RawColumn, columns_of
from ..tabular.encoder import TableEncoder, column_weights, table_encoder
from .weights import frame_columns, like

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


OUTPUTS = ("auto", "decision", "probability", "prediction")
_METHODS = {
    "probability": "predict_proba",
    "decision": "decision_function",
    "prediction": "predict",
}
_BLOCK_ENTRIES = 2_000_000  # values of recombined rows that are decided at a time
_MAX_PROBED = 100  # columns whose effect is measured before the largest are chosen
_N_PROBES = 50  # rows on which it is measured


class ModelReader:
    """The outputs of a fitted model.

    ``model``: a fitted classifier or regressor, or a pipeline that ends with one. ``output``: what
    the model gives; "auto" is the prediction of a regressor, and the first of ``order`` that a
    classifier has. ``order``: what "auto" prefers of a classifier.
    """

    def __init__(
        self,
        model: Any,
        output: str = "auto",
        order: Sequence[str] = ("probability", "decision"),
    ) -> None:
        check_is_fitted(model)
        self.model = model
        self.classes: Any = None if is_regressor(model) else model.classes_
        known = ["prediction"] if self.classes is None else list(order)
        known = [each for each in known if hasattr(model, _METHODS[each])]
        if output != "auto" and output not in known:
            raise ValueError(
                f"output={output!r} is not what {type(model).__name__} gives; take "
                f"{' or '.join(map(repr, sorted(known)))}."
            )
        self.output = known[0] if output == "auto" else output

    def outputs(self, rows: Any) -> Array:
        """Return the outputs for rows, of shape (n, n_outputs)."""
        found = np.asarray(getattr(self.model, _METHODS[self.output])(rows), dtype=np.float64)
        return found[:, None] if found.ndim == 1 else found

    def shares(self, names: Sequence[str]) -> Array | None:
        """Return the learned share of each column; None where the model weighs none."""
        own = {weight.column: weight.share for weight in column_weights(self.model, list(names))}
        found = np.array([own.get(name, 0.0) for name in names])
        return found if found.any() else None


class RowPool:
    """Rows whose columns are recombined.

    ``X``: the rows, as the model reads them.
    """

    def __init__(self, reader: ModelReader, X: Any) -> None:
        self.reader, self._encoder = reader, table_encoder(reader.model)
        X = X if hasattr(X, "columns") else np.asarray(X)
        if self._encoder is not None:  # the other columns are not read
            X = X[list(self._encoder.kinds_)]
        self.names = tuple(frame_columns(X) or [f"x{k}" for k in range(X.shape[1])])
        self._rows, self._matrix = X, _as_matrix(X)
        self._values: dict[int, ColumnValues] = {}

    def values(self, column: int) -> ColumnValues:
        """Return the values of a column as a reader sees them."""
        if column not in self._values:
            self._values[column] = column_values(
                self._rows, self.names[column], column, self._encoder
            )
        return self._values[column]

    @cached_property
    def shares(self) -> Array:
        """The learned share of each column; equal ones where the model weighs none."""
        known = self.reader.shares(self.names)
        n = len(self.names)
        return np.full(n, 1 / n) if known is None else known

    def outputs(self, rows: Index, columns: Any = (), donors: Index | None = None) -> Array:
        """Return the outputs for rows with the values of others in some columns.

        Shapes: ``rows`` (m,). ``columns`` (m, n_columns): the columns that take the values of
        ``donors``: for all rows the same, or a mask. ``donors`` (m,): the rows that these values
        come from. Returns ``outputs`` (m, n_outputs).
        """
        others = rows if donors is None else donors
        height = max(1, _BLOCK_ENTRIES // len(self.names))
        found = []
        for start in range(0, len(rows), height):
            part = slice(start, start + height)
            take = np.repeat(rows[part, None], len(self.names), axis=1)
            if isinstance(columns, np.ndarray) and columns.ndim == 2:
                take = np.where(columns[part], others[part, None], take)
            else:
                take[:, columns] = others[part, None]
            found.append(self.reader.outputs(self._recombined(take)))
        return np.vstack(found)

    def _recombined(self, take: Index) -> Any:
        """Return rows whose values come from the rows that ``take`` names, column by column."""
        if self._matrix is not None:
            return like(self._rows, self._matrix[take, np.arange(take.shape[1])])
        frame = self._rows
        columns = {
            name: _taken(frame[name], own) for name, own in zip(frame.columns, take.T, strict=True)
        }
        return type(frame)(columns)

    def leading(self, rows: Index, most: int, random: Any) -> Index:
        """Return the columns that change the outputs most when their values are exchanged.

        Among many columns only those of the largest shares are measured, and none that changes
        nothing is returned.
        """
        probed = np.sort(np.argsort(-self.shares, kind="stable")[:_MAX_PROBED])
        probed = probed[self.shares[probed] > 0]
        rows = random.permutation(rows)[:_N_PROBES]
        plain = self.outputs(rows)
        change = np.array(
            [
                np.abs(self.outputs(rows, [column], random.permutation(rows)) - plain).mean()
                for column in probed.tolist()
            ]
        )
        order = np.argsort(-change, kind="stable")[:most]
        return probed[order[change[order] > 0]]


def _as_matrix(X: Any) -> Any:
    """Return the values of an array, or of a frame with numbers of one type; else None."""
    if not hasattr(X, "columns"):
        return X
    is_plain = hasattr(X, "iloc") and all(dtype == np.float64 for dtype in X.dtypes)
    return X.to_numpy() if is_plain else None


def _taken(column: Any, rows: Index) -> Any:
    """Return some values of a Series of pandas, without its index, or of polars."""
    return column.array.take(rows) if hasattr(column, "array") else column[rows]


def stacked(first: Any, second: Any) -> Any:
    """Return one table with the rows of both."""
    if not hasattr(first, "columns"):
        return np.vstack([np.asarray(first), np.asarray(second)])
    names = [name for name in first.columns if name in set(second.columns)]
    if not hasattr(first, "iloc"):
        return first.select(names).vstack(second.select(names))
    import pandas as pd

    return pd.concat([first[names], second[names]], ignore_index=True)
