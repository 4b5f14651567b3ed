"""MarginRadiusSVC: feature weights that minimise the radius-margin ratio."""

from .estimator import MarginRadiusSVC

__all__ = ["MarginRadiusSVC"]
