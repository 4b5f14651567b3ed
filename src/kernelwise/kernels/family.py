"""Families of kernels that differ only in profile or gamma, computed from one matrix.

Squared distances, L1 distances and dot products do not depend on gamma or the profile:

    K(gamma) = profile(gamma T),   T = sum_k w_k term(x_k, z_k)   computed once

The gamma at which a search over such a family starts is here as well.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._threads import run, single_blas
from .._typing import Array, Matrix
from .base import BLOCK_ROWS, Kernel
from .fill import apply_profile, fill_rows
from .pairwise import PairwiseKernel
from .sides import SquaredDistances

_LARGEST_FLOAT32 = 1e37  # largest value kept in float32, with room for sums of a few


def family_of(kernel: Kernel) -> Hashable | None:
    """Return the key of the family of a kernel: kernels with equal keys share one matrix.

    Returns ``name``: the kind of sum, the weights of the features and which are categories; None
    for a kernel of another form.
    """
    if not isinstance(kernel, PairwiseKernel):
        return None
    weights = None if kernel.weights is None else kernel.weights.tobytes()
    categorical = None if kernel.categorical is None else kernel.categorical.tobytes()
    return type(kernel.term), weights, categorical


class KernelFamily:
    """The distances or dot products of some rows, for kernels of any gamma.

    Shapes: ``X`` (n, d). ``kernel``: a kernel of the family, with the largest gamma that will be
    needed. ``dtype``: the precision in which the matrix is kept. It is computed in float64, so that
    float32 rounds each t by a relative 6e-8, which is no worse than a kernel in float32; values
    that float32 cannot hold are kept in float64. ``threads``: threads that compute it.

    Raises
    ------
    ValueError
        Where the kernel of these rows overflows.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.kernels import RBF, Matern32
    >>> from kernelwise.kernels.family import KernelFamily
    >>> family = KernelFamily(RBF(gamma=2.0), np.array([[0.0], [1.0]]))
    >>> family.gram(RBF(gamma=0.5)).round(4)
    array([[1.    , 0.6065],
           [0.6065, 1.    ]], dtype=float32)
    >>> family.gram(Matern32(gamma=1.0)).round(4)[0, 1]
    np.float32(0.4834)
    """

    def __init__(
        self, kernel: PairwiseKernel, X: Matrix, dtype: Any = np.float32, threads: int = 1
    ) -> None:
        self.name = family_of(kernel)
        self.X, _, _ = kernel.check_pair(X, None)
        self._threads = threads
        self._gamma = kernel.gamma if kernel.gamma > 0 else 1.0
        wide = self.X.astype(np.float64, copy=False)
        source = kernel.with_params(gamma=self._gamma)
        assert isinstance(source, PairwiseKernel)
        left, right = source.term.sides(source, wide, wide, np.float64)
        largest = _largest(left)
        if not largest < _LARGEST_FLOAT32:
            dtype = np.float64
        self.T = np.empty((wide.shape[0], wide.shape[0]), dtype=dtype)
        squared = isinstance(source.term, SquaredDistances)

        def compute(first: int, last: int, column: int) -> None:
            block = np.empty((last - first, len(self.T) - column))
            source.term.fill(left[first:last], right[:, column:], block)
            if squared:  # rounding may leave squares below zero
                np.maximum(block, 0, out=block)
            self.T[first:last, column:] = block

        mirrors = not sp.issparse(left) and source.term.costs_a_copy(left.shape[1])
        with single_blas():
            fill_rows(self.T, 0, len(self.T), compute, mirrors=mirrors, threads=threads)

    def gram(self, kernel: PairwiseKernel, dtype: Any = np.float32) -> Array:
        """Compute the kernel matrix of the rows.

        ``kernel``: a kernel of the family. ``dtype``: the type of the entries; float64 where
        float32 cannot hold them. Returns ``K`` (n, n).
        """
        if family_of(kernel) != self.name:
            raise ValueError(f"kernel={kernel!r} does not belong to this family.")
        diag = kernel.diag(self.X)
        if not np.abs(diag).max(initial=0.0) < _LARGEST_FLOAT32:
            dtype = np.float64
        ratio = kernel.gamma / self._gamma
        K = np.empty(self.T.shape, dtype=dtype)

        def part(start: int) -> None:
            rows = slice(start, start + BLOCK_ROWS)
            np.multiply(self.T[rows], K.dtype.type(ratio), out=K[rows])
            apply_profile(kernel, K[rows])

        run(part, range(0, len(K), BLOCK_ROWS), self._threads)
        np.fill_diagonal(K, diag)
        return K


def _largest(side: Matrix) -> float:
    """Return an upper bound of the entries of t, from their left side."""
    squares = side.multiply(side) if sp.issparse(side) else side * side
    return float(np.max(squares.sum(axis=1), initial=0.0))
