"""The explicit space of the margin-radius machine: the columns that get weights."""

from __future__ import annotations

from dataclasses import dataclass

from sklearn.preprocessing import PolynomialFeatures

from ..._typing import Array
from ...kernels import Kernel
from ...kernels.empirical import EmpiricalMap
from ..base.steps import Products, RowStep, UnitNorm, apply_all


@dataclass(frozen=True)
class ExplicitSpace:
    """How rows become columns that get weights."""

    # products of the columns or components of a kernel, if any; then rows of unit norm, if asked
    # for
    steps: tuple[RowStep, ...]

    @classmethod
    def of(cls, X: Array, kernel: Kernel | None, degree: int, unit_norm: bool) -> ExplicitSpace:
        """Make the space of training rows."""
        steps: list[RowStep] = []
        if kernel is not None:
            steps.append(EmpiricalMap.of(kernel, X))
        elif degree > 1:
            steps.append(Products(PolynomialFeatures(degree, include_bias=False).fit(X)))
        return cls((*steps, UnitNorm()) if unit_norm else tuple(steps))

    @property
    def is_input(self) -> bool:
        """Whether the columns are the inputs, as they are or with rows of unit norm."""
        return all(isinstance(step, UnitNorm) for step in self.steps)

    @property
    def is_of_kernel(self) -> bool:
        """Whether the columns are components of a kernel, and no input's own."""
        return any(isinstance(step, EmpiricalMap) for step in self.steps)

    def apply(self, X: Array) -> Array:
        """Return the columns of rows."""
        columns: Array = apply_all(self.steps, X)
        return columns

    def inputs(self, shares: Array) -> Array:
        """Divide the shares of the columns among the inputs that they are made of."""
        for step in self.steps:
            if isinstance(step, Products):
                powers = step.transformer.powers_
                return shares @ (powers / powers.sum(axis=1, keepdims=True))
        return shares
