"""L1 distances: sums over the features that no matrix product makes.

|x - z| = 2 max(x, z) - x - z, so the sides are (x, sum of x), see `_compiled`
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Array
from .distance import DistanceKernel, lines, transposed
from .pairwise import refuse_overflow


class L1Kernel(DistanceKernel):
    """Base of the kernels of t = gamma sum_k w_k |x_k - z_k|; tagged positive semi-definite."""

    _squares = False

    def costs_a_copy(self, width: int) -> bool:
        return True  # there is no matrix product

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
        return left, transposed(other)

    def _terms(self, left: Array, right: Array, out: Array) -> None:
        from ._compiled import l1_distances

        l1_distances(left, right, out, lines(len(right), out.dtype), lines(4, out.dtype))


def _shifted(X: Array, centre: Array, scales: Array, dtype: Any) -> tuple[Array, float]:
    """Return rows (a, sum of a) with a = (x - centre) * scales, and the largest sum of |a|."""
    from ._compiled import shifted_rows

    rows = np.empty((X.shape[0], X.shape[1] + 1), dtype=dtype)
    return rows, shifted_rows(np.ascontiguousarray(X), centre, scales, rows)
