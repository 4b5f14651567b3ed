"""Readers of files that are not text in columns: parquet, feather, Excel, JSON, ARFF, libsvm."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from ...values.words import MISSING
from .delimited import decode
from .errors import TableError

LARGE_VALUES = 50_000_000  # values from which on a table of a parquet file is read in batches
_BATCH_ROWS = 65_536  # rows of such a batch
_MAX_ROUNDING = 1e-6  # rounding by float32 over the range of a column; beyond, it stays float64
_MAX_CELLS = 2e8  # cells of a sparse file that becomes a dense table
_ATTRIBUTE = re.compile(r"@attribute\s+('[^']*'|\"[^\"]*\"|\S+)\s+(\{.*\}|\S+)", re.IGNORECASE)
_CELL = re.compile(r"\s*('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[^,]*)\s*(,|$)")


def read_parquet(content: bytes | Path, name: str) -> Any:
    """Return the table in a parquet file, of which the bytes or the path are given.

    A large table is read in batches, and its columns of decimals become float32: neither the file
    nor the table in float64 is ever in memory as a whole.
    """
    try:
        from pyarrow.parquet import ParquetFile

        with ParquetFile(io.BytesIO(content) if isinstance(content, bytes) else content) as file:
            if file.metadata.num_rows * file.metadata.num_columns <= LARGE_VALUES:
                return file.read().to_pandas()
            return _read_in_batches(file)
    except ImportError as error:
        raise TableError(
            f'{name}: parquet needs the package pyarrow: pip install "kernelwise[cli]".'
        ) from error
    except Exception as error:  # pyarrow raises many types of errors for damaged files
        raise TableError(f"{name} is damaged: {_first_line(error)}") from error


def _read_in_batches(file: Any) -> Any:
    """Read a parquet file into columns that are allocated once; other types come in pieces."""
    import pandas as pd
    import pyarrow as pa

    described = file.schema_arrow.pandas_metadata or {}
    index = {each for each in described.get("index_columns", ()) if isinstance(each, str)}
    names = [name for name in file.schema_arrow.names if name not in index]
    decimals = {
        name: np.empty(file.metadata.num_rows, dtype=np.float32)
        for name in names
        if pa.types.is_floating(file.schema_arrow.field(name).type)
    }
    others: dict[str, list[Any]] = {name: [] for name in names if name not in decimals}
    start = 0
    for batch in file.iter_batches(_BATCH_ROWS, columns=names):
        rows = slice(start, start + batch.num_rows)
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            if name in decimals:
                values = column.to_numpy(zero_copy_only=False)
                if decimals[name].dtype == np.float32 and not _fits_float32(values):
                    decimals[name] = _as_float64(decimals[name], start)
                decimals[name][rows] = values
            else:
                others[name].append(column.to_pandas())
        start = rows.stop
    joined = {name: pd.concat(parts, ignore_index=True) for name, parts in others.items()}
    # Without copies: every column stays the array that it was read into.
    return pd.DataFrame({name: (decimals | joined)[name] for name in names}, copy=False)


def _as_float64(column: Any, known: int) -> Any:
    """Return a column in float64, with its first values; the others have not been read yet."""
    wide = np.empty(len(column), dtype=np.float64)
    wide[:known] = column[:known]
    return wide


def _fits_float32(values: Any) -> bool:
    """Return whether float32 tells values apart about as well as a method could."""
    known = values[np.isfinite(values)]
    if not len(known):
        return True
    least, most = float(known.min()), float(known.max())
    largest = max(abs(least), abs(most))
    spacing = largest * float(np.finfo(np.float32).eps)
    is_finite = largest <= float(np.finfo(np.float32).max)
    return is_finite and (least == most == 0 or spacing <= _MAX_ROUNDING * (most - least))


def read_feather(content: bytes, name: str) -> Any:
    """Return the table in the bytes of a feather file, or of Arrow's file format."""
    import pandas as pd

    try:
        return pd.read_feather(io.BytesIO(content))
    except ImportError as error:
        raise TableError(
            f'{name}: feather needs the package pyarrow: pip install "kernelwise[cli]".'
        ) from error
    except Exception as error:  # pyarrow raises many types of errors for damaged files
        raise TableError(f"{name} is damaged: {_first_line(error)}") from error


def read_excel(content: bytes, name: str) -> Any:
    """Return the first sheet of an Excel file."""
    import pandas as pd

    try:
        return pd.read_excel(io.BytesIO(content), na_values=list(MISSING), keep_default_na=False)
    except ImportError as error:  # pandas names the package
        raise TableError(f"{name} is an Excel file: {error} Or save the sheet as CSV.") from error
    except Exception as error:  # openpyxl raises many types of errors for damaged files
        raise TableError(f"{name} is damaged: {_first_line(error)}") from error


def read_json(content: bytes, name: str) -> Any:
    """Return a table of JSON: an object per line, or a list of objects."""
    import pandas as pd

    text = decode(content, name).strip()
    try:
        found = (
            json.loads(text) if text.startswith("[") else list(map(json.loads, text.splitlines()))
        )
        return pd.DataFrame.from_records(found)
    except (ValueError, TypeError, AttributeError) as error:
        raise TableError(
            f"{name} is no table in JSON ({_first_line(error)}); give an object per line, or a "
            "list of objects."
        ) from error


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
