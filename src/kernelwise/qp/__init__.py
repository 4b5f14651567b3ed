"""The dual problem of a support vector machine, and solvers that certify what they return."""

from .adatron import Adatron
from .builders import c_svc, enclosing_ball, hard_margin, l2_svm
from .equalities import SeveralEqualities
from .problem import DualQP
from .run import Progress
from .smo import SMO
from .solution import Solution

__all__ = [
    "SMO",
    "Adatron",
    "DualQP",
    "Progress",
    "SeveralEqualities",
    "Solution",
    "c_svc",
    "enclosing_ball",
    "hard_margin",
    "l2_svm",
]
