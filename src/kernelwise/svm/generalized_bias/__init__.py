"""GeneralizedBiasSVC: a bias that is a linear function of given features."""

from .estimator import GeneralizedBiasSVC

__all__ = ["GeneralizedBiasSVC"]
