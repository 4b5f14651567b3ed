"""A fitted model as one self-contained HTML page that predicts in the browser."""

from .page import write_model_page

__all__ = ["write_model_page"]
