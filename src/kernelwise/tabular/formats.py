"""Readers of parquet, ARFF and libsvm files."""

from __future__ import annotations

import io
import re
from typing import Any

import numpy as np

from .delimited import MISSING, decode
from .errors import TableError

_MAX_CELLS = 2e8  # cells of a sparse file that becomes a dense table
_ATTRIBUTE = re.compile(r"@attribute\s+('[^']*'|\"[^\"]*\"|\S+)\s+(\{.*\}|\S+)", re.IGNORECASE)
_CELL = re.compile(r"\s*('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[^,]*)\s*(,|$)")


def read_parquet(content: bytes, name: str) -> Any:
    """Return the table in the bytes of a parquet file."""
    import pandas as pd

    try:
        return pd.read_parquet(io.BytesIO(content))
    except ImportError as error:
        raise TableError(
            f'{name}: parquet needs the package pyarrow: pip install "kernelwise[cli]".'
        ) from error
    except Exception as error:  # pyarrow raises many types of errors for damaged files
        raise TableError(f"{name} is damaged: {_first_line(error)}") from error


def read_libsvm(content: bytes, name: str) -> Any:
    """Return the table in the bytes of a libsvm file."""
    import pandas as pd
    from sklearn.datasets import load_svmlight_file

    try:
        X, y = load_svmlight_file(io.BytesIO(content))
    except (ValueError, OverflowError, MemoryError) as error:
        raise TableError(f"{name} is not in libsvm's format: {_first_line(error)}") from error
    if X.shape[0] * X.shape[1] > _MAX_CELLS:
        raise TableError(
            f"{name}: {X.shape[0]} rows of {X.shape[1]} columns are too many for a dense table."
        )
    frame = pd.DataFrame(X.toarray(), columns=[f"x{k + 1}" for k in range(X.shape[1])])
    whole = y.astype(np.int64) if np.all(y == np.round(y)) and np.all(abs(y) < 2**53) else y
    frame.insert(0, "target", whole)
    return frame


def read_arff(content: bytes, name: str) -> Any:
    """Return the table in the bytes of an ARFF file."""
    import pandas as pd

    lines = enumerate(decode(content, name).splitlines(), 1)
    types = _attributes(lines, name)
    rows = []
    for number, line in lines:
        text = line.strip()
        if not text or text.startswith("%"):
            continue
        if text.startswith("{"):
            raise TableError(
                f"{name}, line {number}: sparse ARFF is not supported; save it as dense ARFF."
            )
        row = _cells(text)
        if len(row) != len(types):
            raise TableError(
                f"{name}, line {number}: {len(row)} values where the header names {len(types)} "
                "attributes."
            )
        rows.append(row)
    frame = pd.DataFrame(rows, columns=list(types), dtype=object)
    for column, type_ in types.items():
        if type_ in {"numeric", "real", "integer"}:
            numbers = pd.to_numeric(frame[column], errors="coerce")
            if frame[column][numbers.isna()].isin([None, *MISSING]).all():  # else text
                frame[column] = numbers
    return frame


def _attributes(lines: Any, name: str) -> dict[str, str]:
    """Return the type of each attribute; read the lines up to and including @data."""
    types: dict[str, str] = {}
    for number, line in lines:
        text = line.strip()
        if text.lower().startswith("@data"):
            break
        if text.lower().startswith("@attribute"):
            found = _ATTRIBUTE.match(text)
            if not found:
                raise TableError(f"{name}, line {number}: an attribute needs a name and a type.")
            column = found[1].strip("'\"")
            if column in types:
                raise TableError(f"{name}: two columns are called {column!r}; rename one of them.")
            types[column] = found[2].lower()
    if not types:
        raise TableError(f"{name} has no line @attribute; is it ARFF?")
    return types


def _cells(text: str) -> list[str | None]:
    cells: list[str | None] = []
    for found in _CELL.finditer(text):
        cell = found[1].strip()
        quoted = len(cell) > 1 and cell[0] == cell[-1] and cell[0] in "'\""
        inner = cell[1:-1].replace("\\'", "'").replace('\\"', '"') if quoted else cell
        cells.append(None if cell == "?" else inner)
        if not found[2]:
            break
    return cells


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__
