"""Transformers: columns in, columns out."""

from .geodesic import GeodesicNeighborFeatures
from .kernel_map import EmpiricalKernelMap
from .relevance import RelevanceSelector
from .scaler import FeatureDiscriminationScaler
from .topics import TopicFeatures

__all__ = [
    "EmpiricalKernelMap",
    "FeatureDiscriminationScaler",
    "GeodesicNeighborFeatures",
    "RelevanceSelector",
    "TopicFeatures",
]
