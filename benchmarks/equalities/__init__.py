"""The solver of machines with features in their bias."""

from .page import PAGE as PAGE
