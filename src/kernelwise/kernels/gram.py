"""The kernel matrix of some rows without storing it: what a solver reads rows and blocks from."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .._threads import run
from .._typing import Array, Index, Matrix, RowReader
from .base import BLOCK_ROWS, Kernel, check_rows

if TYPE_CHECKING:
    from .pairwise import PairwiseKernel

_ENTRIES_A_CALL = 20_000_000  # of compiled code, which does not hear Ctrl-C


class PairwiseReader:
    """Rows of a kernel of dense features: a matrix product and a profile, straight into place.

    What stands below the diagonal is copied from above it where that is cheaper.
    """

    def __init__(self, kernel: PairwiseKernel, left: Array, right: Array, threads: int = 1) -> None:
        self._kernel, self._left, self._right = kernel, left, right
        self._threads = threads

    def swap(self, a: Index, b: Index) -> None:
        """Exchange the positions ``a`` with the positions ``b``, pair by pair."""
        both, other = np.concatenate([a, b]), np.concatenate([b, a])
        self._left[both] = self._left[other]
        self._right[:, both] = self._right[:, other]

    def fill(self, K: Array, start: int, stop: int) -> None:
        """Write rows ``start`` to ``stop`` of K, columns in order; those before are filled."""
        kernel, left, right = self._kernel, self._left, self._right

        def compute(first: int, last: int, column: int) -> None:
            kernel.fill(left[first:last], right[:, column:], K[first:last, column:])

        mirrors = kernel.costs_a_copy(left.shape[1])
        fill_rows(K, start, stop, compute, mirrors=mirrors, threads=self._threads)


class TileReader:
    """Rows of a kernel that is made by tiles, which stand on both sides of the diagonal at once."""

    def __init__(self, kernel: PairwiseKernel, rows: Array, threads: int = 1) -> None:
        self._kernel, self._rows, self._threads = kernel, rows, threads

    def swap(self, a: Index, b: Index) -> None:
        """Exchange the positions ``a`` with the positions ``b``, pair by pair."""
        both, other = np.concatenate([a, b]), np.concatenate([b, a])
        self._rows[both] = self._rows[other]

    def fill(self, K: Array, start: int, stop: int) -> None:
        """Write rows ``start`` to ``stop`` of K, columns in order; those before are filled."""
        height = BLOCK_ROWS
        if self._threads == 1:
            height = max(height, _ENTRIES_A_CALL // max(1, K.shape[1]))

        def part(first: int) -> None:
            last = min(first + height, stop)
            self._kernel.fill_tiles(self._rows, self._rows, K, first, last, stop)

        run(part, range(start, stop, height), self._threads)
        if start > 0:
            from ._compiled import transpose

            transpose(K[:start, start:stop], K[start:stop, :start])


def fill_rows(
    K: Array,
    start: int,
    stop: int,
    compute: Callable[[int, int, int], None],
    *,
    mirrors: bool,
    threads: int,
) -> None:
    """Fill rows ``start`` to ``stop`` of a symmetric matrix, those before being filled.

    ``compute(first, last, column)`` writes some rows from a column on. Where ``mirrors`` it starts
    at the diagonal, and what stands before is copied from above it.
    """
    tasks = range(start, stop, BLOCK_ROWS)

    def make(first: int) -> None:
        compute(first, min(first + BLOCK_ROWS, stop), first if mirrors else 0)

    def mirror(first: int) -> None:
        last = min(first + BLOCK_ROWS, stop)
        transpose(K[:first, first:last], K[first:last, :first])

    run(make, tasks, threads)
    if mirrors and (start > 0 or len(tasks) > 1):  # nothing stands before the first block
        from ._compiled import transpose

        run(mirror, tasks, threads)


class GatheringReader:
    """Rows of any kernel: evaluated in the data's own order, then gathered."""

    def __init__(self, rows_of: Callable[[Index], Array], n: int) -> None:
        self._rows_of, self._order = rows_of, np.arange(n)

    def swap(self, a: Index, b: Index) -> None:
        """Exchange the positions ``a`` with the positions ``b``, pair by pair."""
        both, other = np.concatenate([a, b]), np.concatenate([b, a])
        self._order[both] = self._order[other]

    def fill(self, K: Array, start: int, stop: int) -> None:
        """Write rows ``start`` to ``stop`` of K, columns in order; those before are filled."""
        for first in range(start, stop, BLOCK_ROWS):
            last = min(first + BLOCK_ROWS, stop)
            block = self._rows_of(self._order[first:last])
            K[first:last] = np.take(block, self._order, axis=1)


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
        self.kernel = kernel
        self.X = check_rows(X)
        self.threads = threads
        # Kernel values cannot be made from some of the rows alone: they are all there already.
        values = self.X.astype(np.float64, copy=False) if kernel.reads_values else None
        self._values = None if values is None else kernel(values)

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the kernel matrix."""
        return self.X.shape[0], self.X.shape[0]

    @property
    def is_psd(self) -> bool:
        """Whether the kernel is positive semi-definite for certain."""
        return self.kernel.is_psd

    @cached_property
    def size(self) -> float:
        """Largest absolute value on the diagonal."""
        return float(np.abs(self.diag()).max(initial=0.0))

    def diag(self) -> Array:
        """Compute the diagonal.

        Returns
        -------
        diagonal : ndarray of shape (n,)
            The kernel of each row with itself; whoever asks gets the same array.
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
        # The diagonal may hold more than the kernel of equal rows: a ridge.
        _, at_row, at_column = np.intersect1d(
            rows, columns, assume_unique=True, return_indices=True
        )
        out[at_row, at_column] = self.kernel.diag(X[rows[at_row]])
        return out

    def dense(self, dtype: Any = np.float64) -> Array:
        """Compute the whole matrix.

        Parameters
        ----------
        dtype : dtype, default=numpy.float64
            The type of the entries.

        Returns
        -------
        K : ndarray of shape (n, n)
            The kernel matrix.
        """
        K = np.empty(self.shape, dtype=dtype)
        self.open(dtype).fill(K, 0, len(K))
        np.fill_diagonal(K, self.diag())
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
        height = max(1, 4_000_000 // max(1, len(support)))

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
