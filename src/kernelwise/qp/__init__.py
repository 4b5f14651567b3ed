"""The dual problem of a support vector machine, and solvers that certify what they return."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .builders import c_svc, enclosing_ball, hard_margin, l2_svm
from .problem import DualQP
from .run import Progress
from .smo import SMO
from .solution import Solution

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
    "c_svc",
    "enclosing_ball",
    "hard_margin",
    "l2_svm",
]

# Imported when first asked for: who fits an SVC does not wait for solvers that it does not use.
_HOMES = {"Adatron": "adatron", "SeveralEqualities": "equalities"}


def __getattr__(name: str) -> Any:
    """Import a solver when it is first asked for."""
    from importlib import import_module

    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
