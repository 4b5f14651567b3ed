"""Arrays as one block of bytes, and references to them in plain data."""

from __future__ import annotations

import base64
from hashlib import sha256
from typing import Any

import numpy as np

_TYPES = {"f8": np.float64, "f4": np.float32, "i4": np.int32, "u1": np.uint8}
_ALIGNED = 8  # bytes at which arrays begin, as typed arrays of a browser need it


class Arrays:
    """Arrays that a page holds, each once."""

    def __init__(self) -> None:
        self._blocks: list[bytes] = []
        self._size = 0
        self._known: dict[tuple[str, str], dict[str, Any]] = {}

    def add(self, values: Any, kind: str = "f8") -> dict[str, Any]:
        """Store an array, row by row; return what a page finds it by."""
        data = np.ascontiguousarray(values, dtype=_TYPES[kind]).tobytes()
        key = kind, sha256(data).hexdigest()
        if key not in self._known:
            count = len(data) // np.dtype(_TYPES[kind]).itemsize
            self._known[key] = {"$": [kind, self._size, count]}
            data += bytes(-len(data) % _ALIGNED)
            self._blocks.append(data)
            self._size += len(data)
        return self._known[key]

    def text(self) -> str:
        """Return all arrays as text."""
        return base64.b64encode(b"".join(self._blocks)).decode("ascii")


class DistinctRows:
    """Rows of numbers that several parts of a model share, each once."""

    def __init__(self) -> None:
        self._place: dict[bytes, int] = {}
        self._width = 0

    def add(self, rows: Any) -> Any:
        """Store rows of float32; return the place of each."""
        rows = np.ascontiguousarray(rows, dtype=np.float32)
        self._width = rows.shape[1]
        found = (row.tobytes() for row in rows)
        places = [self._place.setdefault(row, len(self._place)) for row in found]
        return np.array(places, dtype=np.int32)

    def __len__(self) -> int:
        return len(self._place)

    def matrix(self) -> Any:
        """Return all rows."""
        values = np.frombuffer(b"".join(self._place), dtype=np.float32)
        return values.reshape(len(self._place), self._width)
