"""The estimators, one file or folder per method.

========================================  ========================  ======================
paper                                     code                      experiments and page
========================================  ========================  ======================
Cristianini, Campbell, Shawe-Taylor 1998  adaptive_kernel.py        adaptive_kernel
Feature scaling by the dual objective     dual_objective/           dual_objective
Wang, Chen, Xue 2011                      feature_discrimination/   feature_discrimination
Li, Leung, Lee 2007                       generalized_bias/         generalized_bias
Do, Kalousis, Hilario 2009                margin_radius/            margin_radius
our own                                   relevance/                relevance (page)
Support vector machines                   svc.py, nu_svc.py,        svc, svm_family,
                                          svr.py, nu_svr.py,        search (pages)
                                          one_class.py, search/
========================================  ========================  ======================

Experiments are folders of ``reproduction/papers`` and pages are ``docs/NAME.md``, with the
same name. What the methods share is in `base` (the base class, kernels by name, predictors,
progress) and `paths` (walks over kernels and costs).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._on_demand import on_demand

if TYPE_CHECKING:
    from .adaptive_kernel import AdaptiveKernelSVC
    from .base.classifier import KernelClassifier
    from .base.outlier_detector import KernelOutlierDetector
    from .base.predictor import Predictor
    from .base.regressor import KernelRegressor
    from .base.task import FitTask, Fitted
    from .dual_objective.estimator import DualObjectiveSVC
    from .error_bounds import bounds_of
    from .feature_discrimination.estimator import FeatureDiscriminationSVC
    from .generalized_bias.estimator import GeneralizedBiasSVC
    from .margin_radius.estimator import MarginRadiusSVC
    from .nu_svc import NuSVC
    from .nu_svr import NuSVR
    from .one_class import OneClassSVM
    from .relevance.classifier import RelevanceSVC
    from .relevance.regressor import RelevanceSVR
    from .search.estimator import SVCSearchCV, SVRSearchCV
    from .svc import SVC
    from .svr import SVR

__all__ = [
    "SVC",
    "SVR",
    "AdaptiveKernelSVC",
    "DualObjectiveSVC",
    "FeatureDiscriminationSVC",
    "FitTask",
    "Fitted",
    "GeneralizedBiasSVC",
    "KernelClassifier",
    "KernelOutlierDetector",
    "KernelRegressor",
    "MarginRadiusSVC",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "Predictor",
    "RelevanceSVC",
    "RelevanceSVR",
    "SVCSearchCV",
    "SVRSearchCV",
    "bounds_of",
]

# Imported when first asked for: who wants SVC alone does not wait for the others.
_HOMES = {
    "SVC": "svc",
    "NuSVC": "nu_svc",
    "SVR": "svr",
    "NuSVR": "nu_svr",
    "OneClassSVM": "one_class",
    "AdaptiveKernelSVC": "adaptive_kernel",
    "KernelClassifier": "base.classifier",
    "KernelRegressor": "base.regressor",
    "KernelOutlierDetector": "base.outlier_detector",
    "FitTask": "base.task",
    "Fitted": "base.task",
    "Predictor": "base.predictor",
    "DualObjectiveSVC": "dual_objective.estimator",
    "FeatureDiscriminationSVC": "feature_discrimination.estimator",
    "GeneralizedBiasSVC": "generalized_bias.estimator",
    "MarginRadiusSVC": "margin_radius.estimator",
    "RelevanceSVC": "relevance.classifier",
    "RelevanceSVR": "relevance.regressor",
    "SVCSearchCV": "search.estimator",
    "SVRSearchCV": "search.estimator",
    "bounds_of": "error_bounds",
}

__getattr__ = on_demand(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
