"""Transformers that scale, select or extract features."""

from ..svm.relevance.selector import RelevanceSelector
from .geodesic import GeodesicNeighborFeatures
from .kernel_map import EmpiricalKernelMap
from .scaler import FeatureDiscriminationScaler
from .topics import TopicFeatures

__all__ = [
    "EmpiricalKernelMap",
    "FeatureDiscriminationScaler",
    "GeodesicNeighborFeatures",
    "RelevanceSelector",
    "TopicFeatures",
]
