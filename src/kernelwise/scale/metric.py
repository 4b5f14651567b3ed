"""Rows as points whose differences along a line follow the terms of a kernel.

A kernel of sums w_k (x_k - z_k)^2 has the coordinates sqrt(w_k) x_k, one of w_k |x_k - z_k| has
w_k x_k. The codes of a category have no order: a hash gives each of them a number in [0, 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._native import divide_rows, project_rows
from .._typing import Array, Index
from ..kernels.pairwise import L1Kernel, PairwiseKernel
from .sampling import uniform

BLOCK_ROWS = 8192  # rows whose codes are replaced at a time


@dataclass(frozen=True)
class Metric:
    """The coordinates of a kernel.

    Parameters
    ----------
    factors : ndarray of shape (d,)
        What multiplies each column.
    is_category : ndarray of shape (d,)
        Whether a column holds codes of a category.
    seed : int
        Picks the numbers of the codes.
    """

    factors: Array
    is_category: Any
    seed: int

    @classmethod
    def of(cls, kernel: PairwiseKernel, d: int, seed: int) -> Metric:
        """Return the coordinates of a kernel of d columns."""
        scales = kernel.scales(d)
        factors = scales if isinstance(kernel, L1Kernel) else np.sqrt(scales)
        return cls(factors, np.asarray(kernel.categories(d)), seed)

    def numbers(self, X: Array) -> Array:
        """Return rows with numbers for the codes: a copy, or the rows where there are none."""
        if not self.is_category.any():
            return X
        out = X.copy()
        for j in np.flatnonzero(self.is_category):
            out[:, j] = uniform(X[:, j].astype(np.int64), self.seed + int(j))
        return out

    def project(self, X: Array, rows: Index, direction: Array) -> Array:
        """Return the projections of some rows on a direction, which includes the factors.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            The table, of float32 or float64.
        rows : ndarray of shape (m,)
            Which rows.
        direction : ndarray of shape (d,)
            The direction.

        Returns
        -------
        projections : ndarray of shape (m,)
            Their products, in float64.
        """
        out = np.empty(len(rows))
        if not self.is_category.any():
            project_rows(X, rows, direction, out)
            return out
        for start in range(0, len(rows), BLOCK_ROWS):
            block = self.numbers(X[rows[start : start + BLOCK_ROWS]])
            project_rows(block, np.arange(len(block)), direction, out[start : start + BLOCK_ROWS])
        return out

    def divide(
        self, X: Array, rows: Index, direction: Array, threshold: float
    ) -> tuple[Index, Index]:
        """Return the rows whose projection is at most a threshold and the others, in their order.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            The table, of float32 or float64.
        rows : ndarray of shape (m,)
            Which rows.
        direction : ndarray of shape (d,)
            The direction, which includes the factors.
        threshold : float
            The threshold. A projection that is not a number is above it.

        Returns
        -------
        below, above : ndarray
            The rows of both sides.
        """
        if self.is_category.any():
            is_below = self.project(X, rows, direction) <= threshold
            return rows[is_below], rows[~is_below]
        out = np.empty(len(rows), dtype=np.int64)
        n_below = divide_rows(X, rows, direction, threshold, out)
        return out[:n_below].copy(), out[n_below:][::-1].copy()
