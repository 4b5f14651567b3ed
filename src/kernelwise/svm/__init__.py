"""The estimators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._on_demand import on_demand

if TYPE_CHECKING:
    from .adaptive_kernel import AdaptiveKernelSVC
    from .diagnosis import bounds_of
    from .dual_objective import DualObjectiveSVC
    from .feature_discrimination import FeatureDiscriminationSVC
    from .generalized_bias import GeneralizedBiasSVC
    from .margin_radius import MarginRadiusSVC
    from .relevance import RelevanceSVC
    from .search import SVCSearchCV
    from .svc import SVC

__all__ = [
    "SVC",
    "AdaptiveKernelSVC",
    "DualObjectiveSVC",
    "FeatureDiscriminationSVC",
    "GeneralizedBiasSVC",
    "MarginRadiusSVC",
    "RelevanceSVC",
    "SVCSearchCV",
    "bounds_of",
]

# Imported when first asked for: who wants SVC alone does not wait for the others.
_HOMES = {
    "SVC": "svc",
    "AdaptiveKernelSVC": "adaptive_kernel",
    "DualObjectiveSVC": "dual_objective",
    "FeatureDiscriminationSVC": "feature_discrimination",
    "GeneralizedBiasSVC": "generalized_bias",
    "MarginRadiusSVC": "margin_radius",
    "RelevanceSVC": "relevance",
    "SVCSearchCV": "search",
    "bounds_of": "diagnosis",
}

__getattr__ = on_demand(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
