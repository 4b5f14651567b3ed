"""The kernel matrix of some rows, computed when blocks or rows of it are read."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from .._checks import check_count
from .._threads import MOST_THREADS, run
from .._typing import Array, Index, Matrix, RowReader
from .base import Kernel, check_rows
from .fill import GatheringReader
from .fused import FusedTiles, has_tiles

_BLOCK_ENTRIES = 4_000_000  # matrix entries computed at a time for a product


class LazyGram:
    """The kernel matrix of the rows of X, computed when read.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    X : {array-like, sparse matrix} of shape (n, d)
        The rows.
    threads : int, default=1
        Threads that fill rows.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.kernels import RBF, LazyGram
    >>> gram = LazyGram(RBF(), np.array([[0.0], [1.0], [2.0]]))
    >>> gram.block(np.array([0]), np.array([0, 2])).round(4)
    array([[1.    , 0.0183]])
    """

    def __init__(self, kernel: Kernel, X: Matrix, threads: int = 1) -> None:
        if not isinstance(kernel, Kernel):
            raise TypeError(f"kernel must be a Kernel, such as RBF(); got {kernel!r}.")
        self.kernel = kernel
        self.X = check_rows(X)
        check_count(threads, "threads", least=1, most=MOST_THREADS)
        self.threads = threads
        # A precomputed kernel cannot be evaluated on some of the rows alone: keep all its values.
        values = self.X.astype(np.float64, copy=False) if kernel.reads_values else None
        self._values = None if values is None else kernel(values)

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the kernel matrix."""
        return self.X.shape[0], self.X.shape[0]

    @property
    def is_psd(self) -> bool:
        """Whether the kernel is known to be positive semi-definite."""
        return self.kernel.is_psd

    @cached_property
    def size(self) -> float:
        """Largest absolute value on the diagonal."""
        if self.kernel.has_unit_diagonal:
            return 1.0
        return float(np.abs(self.diag()).max(initial=0.0))

    def diag(self) -> Array:
        """Compute the diagonal.

        Returns
        -------
        diagonal : ndarray of shape (n,)
            The kernel of each row with itself; every call returns the same array.
        """
        return self._diagonal

    @cached_property
    def _diagonal(self) -> Array:
        return self.kernel.diag(self.X)

    def block(self, rows: Index, columns: Index) -> Array:
        """Compute a block in float64.

        Parameters
        ----------
        rows : ndarray of shape (r,)
            The block's rows, each once.
        columns : ndarray of shape (c,)
            The block's columns, each once.

        Returns
        -------
        block : ndarray of shape (r, c)
            The kernel matrix at these rows and columns.
        """
        if self._values is not None:
            return self._values[np.ix_(rows, columns)].astype(np.float64)
        X = self.X if self.X.dtype == np.float64 else self.X.astype(np.float64)
        if rows is columns:
            return self.kernel(X[rows])
        out = self.kernel(X[rows], X[columns])
        # The diagonal may differ from the kernel of equal rows by a ridge.
        _, at_row, at_column = np.intersect1d(
            rows, columns, assume_unique=True, return_indices=True
        )
        out[at_row, at_column] = self.kernel.diag(X[rows[at_row]])
        return out

    def dense(self, dtype: Any = np.float64, out: Array | None = None) -> Array:
        """Compute the whole matrix.

        Parameters
        ----------
        dtype : dtype, default=numpy.float64
            The type of the entries.
        out : ndarray of shape (n, n), default=None
            Where to write it; None makes an array.

        Returns
        -------
        K : ndarray of shape (n, n)
            The kernel matrix.
        """
        K = np.empty(self.shape, dtype=dtype) if out is None else out
        self.open(dtype).fill(K, 0, len(K))
        np.einsum("ii->i", K)[...] = 1.0 if self.kernel.has_unit_diagonal else self.diag()
        return K

    def matvec(self, b: Array) -> Array:
        """Multiply the matrix with a vector, in float64 and by blocks of rows.

        Parameters
        ----------
        b : ndarray of shape (n,)
            The vector; its zeros cost nothing.

        Returns
        -------
        product : ndarray of shape (n,)
            The product.
        """
        support = np.flatnonzero(b)
        out = np.zeros(len(b))
        height = max(1, _BLOCK_ENTRIES // max(1, len(support)))

        def part(start: int) -> None:
            rows = np.arange(start, min(start + height, len(b)))
            out[rows] = self.block(rows, support) @ b[support]

        if len(support):
            run(part, range(0, len(b), height), self.threads)
        return out

    def open(self, dtype: Any) -> RowReader:
        """Open the matrix for reading row by row.

        Parameters
        ----------
        dtype : dtype
            The type of the entries that the reader fills.

        Returns
        -------
        reader : RowReader
            A reader with an order of its own.
        """
        if self._values is not None:
            return GatheringReader(self._values.__getitem__, self.shape[0])
        return self.kernel.reader(self.X, dtype, self.threads)

    @property
    def n_features(self) -> int:
        """Number of features of the rows."""
        return int(self.X.shape[1])

    @property
    def has_tiles(self) -> bool:
        """Whether the matrix can be made by tiles, faster than it can be stored."""
        return has_tiles(self.kernel, self.X)

    def tiles(self, order: Index) -> FusedTiles:
        """Return the matrix as tiles that are used where they are made.

        Parameters
        ----------
        order : ndarray of shape (n,)
            The order of the rows.

        Returns
        -------
        tiles : FusedTiles
            The matrix with rows in this order.
        """
        return FusedTiles(self.kernel, self.X, order, self.threads)
