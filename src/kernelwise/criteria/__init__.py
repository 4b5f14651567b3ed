"""Criteria: what a kernel is judged by, each with the derivative by every kernel entry."""

from .alignment import Alignment, alignment
from .base import Criterion, Evaluation
from .cross_validation import CrossValidation
from .dual import DualObjective
from .objective import Objective
from .radius_margin import RadiusMargin, margin, radius
from .span import LeaveOneOut, loo_decisions, loo_error, span

__all__ = [
    "Alignment",
    "Criterion",
    "CrossValidation",
    "DualObjective",
    "Evaluation",
    "LeaveOneOut",
    "Objective",
    "RadiusMargin",
    "alignment",
    "loo_decisions",
    "loo_error",
    "margin",
    "radius",
    "span",
]
