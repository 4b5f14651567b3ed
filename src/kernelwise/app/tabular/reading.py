"""Read a table from a file of any format, or say why it is not a table."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

from .delimited import read_delimited
from .errors import TableError, check_names, quoted
from .formats import (
    read_arff,
    read_excel,
    read_feather,
    read_json,
    read_libsvm,
    read_parquet,
)

_READERS = {
    "csv": read_delimited,
    "tsv": read_delimited,
    "parquet": read_parquet,
    "arff": read_arff,
    "libsvm": read_libsvm,
    "excel": read_excel,
    "json": read_json,
    "feather": read_feather,
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
_PACKED: dict[bytes, Callable[[bytes], bytes]] = {
    b"\x1f\x8b": gzip.decompress,
    b"BZh": bz2.decompress,
    b"\xfd7zXZ": lzma.decompress,
}
_STARTS = {
    b"PAR1": "parquet",
    b"PK\x03\x04": "excel",
    b"\xd0\xcf\x11\xe0": "excel",
    b"ARROW1": "feather",
    b"FEA1": "feather",
}
# First bytes of files that are often mistaken for tables, and what to do with them.
_NOT_TABLES = {
    b"%PDF": "a PDF document",
    b"SQLite format": "a database; export the table as CSV",
    b"\x89PNG": "a picture",
    b"\x89HDF": "an HDF5 file; export the table as CSV",
}


def read_table(path_or_buffer: Any, *, format: str | None = None) -> Any:
    r"""Read a table with named columns from a file.

    Parameters
    ----------
    path_or_buffer : str, path or file object
        The file; "-" is the standard input. Files compressed with gzip, bzip2 or xz, and zip
        archives of one file, are decompressed.
    format : {"csv", "tsv", "parquet", "arff", "libsvm", "excel", "json", "feather"}, default=None
        The format of the file; None goes by the ending of its name and by its first bytes, and
        takes any other file for CSV. Separator, decimal sign and encoding of CSV are detected.

    Returns
    -------
    frame : pandas.DataFrame
        The table. The columns of the libsvm format are "target", "x1", "x2" and so on. Of an Excel
        file it is the first sheet; JSON has an object per line, or a list of objects. A parquet
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
    """Return the bytes of the file in a compressed file or archive, or the bytes as they are."""
    try:
        for start, unpack in _PACKED.items():
            if content.startswith(start):
                return unpack(content)
        if content.startswith(b"PK\x03\x04"):
            return _unzipped(name, content)
    except (OSError, EOFError, zlib.error, lzma.LZMAError, BadZipFile) as error:
        raise TableError(f"{name} is damaged: it cannot be decompressed ({error}).") from error
    return content


def _unzipped(name: str, content: bytes) -> bytes:
    """Return the only file of an archive; an Excel file is an archive that stays as it is."""
    with ZipFile(io.BytesIO(content)) as file:
        members = [each for each in file.namelist() if not each.endswith("/")]
        if any(each.startswith("xl/") for each in members):
            return content
        if len(members) != 1:
            raise TableError(
                f"{name} is a zip archive of {len(members)} files, {quoted(members)}; give one of "
                "them."
            )
        return file.read(members[0])


def _detect_format(name: str, content: bytes) -> str:
    for start, kind in _STARTS.items():
        if content.startswith(start):
            return kind
    for start, kind in _NOT_TABLES.items():
        if content.startswith(start):
            raise TableError(f"{name} is not a table but {kind}.")
    if content.lstrip()[:1] in (b"{", b"["):
        return "json"
    ending = Path(name)
    if ending.suffix.lower() in (".gz", ".bz2", ".xz", ".zip"):
        ending = ending.with_suffix("")
    return _ENDINGS.get(ending.suffix.lower(), "csv")
