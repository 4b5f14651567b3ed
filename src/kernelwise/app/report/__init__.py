"""Report on a model as one self-contained HTML page: what it learned, and how reliable it is."""

from ..evaluation import evaluate_model
from .page import write_report

__all__ = ["evaluate_model", "write_report"]
