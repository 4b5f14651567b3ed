"""Kernels: immutable values with per-feature weights, gradients, sums and products."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._on_demand import on_demand
from .base import Kernel
from .cotangent import Cotangent
from .gram import LazyGram
from .pairwise import DotKernel, L1Kernel, SquaredDistanceKernel
from .stationary import RBF, Laplacian, Matern32, Matern52
from .user_kernels import FunctionKernel, Precomputed

if TYPE_CHECKING:
    from .composed import Normalized, Product, Ridge, Scaled, Sum
    from .dot import Linear, Polynomial, Sigmoid
    from .empirical import EmpiricalMap

__all__ = [
    "RBF",
    "Cotangent",
    "DotKernel",
    "EmpiricalMap",
    "FunctionKernel",
    "Kernel",
    "L1Kernel",
    "Laplacian",
    "LazyGram",
    "Linear",
    "Matern32",
    "Matern52",
    "Normalized",
    "Polynomial",
    "Precomputed",
    "Product",
    "Ridge",
    "Scaled",
    "Sigmoid",
    "SquaredDistanceKernel",
    "Sum",
]

# Imported on first use: a fit with a Gaussian or Laplacian kernel does not wait for the others.
_HOMES = {
    "EmpiricalMap": "empirical",
    "Linear": "dot",
    "Normalized": "composed",
    "Polynomial": "dot",
    "Product": "composed",
    "Ridge": "composed",
    "Scaled": "composed",
    "Sigmoid": "dot",
    "Sum": "composed",
}

__getattr__ = on_demand(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
