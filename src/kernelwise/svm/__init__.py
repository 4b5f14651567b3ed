"""The estimators."""

from .svc import SVC

__all__ = ["SVC"]
