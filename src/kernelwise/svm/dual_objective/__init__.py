"""DualObjectiveSVC: weights of the features by a criterion of the kernel matrix."""

from .estimator import DualObjectiveSVC

__all__ = ["DualObjectiveSVC"]
