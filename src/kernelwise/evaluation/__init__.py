"""How well a model does on unseen rows: splits, scores, statistics and cost estimates."""

from .cost_estimate import Cost, forecast_cost
from .evaluate import evaluate
from .evaluate_model import evaluate_model
from .fitting import fit_table
from .methods import Method, methods
from .results import Difference, Evaluation, HeldOut, Score

__all__ = [
    "Cost",
    "Difference",
    "Evaluation",
    "HeldOut",
    "Method",
    "Score",
    "evaluate",
    "evaluate_model",
    "fit_table",
    "forecast_cost",
    "methods",
]
