"""RelevanceSVC: feature weights, width and C learned from the training rows alone."""

from .estimator import RelevanceSVC

__all__ = ["RelevanceSVC"]
