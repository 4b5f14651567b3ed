"""CSV and its relatives: separator, decimal sign and encoding are found out, rows are counted."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

from .errors import TableError, check_names
from .number_parsing import parse

_SEPARATORS = (",", ";", "\t", "|")
_SOME = 50  # rows that the separator is judged by
# Gaps in any column, as people, R, pandas, SAS, Weka, databases and spreadsheets write them. What
# may be a real word of a column of words is not here: see `column_values.strays`.
MISSING = (
    *("", "?", "-", "."),
    *("NA", "na", "N/A", "n/a", "N/a", "N.A.", "n.a.", "N.A", "n.a", "N. A.", "n. a.", "<NA>"),
    *("NaN", "nan", "-NaN", "-nan", "NaT", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
    *("NULL", "null", "(null)", "\\N", "None"),
    *("#N/A", "#NA", "#N/A N/A", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!"),
)
_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?([eE][+-]?\d+)?")
_COMMA = re.compile(r"[+-]?\d+,\d+([eE][+-]?\d+)?")
_POINT = re.compile(r"[+-]?\d*\.\d+([eE][+-]?\d+)?")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f]")


def read_delimited(content: bytes, name: str) -> Any:
    """Return the table in the bytes of a CSV or TSV file."""
    import pandas as pd

    text = decode(content, name)
    separator = _separator(text, name)
    header, sample, n_wider = _check_rows(text, separator, name)
    decimal = _decimal(sample, separator)
    options: dict[str, Any] = {
        "sep": separator,
        "decimal": decimal,
        "names": header + [f"\x00{k}" for k in range(n_wider)],
        "header": 0,
        "index_col": False,
        "na_values": list(MISSING),
        "keep_default_na": False,
        "skipinitialspace": True,
        "low_memory": False,
    }
    try:
        frame = pd.read_csv(io.StringIO(text), **options)
    except (ValueError, OverflowError) as error:  # pandas' own errors of parsing are ValueErrors
        raise TableError(f"{name} cannot be read as a table: {error}.") from error
    frame = frame.iloc[:, : len(header)]
    return frame if decimal == "." else _without_thousands(frame)


def _without_thousands(frame: Any) -> Any:
    """Return a table of decimal commas with 12.345 as the number 12345, not as text."""
    import pandas as pd

    texts = frame.select_dtypes(exclude=["number", "bool"])
    found = {}
    for name in texts:
        cells = texts[name].dropna().astype(str).str.strip()
        if len(cells) and pd.to_numeric(cells, errors="coerce").notna().all():
            found[name] = pd.Series(parse(cells, ","), cells.index).reindex(frame.index)
    return frame.assign(**found)


def decode(content: bytes, name: str) -> str:
    """Return the text of a file; raise where it is no text."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):  # what some spreadsheets call Unicode text
        text = content.decode("utf-16", errors="replace")
    else:
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = _of_one_byte(content)
    found = _CONTROL.search(text)
    if found:
        line = text.count("\n", 0, found.start()) + 1
        raise TableError(f"{name} is not text: line {line} has bytes of a binary file.")
    return text


def _of_one_byte(content: bytes) -> str:
    """Return text that is not UTF-8: Windows' table has the euro and is Latin-1 otherwise."""
    try:
        return content.decode("cp1252")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _rows(text: str, separator: str) -> Any:
    return csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True)


def _separator(text: str, name: str) -> str:
    """Return the separator that gives the first rows one width, the largest."""
    best, separator = (0.0, 1), ","
    for candidate in _SEPARATORS:
        widths = []
        try:
            for row in _rows(text, candidate):
                if row:
                    widths.append(len(row))
                if len(widths) == _SOME:
                    break
        except csv.Error:  # told of with its line by the pass over all rows
            pass
        if not widths or widths[0] < 2:
            continue
        agreement = sum(width == widths[0] for width in widths) / len(widths)
        if (agreement, widths[0]) > best:
            best, separator = (agreement, widths[0]), candidate
    if not best[0]:
        first = text.strip().splitlines()[0]
        raise TableError(
            f"{name} has one column only: its first line {first[:40]!r} has no comma, semicolon, "
            "tab or bar that separates columns."
        )
    return separator


def _check_rows(text: str, separator: str, name: str) -> tuple[list[str], list[list[str]], int]:
    """Return the names, some rows, and how many empty cells end each row beyond the names."""
    reader = _rows(text, separator)
    header: list[str] = []
    sample: list[list[str]] = []
    n_wider = 0
    try:
        for row in reader:
            if not row:
                continue
            if not header:
                header = _names(row, name)
                continue
            if len(row) != len(header):
                if len(row) < len(header) or any(row[len(header) :]):
                    raise TableError(
                        f"{name}, line {reader.line_num}: {len(row)} fields where the first line "
                        f"names {len(header)} columns; mend the line, or put quotation marks "
                        "around a field that has the separator in it."
                    )
                n_wider = max(n_wider, len(row) - len(header))
            if len(sample) < _SOME:
                sample.append(row)
    except csv.Error as error:
        raise TableError(
            f"{name}, line {reader.line_num}: {error}; is a quotation mark left open?"
        ) from error
    return header, sample, n_wider


def _names(row: list[str], name: str) -> list[str]:
    """Return the names of the columns from the first line."""
    while len(row) > 1 and not row[-1].strip():  # separators at the end of each line
        row = row[:-1]
    names = [cell.strip() for cell in row]
    if all(_NUMBER.fullmatch(cell) for cell in names):
        raise TableError(f"{name}: the first line has numbers only; it must name the columns.")
    if not names[0]:  # R and pandas write the numbers of the rows under no name
        names[0] = "row"
    check_names(names, name)
    return names


def _decimal(sample: list[list[str]], separator: str) -> str:
    """Return the decimal sign; 1,234 and 1.234 prove nothing, for they may be thousands."""
    cells = [cell.strip() for row in sample for cell in row]
    commas, points = ([c for c in cells if sign.fullmatch(c)] for sign in (_COMMA, _POINT))
    if any(not _THOUSANDS.fullmatch(cell) for cell in points):
        return "."
    proof = any(not _THOUSANDS.fullmatch(cell) for cell in commas)
    return "," if proof or (commas and not points and separator == ";") else "."
