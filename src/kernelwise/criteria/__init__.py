"""Criteria for kernels, each with its derivative by every entry of the kernel matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._on_demand import on_demand
from .alignment import Alignment, alignment
from .base import Criterion, CriterionValue, Objective
from .labels import as_codes
from .radius_margin import RadiusMargin, margin, radius
from .span import LeaveOneOut, loo_decisions, loo_error, span

if TYPE_CHECKING:
    from .cross_validation import CrossValidation
    from .dual import DualObjective

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

# Imported on first use: the bound that RelevanceSVC minimises does not wait for the others.
_HOMES = {"CrossValidation": "cross_validation", "DualObjective": "dual"}

__getattr__ = on_demand(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
