"""Describe each column of a table: its kind, how it is used, and why."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...values.dates import have_times
from ...values.ids import ID_SHARE, MIN_ID_ROWS, is_numbering
from ...values.numbers import MIN_SHARE
from ...values.text import N_DIRECTIONS, is_text
from .column_values import (
    as_days,
    as_numbers,
    as_text,
    count_too_large,
    date_format,
    have_zones,
    numeric_share,
    unit_of,
)
from .column_values import is_text as holds_words
from .errors import TableError, require_columns

MAX_CATEGORIES = 20  # values of a column of words that get an output column each
MIN_GAPS = 0.05  # share of missing values from which a column gets an indicator of them
_NOTE_SHARE = 0.8  # share of numbers from which the words among them are named
_MAX_NAMED_WORDS = 3
_MAX_WORD_LENGTH = 20  # characters of a word that are shown
_MAX_NOTES = 5  # columns that get a note of their own
_PLAIN = re.compile(r"[-+]?[0-9]*\.?[0-9]*([eE][-+]?[0-9]+)?")


@dataclass(frozen=True)
class Column:
    """The description of a column of a table.

    Parameters
    ----------
    name : str
        Name of the column.
    kind : str
        One of "number", "boolean", "category", "text", "date", "id", "constant", "empty" and
        "unwanted".
    used : bool
        Whether the model uses it.
    why : str
        How it is encoded, or why it is dropped.
    n_missing : int
        Number of rows without a value.
    n_values : int
        Number of different values.
    format : str, default=""
        Format of dates.
    strays : str, default=""
        The words among the values, where at least 80 % of the values are numbers.
    """

    name: str
    kind: str
    used: bool
    why: str
    n_missing: int
    n_values: int
    format: str = ""
    strays: str = ""


def describe_columns(
    frame: Any,
    target: str | None = None,
    *,
    drop: Collection[str] = (),
    keep: Collection[str] = (),
    category: Collection[str] = (),
    one_hot: bool = True,
) -> list[Column]:
    """Describe each column of a table, and how it is going to be encoded.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table.
    target : str, default=None
        The column of the classes, which is left out.
    drop : collection of str, default=()
        Columns to leave out.
    keep : collection of str, default=()
        Columns to use although they look like an id.
    category : collection of str, default=()
        Columns that are categories although they hold numbers, such as codes.
    one_hot : bool, default=True
        Whether each value of a category gets a column; else a category stays one column.

    Returns
    -------
    columns : list of Column
        One entry per column, in their order.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernelwise.app.tabular import describe_columns
    >>> frame = pd.DataFrame({"day": ["2024-01-31", "2024-02-01"], "site": ["a", "a"]})
    >>> for column in describe_columns(frame):
    ...     print(column.name, column.kind, column.why, sep=": ")
    day: date: -> year, month, day of week, days since first
    site: constant: dropped: one value
    """
    require_columns(frame, drop, "drop")
    require_columns(frame, keep, "keep")
    require_columns(frame, category, "category")
    if target in {*drop, *keep, *category}:
        raise TableError(
            f"{target!r} is the target; it can be neither dropped nor kept nor made a category."
        )
    found = []
    for name in (str(each) for each in frame.columns if str(each) != target):
        series = frame[name]
        if name in drop:
            n_missing = int(series.isna().sum())
            found.append(Column(name, "unwanted", False, "dropped: not wanted", n_missing, 0))
        elif name in category:
            found.append(_category(name, series, one_hot))
        else:
            found.append(_describe(name, series, name in keep, one_hot))
    return found


def _category(name: str, series: Any, one_hot: bool) -> Column:
    """Describe a column that the user declares a category."""
    texts = as_text(series)
    present = texts[texts != ""]
    n_missing = len(texts) - len(present)
    return _words(name, len(present), n_missing, len(set(present)), True, one_hot)


def _describe(name: str, series: Any, is_kept: bool, one_hot: bool) -> Column:
    share, others = numeric_share(series)
    words = _listed(others) if others and share >= _NOTE_SHARE else ""
    if share >= MIN_SHARE:
        return replace(_numbers(name, series, words, is_kept), strays=words)
    texts = as_text(series)
    present = texts[texts != ""]
    n_missing, n_values = len(texts) - len(present), len(set(present))
    if n_values > 1 or not n_missing:
        format = date_format(series) if n_values > 1 else None
        if format is not None:
            return _dates(name, series, format, n_missing, n_values)
    if is_text(texts):
        why = f"text, as {N_DIRECTIONS} numbers with one weight" + f"; {n_missing} missing" * (
            n_missing > 0
        )
        return Column(name, "text", True, why, n_missing, n_values)
    column = _words(name, len(present), n_missing, n_values, is_kept, one_hot)
    if not words:
        return column
    return replace(column, why=f"{column.why}; numbers except {words}", strays=words)


def notes_on(columns: Sequence[Column]) -> list[str]:
    """Return notes on words among numbers, and on dates that can be read in two ways."""
    dates = [column.name for column in columns if column.used and column.format.startswith("%d/")]
    shown = ", ".join(dates[:_MAX_NOTES]) + ", ..." * (len(dates) > _MAX_NOTES)
    read = [f"{shown}: dates are read with the day before the month"] * bool(dates)
    mixed = [column for column in columns if column.strays]
    notes = [
        f"{column.name}: numbers except {column.strays}; read as {column.kind}"
        + ", with these missing" * (column.kind == "number")
        for column in mixed[:_MAX_NOTES]
    ]
    rest = len(mixed) - _MAX_NOTES
    return read + notes + [f"words among the numbers of {rest} more columns"] * (rest > 0)


def _listed(words: dict[str, int]) -> str:
    """Return the most frequent words with their counts."""
    named = [f"{word[:_MAX_WORD_LENGTH]!r} ({count})" for word, count in words.items()]
    rest = len(named) - _MAX_NAMED_WORDS
    return ", ".join(named[:_MAX_NAMED_WORDS]) + (f" and {rest} more" if rest > 0 else "")


def _numbers(name: str, series: Any, words: str, is_kept: bool) -> Column:
    unit = unit_of(series)
    numbers = as_numbers(series, unit=unit)
    present = numbers[~np.isnan(numbers)]
    n_large = count_too_large(series, unit)
    n_missing, values = len(numbers) - len(present), np.unique(present)
    n_values = len(values)
    if n_values < 2:
        return _useless(name, n_missing, n_values, n_large)
    if not is_kept and is_numbering(name, present):
        why = "dropped: looks like an id or a row number (whole numbers, all different)"
        return Column(name, "id", False, why, n_missing, n_values)
    why = "" if n_missing else "as it is"
    if unit != 1.0:
        why = f"huge: divided by {unit:.2g}, its median size"
    elif example := _parsing_example(series, numbers):
        why = example
    if n_missing:
        why += "; " * bool(why) + _gaps(n_missing - n_large, n_large) + " -> median"
        why += _indicator_note(n_missing, len(numbers))
        why += f"; not numbers: {words}" if words else ""
    return Column(name, "number", True, why, n_missing, n_values)


def _gaps(n_missing: int, n_large: int) -> str:
    """Return how many values are missing and how many are infinite or beyond 1e100."""
    counts = {"missing": n_missing, "infinite or beyond 1e100": n_large}
    return " and ".join(f"{count} {kind}" for kind, count in counts.items() if count)


def _parsing_example(series: Any, numbers: Any) -> str:
    """Return an example of a number with currency, percent or thousands signs, if there is one."""
    if not holds_words(series):
        return ""
    for text, number in zip(as_text(series), numbers, strict=True):
        if not np.isnan(number) and not _PLAIN.fullmatch(text):
            return f"{text!r} is read as {number:.15g}"
    return ""


def _indicator_note(n_missing: int, n_rows: int) -> str:
    return ", and an indicator column" if n_missing >= MIN_GAPS * n_rows else ""


def _dates(name: str, series: Any, format: str, n_missing: int, n_values: int) -> Column:
    why = "-> year, month, day of week, days since first"
    if have_times(as_days(series, format)):
        why += ", hour (UTC)" if have_zones(series) else ", hour"
    if format.startswith("%d/"):
        why += " (read with the day before the month)"
    if n_missing:
        why += f"; {n_missing} missing -> median{_indicator_note(n_missing, len(series))}"
    return Column(name, "date", True, why, n_missing, n_values, format)


def _words(
    name: str, n_present: int, n_missing: int, n_values: int, is_kept: bool, one_hot: bool
) -> Column:
    if n_values == 0 or (n_values == 1 and not n_missing):
        return _useless(name, n_missing, n_values)
    if n_values <= 2 and not (n_values == 2 and n_missing > n_present):
        why = "0 or 1" if n_values == 2 else "0 where missing, else 1"
        if n_values == 2 and n_missing:
            indicator = _indicator_note(n_missing, n_missing + n_present)
            why += f"; {n_missing} missing -> the more frequent{indicator}"
        return Column(name, "boolean", True, why, n_missing, n_values)
    if not is_kept and n_present >= MIN_ID_ROWS and n_values > ID_SHARE * n_present:
        all_ = "all" if n_values == n_present else "nearly all"
        why = f"dropped: looks like an id ({all_} different)"
        return Column(name, "id", False, why, n_missing, n_values)
    gaps = f"; {n_missing} missing are a value of their own" if n_missing else ""
    if not one_hot:
        why = f"{n_values} different values: one column with one weight"
        return Column(name, "category", True, why + gaps, n_missing, n_values)
    if n_values > MAX_CATEGORIES:
        why = f"{n_values} different values: the {MAX_CATEGORIES} most frequent, the rest 'other'"
        return Column(name, "category", True, why + gaps, n_missing, n_values)
    why = f"{n_values} different values: one column each"
    return Column(name, "category", True, why + gaps, n_missing, n_values)


def _useless(name: str, n_missing: int, n_values: int, n_large: int = 0) -> Column:
    kind, why = ("constant", "one value") if n_values else ("empty", "no values")
    if n_large:
        why += f" besides {n_large} that are infinite or beyond 1e100; rescale the column"
    return Column(name, kind, False, f"dropped: {why}", n_missing, n_values)
