"""Kernels of a distance: RBF, Matern and Laplacian."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._typing import Array, Matrix
from .bilinear import SquaredDistanceKernel, scaled_pair
from .l1 import L1Kernel
from .pairwise import GRADIENT_REACH, PairwiseKernel, middle

_WIDEST = 510  # features up to which a tile at a time is no slower than a product of matrices
_PANEL_BYTES = 2**19  # of the columns that are packed at a time, half of a second-level cache
_MOST_PANELS = 16  # of them: the block that is made of more would not fit beside them


def _exp_of_minus(T: Array) -> None:
    from ._compiled import exp_of_minus_rows

    exp_of_minus_rows(T)


@dataclass(frozen=True, eq=False, repr=False)
class RBF(SquaredDistanceKernel):
    """Gaussian kernel exp(-gamma sum_k w_k (x_k - z_k)^2).

    Parameters
    ----------
    gamma : float, default=1.0
        The inverse width: gamma = 1 / (2 sigma^2).
    weights : array-like of shape (d,), default=None
        One weight a feature, not negative; None is ones.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.kernels import RBF
    >>> X = np.array([[0.0, 0.0], [1.0, 2.0]])
    >>> RBF(gamma=0.5, weights=[1.0, 0.0])(X).round(4)
    array([[1.    , 0.6065],
           [0.6065, 1.    ]])
    """

    _decays = True

    def profile(self, t: Array) -> Array:
        return np.exp(-t)

    def slope(self, t: Array) -> Array:
        return -np.exp(-t)

    def _terms(self, left: Matrix, right: Matrix, out: Array) -> None:
        PairwiseKernel._terms(self, left, right, out)  # the exponential clips by itself

    def _finish(self, T: Array) -> None:
        _exp_of_minus(T)

    def _tile_rows(self, X: Matrix, Y: Matrix, dtype: Any) -> tuple[Array, Array] | None:
        d = X.shape[1]
        if sp.issparse(X) or sp.issparse(Y) or d > _WIDEST:
            return None
        root = np.sqrt(self._scales(d))
        return scaled_pair(X, Y, middle(Y), root, dtype, GRADIENT_REACH)

    def fill_tiles(
        self, left: Array, other: Array, K: Array, first: int, last: int, stop: int
    ) -> None:
        from ._compiled import BYTES, TILE_ROWS, TILE_VECTORS, gauss

        lines, lanes = left.shape[1] - 1, BYTES // K.itemsize
        count = max(1, min(_MOST_PANELS, _PANEL_BYTES // (BYTES * TILE_VECTORS * lines)))
        panels = np.empty((count * lines, TILE_VECTORS * lanes), dtype=K.dtype)
        tile, sharp = np.empty((2, TILE_ROWS * TILE_VECTORS, lanes), dtype=K.dtype)
        gauss(left, other, K, first, last, stop, panels, tile, sharp)

    def _differentiate(self, T: Array) -> None:
        _exp_of_minus(T)
        np.negative(T, out=T)


@dataclass(frozen=True, eq=False, repr=False)
class Matern32(SquaredDistanceKernel):
    """Matern kernel with smoothness 3/2: (1 + u) exp(-u), u = sqrt(3 t).

    Here t = gamma sum_k w_k (x_k - z_k)^2, so gamma = 1 / length_scale^2.

    Parameters
    ----------
    gamma : float, default=1.0
        The inverse squared length scale.
    weights : array-like of shape (d,), default=None
        One weight a feature, not negative; None is ones.

    Examples
    --------
    >>> from kernelwise.kernels import Matern32
    >>> Matern32()([[0.0]], [[1.0]]).round(4)
    array([[0.4834]])
    """

    def profile(self, t: Array) -> Array:
        u = np.sqrt(3 * t)
        return (1 + u) * np.exp(-u)

    def slope(self, t: Array) -> Array:
        return -1.5 * np.exp(-np.sqrt(3 * t))


@dataclass(frozen=True, eq=False, repr=False)
class Matern52(SquaredDistanceKernel):
    """Matern kernel with smoothness 5/2: (1 + u + u^2 / 3) exp(-u), u = sqrt(5 t).

    Here t = gamma sum_k w_k (x_k - z_k)^2, so gamma = 1 / length_scale^2.

    Parameters
    ----------
    gamma : float, default=1.0
        The inverse squared length scale.
    weights : array-like of shape (d,), default=None
        One weight a feature, not negative; None is ones.

    Examples
    --------
    >>> from kernelwise.kernels import Matern52
    >>> Matern52()([[0.0]], [[1.0]]).round(4)
    array([[0.524]])
    """

    def profile(self, t: Array) -> Array:
        u = np.sqrt(5 * t)
        return (1 + u + u * u / 3) * np.exp(-u)

    def slope(self, t: Array) -> Array:
        u = np.sqrt(5 * t)
        return -(5 / 6) * (1 + u) * np.exp(-u)


@dataclass(frozen=True, eq=False, repr=False)
class Laplacian(L1Kernel):
    """Laplacian (L1) kernel ``exp(-gamma sum_k w_k |x_k - z_k|)``.

    Parameters
    ----------
    gamma : float, default=1.0
        The inverse width.
    weights : array-like of shape (d,), default=None
        One weight a feature, not negative; None is ones.

    Examples
    --------
    >>> from kernelwise.kernels import Laplacian
    >>> Laplacian(weights=[1.0, 2.0])([[0.0, 0.0]], [[1.0, 1.0]]).round(4)
    array([[0.0498]])
    """

    _decays = True

    def profile(self, t: Array) -> Array:
        return np.exp(-t)

    def slope(self, t: Array) -> Array:
        return -np.exp(-t)

    def _finish(self, T: Array) -> None:
        _exp_of_minus(T)
