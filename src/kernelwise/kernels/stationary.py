"""Kernels of a distance: RBF, Matern and Laplacian."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import Array
from .pairwise import L1Kernel, SquaredDistanceKernel, check_mask


@dataclass(frozen=True, eq=False, repr=False)
class RBF(SquaredDistanceKernel):
    """Gaussian kernel exp(-gamma sum_k w_k (x_k - z_k)^2).

    Parameters
    ----------
    gamma : float, default=1.0
        The inverse width: gamma = 1 / (2 sigma^2).
    weights : array-like of shape (d,), default=None
        One weight per feature, not negative; None means ones.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.kernels import RBF
    >>> X = np.array([[0.0, 0.0], [1.0, 2.0]])
    >>> RBF(gamma=0.5, weights=[1.0, 0.0])(X).round(4)
    array([[1.    , 0.6065],
           [0.6065, 1.    ]])
    """

    is_exponential = True

    def profile(self, t: Array) -> Array:
        return np.exp(-t)

    def slope(self, t: Array) -> Array:
        return -np.exp(-t)


@dataclass(frozen=True, eq=False, repr=False)
class Matern32(SquaredDistanceKernel):
    """Matern kernel with smoothness 3/2: (1 + u) exp(-u), u = sqrt(3 t).

    Here t = gamma sum_k w_k (x_k - z_k)^2, so gamma = 1 / length_scale^2.

    Parameters
    ----------
    gamma : float, default=1.0
        The inverse squared length scale.
    weights : array-like of shape (d,), default=None
        One weight per feature, not negative; None means ones.

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
        One weight per feature, not negative; None means ones.

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

    A feature may be a category: its term is ``w_k`` where x_k and z_k differ, and zero where they
    are equal, whatever the number of levels. The kernel stays positive semi-definite.

    Parameters
    ----------
    gamma : float, default=1.0
        The inverse width.
    weights : array-like of shape (d,), default=None
        One weight per feature, not negative; None means ones.
    categorical : array-like of bool of shape (d,), default=None
        Which features are categories, given as whole codes below 2^24, which float32 tells apart;
        None means none.

    Examples
    --------
    >>> from kernelwise.kernels import Laplacian
    >>> Laplacian(weights=[1.0, 2.0])([[0.0, 0.0]], [[1.0, 1.0]]).round(4)
    array([[0.0498]])

    The codes 3 and 7 differ, and so do 3 and 4; how much they differ does not count.

    >>> kernel = Laplacian(weights=[1.0, 2.0], categorical=[False, True])
    >>> kernel([[0.0, 3.0]], [[1.0, 7.0], [1.0, 4.0], [1.0, 3.0]]).round(4)
    array([[0.0498, 0.0498, 0.3679]])
    """

    categorical: Any = None  # type: ignore[misc]  # a field here, a constant of other kernels

    is_exponential = True

    def __post_init__(self) -> None:
        """Check the parameters and freeze the arrays."""
        super().__post_init__()
        object.__setattr__(self, "categorical", check_mask(self.categorical))

    def profile(self, t: Array) -> Array:
        return np.exp(-t)

    def slope(self, t: Array) -> Array:
        return -np.exp(-t)
