"""Criteria for kernels, each with its derivative by every entry of the kernel matrix."""

from .alignment import Alignment, alignment
from .base import Criterion, CriterionValue, Objective
from .cross_validation import CrossValidation
from .dual import DualObjective
from .labels import as_codes
from .radius_margin import RadiusMargin, margin, radius
from .span import LeaveOneOut, loo_decisions, loo_error, span

__all__ = [
    "Alignment",
    "Criterion",
    "CriterionValue",
    "CrossValidation",
    "DualObjective",
    "LeaveOneOut",
    "Objective",
    "RadiusMargin",
    "alignment",
    "as_codes",
    "loo_decisions",
    "loo_error",
    "margin",
    "radius",
    "span",
]
