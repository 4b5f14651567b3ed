"""The kernel matrix of some rows, computed when blocks or rows of it are read."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from .. import _native
from .._parameters import check_count
from .._threads import MOST_THREADS, run
from .._typing import Array, Index, Matrix, RowReader, Square
from .base import Kernel, check_rows
from .fill import WIDEST, GatheringReader
from .sides import L1Distances, SquaredDistances

# Work per call of compiled code, which ignores Ctrl-C: entries times features, and as if each entry
# had so many features more. That is 0.03 to 0.5 seconds, by instruction set and precision.
_WORK_PER_CALL, _EXPONENTIAL = 1.5e9, 20


def has_tiles(kernel: Kernel, X: Matrix) -> bool:
    """Return whether there are fused tiles for a kernel of these rows."""
    term = getattr(kernel, "term", None)
    if sp.issparse(X) or not kernel.is_exponential:
        return False
    return type(term) is L1Distances or (type(term) is SquaredDistances and X.shape[1] <= WIDEST)


class FusedTiles:
    """The matrix of a kernel exp(-t), of the rows of X in some order.

    Shapes: ``X`` (n, d). ``order`` (n,): the order of the rows. ``threads``: threads that share a
    product.
    """

    def __init__(self, kernel: Any, X: Array, order: Index, threads: int = 1) -> None:
        self._kernel, self._X, self._order, self._threads = kernel, X, order, threads
        self._squared = isinstance(kernel.term, SquaredDistances)

    def _prepared(self, dtype: Any) -> tuple[Array, Array]:
        """Return the rows in order, and the weights of categories."""
        rows, weights = self._kernel.term.fused_rows(self._kernel, self._X, dtype)
        return rows[self._order], weights

    @cached_property
    def _fast(self) -> tuple[Array, Array]:
        return self._prepared(np.float32)

    @cached_property
    def _precise(self) -> tuple[Array, Array]:
        # A solution that is only checked has no use for rows in float32.
        is_made = "_fast" in vars(self) and self._fast[0].dtype == np.float64
        return self._fast if is_made else self._prepared(np.float64)

    def _entries_per_call(self) -> int:
        return int(_WORK_PER_CALL / (self._X.shape[1] + _EXPONENTIAL))

    def add_products(
        self, left: Index, change: Array, columns: Index, out: Array, *, precise: bool = False
    ) -> None:
        """Add K[columns, left] @ change to ``out[columns]``.

        Shapes: ``change`` (r,). ``left`` (r,): rows. ``columns`` (c,): where the product is wanted,
        each once. ``out`` (n,): what is added to. ``precise``: whether kernel values are computed
        in float64; else in float32 where that holds the distances. Sums over more than a few rows
        are always in float64.
        """
        rows, weights = self._precise if precise else self._fast
        change = np.ascontiguousarray(change)
        height = max(1, self._entries_per_call() // max(1, len(columns)))

        def add(some: Index) -> None:
            for start in range(0, len(left), height):
                part = slice(start, start + height)
                sides = left[part], change[part], some
                _native.add_products(self._squared, rows, weights, *sides, out)

        if self._threads == 1:
            add(columns)
        else:
            run(add, np.array_split(columns, self._threads), self._threads)

    def add_mutual_products(self, which: Index, change: Array, out: Array) -> None:
        """Add K[which, which] @ change to ``out[which]``, in float64.

        Shapes: ``change`` (m,). ``which`` (m,): rows, each once. ``out`` (n,): what is added to.
        """
        if self._threads > 1:  # they share columns, and those of a triangle are unequal work
            self.add_products(which, change, which, out, precise=True)
            return
        rows, weights = self._precise
        change, m = np.ascontiguousarray(change), len(which)
        height = max(64, self._entries_per_call() // max(1, m))
        for start in range(0, m, height):
            stop = min(start + height, m)
            sides = which, change, start, stop
            _native.add_mutual_products(self._squared, rows, weights, *sides, out)

    def fill_square(self, which: Index, first: int, K: Square) -> None:
        """Write the block of some rows.

        Shapes: ``which`` (m,). ``first``: number of leading rows and columns that are there
        already. ``K`` (m, m): overwritten by k(x_i, x_j) in float64, or by round(65535 k(x_i, x_j))
        in uint16.
        """
        rows, weights = self._precise if K.dtype == np.float64 else self._fast
        m = len(which)
        height = max(64, self._entries_per_call() // max(1, m))
        for start in range(first, m, height):
            stop = min(start + height, m)
            _native.fill_square(self._squared, rows, weights, which, start, stop, K)


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
