"""Outer optimisation: descent over domains of parameters, and warm paths."""

from .path import Stop, path

__all__ = ["Stop", "path"]
