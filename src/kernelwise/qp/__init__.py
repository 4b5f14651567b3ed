"""The dual problem of a support vector machine, and solvers that certify what they return."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._on_demand import on_demand
from .gram import StoredGram
from .problem import DualQP, Solution, c_svc, enclosing_ball, hard_margin, l2_svm
from .progress import Progress
from .smo import SMO
from .terms import Terms

if TYPE_CHECKING:
    from .adatron import Adatron
    from .equalities import SeveralEqualities

__all__ = [
    "SMO",
    "Adatron",
    "DualQP",
    "Progress",
    "SeveralEqualities",
    "Solution",
    "StoredGram",
    "Terms",
    "c_svc",
    "enclosing_ball",
    "hard_margin",
    "l2_svm",
]

# Imported on first use: fitting an SVC does not wait for solvers that it does not need.
_HOMES = {"Adatron": "adatron", "SeveralEqualities": "equalities"}

__getattr__ = on_demand(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
