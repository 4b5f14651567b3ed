"""Kernels: immutable values with per-feature weights, gradients, sums and products."""

from .base import Kernel
from .composed import Normalized, Product, Ridge, Scaled, Sum
from .cotangent import Cotangent
from .dot import Linear, Polynomial, Sigmoid
from .empirical import EmpiricalMap
from .gram import LazyGram
from .pairwise import DotKernel, L1Kernel, SquaredDistanceKernel
from .stationary import RBF, Laplacian, Matern32, Matern52
from .user_kernels import FunctionKernel, Precomputed

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
