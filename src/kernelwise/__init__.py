"""Support vector machines that learn their kernel, with scikit-learn's interface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from . import bounds, discrimination, kernels, outer, qp, svm, transform
    from .svm import (
        SVC,
        AdaptiveKernelSVC,
        DualObjectiveSVC,
        FeatureDiscriminationSVC,
        MarginRadiusSVC,
        RelevanceSVC,
        SVCSearchCV,
        bounds_of,
    )
    from .transform import EmpiricalKernelMap, FeatureDiscriminationScaler, RelevanceSelector

_LAYERS = ("bounds", "discrimination", "kernels", "outer", "qp", "svm", "transform")
_TRANSFORMERS = ("EmpiricalKernelMap", "FeatureDiscriminationScaler", "RelevanceSelector")
__all__ = [
    "SVC",
    "AdaptiveKernelSVC",
    "DualObjectiveSVC",
    "EmpiricalKernelMap",
    "FeatureDiscriminationSVC",
    "FeatureDiscriminationScaler",
    "MarginRadiusSVC",
    "RelevanceSVC",
    "RelevanceSelector",
    "SVCSearchCV",
    "__version__",
    "bounds",
    "bounds_of",
    "discrimination",
    "kernels",
    "outer",
    "qp",
    "svm",
    "transform",
]


def __getattr__(name: str) -> Any:
    """Import a part of the package when it is first asked for."""
    from importlib import import_module

    if name in _LAYERS:
        return import_module(f".{name}", __name__)
    if name in _TRANSFORMERS:
        return getattr(import_module(".transform", __name__), name)
    if name in __all__:
        return getattr(import_module(".svm", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
