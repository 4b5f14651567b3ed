"""One HTML page that needs no other file: what a model learned, and how far to trust it."""

from ..evaluation import evaluate_model
from .page import write_report

__all__ = ["evaluate_model", "write_report"]
