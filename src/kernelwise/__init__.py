"""Support vector machines that learn their kernel, with scikit-learn's interface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from . import bounds, kernels, outer, qp, svm
    from .svm import SVC, AdaptiveKernelSVC, DualObjectiveSVC, SVCSearchCV, bounds_of

_LAYERS = ("bounds", "kernels", "outer", "qp", "svm")
__all__ = [
    "SVC",
    "AdaptiveKernelSVC",
    "DualObjectiveSVC",
    "SVCSearchCV",
    "__version__",
    "bounds",
    "bounds_of",
    "kernels",
    "outer",
    "qp",
    "svm",
]


def __getattr__(name: str) -> Any:
    """Import a part of the package when it is first asked for."""
    from importlib import import_module

    if name in _LAYERS:
        return import_module(f".{name}", __name__)
    if name in __all__:
        return getattr(import_module(".svm", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
