"""The values of a table's columns as a reader sees them: numbers, dates or words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import Array, Index
from ..svm.relevance.columns import ColumnEncoding
from ..svm.relevance.raw_columns import CATEGORY, RawColumn, columns_of
from ..tabular.encoder import TableEncoder

MISSING = "missing"
OTHER = "other values"  # rare levels, and levels that training rows did not have
_DAY = np.timedelta64(1, "D")


@dataclass(frozen=True)
class ColumnValues:
    """The values of one column.

    Parameters
    ----------
    name : str
        The column.
    numbers : ndarray of shape (n,) or None
        Its numbers, NaN where one is missing; days since 1970 for dates; None for words.
    words : ndarray of str or None
        Its words, "missing" where there is none; None for numbers.
    is_date : bool, default=False
        Whether the numbers are dates.
    """

    name: str
    numbers: Array | None
    words: Any = None
    is_date: bool = False

    def text(self, row: int) -> str:
        """Return one value as text."""
        if self.numbers is None:
            return str(self.words[row])
        return self.number_text(float(self.numbers[row]))

    def number_text(self, number: float) -> str:
        """Return a number or date as text."""
        if number != number:
            return MISSING
        if self.is_date:
            return str(np.datetime64("1970-01-01") + int(np.floor(number)) * _DAY)
        return f"{number:.4g}" if number != round(number) else f"{number:.12g}"

    def spread(self, rows: Index) -> float:
        """Return the mean difference of two rows, among the rows that have a value."""
        if self.numbers is None:
            shares = np.unique(self.words[rows], return_counts=True)[1] / max(1, len(rows))
            return float(1 - np.sum(shares**2))
        known = np.sort(self.numbers[rows][np.isfinite(self.numbers[rows])])
        n = len(known)
        if n < 2:
            return 0.0
        # Each of the n - 1 gaps between neighbours lies between k * (n - k) pairs of values.
        k = np.arange(1, n)
        return float(2 * np.sum(k * (n - k) * np.diff(known)) / n**2)

    def differences(self, left: Index, right: Index, spread: float) -> Array:
        """Return how much rows differ, in units of ``spread``.

        Parameters
        ----------
        left, right : ndarray of int
            The rows to compare.
        spread : float
            The mean difference of two rows, of words that of two that are equal or not.

        Returns
        -------
        differences : ndarray of shape (len(left), len(right))
            One between a known and a missing number; zero everywhere where the spread is zero.
        """
        if spread == 0:
            return np.zeros((len(left), len(right)))
        if self.numbers is None:
            return (self.words[left][:, None] != self.words[right]) / spread
        a, b = self.numbers[left][:, None], self.numbers[right]
        distances: Array = np.abs(a - b) / spread
        return np.where(np.isnan(a) | np.isnan(b), np.isnan(a) != np.isnan(b), distances)


def table_values(
    X: Any, names: Sequence[str], encoder: TableEncoder | None
) -> tuple[ColumnValues, ...]:
    """Read the columns of a table as a user gives it.

    Parameters
    ----------
    X : data frame or ndarray
        The table.
    names : sequence of str
        The columns to read.
    encoder : TableEncoder or None
        What knows the kinds of the columns; None goes by their types.

    Returns
    -------
    values : tuple of ColumnValues
        One entry per name.
    """
    if encoder is None:
        return tuple(map(_typed, columns_of(X, names)))
    return tuple(_of_kind(X, name, encoder) for name in names)


def _typed(raw: RawColumn) -> ColumnValues:
    if raw.kind != CATEGORY:
        return ColumnValues(raw.name, raw.numbers())
    places, levels = raw.levels()
    return ColumnValues(raw.name, None, np.array([_word(each) for each in levels], object)[places])


def _of_kind(X: Any, name: str, encoder: TableEncoder) -> ColumnValues:
    values = encoder.read_column(X, name)
    if values.dtype.kind == "f":
        return ColumnValues(name, values, is_date=encoder.kinds_[name] == "date")
    return ColumnValues(name, None, np.where(values == "", MISSING, values))


def encoded_values(
    X: Array, encoding: ColumnEncoding, encoder: TableEncoder | None
) -> tuple[ColumnValues, ...]:
    """Read the columns of encoded rows, with the words and gaps that the model distinguishes.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Rows that ``encoding`` made.
    encoding : ColumnEncoding
        The encoding of a `RelevanceSVC`.
    encoder : TableEncoder or None
        What came before it.

    Returns
    -------
    values : tuple of ColumnValues
        One entry per column of the user's table that is used.
    """
    codes = {own.column: own for own in encoding.categories}
    found = []
    for j, name in enumerate(encoding.names):
        own = codes.get(j)
        if own is None:
            found.append(ColumnValues(name, _with_gaps(X, encoding, j)))
            continue
        words = [OTHER, *map(_word, own.levels), *[MISSING] * own.knows_missing]
        found.append(ColumnValues(name, None, np.array(words, object)[X[:, j].astype(int)]))
    if encoder is None:
        return tuple(found)
    outputs = dict(zip(encoder.outputs_, found, strict=True))
    return tuple(_source(name, kind, outputs, encoder) for name, kind in encoder.kinds_.items())


def _with_gaps(X: Array, encoding: ColumnEncoding, column: int) -> Array:
    """Return numbers, NaN where the model knows that one is missing."""
    marks = np.flatnonzero(encoding.marked == column)
    if not len(marks):
        return X[:, column]
    return np.where(X[:, len(encoding.names) + marks[0]] > 0, np.nan, X[:, column])


def _source(
    name: str, kind: str, outputs: dict[str, ColumnValues], encoder: TableEncoder
) -> ColumnValues:
    """Return a column of the table from its encoded columns."""
    if kind == "date":
        days: Any = outputs[f"{name}: days"].numbers
        return ColumnValues(name, days + encoder.first_days_[name], is_date=True)
    if kind == "boolean":
        pair = encoder.pairs_[name]
        numbers: Any = outputs[f"{name}={pair[1]}"].numbers
        words = np.where(numbers > 0, pair[1] or MISSING, pair[0] or MISSING)
        return ColumnValues(name, None, np.where(np.isnan(numbers), MISSING, words).astype(object))
    return outputs[name]


def _word(level: Any) -> str:
    if level is None or level == "":
        return MISSING
    return f"{level:g}" if isinstance(level, float) else str(level)
