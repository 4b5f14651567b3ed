"""Read a table from a file of any format, or say why it is not a table."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from pathlib import Path
from typing import Any

from .delimited import read_delimited
from .errors import TableError, check_names, quoted
from .formats import read_arff, read_libsvm, read_parquet

_READERS = {
    "csv": read_delimited,
    "tsv": read_delimited,
    "parquet": read_parquet,
    "arff": read_arff,
    "libsvm": read_libsvm,
}
FORMATS = tuple(_READERS)
_ENDINGS = {
    ".csv": "csv",
    ".txt": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arff": "arff",
    ".libsvm": "libsvm",
    ".svmlight": "libsvm",
    ".svm": "libsvm",
}
# First bytes of files that are often mistaken for tables, and what to do with them.
_NOT_TABLES = {
    b"PK\x03\x04": "a zip archive or an Excel file; save the sheet as CSV",
    b"\xd0\xcf\x11\xe0": "an old Excel file; save the sheet as CSV",
    b"%PDF": "a PDF document",
    b"SQLite format": "a database; export the table as CSV",
    b"\x89PNG": "a picture",
    b"\x89HDF": "an HDF5 file; export the table as CSV",
    b"BZh": "compressed with bzip2; decompress it first",
    b"\xfd7zXZ": "compressed with xz; decompress it first",
}


def read_table(path_or_buffer: Any, *, format: str | None = None) -> Any:
    r"""Read a table with named columns from a file.

    Parameters
    ----------
    path_or_buffer : str, path or file object
        The file; "-" is the standard input. Files compressed with gzip are decompressed.
    format : {"csv", "tsv", "parquet", "arff", "libsvm"}, default=None
        The format of the file; None goes by the ending of its name and by its first bytes, and
        takes any other file for CSV. Separator, decimal sign and encoding of CSV are detected.

    Returns
    -------
    frame : pandas.DataFrame
        The table. The columns of the libsvm format are "target", "x1", "x2" and so on. A parquet
        file of more than 50 million values is read in batches, its decimals as float32.

    Raises
    ------
    TableError
        If the file is not a table; the message gives the reason and the line.

    Notes
    -----
    In CSV these cells are missing values: empty cells, ``?``, ``-``, ``.``, ``NA``, ``N/A``,
    ``n.a.``, ``NaN``, ``NULL``, ``None``, ``\N`` and the like, and errors of spreadsheets such as
    ``#N/A`` and ``#DIV/0!``. Text that may be an ordinary value, such as ``unknown`` or ``--``,
    stays in the table; among numbers it counts as missing, and `describe_columns` names it. Blank
    lines are skipped, also in a table of one column.

    Examples
    --------
    >>> import io
    >>> from kernelwise.app.tabular import read_table
    >>> read_table(io.StringIO("size;kind\n1,5;a\n2,5;b\n")).to_dict("list")
    {'size': [1.5, 2.5], 'kind': ['a', 'b']}
    """
    if format is not None and format not in _READERS:
        raise TableError(f"format={format!r} is not known; choose one of {quoted(_READERS)}.")
    if _is_parquet_file(path_or_buffer, format):  # which may be larger than the memory
        name = str(path_or_buffer)
        frame = read_parquet(Path(name), name)
    else:
        name, content = _read_bytes(path_or_buffer)
        content = _decompress(name, content)
        if not content.strip():
            raise TableError(f"{name} is empty.")
        frame = _READERS[format or _detect_format(name, content)](content, name)
    frame.columns = [str(column).strip() for column in frame.columns]  # as in every format
    check_names(list(frame.columns), name)
    if not len(frame):
        raise TableError(f"{name} has column names, but no rows.")
    return frame


def _is_parquet_file(source: Any, format: str | None) -> bool:
    """Return whether a path leads to a parquet file, by its first bytes."""
    if hasattr(source, "read") or format not in (None, "parquet") or not Path(source).is_file():
        return False
    try:
        with Path(source).open("rb") as file:
            return file.read(4) == b"PAR1"
    except OSError:
        return False


def _read_bytes(source: Any) -> tuple[str, bytes]:
    """Return the name of the file for messages, and its bytes."""
    if hasattr(source, "read"):
        content = source.read()
        name = str(getattr(source, "name", "the table"))
        return name, content.encode() if isinstance(content, str) else content
    if str(source) == "-":
        return "the standard input", sys.stdin.buffer.read()
    path = Path(source)
    if path.is_dir():
        raise TableError(f"{path} is a folder, not a file.")
    try:
        return str(path), path.read_bytes()
    except FileNotFoundError:
        raise TableError(f"there is no file {str(path)!r}.") from None
    except OSError as error:
        raise TableError(f"{path} cannot be read: {error.strerror or error}.") from error


def _decompress(name: str, content: bytes) -> bytes:
    if not content.startswith(b"\x1f\x8b"):
        return content
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
            return file.read()
    except (OSError, EOFError, zlib.error) as error:
        raise TableError(f"{name} is damaged: it cannot be decompressed ({error}).") from error


def _detect_format(name: str, content: bytes) -> str:
    if content.startswith(b"PAR1"):
        return "parquet"
    for start, kind in _NOT_TABLES.items():
        if content.startswith(start):
            raise TableError(f"{name} is not a table but {kind}.")
    if content.lstrip()[:1] in (b"{", b"["):
        raise TableError(
            f"{name} is JSON; convert it to a table first, for instance with "
            "pandas.read_json(..., lines=True).to_parquet(...)."
        )
    ending = Path(name.removesuffix(".gz")).suffix.lower()
    return _ENDINGS.get(ending, "csv")
