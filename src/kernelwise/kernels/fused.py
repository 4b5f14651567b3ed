"""Kernels exp(-t) by tiles that are used where they are made: K itself is never stored."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from .. import _native
from .._threads import run
from .._typing import Array, Index, Matrix, Square
from .fill import WIDEST
from .sides import L1Distances, SquaredDistances

if TYPE_CHECKING:
    from .base import Kernel

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
