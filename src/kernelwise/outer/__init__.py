"""Outer optimisation: descent over domains of parameters, and warm paths."""

from .domains import Box, Domain, L1Sphere, LogPositive, Simplex
from .methods import LBFGS, ExponentiatedGradient, FixedStep, ProjectedGradient
from .minimize import Method, Minimum, Step, minimize
from .path import Stop, path

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
    "Stop",
    "minimize",
    "path",
]
