"""What a solver asks of a kernel matrix, and the matrix that is stored."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from .._typing import Array, Index


class RowReader(Protocol):
    """Fills rows of a matrix whose rows and columns stand in an order that may change."""

    def swap(self, a: Index, b: Index) -> None:
        """Exchange the positions ``a`` with the positions ``b``, pair by pair."""

    def fill(self, K: Array, start: int, stop: int) -> None:
        """Write rows ``start`` to ``stop`` of K, columns in order; those before are filled."""


class Gram(Protocol):
    """A symmetric matrix that can be read by blocks and rows; `kernels.LazyGram` is one."""

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the matrix."""

    @property
    def is_psd(self) -> bool:
        """Whether the matrix is positive semi-definite for certain."""

    def diag(self) -> Array:
        """Return the diagonal."""

    def block(self, rows: Index, columns: Index) -> Array:
        """Return a block in float64."""

    def dense(self, dtype: Any) -> Array:
        """Return the whole matrix."""

    def matvec(self, b: Array) -> Array:
        """Return the product with a vector, in float64."""

    def open(self, dtype: Any) -> RowReader:
        """Open the matrix for reading row by row."""


class StoredGram:
    """A kernel matrix that is there already."""

    def __init__(self, K: Array, is_psd: bool = True) -> None:
        self.K = K
        self.is_psd = is_psd

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the matrix."""
        return self.K.shape[0], self.K.shape[1]

    def diag(self) -> Array:
        """Return the diagonal."""
        return np.diagonal(self.K).astype(np.float64)

    def block(self, rows: Index, columns: Index) -> Array:
        """Return a block in float64."""
        if not self.K.flags.c_contiguous:  # compiled for one layout only
            return self.K[np.ix_(rows, columns)].astype(np.float64, copy=False)
        from .._blocks import gather

        block = np.empty((len(rows), len(columns)))
        gather(self.K, rows, columns, block)
        return block

    def dense(self, dtype: Any) -> Array:
        """Return the whole matrix."""
        return self.K.astype(dtype, copy=False)

    def matvec(self, b: Array) -> Array:
        """Return the product with a vector, in float64."""
        support = np.flatnonzero(b)
        if self.K.dtype == np.float64:
            return self.K[:, support] @ b[support]
        out = np.zeros(len(b))
        for start in range(0, len(support), 256):  # so that no float64 copy of K is made
            some = support[start : start + 256]
            out += b[some] @ self.K[some].astype(np.float64)
        return out

    def open(self, dtype: Any) -> RowReader:
        """Open the matrix for reading row by row."""
        return _StoredReader(self.K)


class _StoredReader:
    def __init__(self, K: Array) -> None:
        self._K, self._order = K, np.arange(K.shape[0])

    def swap(self, a: Index, b: Index) -> None:
        both, other = np.concatenate([a, b]), np.concatenate([b, a])
        self._order[both] = self._order[other]

    def fill(self, K: Array, start: int, stop: int) -> None:
        K[start:stop] = self._K[np.ix_(self._order[start:stop], self._order)]
