"""FeatureDiscriminationSVC: features scaled by how well they separate the classes."""

from .estimator import FeatureDiscriminationSVC

__all__ = ["FeatureDiscriminationSVC"]
