"""The rows of K that a solver holds: all of a stored matrix, or a growing part of a lazy one.

Positions are an order of the variables in which those with a row in memory come first. The
leading n_rows positions are the active set; its block of K is the leading square of `K`.
"""

from __future__ import annotations

from threading import Lock
from typing import Any

import numpy as np

from .._typing import Array, Gram, Index

# Fresh memory costs as much to touch as a kernel row costs to compute: one buffer of moderate size
# is kept from fit to fit.
_KEPT_BYTES = 512e6
# From 4 MB on numpy asks for large pages, with which rows are found without a walk through tables:
# matrices of 1000 rows are made a fourth faster. A page lies at a multiple of its size.
_NUMPY_ASKS, _WORTH_ASKING, _LARGE_PAGE = 2**22, 2**20, 2**21
_kept: list[Any] = []
_kept_lock = Lock()


def _borrow(n_bytes: int) -> Any:
    """Return memory of at least this size, the kept buffer where it is large enough."""
    with _kept_lock:
        if _kept and _kept[0].nbytes >= n_bytes:
            return _kept.pop()
    if n_bytes <= _WORTH_ASKING:
        return np.empty(n_bytes, dtype=np.uint8)
    n_bytes = max(n_bytes, _NUMPY_ASKS)
    buffer = np.empty(n_bytes + _LARGE_PAGE, dtype=np.uint8)  # what is not touched is not taken
    start = -buffer.ctypes.data % _LARGE_PAGE
    return buffer[start : start + n_bytes]


def _give_back(buffer: Any) -> None:
    """Keep the larger of this buffer and the kept one."""
    with _kept_lock:
        kept = _kept[0].nbytes if _kept else 0
        if kept < buffer.nbytes <= _KEPT_BYTES:
            _kept[:] = [buffer]


class StoredRows:
    """All rows of a matrix that is in memory, in their own order."""

    def __init__(self, K: Array) -> None:
        self.K = K
        self.order = np.arange(K.shape[0])
        self.n_rows = self.capacity = K.shape[0]

    def add(self, positions: Index) -> list[tuple[Index, Index]]:
        """Do nothing: every row is here."""
        return []

    def drop(self, positions: Index) -> list[tuple[Index, Index]]:
        """Do nothing: every row stays."""
        return []

    def close(self) -> None:
        """Do nothing: the matrix is its owner's."""


class GrowingRows:
    """Rows of a lazy matrix, computed when they become active; the least wanted make room.

    Parameters
    ----------
    gram : Gram
        The matrix.
    dtype : dtype
        The type in which rows are kept.
    capacity : int
        How many rows there is memory for.
    """

    def __init__(self, gram: Gram, dtype: Any, capacity: int) -> None:
        n = gram.shape[0]
        self.capacity = min(n, capacity)
        size = self.capacity * n * np.dtype(dtype).itemsize
        self._buffer = _borrow(size)  # pages are taken when rows are filled
        self.K = self._buffer[:size].view(dtype).reshape(self.capacity, n)
        self.order = np.arange(n)
        self.n_rows = 0
        self._reader = gram.open(dtype)
        self._diag = gram.diag()

    def add(self, positions: Index) -> list[tuple[Index, Index]]:
        """Compute the rows at these positions, sorted and all beyond ``n_rows``; take them in.

        Returns the exchanges of positions that the caller must do on vectors of its own.
        """
        start, stop = self.n_rows, self.n_rows + len(positions)
        next_ones = len(positions) == 0 or positions[-1] == stop - 1
        exchanges = [] if next_ones else self._exchange(np.arange(start, stop), positions)
        self._reader.fill(self.K, start, stop)
        step = self.K.shape[1] + 1
        diagonal = self.K.reshape(-1)[start * step : stop * step - 1 : step]
        diagonal[:] = self._diag[self.order[start:stop]]
        self.n_rows = stop
        return exchanges

    def drop(self, positions: Index) -> list[tuple[Index, Index]]:
        """Forget the rows at these positions, all below ``n_rows``.

        Returns the exchanges of positions that the caller must do on vectors of its own.
        """
        kept = self.n_rows - len(positions)
        holes = positions[positions < kept]
        movers = np.setdiff1d(np.arange(kept, self.n_rows), positions)
        self.K[holes] = self.K[movers]
        self.n_rows = kept
        return self._exchange(holes, movers)

    def close(self) -> None:
        """Give the memory back; the rows are gone."""
        self.K = self.K[:0]
        _give_back(self._buffer)

    def _exchange(self, a: Index, b: Index) -> list[tuple[Index, Index]]:
        """Bring the positions b to the places a."""
        from ._compiled import swap_columns

        if np.array_equal(a, b):
            return []
        a, b = self._without(a, b), self._without(b, a)
        self._reader.swap(a, b)
        swap_columns(self.K, self.n_rows, a, b)
        exchange(self.order, a, b)
        return [(a, b)]

    def _without(self, positions: Index, others: Index) -> Index:
        """Return the positions that are not among the others."""
        kept = np.ones(len(self.order), dtype=bool)
        kept[others] = False
        return positions[kept[positions]]


def exchange(vector: Array | Index, a: Index, b: Index) -> None:
    """Exchange the entries a with the entries b, pair by pair."""
    vector[a], vector[b] = vector[b], vector[a]
