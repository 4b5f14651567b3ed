"""The estimators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._on_demand import on_demand

if TYPE_CHECKING:
    from .adaptive_kernel import AdaptiveKernelSVC
    from .base.estimator import BaseLearnedSVC
    from .dual_objective import DualObjectiveSVC
    from .error_bounds import bounds_of
    from .feature_discrimination.estimator import FeatureDiscriminationSVC
    from .generalized_bias.estimator import GeneralizedBiasSVC
    from .margin_radius.estimator import MarginRadiusSVC
    from .relevance.estimator import RelevanceSVC
    from .search.search import SVCSearchCV
    from .svc import SVC

__all__ = [
    "SVC",
    "AdaptiveKernelSVC",
    "BaseLearnedSVC",
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
    "BaseLearnedSVC": "base.estimator",
    "DualObjectiveSVC": "dual_objective",
    "FeatureDiscriminationSVC": "feature_discrimination.estimator",
    "GeneralizedBiasSVC": "generalized_bias.estimator",
    "MarginRadiusSVC": "margin_radius.estimator",
    "RelevanceSVC": "relevance.estimator",
    "SVCSearchCV": "search.search",
    "bounds_of": "error_bounds",
}

__getattr__ = on_demand(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
