"""Kernel matrices in memory, behind the protocol that solvers read."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from .._blocks import square_block
from .._checks import as_real
from .._native import gather
from .._typing import Array, Gram, Index, RowReader, Tiles

_DTYPES = (np.dtype(np.float32), np.dtype(np.float64))


class StoredGram:
    """A kernel matrix in memory.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        The matrix; entries that are neither float32 nor float64 are converted to float64.
    is_psd : bool, default=True
        Whether K is positive semi-definite. Without that there is no duality gap.
    """

    def __init__(self, K: Any, is_psd: bool = True) -> None:
        is_stored = isinstance(K, np.ndarray) and K.dtype in _DTYPES
        self.K: Array = K if is_stored else as_real(K, "K")
        if self.K.ndim != 2 or self.K.shape[0] != self.K.shape[1]:
            raise ValueError(f"K must be square; got shape {self.K.shape}.")
        self.is_psd = is_psd

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the matrix."""
        return self.K.shape

    @cached_property
    def size(self) -> float:
        """Largest absolute value on the diagonal."""
        return float(np.abs(self.K.diagonal()).max(initial=0.0))

    def diag(self) -> Array:
        """Read the diagonal.

        Returns
        -------
        diagonal : ndarray of shape (n,)
            The diagonal, in float64.
        """
        return self.K.diagonal().astype(np.float64)

    def block(self, rows: Index, columns: Index) -> Array:
        """Copy a block.

        Parameters
        ----------
        rows, columns : ndarray of int
            The rows and columns of the block.

        Returns
        -------
        block : ndarray of shape (n_rows, n_columns)
            The block, in float64.
        """
        if not self.K.flags.c_contiguous:  # compiled for one layout only
            return self.K[np.ix_(rows, columns)].astype(np.float64, copy=False)
        block = np.empty((len(rows), len(columns)))
        gather(self.K, rows, columns, block)
        return block

    def part(self, rows: Index) -> StoredGram:
        """Copy the matrix of some rows.

        Parameters
        ----------
        rows : ndarray of int
            The rows.

        Returns
        -------
        part : StoredGram
            Their matrix, in the same precision.
        """
        return StoredGram(square_block(self.K, rows), self.is_psd)

    def dense(self, dtype: Any) -> Array:
        """Read the whole matrix.

        Parameters
        ----------
        dtype : dtype
            The type of the entries.

        Returns
        -------
        K : ndarray of shape (n, n)
            The matrix, copied only where its type differs.
        """
        return self.K.astype(dtype, copy=False)

    def matvec(self, b: Array) -> Array:
        """Multiply by a vector.

        Parameters
        ----------
        b : ndarray of shape (n,)
            The vector.

        Returns
        -------
        product : ndarray of shape (n,)
            K b, in float64.
        """
        support = np.flatnonzero(b)
        if self.K.dtype == np.float64:
            return self.K[:, support] @ b[support]
        out = np.zeros(len(b))
        for start in range(0, len(support), 256):  # so that no float64 copy of K is made
            some = support[start : start + 256]
            out += b[some] @ self.K[some].astype(np.float64)
        return out

    def open(self, dtype: Any) -> RowReader:
        """Open the matrix for reading row by row.

        Parameters
        ----------
        dtype : dtype
            The type that the reader wants; a stored matrix keeps its own.

        Returns
        -------
        reader : RowReader
            A reader of the rows.
        """
        return _StoredReader(self.K)

    @property
    def n_features(self) -> int:
        """Zero: the rows are not known."""
        return 0

    @property
    def has_tiles(self) -> bool:
        """False: a stored matrix is not computed again."""
        return False

    def tiles(self, order: Index) -> Tiles:
        """Refuse: there are none.

        Parameters
        ----------
        order : ndarray of shape (n,)
            The order of the rows.
        """
        raise NotImplementedError("a stored matrix has no tiles")


class _StoredReader:
    def __init__(self, K: Array) -> None:
        self._K, self._order = K, np.arange(K.shape[0])

    def swap(self, a: Index, b: Index) -> None:
        both, other = np.concatenate([a, b]), np.concatenate([b, a])
        self._order[both] = self._order[other]

    def fill(self, K: Array, start: int, stop: int) -> None:
        K[start:stop] = self._K[np.ix_(self._order[start:stop], self._order)]


def as_gram(K: Array | Gram, is_psd: bool = True) -> Gram:
    """Return a kernel matrix behind the protocol that solvers read.

    Shapes: ``K`` (n, n). ``is_psd``: whether an array is positive semi-definite; a Gram knows
    that itself. Returns ``gram``: the matrix, not copied.
    """
    if isinstance(K, np.ndarray) or not hasattr(K, "matvec"):
        return StoredGram(K, is_psd)
    return K
