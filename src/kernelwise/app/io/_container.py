"""Read and write the container of a model file: a zip archive of three members.

    kernelwise.json   the header: schema, versions, class, names; the SHA-256 of the payload
    sha256            the SHA-256 of the header
    model.skops       the payload: the model in the format of skops, itself a compressed zip

Every byte that is read is covered by a digest, which reveals damage but not who wrote the file.
Sizes are checked before anything is expanded: a small file stays small in memory.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, ZipFile

import numpy as np

from ..._files import replacing

SCHEMA = 1

_HEADER, _DIGEST, _PAYLOAD = "kernelwise.json", "sha256", "model.skops"
_FIELDS = (
    "schema",
    "kernelwise",
    "scikit-learn",
    "numpy",
    "skops",
    "python",
    "class",
    "feature_names",
    "classes",
    "summary",
    "needs_trusted",
    "payload_sha256",
)
# What is compressed is refused if its uncompressed size exceeds both limits.
_MAX_SIZE = 2**26  # uncompressed size in bytes
_MAX_RATIO = 100  # uncompressed size / compressed size
_SPARSE_FORMATS = (b"csr", b"csc")


class ModelFileError(ValueError):
    """Raised when a model file cannot be read or written; the message gives the reason.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import kernelwise.app.io
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "model.kw")
    ...     _ = path.write_text("not a model")
    ...     try:
    ...         kernelwise.app.io.load(path)
    ...     except kernelwise.app.io.ModelFileError as error:
    ...         print(str(error).removeprefix(folder)[1:])
    model.kw: not a model file of kernelwise, or cut off: File is not a zip file
    """


@dataclass(frozen=True)
class Contents:
    """Header and payload of a model file."""

    header: dict[str, Any]  # the header, parsed from JSON
    payload: bytes  # the model in the format of skops


def digest(data: bytes) -> str:
    """Return the SHA-256 of the data as hexadecimal text."""
    return hashlib.sha256(data).hexdigest()


def write(path: Path, contents: Contents) -> None:
    """Write a model file."""
    header = json.dumps(contents.header, indent=1, ensure_ascii=False).encode()
    with replacing(path) as draft, ZipFile(draft, "w", ZIP_STORED) as file:
        file.writestr(_HEADER, header)
        file.writestr(_DIGEST, digest(header))
        file.writestr(_PAYLOAD, contents.payload)


def read(path: Path) -> Contents:
    """Read a model file, and check its digests and sizes."""
    data = path.read_bytes()
    with _refusing(path, "not a model file of kernelwise, or cut off"):
        members = _members(data)
    with _refusing(path, "damaged"):
        contents = _opened(members)
        schema = contents.header["schema"]
        if not isinstance(schema, int) or schema < 1:
            raise ValueError(f"its schema is {schema!r}, which is not a positive integer")
    if schema > SCHEMA:
        raise ModelFileError(
            f"{path}: written by kernelwise {contents.header.get('kernelwise')!r} in schema "
            f"{schema}; this version reads schema {SCHEMA}. Upgrade kernelwise."
        )
    with _refusing(path, "damaged"):
        _require(contents.header, _FIELDS)
        _check_payload(contents.payload)
    return contents


def _members(data: bytes) -> dict[str, bytes]:
    with ZipFile(io.BytesIO(data)) as file:
        _refuse_growth(file, len(data))
        if any(member.compress_type != ZIP_STORED for member in file.infolist()):
            raise ValueError("it has compressed members beside the model")
        return {name: file.read(name) for name in file.namelist()}


def _opened(members: dict[str, bytes]) -> Contents:
    if set(members) != {_HEADER, _DIGEST, _PAYLOAD}:
        raise ValueError(f"it has the members {sorted(members)}")
    if digest(members[_HEADER]) != members[_DIGEST].decode():
        raise ValueError("its header does not match its SHA-256 digest")
    header = json.loads(members[_HEADER])
    _require(header, ("schema", "payload_sha256"))
    if digest(members[_PAYLOAD]) != header["payload_sha256"]:
        raise ValueError("its model does not match its SHA-256 digest")
    return Contents(header, members[_PAYLOAD])


def _require(header: dict[str, Any], fields: tuple[str, ...]) -> None:
    lacking = [name for name in fields if name not in header]
    if lacking:
        raise ValueError(f"its header lacks {', '.join(map(repr, lacking))}")


def grows_too_much(archive: bytes) -> bool:
    """Return whether `read` would refuse an archive, because it expands too much."""
    with ZipFile(io.BytesIO(archive)) as file:
        return _expanded(file) > _limit(len(archive))


def _expanded(file: ZipFile) -> int:
    return sum(member.file_size for member in file.infolist())


def _limit(size: int) -> int:
    return max(_MAX_SIZE, _MAX_RATIO * size)


def _refuse_growth(file: ZipFile, size: int) -> None:
    """Refuse an archive of so many bytes whose members expand too much, or share a name."""
    if len(set(file.namelist())) < len(file.namelist()):
        raise ValueError("it has several members with the same name")
    if _expanded(file) > _limit(size):
        raise ValueError(f"an archive of {size} bytes expands to {_expanded(file)} bytes")


def _check_payload(payload: bytes) -> None:
    with ZipFile(io.BytesIO(payload)) as file:
        _refuse_growth(file, len(payload))
        for name in file.namelist():
            if name.endswith(".npz"):
                _check_sparse(file.read(name))
            elif name.endswith(".npy"):
                _check_dense(file.read(name))


def _check_sparse(data: bytes) -> None:
    """Refuse a sparse matrix that expands too much, or whose indices are out of range.

    It is checked in its own format: another one may need an entry per row or column.
    """
    from scipy.sparse import load_npz

    with ZipFile(io.BytesIO(data)) as file:
        _refuse_growth(file, len(data))
        for name in file.namelist():
            _check_dense(file.read(name))
        form = np.load(io.BytesIO(file.read("format.npy")), allow_pickle=False).item()
    if form not in _SPARSE_FORMATS:
        raise ValueError(f"a sparse matrix has the format {form!r}, not {_SPARSE_FORMATS}")
    load_npz(io.BytesIO(data)).check_format(full_check=True)


def _check_dense(data: bytes) -> None:
    """Refuse an array whose declared shape does not fit its bytes, before it is allocated."""
    file = io.BytesIO(data)
    version = np.lib.format.read_magic(file)
    readers = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    if version not in readers:
        raise ValueError(f"an array has the format version {version}")
    shape, _, dtype = readers[version](file)
    declared, stored = prod(shape) * dtype.itemsize, len(data) - file.tell()
    if dtype.hasobject or declared != stored:
        raise ValueError(f"an array of {stored} bytes is declared as {shape} of {dtype}")


@contextmanager
def _refusing(path: Path, reason: str) -> Iterator[None]:
    """Raise any error of the zip, JSON and array readers as a `ModelFileError`."""
    try:
        yield
    except Exception as error:
        text = str(error) or type(error).__name__
        raise ModelFileError(f"{path}: {reason}: {text}") from error
