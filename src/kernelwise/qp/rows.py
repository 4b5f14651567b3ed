"""The rows of K in a solver's memory: all of a stored matrix, or a growing part of a lazy one.

The variables are reordered so that those with a row in memory come first. The first n_rows
positions are the active set; its block of K is the leading square of `K`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native import swap_columns
from .._typing import Array, Gram, Index
from .buffers import KeptBuffer


class StoredRows:
    """All rows of a stored matrix, in their own order."""

    def __init__(self, K: Array) -> None:
        self.K = K
        self.n_rows = self.capacity = K.shape[0]

    @property
    def order(self) -> Index:
        """The row of each position."""
        return np.arange(self.n_rows)

    def add(self, positions: Index) -> list[tuple[Index, Index]]:
        """Do nothing: every row is in memory."""
        return []

    def drop(self, positions: Index) -> list[tuple[Index, Index]]:
        """Do nothing: every row stays."""
        return []

    def close(self) -> None:
        """Do nothing: the matrix belongs to the caller."""


class GrowingRows:
    """Rows of a lazy matrix, computed when they become active.

    ``dtype``: the precision of the rows. ``capacity``: number of rows that fit into memory.
    """

    def __init__(self, gram: Gram, dtype: Any, capacity: int) -> None:
        n = gram.shape[0]
        self.capacity = min(n, capacity)
        size = self.capacity * n * np.dtype(dtype).itemsize
        self._buffer = KeptBuffer(size)  # takes memory only as rows are filled
        self.K = self._buffer.view(dtype).reshape(self.capacity, n)
        self.order = np.arange(n)
        self.n_rows = 0
        self._reader = gram.open(dtype)
        self._diag = gram.diag()

    def add(self, positions: Index) -> list[tuple[Index, Index]]:
        """Compute the rows at these positions, which are sorted and beyond ``n_rows``.

        Returns the exchanges of positions that the caller must repeat on its vectors.
        """
        start, stop = self.n_rows, self.n_rows + len(positions)
        next_ones = len(positions) == 0 or positions[-1] == stop - 1
        exchanges = [] if next_ones else self._exchange(np.arange(start, stop), positions)
        self._buffer.touch(stop * self.K.shape[1] * self.K.itemsize)
        self._reader.fill(self.K, start, stop)
        step = self.K.shape[1] + 1
        diagonal = self.K.reshape(-1)[start * step : stop * step - 1 : step]
        diagonal[:] = self._diag[self.order[start:stop]]
        self.n_rows = stop
        return exchanges

    def drop(self, positions: Index) -> list[tuple[Index, Index]]:
        """Drop the rows at these positions, which are below ``n_rows``.

        Returns the exchanges of positions that the caller must repeat on its vectors.
        """
        kept = self.n_rows - len(positions)
        holes = positions[positions < kept]
        movers = np.setdiff1d(np.arange(kept, self.n_rows), positions)
        self.K[holes] = self.K[movers]
        self.n_rows = kept
        return self._exchange(holes, movers)

    def close(self) -> None:
        """Return the memory; the rows are gone."""
        self.K = self.K[:0]
        self._buffer.close()

    def _exchange(self, a: Index, b: Index) -> list[tuple[Index, Index]]:
        """Exchange the positions a with the positions b."""
        if np.array_equal(a, b):
            return []
        a, b = self._without(a, b), self._without(b, a)
        self._reader.swap(a, b)
        swap_columns(self.K[: self.n_rows], a, b)
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
