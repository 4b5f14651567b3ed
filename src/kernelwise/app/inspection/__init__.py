"""Look into fitted models: what their columns are worth, effects, reasons, and plots of these.

Plots need matplotlib (the extra ``kernelwise[plot]``).
"""

from .comparison import ComparisonDisplay
from .effects import ColumnEffect, ColumnEffects, column_effects
from .effects_display import ColumnEffectsDisplay
from .explanations import RowExplanations, explain_rows
from .feature_weights import FeatureWeightsDisplay
from .importance import ColumnImportance, held_out_importance
from .importance_display import ImportanceDisplay
from .model_checks import ColumnVerdicts, ModelChecks, check_model
from .path_display import PathDisplay
from .relevance import RelevanceTest, relevance_test
from .stability import WeightStability, weight_stability
from .style import as_svg

__all__ = [
    "ColumnEffect",
    "ColumnEffects",
    "ColumnEffectsDisplay",
    "ColumnImportance",
    "ColumnVerdicts",
    "ComparisonDisplay",
    "FeatureWeightsDisplay",
    "ImportanceDisplay",
    "ModelChecks",
    "PathDisplay",
    "RelevanceTest",
    "RowExplanations",
    "WeightStability",
    "as_svg",
    "check_model",
    "column_effects",
    "explain_rows",
    "held_out_importance",
    "relevance_test",
    "weight_stability",
]
