"""Transformers: columns in, columns out."""

from .kernel_map import EmpiricalKernelMap
from .relevance import RelevanceSelector
from .scaler import FeatureDiscriminationScaler

__all__ = ["EmpiricalKernelMap", "FeatureDiscriminationScaler", "RelevanceSelector"]
