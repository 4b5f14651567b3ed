"""L1 distances: sums over the features that no matrix product makes.

|x - z| = 2 max(x, z) - x - z, so the sides are (x, sum of x), see `_compiled`
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Array, Matrix
from .base import check_rows
from .cotangent import Cotangent
from .pairwise import (
    BLOCK_ROWS,
    FLOAT32_REACH,
    GRADIENT_REACH,
    PairwiseKernel,
    middle,
    refuse_overflow,
)

_LARGEST_FLOAT32 = 1e30  # with room for sums of products


class L1Kernel(PairwiseKernel):
    """Base of the kernels of t = gamma sum_k w_k |x_k - z_k|; tagged positive semi-definite."""

    def diag(self, X: Matrix) -> Array:
        return np.ones(check_rows(X).shape[0])

    def costs_a_copy(self, width: int) -> bool:
        return True  # there is no matrix product

    def _sides(
        self, X: Array, Y: Array, dtype: Any, reach: float = FLOAT32_REACH
    ) -> tuple[Array, Array]:
        return self._sides_around(middle(Y), X, Y, dtype, reach)

    def _sides_around(
        self, centre: Array, X: Array, Y: Array, dtype: Any, reach: float
    ) -> tuple[Array, Array]:
        scales = self._scales(X.shape[1])
        kept = scales > 0
        if not kept.all():  # a feature without weight costs nothing, but NaN is refused in it too
            refuse_overflow(*(np.abs(Z[:, ~kept]).max(initial=0.0) for Z in (X, Y)))
            same, X, centre, scales = Y is X, X[:, kept], centre[kept], scales[kept]
            Y = X if same else Y[:, kept]
        left, size = _shifted(X, centre, scales, dtype)
        other, size_other = (left, size) if Y is X else _shifted(Y, centre, scales, dtype)
        if max(size, size_other) > reach and dtype == np.float32:
            left, size = _shifted(X, centre, scales, np.float64)
            other, size_other = (left, size) if Y is X else _shifted(Y, centre, scales, np.float64)
        refuse_overflow(size, size_other)
        return left, _transposed(other)

    def _terms(self, left: Array, right: Array, out: Array) -> None:
        from ._compiled import l1_distances

        l1_distances(left, right, out, _lines(len(right), out.dtype), _lines(4, out.dtype))

    def _contraction(
        self, X: Array, dK: Cotangent, dtype: Any, K: Array | None
    ) -> tuple[Array, float]:
        """Contract what stands above the diagonal twice: the terms on it are zero."""
        from ._compiled import l1_contraction

        centre = middle(X)
        left, right = self._sides_around(centre, X, X, dtype, GRADIENT_REACH)
        (n, d), dtype = X.shape, left.dtype
        factors, scale = _factors(dK)
        rows, size = _shifted(X, centre, np.ones(d), dtype, more=factors.shape[1])
        if not size < _LARGEST_FLOAT32 and dtype == np.float32:  # in a feature without weight
            return self._contraction(X, dK, np.float64, K)
        columns = _transposed(rows)
        # Where values are minus the slopes, the sign is cheaper in the factors.
        finish, sign = (self._finish, -1) if self._decays else (self._differentiate, 1)
        rows[:, d:], columns[d:] = 2 * sign * scale * factors, factors.T
        tile, panel = _lines(min(n, BLOCK_ROWS), dtype), _lines(len(columns), dtype)
        lanes = panel.shape[1]
        maxima, sums = np.zeros((d + 3, lanes)), np.zeros((n, lanes), dtype)
        totals = np.zeros((1, n + lanes))
        block = np.empty((min(n, BLOCK_ROWS), n), dtype)
        if dK.dense is not None:
            dK = dK.astype(dtype)
        for start in range(0, n, BLOCK_ROWS):
            S = block[: n - start, : n - start]
            if K is not None and K.dtype == dtype:
                S = K[start : start + len(S), start:]
            else:
                self._terms(left[start : start + len(S)], right[:, start:], S)
                finish(S)
            if dK.dense is not None:
                S = S * dK.block(start, start + len(S), start)
            l1_contraction(S, start, rows, columns, d, tile, panel, maxima, sums, totals)
        ends = sums.sum(axis=1, dtype=np.float64) + totals[0, :n]
        return 2 * maxima[:d].sum(axis=1) - ends.astype(dtype) @ rows[:, :d], 0.0


def _factors(dK: Cotangent) -> tuple[Array, Any]:
    """Return U and s with dK = U diag(s) U' off the diagonal; ones where dK is not of that form."""
    if dK.dense is not None:
        return np.ones((dK.n_rows, 1)), 1.0
    if dK.factors.shape[1] == 0:
        return np.zeros((dK.n_rows, 1)), 1.0
    return dK.factors, 1.0 if dK.scale is None else dK.scale


def _shifted(
    X: Array, centre: Array, scales: Array, dtype: Any, more: int = 1
) -> tuple[Array, float]:
    """Return rows (a, sum of a) with a = (x - centre) * scales, and the largest sum of |a|.

    ``more`` is the number of columns behind a.
    """
    from ._compiled import shifted_rows

    rows = np.empty((X.shape[0], X.shape[1] + more), dtype=dtype)
    return rows, shifted_rows(np.ascontiguousarray(X), centre, scales, rows)


def _transposed(rows: Array) -> Array:
    from ._compiled import transpose

    columns = np.empty(rows.shape[::-1], dtype=rows.dtype)
    transpose(rows, columns)
    return columns


def _lines(count: int, dtype: Any) -> Array:
    """Return a work array of vectors of 64 bytes, the widest of any processor."""
    return np.empty((count, 64 // np.dtype(dtype).itemsize), dtype=dtype)
