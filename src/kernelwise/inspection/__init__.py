"""Plots of fitted models (with the extra ``kernelwise[plot]``), and checks of their weights."""

from .comparison import ComparisonDisplay
from .convergence import ConvergenceDisplay
from .decision_surface import DecisionSurfaceDisplay
from .feature_weights import FeatureWeightsDisplay
from .kernel_path import KernelPathDisplay
from .permutation import PermutationCheck, permutation_check
from .relevance import RelevanceTest, relevance_test
from .stability import WeightStability, weight_stability
from .svg import as_svg

__all__ = [
    "ComparisonDisplay",
    "ConvergenceDisplay",
    "DecisionSurfaceDisplay",
    "FeatureWeightsDisplay",
    "KernelPathDisplay",
    "PermutationCheck",
    "RelevanceTest",
    "WeightStability",
    "as_svg",
    "permutation_check",
    "relevance_test",
    "weight_stability",
]
