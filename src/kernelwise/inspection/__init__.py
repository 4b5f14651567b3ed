"""Plots of fitted models (with the extra ``kernelwise[plot]``), and checks of their weights."""

from .comparison import ComparisonDisplay
from .convergence import ConvergenceDisplay
from .decision_surface import DecisionSurfaceDisplay
from .effects import ColumnEffect, ColumnEffects, column_effects
from .effects_display import ColumnEffectsDisplay
from .explanations import RowExplanations, explain_rows
from .feature_weights import FeatureWeightsDisplay
from .importance import held_out_importance
from .kernel_path import KernelPathDisplay
from .model_checks import ColumnVerdicts, ModelChecks, check_model
from .permutation import PermutationCheck, permutation_check
from .relevance import RelevanceTest, relevance_test
from .stability import WeightStability, weight_stability
from .svg import as_svg

__all__ = [
    "ColumnEffect",
    "ColumnEffects",
    "ColumnEffectsDisplay",
    "ColumnVerdicts",
    "ComparisonDisplay",
    "ConvergenceDisplay",
    "DecisionSurfaceDisplay",
    "FeatureWeightsDisplay",
    "KernelPathDisplay",
    "ModelChecks",
    "PermutationCheck",
    "RelevanceTest",
    "RowExplanations",
    "WeightStability",
    "as_svg",
    "check_model",
    "column_effects",
    "explain_rows",
    "held_out_importance",
    "permutation_check",
    "relevance_test",
    "weight_stability",
]
