"""Kernels of a dot product: linear, polynomial and sigmoid."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np

from .._parameters import check_number
from .._typing import Array
from .pairwise import DotKernel


@dataclass(frozen=True, eq=False, repr=False)
class Linear(DotKernel):
    """Linear kernel gamma sum_k w_k x_k z_k.

    Parameters
    ----------
    gamma : float, default=1.0
        The scale; scikit-learn's linear kernel has 1.
    weights : array-like of shape (d,), default=None
        One weight per feature, not negative; None means ones.

    Examples
    --------
    >>> from kernelwise.kernels import Linear
    >>> Linear(weights=[1.0, 10.0])([[1.0, 1.0]], [[2.0, 3.0]])
    array([[32.]])
    """

    def profile(self, t: Array) -> Array:
        return t

    def slope(self, t: Array) -> Array:
        return np.ones_like(t)


@dataclass(frozen=True, eq=False, repr=False)
class Polynomial(DotKernel):
    """Polynomial kernel (gamma sum_k w_k x_k z_k + coef0)^degree.

    Parameters
    ----------
    gamma : float, default=1.0
        The scale of the dot product.
    weights : array-like of shape (d,), default=None
        One weight per feature, not negative; None means ones.
    degree : int, default=3
        The degree, not negative.
    coef0 : float, default=0.0
        The constant; below zero the kernel need not be positive semi-definite.

    Examples
    --------
    >>> from kernelwise.kernels import Polynomial
    >>> Polynomial(degree=2, coef0=1.0)([[1.0]], [[2.0]])
    array([[9.]])
    """

    degree: int = 3
    coef0: float = 0.0

    has_constant = True

    def __post_init__(self) -> None:
        """Check the parameters and freeze the weights."""
        super().__post_init__()
        check_number(self.coef0, "coef0", least=-inf)
        check_number(self.degree, "degree")
        if not hasattr(self.degree, "__index__"):
            raise ValueError(f"degree must be an integer; got {self.degree!r}.")

    @property
    def is_psd(self) -> bool:
        """Whether the kernel is known to be positive semi-definite."""
        return self.coef0 >= 0

    def profile(self, t: Array) -> Array:
        return (t + t.dtype.type(self.coef0)) ** int(self.degree)

    def slope(self, t: Array) -> Array:
        if self.degree == 0:
            return np.zeros_like(t)
        return self.degree * (t + self.coef0) ** int(self.degree - 1)


@dataclass(frozen=True, eq=False, repr=False)
class Sigmoid(DotKernel):
    """Sigmoid kernel tanh(gamma sum_k w_k x_k z_k + coef0); not positive semi-definite.

    Parameters
    ----------
    gamma : float, default=1.0
        The scale of the dot product.
    weights : array-like of shape (d,), default=None
        One weight per feature, not negative; None means ones.
    coef0 : float, default=0.0
        The constant.

    Examples
    --------
    >>> from kernelwise.kernels import Sigmoid
    >>> Sigmoid(gamma=0.5)([[1.0]], [[2.0]]).round(4)
    array([[0.7616]])
    """

    coef0: float = 0.0

    has_constant = True

    def __post_init__(self) -> None:
        """Check the parameters and freeze the weights."""
        super().__post_init__()
        check_number(self.coef0, "coef0", least=-inf)

    @property
    def is_psd(self) -> bool:
        """Whether the kernel is known to be positive semi-definite."""
        return False

    def profile(self, t: Array) -> Array:
        return np.tanh(t + t.dtype.type(self.coef0))

    def slope(self, t: Array) -> Array:
        return 1 - np.tanh(t + self.coef0) ** 2
