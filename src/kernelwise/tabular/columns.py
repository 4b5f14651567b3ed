"""What each column of a table is, what is made of it, and why."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .column_values import (
    ENOUGH,
    as_dates,
    as_numbers,
    as_text,
    date_format,
    have_times,
    is_text,
    strays,
)
from .errors import TableError, require_columns

MOST_CATEGORIES = 20
_FEW = 20  # rows from which "all different" means anything
_NEARLY_ALL = 0.9
_MANY_NUMBERS = 0.8  # part of the values from which words among numbers are told of
_MOST_WORDS = 3  # of them that are named
_LONGEST_WORD = 20
_MOST_NOTES = 5  # on columns
MANY_GAPS = 0.05  # part of the rows from which a gap is worth a column of its own
_PLAIN = re.compile(r"[-+]?[0-9]*\.?[0-9]*([eE][-+]?[0-9]+)?")
_ID = re.compile(r"(^|[_\W]|[a-z](?=I))(id|uuid|guid|key|index|row|nr|no|number)$", re.IGNORECASE)


@dataclass(frozen=True)
class Column:
    """A column of a table, and what is made of it.

    Parameters
    ----------
    name : str
        Its name.
    kind : str
        One of "number", "boolean", "category", "text", "date", "id", "constant", "empty" and
        "unwanted".
    used : bool
        Whether the model sees it.
    why : str
        What is done with it, and for which reason.
    n_missing : int
        Rows without a value.
    n_values : int
        Different values.
    format : str, default=""
        The format of dates.
    strays : str, default=""
        The words among the values, where at least 80 % of these are numbers.
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
) -> list[Column]:
    """Tell what each column of a table is, and what is going to be made of it.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table.
    target : str, default=None
        The column of the classes, which is left out.
    drop : collection of str, default=()
        Columns that are not wanted.
    keep : collection of str, default=()
        Columns that are wanted although they look like an id.

    Returns
    -------
    columns : list of Column
        One entry a column, in their order.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernelwise.tabular import describe_columns
    >>> frame = pd.DataFrame({"day": ["2024-01-31", "2024-02-01"], "site": ["a", "a"]})
    >>> for column in describe_columns(frame):
    ...     print(column.name, column.kind, column.why, sep=": ")
    day: date: -> year, month, day of week, days since first
    site: constant: dropped: one value
    """
    require_columns(frame, drop, "drop")
    require_columns(frame, keep, "keep")
    if target in {*drop, *keep}:
        raise TableError(f"{target!r} is the target; it is neither dropped nor kept.")
    return [
        describe(str(name), frame[name], str(name) in drop, str(name) in keep)
        for name in frame.columns
        if str(name) != target
    ]


def describe(name: str, series: Any, unwanted: bool = False, kept: bool = False) -> Column:
    """Tell what a column is, and what is made of it."""
    if unwanted:
        return Column(name, "unwanted", False, "dropped: not wanted", int(series.isna().sum()), 0)
    part, words = strays(series)
    told = _listed(words) if words and part >= _MANY_NUMBERS else ""
    if part >= ENOUGH:
        return replace(_of_numbers(name, series, told, kept), strays=told)
    texts = as_text(series)
    present = texts[texts != ""]
    n_missing, n_values = len(texts) - len(present), len(set(present))
    if n_values > 1 or not n_missing:
        format = date_format(series) if n_values > 1 else None
        if format is not None:
            return _of_dates(name, series, format, n_missing, n_values)
    found = _of_text(name, len(present), n_missing, n_values, kept)
    if not told:
        return found
    return replace(found, why=f"{found.why}; numbers but for {told}", strays=told)


def notes_on(columns: Sequence[Column]) -> list[str]:
    """Return a line on each column of numbers that has words among them; of many, the first."""
    odd = [column for column in columns if column.strays]
    notes = [
        f"{column.name}: numbers but for {column.strays}; read as {column.kind}"
        + ", those as missing" * (column.kind == "number")
        for column in odd[:_MOST_NOTES]
    ]
    rest = len(odd) - _MOST_NOTES
    return notes + [f"words among the numbers of {rest} more columns"] * (rest > 0)


def _listed(words: dict[str, int]) -> str:
    """Return the most frequent words, with how often they are there."""
    named = [f"{word[:_LONGEST_WORD]!r} ({count})" for word, count in words.items()]
    rest = len(named) - _MOST_WORDS
    return ", ".join(named[:_MOST_WORDS]) + (f" and {rest} more" if rest > 0 else "")


def _of_numbers(name: str, series: Any, words: str, kept: bool) -> Column:
    numbers = as_numbers(series)
    present = numbers[~np.isnan(numbers)]
    n_missing, values = len(numbers) - len(present), np.unique(present)
    n_values = len(values)
    if n_values < 2:
        return _useless(name, n_missing, n_values)
    if not kept and _is_numbered(name, present, values):
        why = "dropped: looks like an id (all different)"
        return Column(name, "id", False, why, n_missing, n_values)
    why = _how_read(series, numbers) or ("" if n_missing else "as it is")
    if n_missing:
        why += "; " * bool(why) + f"{n_missing} missing -> median{told_of(n_missing, len(numbers))}"
        why += f"; no numbers: {words}" if words else ""
    return Column(name, "number", True, why, n_missing, n_values)


def _how_read(series: Any, numbers: Any) -> str:
    """Return an example of numbers that are written as people do, with signs and thousands."""
    if not is_text(series):
        return ""
    for text, number in zip(as_text(series), numbers, strict=True):
        if not np.isnan(number) and not _PLAIN.fullmatch(text):
            return f"{text!r} is read as {number:.15g}"
    return ""


def told_of(n_missing: int, n_rows: int) -> str:
    """Return a word on the column that tells of gaps, which many of them get."""
    return ", and a column that tells of them" if n_missing >= MANY_GAPS * n_rows else ""


def _is_numbered(name: str, present: Any, values: Any) -> bool:
    """Tell whether whole numbers count the rows, or name them."""
    if len(present) < _FEW or len(values) < len(present) or np.any(values != np.round(values)):
        return False
    counted = values[-1] - values[0] == len(values) - 1 and bool(np.all(np.diff(present) > 0))
    return counted or bool(_ID.search(name))


def _of_dates(name: str, series: Any, format: str, n_missing: int, n_values: int) -> Column:
    why = "-> year, month, day of week, days since first"
    why += ", hour (UTC)" if have_times(as_dates(series, format)) else ""
    if format.startswith("%d/"):
        why += " (read with the day before the month)"
    if n_missing:
        why += f"; {n_missing} missing -> median{told_of(n_missing, len(series))}"
    return Column(name, "date", True, why, n_missing, n_values, format)


def _of_text(name: str, n_present: int, n_missing: int, n_values: int, kept: bool) -> Column:
    if n_values == 0 or (n_values == 1 and not n_missing):
        return _useless(name, n_missing, n_values)
    if n_values <= 2 and not (n_values == 2 and n_missing > n_present):
        why = "0 or 1" if n_values == 2 else "0 where missing, else 1"
        if n_values == 2 and n_missing:
            gaps = told_of(n_missing, n_missing + n_present)
            why += f"; {n_missing} missing -> the more frequent{gaps}"
        return Column(name, "boolean", True, why, n_missing, n_values)
    if not kept and n_present >= _FEW and n_values > _NEARLY_ALL * n_present:
        how = "all" if n_values == n_present else "nearly all"
        why = f"dropped: looks like an id or free text ({how} different)"
        return Column(name, "id", False, why, n_missing, n_values)
    gaps = f"; {n_missing} missing are a value of their own" if n_missing else ""
    if n_values > MOST_CATEGORIES:
        why = f"{n_values} different values: the {MOST_CATEGORIES} most frequent, rest 'other'"
        return Column(name, "text", True, why + gaps, n_missing, n_values)
    why = f"{n_values} different values: a column each"
    return Column(name, "category", True, why + gaps, n_missing, n_values)


def _useless(name: str, n_missing: int, n_values: int) -> Column:
    kind, why = ("constant", "one value") if n_values else ("empty", "no values")
    return Column(name, kind, False, f"dropped: {why}", n_missing, n_values)
