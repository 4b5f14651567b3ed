"""The square of K between the rows of a working set, in 16-bit fixed point or in float64."""

from __future__ import annotations

from math import isqrt
from typing import Any

import numpy as np

from .. import _native
from .._typing import Index, Square, Tiles
from .buffers import KeptBuffer

_MOST_BYTES = 1e9  # bytes of a square; filling and reading a larger one costs more than it saves
_FEWEST = 512  # rows of the smallest square, half a megabyte: with fewer, rounds are too many
_SLACK = 1.25  # length of a stored row, relative to the rows there are when it has to grow
_LINE = 32  # rows by which a capacity, and entries by which a stored row, grows


class WorkingSquare:
    """K of the rows of a working set, which come and go.

    ``tiles``: makes the entries. ``n``: number of rows of K. ``memory``: bytes that it may take.
    ``dtype``: the type of the entries: numpy.uint16 for fixed point, or numpy.float64.
    """

    def __init__(self, tiles: Tiles, n: int, memory: float, dtype: Any = np.uint16) -> None:
        self._tiles, self._itemsize = tiles, np.dtype(dtype).itemsize
        most = isqrt(int(np.clip(memory, 0, _MOST_BYTES)) // self._itemsize)
        most = max(_FEWEST, most) // _LINE
        #: Largest number of rows.
        self.capacity = _LINE * min(most, -(-n // _LINE))
        self._buffer = KeptBuffer(self._itemsize * self.capacity**2)
        self._entries = self._buffer.view(dtype)
        self._stride = 0
        #: The rows of the working set.
        self.rows = np.empty(0, dtype=np.intp)

    @property
    def K(self) -> Square:
        """The entries, a view."""
        m = len(self.rows)
        whole: Square = self._entries[: m * self._stride].reshape(m, self._stride)
        return whole[:, :m]

    def squeeze(self, kept: Index) -> None:
        """Drop all rows but those at these positions, which ascend."""
        if len(kept) < len(self.rows):
            _native.squeeze_square(self.K, kept)
            self.rows = self.rows[kept]

    def append(self, rows: Index) -> None:
        """Add rows; there must be room for them."""
        before = len(self.rows)
        self.rows = np.concatenate([self.rows, rows])
        self._make_room(before)
        self._buffer.touch(self._itemsize * len(self.rows) * self._stride)
        self._tiles.fill_square(self.rows, before, self.K)

    def _make_room(self, before: int) -> None:
        """Lay the rows that are there further apart where the new ones do not fit between."""
        m, old = len(self.rows), self._stride
        if m <= old:
            return
        # An odd multiple: with an even one, columns meet in few sets of the cache.
        lines = -(-int(min(_SLACK * m, self.capacity)) // _LINE) | 1
        self._stride = min(lines * _LINE, self.capacity)
        for i in range(before - 1, 0, -1):
            start, then = i * self._stride, i * old
            self._entries[start : start + before] = self._entries[then : then + before]

    def close(self) -> None:
        """Give the memory back."""
        self._entries, self.rows = self._entries[:0], self.rows[:0]
        self._buffer.close()
