"""Support vector machines that learn their kernel, with scikit-learn's interface."""

from __future__ import annotations

from ._version import __version__

TYPE_CHECKING = False  # checkers know this name; `typing` would take half of the time of the import
if TYPE_CHECKING:
    from typing import Any

    from . import (
        app,
        criteria,
        discrimination,
        kernels,
        outer,
        qp,
        svm,
        transform,
    )
    from ._versions import show_versions
    from .app.io import load, save
    from .svm import (
        SVC,
        SVR,
        AdaptiveKernelSVC,
        DualObjectiveSVC,
        FeatureDiscriminationSVC,
        GeneralizedBiasSVC,
        MarginRadiusSVC,
        NuSVC,
        NuSVR,
        OneClassSVM,
        RelevanceSVC,
        RelevanceSVR,
        SVCSearchCV,
        SVRSearchCV,
        bounds_of,
    )
    from .transform import (
        EmpiricalKernelMap,
        FeatureDiscriminationScaler,
        GeodesicNeighborFeatures,
        RelevanceSelector,
        TopicFeatures,
    )

_LAYERS = (
    "app",
    "criteria",
    "discrimination",
    "kernels",
    "outer",
    "qp",
    "svm",
    "transform",
)
# Public name -> the layer that defines it; all other public names are in `svm`.
_HOMES = {
    "EmpiricalKernelMap": "transform",
    "FeatureDiscriminationScaler": "transform",
    "GeodesicNeighborFeatures": "transform",
    "RelevanceSelector": "transform",
    "TopicFeatures": "transform",
    "load": "app.io",
    "save": "app.io",
    "show_versions": "_versions",
}
__all__ = [
    "SVC",
    "SVR",
    "AdaptiveKernelSVC",
    "DualObjectiveSVC",
    "EmpiricalKernelMap",
    "FeatureDiscriminationSVC",
    "FeatureDiscriminationScaler",
    "GeneralizedBiasSVC",
    "GeodesicNeighborFeatures",
    "MarginRadiusSVC",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "RelevanceSVC",
    "RelevanceSVR",
    "RelevanceSelector",
    "SVCSearchCV",
    "SVRSearchCV",
    "TopicFeatures",
    "__version__",
    "app",
    "bounds_of",
    "criteria",
    "discrimination",
    "kernels",
    "load",
    "outer",
    "qp",
    "save",
    "show_versions",
    "svm",
    "transform",
]


def __getattr__(name: str) -> Any:
    """Import a layer or a public name on first access."""
    from importlib import import_module

    if name in _LAYERS:
        return import_module(f".{name}", __name__)
    if name in __all__:
        return getattr(import_module(f".{_HOMES.get(name, 'svm')}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
