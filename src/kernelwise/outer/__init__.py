"""Outer optimisation: descent over domains of parameters."""

from .domains import Box, Domain, L1Sphere, LogPositive, Simplex
from .methods import LBFGS, ExponentiatedGradient, FixedStep, ProjectedGradient
from .minimize import Method, Minimum, Step, minimize

__all__ = [
    "LBFGS",
    "Box",
    "Domain",
    "ExponentiatedGradient",
    "FixedStep",
    "L1Sphere",
    "LogPositive",
    "Method",
    "Minimum",
    "ProjectedGradient",
    "Simplex",
    "Step",
    "minimize",
]
