"""Speed of fits, predictions and kernels against other libraries."""

from .page import PAGE as PAGE
