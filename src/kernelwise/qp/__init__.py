"""The dual problem of a support vector machine, and solvers that certify what they return."""

from .builders import c_svc, enclosing_ball, hard_margin, l2_svm
from .problem import DualQP, Solution
from .run import Progress
from .smo import SMO

__all__ = [
    "SMO",
    "DualQP",
    "Progress",
    "Solution",
    "c_svc",
    "enclosing_ball",
    "hard_margin",
    "l2_svm",
]
