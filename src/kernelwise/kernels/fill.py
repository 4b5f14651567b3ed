"""Filling kernel matrices: by blocks of rows, by tiles, and by halves that are mirrored."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from .._native import exp_of_minus_rows, transpose
from .._threads import run
from .._typing import Array, Index, Matrix, RowReader
from .base import BLOCK_ROWS
from .sides import Distances, ExpTiles, SquaredDistances

if TYPE_CHECKING:
    from .pairwise import PairwiseKernel

_LEAST_SINGLE = 1e-26  # float32 kernel value that counts as zero, far above subnormal products
_ROUNDED_AT_ONCE = 50_000  # entries that are rounded to float32 at once
ENTRIES_PER_CALL = 20_000_000  # matrix entries per call of compiled code, which ignores Ctrl-C
WIDEST = 510  # number of features up to which tiles are no slower than a matrix product


def fill(kernel: PairwiseKernel, left: Matrix, right: Matrix, out: Array) -> None:
    """Write the kernel of prepared sides into ``out``.

    ``left`` (n, q): rows of the left side. ``right`` (q, m): columns of the right side. ``out`` (n,
    m): overwritten by the kernel.
    """
    if left.dtype == out.dtype:
        fill_sums(kernel, left, right, out)
        apply_profile(kernel, out)
    else:  # the sides are in a higher precision than the result
        wide = np.empty(out.shape, dtype=left.dtype)
        fill_sums(kernel, left, right, wide)
        apply_profile(kernel, wide)
        to_single(wide, out)


def fill_sums(kernel: PairwiseKernel, left: Matrix, right: Matrix, out: Array) -> None:
    """Write t into ``out``, clipped at zero where the profile needs that."""
    kernel.term.fill(left, right, out)
    if isinstance(kernel.term, SquaredDistances) and not kernel.is_exponential:
        np.maximum(out, 0, out=out)  # the compiled exponential clips by itself


def apply_profile(kernel: PairwiseKernel, T: Array) -> None:
    """Turn t into the kernel, in place."""
    if kernel.is_exponential:
        exp_of_minus_rows(T)
        return
    values = kernel.profile(T)
    if values is not T:
        T[...] = values


def apply_slope(kernel: PairwiseKernel, T: Array) -> None:
    """Turn t into the slope, in place."""
    if kernel.is_exponential:
        apply_profile(kernel, T)
        np.negative(T, out=T)
    else:
        T[...] = kernel.slope(T)


def to_single(wide: Array, out: Array) -> None:
    """Round to float32, with zeros in place of subnormal numbers, which slow every product down.

    Shapes: ``wide`` (n, m). ``out`` (n, m): overwritten by them.
    """
    height = max(1, _ROUNDED_AT_ONCE // max(1, out.shape[1]))
    for start in range(0, len(out), height):  # in parts that stay in the cache
        part = out[start : start + height]
        part[...] = wide[start : start + height]
        part *= np.abs(part) >= _LEAST_SINGLE


def kernel_matrix(kernel: PairwiseKernel, X: Matrix, Y: Matrix | None, dtype: Any) -> Array:
    """Compute the kernel between the rows of X and of Y; without Y, of X and itself."""
    other = X if Y is None else Y
    out = np.empty((X.shape[0], other.shape[0]), dtype=dtype)
    if Y is None and not sp.issparse(X):
        open_reader(kernel, X, dtype, 1).fill(out, 0, len(out))
    else:
        _fill_between(kernel, X, other, out)
    if Y is None:
        np.fill_diagonal(out, kernel.diag(X))
    return out


def _fill_between(kernel: PairwiseKernel, X: Matrix, Y: Matrix, out: Array) -> None:
    tiles = tiles_of(kernel, X, Y, out.dtype)
    if tiles is not None:
        tiles.fill(out, 0, len(out), 0)
        return
    left, right = kernel.term.sides(kernel, X, Y, out.dtype)
    for start in range(0, left.shape[0], BLOCK_ROWS):
        block = slice(start, start + BLOCK_ROWS)
        fill(kernel, left[block], right, out[block])


def open_reader(kernel: PairwiseKernel, X: Array, dtype: Any, threads: int) -> RowReader:
    """Open the kernel of dense rows for reading row by row."""
    tiles = tiles_of(kernel, X, X, dtype)
    if tiles is not None:
        return TileReader(tiles, threads)
    return PairwiseReader(kernel, *kernel.term.sides(kernel, X, X, dtype), threads)


def tiles_of(kernel: PairwiseKernel, X: Matrix, Y: Matrix, dtype: Any) -> ExpTiles | None:
    """Return tiles of the kernel between rows; None where there are none.

    There are tiles for exp(-distance) of dense rows, where float32 is enough or not wanted; for
    squared distances of few features.
    """
    term = kernel.term
    if not (kernel.is_exponential and isinstance(term, Distances)):
        return None
    if sp.issparse(X) or sp.issparse(Y) or (term.squared and X.shape[1] > WIDEST):
        return None
    return term.tiles(kernel, X, Y, dtype)


class PairwiseReader:
    """Rows of a kernel of dense features: sums and a profile, written in place.

    Entries below the diagonal are copied from above it where that is cheaper.
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
        """Write rows ``start`` to ``stop`` of K in the current order; earlier rows are filled."""
        kernel, left, right = self._kernel, self._left, self._right

        def compute(first: int, last: int, column: int) -> None:
            fill(kernel, left[first:last], right[:, column:], K[first:last, column:])

        mirrors = kernel.term.costs_a_copy(left.shape[1])
        fill_rows(K, start, stop, compute, mirrors=mirrors, threads=self._threads)


class TileReader:
    """Rows of a kernel made by tiles, which fill both sides of the diagonal at once."""

    def __init__(self, tiles: ExpTiles, threads: int = 1) -> None:
        self._tiles, self._threads = tiles, threads

    def swap(self, a: Index, b: Index) -> None:
        """Exchange the positions ``a`` with the positions ``b``, pair by pair."""
        both, other = np.concatenate([a, b]), np.concatenate([b, a])
        rows = self._tiles.left  # the other rows are the same array
        rows[both] = rows[other]

    def fill(self, K: Array, start: int, stop: int) -> None:
        """Write rows ``start`` to ``stop`` of K in the current order; earlier rows are filled."""
        height = BLOCK_ROWS
        if self._threads == 1:
            height = max(height, ENTRIES_PER_CALL // max(1, K.shape[1]))

        def part(first: int) -> None:
            last = min(first + height, stop)
            self._tiles.fill(K, first, last, stop)

        run(part, range(start, stop, height), self._threads)
        if start > 0:
            transpose(K[:start, start:stop], K[start:stop, :start])


class GatheringReader:
    """Rows of any kernel: evaluated in the data's own order, then gathered."""

    def __init__(self, rows_of: Callable[[Index], Array], n: int) -> None:
        self._rows_of, self._order = rows_of, np.arange(n)

    def swap(self, a: Index, b: Index) -> None:
        """Exchange the positions ``a`` with the positions ``b``, pair by pair."""
        both, other = np.concatenate([a, b]), np.concatenate([b, a])
        self._order[both] = self._order[other]

    def fill(self, K: Array, start: int, stop: int) -> None:
        """Write rows ``start`` to ``stop`` of K in the current order; earlier rows are filled."""
        for first in range(start, stop, BLOCK_ROWS):
            last = min(first + BLOCK_ROWS, stop)
            block = self._rows_of(self._order[first:last])
            K[first:last] = np.take(block, self._order, axis=1)


def fill_rows(
    K: Array,
    start: int,
    stop: int,
    compute: Callable[[int, int, int], None],
    *,
    mirrors: bool,
    threads: int,
) -> None:
    """Fill rows ``start`` to ``stop`` of a symmetric matrix whose earlier rows are filled.

    ``compute(first, last, column)`` writes some rows from a column on. If ``mirrors``, it starts at
    the diagonal, and entries before are copied from above it.
    """
    tasks = range(start, stop, BLOCK_ROWS)

    def make(first: int) -> None:
        compute(first, min(first + BLOCK_ROWS, stop), first if mirrors else 0)

    def mirror(first: int) -> None:
        last = min(first + BLOCK_ROWS, stop)
        transpose(K[:first, first:last], K[first:last, :first])

    run(make, tasks, threads)
    if mirrors and (start > 0 or len(tasks) > 1):  # the first block has nothing before it
        run(mirror, tasks, threads)
