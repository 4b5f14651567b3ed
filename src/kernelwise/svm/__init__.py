"""The estimators."""

from .adaptive_kernel import AdaptiveKernelSVC
from .diagnosis import bounds_of
from .dual_objective import DualObjectiveSVC
from .search import SVCSearchCV
from .svc import SVC

__all__ = ["SVC", "AdaptiveKernelSVC", "DualObjectiveSVC", "SVCSearchCV", "bounds_of"]
