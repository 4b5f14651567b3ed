"""What learning feature weights, widths and costs gives, and what it costs."""

from .page import PAGE as PAGE
