"""How well a model does on unseen rows: splits, scores and statistics."""

from .drift import Drift, drift_from_training
from .evaluate import evaluate
from .evaluate_model import evaluate_model
from .fitting import fit_table
from .holdout import HoldoutScore, score_model
from .intervals import CalibrationBin
from .leaks import Leak, leaking_columns
from .methods import Method, methods
from .results import Difference, Evaluation, HeldOut, Score
from .scoring import Metric

__all__ = [
    "CalibrationBin",
    "Difference",
    "Drift",
    "Evaluation",
    "HeldOut",
    "HoldoutScore",
    "Leak",
    "Method",
    "Metric",
    "Score",
    "drift_from_training",
    "evaluate",
    "evaluate_model",
    "fit_table",
    "leaking_columns",
    "methods",
    "score_model",
]
