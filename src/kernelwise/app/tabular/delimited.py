"""Read CSV and its relatives; detect separator, decimal sign and encoding."""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Iterable
from contextlib import suppress
from itertools import islice
from typing import Any, NamedTuple

from ...values.numbers import parse
from ...values.words import MISSING
from .errors import TableError, check_names

__all__ = ["MISSING", "decode", "read_delimited"]

_SEPARATORS = (",", ";", "\t", "|")
# Signs that separate columns in some files, but occur in words and times as well
_OTHER_SEPARATORS = {" ": "spaces", ":": "colons"}
_N_SAMPLE = 50  # rows from which separator and decimal sign are detected
_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?([eE][+-]?\d+)?")
_COMMA = re.compile(r"[+-]?\d+,\d+([eE][+-]?\d+)?")
_POINT = re.compile(r"[+-]?\d*\.\d+([eE][+-]?\d+)?")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f]")
_MAX_ODD = 0.5  # share of control characters above which a file is binary


class _Layout(NamedTuple):
    """Column names, some rows, and the largest number of empty cells after the last column."""

    names: list[str]
    sample: list[list[str]]
    n_trailing: int


def read_delimited(content: bytes, name: str) -> Any:
    """Return the table in the bytes of a CSV or TSV file."""
    text = decode(content, name)
    separator = _detect_separator(text, name)
    layout = _read_layout(text, separator, name, n_rows=_N_SAMPLE)
    decimal = _detect_decimal(layout.sample, separator)
    try:
        frame = _parse_table(text, separator, decimal, layout)
    except (ValueError, OverflowError):  # pandas' parser errors are ValueErrors
        layout = _read_layout(text, separator, name)  # raises where it finds the line at fault
        try:  # now all surplus cells are known to be empty
            frame = _parse_table(text, separator, decimal, layout, usecols=range(len(layout.names)))
        except (ValueError, OverflowError) as error:
            raise TableError(f"{name} cannot be read as a table: {error}.") from error
    frame_names = frame.columns[: len(layout.names)]
    if _may_have_short_rows(frame[frame_names[-1]], text, separator, frame.shape[1]):
        _read_layout(text, separator, name)
    frame = frame[frame_names]
    return frame if decimal == "." else _parse_thousands(frame)


def _parse_table(
    text: str, separator: str, decimal: str, layout: _Layout, usecols: Any = None
) -> Any:
    import pandas as pd

    return pd.read_csv(
        io.StringIO(text),
        sep=separator,
        decimal=decimal,
        names=layout.names + [f"\x00{k}" for k in range(layout.n_trailing)],
        usecols=usecols,
        header=0,
        index_col=False,
        na_values=list(MISSING),
        keep_default_na=False,
        skipinitialspace=True,
        low_memory=False,
    )


def _may_have_short_rows(last: Any, text: str, separator: str, n_fields: int) -> bool:
    """Return whether a row may have too few fields, which pandas fills with missing values."""
    if not last.isna().any():
        return False
    n_separators = (len(last) + 1) * (n_fields - 1)  # in a full table with its names
    return '"' in text or text.count(separator) != n_separators


def _parse_thousands(frame: Any) -> Any:
    """Return a table of decimal commas with 12.345 as the number 12345, not as text."""
    import pandas as pd

    texts = frame.select_dtypes(exclude=["number", "bool"])
    numbers = {}
    for name in texts:
        cells = texts[name].dropna().astype(str).str.strip()
        if len(cells) and pd.to_numeric(cells, errors="coerce").notna().all():
            numbers[name] = pd.Series(parse(cells, ","), cells.index).reindex(frame.index)
    return frame.assign(**numbers)


def decode(content: bytes, name: str) -> str:
    """Return the text of a file; raise TableError for a binary file."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):  # "Unicode text" of some spreadsheets
        text = content.decode("utf-16", errors="replace")
    else:
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = _decode_single_byte(content)
    found = _CONTROL.search(text)
    return text if found is None else _without_control(text, found, name)


def _without_control(text: str, first: re.Match[str], name: str) -> str:
    """Return text with spaces for a few control characters; raise for a binary file."""
    line = text.count("\n", 0, first.start()) + 1
    n_odd = len(_CONTROL.findall(text))
    if "\0" in text or n_odd > 1 + _MAX_ODD * len(text):
        raise TableError(
            f"{name} is not a text file: line {line} has bytes of a binary file. Export the table "
            "as CSV in UTF-8, or give its format."
        )
    what = "a control character" if n_odd == 1 else f"{n_odd} control characters, the first"
    warnings.warn(
        f"{name} has {what} in line {line} ({first[0]!r}), read as a space; is the text damaged?",
        stacklevel=2,
    )
    return _CONTROL.sub(" ", text)


def _decode_single_byte(content: bytes) -> str:
    """Return text that is not UTF-8: in Windows' encoding, which has the euro, else in Latin-1."""
    try:
        return content.decode("cp1252")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _csv_rows(text: str, separator: str) -> Any:
    lines = io.StringIO(text, newline="")
    return csv.reader(lines, delimiter=separator, skipinitialspace=True, strict=True)


def _detect_separator(text: str, name: str) -> str:
    """Return the separator by which most of the first rows are as wide as the first, and widest.

    A table without one has a single column.
    """
    best, separator = (0.0, 1), ","
    for candidate in _SEPARATORS:
        widths = _row_widths(_csv_rows(text, candidate))
        if not widths or widths[0] < 2:
            continue
        agreement = sum(width == widths[0] for width in widths) / len(widths)
        if (agreement, widths[0]) > best:
            best, separator = (agreement, widths[0]), candidate
    if not best[0]:
        _refuse_other_separators(text, name)
    return separator


def _refuse_other_separators(text: str, name: str) -> None:
    """Raise where all of the first rows have as many fields between signs that are not read."""
    for sign, words in _OTHER_SEPARATORS.items():
        widths = _row_widths(_csv_rows(text, sign))
        if len(widths) > 1 and widths[0] > 1 and len(set(widths)) == 1:
            raise TableError(
                f"{name}: the columns seem to be separated by {words}; separate them by commas, "
                "semicolons, tabs or bars, or put quotation marks around the fields of a single "
                "column."
            )


def _row_widths(rows: Iterable[list[str]]) -> list[int]:
    """Return the numbers of fields in the first rows that are not blank."""
    widths: list[int] = []
    with suppress(csv.Error):  # reported with its line when the layout is read
        for row in islice(filter(None, rows), _N_SAMPLE):
            widths.append(len(row))
    return widths


def _read_layout(text: str, separator: str, name: str, n_rows: int | None = None) -> _Layout:
    """Return names and sample of a table; raise TableError for a row with a wrong field count.

    Only the first ``n_rows`` rows are checked; None checks them all.
    """
    rows = _csv_rows(text, separator)
    sample: list[list[str]] = []
    n_trailing = end = 0
    try:
        table = filter(None, rows)  # without blank lines
        names = _column_names(next(table), name)
        end = rows.line_num
        for row in islice(table, n_rows):
            start, end = end + 1, rows.line_num
            if len(row) < len(names) or any(row[len(names) :]):
                raise TableError(
                    f"{name}, {_lines(start, end)}: {len(row)} fields, but the first line names "
                    f"{len(names)} columns; {_remedy(start, end)}"
                )
            n_trailing = max(n_trailing, len(row) - len(names))
            if len(sample) < _N_SAMPLE:
                sample.append(row)
    except csv.Error as error:
        raise TableError(
            f"{name}, {_lines(end + 1, rows.line_num)}: {error}; is a closing quotation mark "
            f"missing in line {end + 1}?"
        ) from error
    return _Layout(names, sample, n_trailing)


def _lines(start: int, end: int) -> str:
    return f"line {end}" if start >= end else f"lines {start} to {end}"


def _remedy(start: int, end: int) -> str:
    """Return how to correct a row with a wrong number of fields."""
    if start < end:  # a quotation mark kept the line breaks inside a field
        return f"is a closing quotation mark missing in line {start}?"
    return "correct the line, or put quotation marks around a field that contains the separator."


def _column_names(row: list[str], name: str) -> list[str]:
    """Return the names of the columns from the first row."""
    while len(row) > 1 and not row[-1].strip():  # separators at the end of each line
        row = row[:-1]
    names = [cell.strip() for cell in row]
    if all(_NUMBER.fullmatch(cell) for cell in names):
        raise TableError(f"{name}: the first line has only numbers; it must name the columns.")
    if not names[0]:  # R and pandas write row numbers without a name
        names[0] = "row"
    check_names(names, name)
    return names


def _detect_decimal(sample: list[list[str]], separator: str) -> str:
    """Return the decimal sign; 1,234 and 1.234 are no evidence, for they may be thousands."""
    cells = [cell.strip() for row in sample for cell in row]
    commas, points = ([c for c in cells if sign.fullmatch(c)] for sign in (_COMMA, _POINT))
    if any(not _THOUSANDS.fullmatch(cell) for cell in points):
        return "."
    is_certain = any(not _THOUSANDS.fullmatch(cell) for cell in commas)
    return "," if is_certain or (commas and not points and separator == ";") else "."
