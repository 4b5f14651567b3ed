"""Accuracy of RelevanceSVC against its peers, its cost, and the truth of its weights."""

from .accuracy import Choose as Choose
from .page import PAGE as PAGE
