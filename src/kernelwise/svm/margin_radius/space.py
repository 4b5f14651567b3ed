"""The explicit space of the margin-radius machine: the columns that get weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.preprocessing import PolynomialFeatures

from ..._typing import Array
from ...kernels import Kernel
from ...kernels.empirical import EmpiricalMap


@dataclass(frozen=True)
class Space:
    """How rows become columns that get weights.

    Parameters
    ----------
    map : PolynomialFeatures, EmpiricalMap or None
        What makes the columns; None where they are the inputs.
    unit_norm : bool
        Whether each row is then divided by its norm.
    """

    map: Any
    unit_norm: bool

    @classmethod
    def of(cls, X: Array, kernel: Kernel | None, degree: int, unit_norm: bool) -> Space:
        """Make the space of training rows."""
        if kernel is not None:
            return cls(EmpiricalMap.of(kernel, X), unit_norm)
        if degree == 1:
            return cls(None, unit_norm)
        return cls(PolynomialFeatures(degree, include_bias=False).fit(X), unit_norm)

    @property
    def is_input(self) -> bool:
        """Whether the columns are the inputs, as they are or with rows of unit norm."""
        return self.map is None

    @property
    def is_of_kernel(self) -> bool:
        """Whether the columns are components of a kernel, and no input's own."""
        return isinstance(self.map, EmpiricalMap)

    def apply(self, X: Array) -> Array:
        """Return the columns of rows."""
        if self.map is not None:
            X = self.map.apply(X) if self.is_of_kernel else self.map.transform(X)
        if self.unit_norm:
            norms = np.linalg.norm(X, axis=1, keepdims=True)
            X = X / np.where(norms > 0, norms, 1.0)
        return X

    def inputs(self, shares: Array) -> Array:
        """Divide the shares of the columns among the inputs that they are made of."""
        if self.is_input:
            return shares
        powers = self.map.powers_
        return shares @ (powers / powers.sum(axis=1, keepdims=True))
