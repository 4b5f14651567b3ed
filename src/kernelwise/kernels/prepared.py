"""Dense rows that are prepared once for kernels exp(-distance) of many weights.

Learning weights evaluates and differentiates one kernel on the same rows again and again. What does
not depend on the weights is made here once: the centred rows, and the memory of the matrix.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from .. import _native
from .._typing import Array, Matrix
from .base import Kernel
from .contraction import LARGEST_SQUARE
from .fill import ENTRIES_PER_CALL, WIDEST
from .pairwise import PairwiseKernel
from .sides import FLOAT32_REACH, GRADIENT_REACH, Distances, middle


class PreparedRows:
    """Rows on which kernels exp(-distance) of some kind are made and differentiated in float32.

    ``X`` (n, d): the rows, contiguous. ``squared``: whether the distances are squared, else
    absolute. ``n_factors``: the rank of the cotangents.
    """

    def __init__(self, X: Array, squared: bool, n_factors: int) -> None:
        (n, d), self._X, self._squared = X.shape, X, squared
        self._centre = middle(X)
        self._scaled = np.empty((n, d + (2 if squared else 1)), dtype=np.float32)
        self._rows = np.empty((n, d + n_factors), dtype=np.float32)
        plain = _native.centred_rows(X, self._centre, np.ones(d), squared, self._rows)[1]
        self.is_fine = plain <= LARGEST_SQUARE  # which NaN is not
        self._columns = np.empty(self._rows.shape[::-1], dtype=np.float32)
        _native.transpose(self._rows, self._columns)
        self._K = np.empty((n, n), dtype=np.float32)
        self._diagonal = np.einsum("ii->i", self._K)  # a view that can be written to

    @classmethod
    def of(cls, kernel: Kernel, X: Matrix, n_factors: int) -> PreparedRows | None:
        """Prepare rows for a kernel.

        Shapes: ``X`` (n, d). ``kernel``: the kernel, whose weights and gamma may change later.
        ``n_factors``: the rank of the cotangents. Returns ``rows``, the rows; None where the kernel
        is of another kind or float32 cannot hold them.
        """
        if not (isinstance(kernel, PairwiseKernel) and kernel.is_exponential):
            return None
        term: Any = kernel.term
        if not isinstance(term, Distances) or kernel.categorical is not None:
            return None
        if sp.issparse(X) or X.dtype != np.float64 or (term.squared and X.shape[1] > WIDEST):
            return None
        if not 0 < X.shape[0] ** 2 <= ENTRIES_PER_CALL:
            return None
        rows = cls(np.ascontiguousarray(X), term.squared, n_factors)
        return rows if rows.is_fine else None

    def matrix(self, kernel: PairwiseKernel, ridge: Array) -> Array | None:
        """Make the kernel matrix, with a ridge.

        ``ridge`` (n,): added to the diagonal. Returns ``K`` (n, n): the matrix, overwritten by the
        next call; None where float32 cannot hold the distances, or a feature has no weight.
        """
        n, d = self._X.shape
        scales = kernel.scales(d)
        if not scales.min() > 0:
            return None
        if self._squared:
            size = _native.scaled_rows(self._X, self._centre, np.sqrt(scales), self._scaled)
        else:
            size = _native.shifted_rows(self._X, self._centre, scales, self._scaled)
        if not size <= (GRADIENT_REACH if self._squared else FLOAT32_REACH):
            return None
        sides = self._scaled, self._scaled
        if self._squared:
            _native.gauss(*sides, self._K, 0, n, n)
        else:
            _native.laplace(*sides, np.empty(0), False, self._K, 0, n, n)
        self._diagonal[...] = 1 + ridge.astype(np.float32)
        return self._K

    def contract(self, factors: Array, scale: Array) -> Array:
        """Contract a cotangent with the terms of each feature at the last matrix.

        ``factors`` (n, n_factors): U of the cotangent U diag(scale) U'; what it has beside that on
        the diagonal is not needed. ``scale`` (n_factors,): the factor of each outer product.
        Returns ``contraction`` (d,), the derivative by gamma times the weight of each feature.
        """
        n, d = self._X.shape
        self._rows[:, d:] = -2 * scale * factors  # exp(-t) is minus its slope
        self._columns[d:] = factors.T
        mixed, ends, out = np.zeros(d), np.zeros(n), np.empty(d)
        sides = self._rows, self._columns
        _native.contract(self._K, 0, *sides, d, 0, self._squared, mixed, ends)
        _native.whole_terms(self._rows, 0, self._squared, mixed, ends, out)
        return out
