"""Tables from files: what kind of file it is, and what is wrong with one that is no table."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from pathlib import Path
from typing import Any

from .delimited import read_delimited
from .errors import TableError, check_names, named
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
_OTHERS = {  # how files begin that people take for tables, and what to do about them
    b"PK\x03\x04": "a zip archive or an Excel file; save the sheet as CSV",
    b"\xd0\xcf\x11\xe0": "an old Excel file; save the sheet as CSV",
    b"%PDF": "a PDF document",
    b"SQLite format": "a database; export the table as CSV",
    b"\x89PNG": "a picture",
    b"\x89HDF": "an HDF5 file; export the table as CSV",
    b"BZh": "compressed with bzip2; unpack it first",
    b"\xfd7zXZ": "compressed with xz; unpack it first",
}


def read_table(path_or_buffer: Any, *, format: str | None = None) -> Any:
    r"""Read a table with named columns from a file.

    Parameters
    ----------
    path_or_buffer : str, path or file object
        The file; "-" is the standard input. Files compressed with gzip are unpacked.
    format : {"csv", "tsv", "parquet", "arff", "libsvm"}, default=None
        What the file is; None goes by the end of its name and by its first bytes, and takes the
        rest for CSV. The separator, the decimal sign and the encoding of CSV are found out.

    Returns
    -------
    frame : pandas.DataFrame
        The table. The columns of the libsvm format are "target", "x1", "x2" and so on.

    Raises
    ------
    TableError
        If the file is no table; the message says why, and in which line.

    Notes
    -----
    Gaps in any column of CSV are empty cells, ``?``, ``-``, ``.``, ``NA``, ``N/A``, ``n.a.``,
    ``NaN``, ``NULL``, ``None``, ``\N`` and their like, and the errors of spreadsheets such as
    ``#N/A`` and ``#DIV/0!``. What may be a word like others, such as ``unknown`` or ``--``, stays
    in the table; it is a gap where the rest are numbers, and `describe_columns` names it.

    Examples
    --------
    >>> import io
    >>> from kernelwise.tabular import read_table
    >>> read_table(io.StringIO("size;kind\n1,5;a\n2,5;b\n")).to_dict("list")
    {'size': [1.5, 2.5], 'kind': ['a', 'b']}
    """
    if format is not None and format not in _READERS:
        raise TableError(f"format={format!r} is not known; take one of {named(_READERS)}.")
    name, content = _content(path_or_buffer)
    content = _unpacked(name, content)
    if not content.strip():
        raise TableError(f"{name} is empty.")
    frame = _READERS[format or _format_of(name, content)](content, name)
    frame.columns = [str(column) for column in frame.columns]
    check_names(list(frame.columns), name)
    if frame.shape[1] < 2:
        raise TableError(
            f"{name} has one column only, {frame.columns[0]!r}; columns are separated by commas, "
            "semicolons, tabs or bars."
        )
    if not len(frame):
        raise TableError(f"{name} has names of columns, but no rows.")
    return frame


def _content(source: Any) -> tuple[str, bytes]:
    """Return what to call the file, and its bytes."""
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


def _unpacked(name: str, content: bytes) -> bytes:
    if not content.startswith(b"\x1f\x8b"):
        return content
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
            return file.read()
    except (OSError, EOFError, zlib.error) as error:
        raise TableError(f"{name} is damaged: it cannot be unpacked ({error}).") from error


def _format_of(name: str, content: bytes) -> str:
    if content.startswith(b"PAR1"):
        return "parquet"
    for start, what in _OTHERS.items():
        if content.startswith(start):
            raise TableError(f"{name} is not a table but {what}.")
    ending = Path(name.removesuffix(".gz")).suffix.lower()
    return _ENDINGS.get(ending, "csv")
