"""Kernels of a distance: a sum over the features of |x - z| or (x - z)^2.

A term is what each of its ends has alone and one thing of both, so that it is contracted with a
matrix in parts, see `_contraction`.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from .._typing import Array, Matrix
from .base import check_rows
from .cotangent import Cotangent
from .pairwise import FLOAT32_REACH, GRADIENT_REACH, PairwiseKernel, middle, refuse_overflow

_LARGEST_FLOAT32 = 1e30  # squares of it, with room for sums of products
_BLOCK_ROWS = 128  # what a panel has of them stays in the first-level cache
_WHOLE = 384  # rows up to which a whole matrix of tiles is made faster than blocks of it


class DistanceKernel(PairwiseKernel):
    """Base of the kernels of distances, tagged positive semi-definite."""

    _is_distance = True
    #: Whether the terms are squares, else absolute values.
    _squares = True

    def diag(self, X: Matrix) -> Array:
        return np.ones(check_rows(X).shape[0])

    def _sides(self, X: Matrix, Y: Matrix, dtype: Any) -> tuple[Matrix, Matrix]:
        # Distances do not move with the origin; near the data's centre the rounding is least.
        return self._sides_around(middle(Y), X, Y, dtype, FLOAT32_REACH)

    @abstractmethod
    def _sides_around(
        self, centre: Array, X: Array, Y: Array, dtype: Any, reach: float
    ) -> tuple[Array, Array]:
        """Return the sides of rows around a centre; in float64 where one is beyond the reach."""

    def _contraction(
        self, X: Array, dK: Cotangent, dtype: Any, K: Array | None
    ) -> tuple[Array, float]:
        """Contract what stands above the diagonal twice: the terms on it are zero."""
        from ._compiled import centred_rows

        (n, d), centre = X.shape, middle(X)
        factors, scale = _factors(dK)
        rows = np.empty((n, d + factors.shape[1]), dtype=dtype)
        X, scales = np.ascontiguousarray(X), self._scales(d)
        size, largest = centred_rows(X, centre, scales, self._squares, rows)
        refuse_overflow(size, largest)
        if dtype == np.float32 and (size > GRADIENT_REACH or largest > _LARGEST_FLOAT32):
            return self._contraction(X, dK, np.dtype(np.float64), K)
        columns = transposed(rows)
        # Where values are minus the slopes, the sign is cheaper in the factors.
        rows[:, d:] = (-2 if self._decays else 2) * scale * factors
        columns[d:] = factors.T
        K = self._whole(X, dtype) if K is None else np.ascontiguousarray(K)  # read along its rows
        if K is None:
            sides = self._sides_around(centre, X, X, dtype, np.inf)  # its size is known
        total = _Contraction(rows, columns, d, self._squares)
        at_once = K is not None and K.dtype == dtype and dK.dense is None
        height = max(1, n) if at_once else _BLOCK_ROWS
        for start in range(0, n, height):
            stop = min(start + height, n)
            if K is not None:
                S = K[start:stop, start:].astype(dtype, copy=False)
            else:
                S = np.empty((stop - start, n - start), dtype=dtype)
                self._fill_slopes(sides[0][start:stop], sides[1][:, start:], S)
            if dK.dense is not None:
                S = S * dK.block(start, stop, start).astype(dtype)
            total.add(S, start)
        return total.whole(), 0.0

    def _whole(self, X: Array, dtype: Any) -> Array | None:
        """Return the kernel where that tells its slopes and is quickly made."""
        rows = self._tile_rows(X, X, dtype) if self._decays and len(X) <= _WHOLE else None
        if rows is None:
            return None
        K = np.empty((len(X), len(X)), dtype=dtype)
        self.fill_tiles(*rows, K, 0, len(K), len(K))
        return K

    def _fill_slopes(self, left: Array, right: Array, S: Array) -> None:
        """Write the slopes, or the kernel where it is minus the slopes."""
        self._terms(left, right, S)
        if self._decays:
            self._finish(S)
        else:
            self._differentiate(S)


class _Contraction:
    """Sums over blocks of a matrix, and the work arrays of compiled code."""

    def __init__(self, rows: Array, columns: Array, d: int, squares: bool) -> None:
        from ._contraction import CHUNK, TILE_ROWS, TILE_VECTORS

        (n, q), dtype = rows.shape, rows.dtype
        self._given = rows, columns, d, squares
        self._mixed = np.zeros((d + 3, 64 // dtype.itemsize))
        self._sums = np.zeros((n, 64 // dtype.itemsize), dtype)
        self._totals = np.zeros((1, n + CHUNK * 64 // dtype.itemsize), dtype)
        work = CHUNK * min(n, _BLOCK_ROWS), CHUNK * q, TILE_ROWS * TILE_VECTORS
        self._work = [lines(count, dtype) for count in work]

    def add(self, S: Array, start: int) -> None:
        """Add some rows, they and their columns from ``start`` on."""
        from ._contraction import contract

        sums = self._mixed, self._sums, self._totals
        arguments: tuple[Any, ...] = (*self._given, *self._work, *sums)
        contract(S, start, *arguments)

    def whole(self) -> Array:
        """Return the contraction with the terms, for each feature."""
        from ._contraction import whole_terms

        rows, _, d, squares = self._given
        out = np.empty(d)
        whole_terms(rows, d, squares, self._mixed, self._sums, self._totals, out)
        return out


def _factors(dK: Cotangent) -> tuple[Array, Any]:
    """Return U and s with dK = U diag(s) U' off the diagonal; ones where dK is not of that form."""
    if dK.dense is not None:
        return np.ones((dK.n_rows, 1)), 1.0
    if dK.factors.shape[1] == 0:
        return np.zeros((dK.n_rows, 1)), 1.0
    return dK.factors, 1.0 if dK.scale is None else dK.scale


def transposed(rows: Array) -> Array:
    """Return a copy with rows as columns."""
    from ._compiled import transpose

    columns = np.empty(rows.shape[::-1], dtype=rows.dtype)
    transpose(rows, columns)
    return columns


def lines(count: int, dtype: Any) -> Array:
    """Return a work array of vectors of 64 bytes, the widest of any processor."""
    return np.empty((count, 64 // np.dtype(dtype).itemsize), dtype=dtype)
