"""Feature measures: how well each feature alone separates the classes."""

from .energy_distance import energy, log_relevance
from .measures import efficiency, fisher, separation
from .scales import importances, log_scales

__all__ = [
    "efficiency",
    "energy",
    "fisher",
    "importances",
    "log_relevance",
    "log_scales",
    "separation",
]
