"""Kernel matrices as solvers read them, and their rows as they come."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from .._blocks import square_block
from .._native import gather, swap_columns
from .._parameters import as_real
from .._threads import ForkSafeLock
from .._typing import Array, Gram, Index, RowReader, Tiles

_KEPT_BYTES = 512e6  # largest part of a kept buffer that may have been accessed
# Bytes from which NumPy asks for large pages, with which a matrix of 1000 rows is filled in three
# quarters of the time; bytes from which a smaller buffer is enlarged to get them; bytes of a page.
_NUMPY_ASKS, _WORTH_ASKING, _LARGE_PAGE = 2**22, 2**20, 2**21
_kept: list[tuple[Any, int]] = []  # a buffer, and how many of its bytes have been accessed
_kept_lock = ForkSafeLock()


class KeptBuffer:
    """A buffer of at least this many bytes, the kept one where it is large enough."""

    def __init__(self, n_bytes: int) -> None:
        self._n_bytes = n_bytes
        self._memory, self._touched = self._kept_one() or (self._new_one(), 0)

    def _kept_one(self) -> tuple[Any, int] | None:
        """Take the kept buffer; free it if it is too small, before a larger one is made."""
        with _kept_lock.current:
            found = _kept.pop() if _kept else None
        return found if found is not None and found[0].nbytes >= self._n_bytes else None

    def _new_one(self) -> Any:
        if self._n_bytes <= _WORTH_ASKING:
            return np.empty(self._n_bytes, dtype=np.uint8)
        n_bytes = max(self._n_bytes, _NUMPY_ASKS)
        buffer = np.empty(n_bytes + _LARGE_PAGE, dtype=np.uint8)
        start = -buffer.ctypes.data % _LARGE_PAGE  # a large page starts at a multiple of its size
        return buffer[start : start + n_bytes]

    def view(self, dtype: Any) -> Any:
        """Return the buffer as a vector of a type."""
        return self._memory[: self._n_bytes].view(dtype)

    def touch(self, n_bytes: int) -> None:
        """Say that the buffer was accessed up to this byte."""
        self._touched = max(self._touched, n_bytes)

    def close(self) -> None:
        """Keep the buffer for the next fit, if it is the larger one and not too much is in use."""
        if self._touched > _KEPT_BYTES:
            return
        with _kept_lock.current:
            if not _kept or _kept[0][0].nbytes < self._memory.nbytes:
                _kept[:] = [(self._memory, self._touched)]


TIGHT = 1e-5  # tolerance of the optimality conditions below which float32 is too coarse
SMALL = 400  # rows up to which a kernel matrix that is read several times is stored in float64
_ROUNDING = 2e-8  # mean rounding error of a float32 kernel entry, relative to the largest entry
_FELT = 0.2  # part of the tolerance that rounding errors of a gradient may take
_LENGTH = 30.0  # Euclidean length of the coefficients to expect, relative to their largest bound

_SINGLE, _DOUBLE = np.dtype(np.float32), np.dtype(np.float64)


def is_coarse(tol: float, kernel_size: float, length: float) -> bool:
    """Return whether the rounding of a float32 kernel matrix can be felt in a gradient K b.

    The rounding errors of the entries are independent, so that their sum grows with the Euclidean
    length of b.

    ``tol``: the tolerance of the optimality conditions. ``kernel_size``: the largest absolute value
    on the diagonal of K. ``length``: the Euclidean length of b. Returns ``coarse``, whether float64
    is needed.
    """
    return _ROUNDING * kernel_size * length > _FELT * tol


def dtype_for(tol: float, kernel_size: float, bound: float) -> Any:
    """Choose the precision of a kernel matrix before its machine is solved.

    ``tol``: the tolerance of the optimality conditions. ``kernel_size``: the largest absolute value
    on the diagonal of K. ``bound``: the largest finite bound of the coefficients; zero where all
    bounds are infinite. Returns ``dtype``: float32 where it is precise enough, else float64.

    Examples
    --------
    >>> from kernelwise.qp.gram import dtype_for
    >>> dtype_for(1e-3, 1.0, 100.0), dtype_for(1e-3, 1.0, 1000.0), dtype_for(1e-6, 1.0, 1.0)
    (dtype('float32'), dtype('float64'), dtype('float64'))
    """
    tight = tol < TIGHT or is_coarse(tol, kernel_size, _LENGTH * bound)
    return _DOUBLE if tight else _SINGLE


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
