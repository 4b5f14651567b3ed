"""RelevanceSVC on tables of up to two million rows, beside its peers."""

from .page import PAGE
from .two_cores import TwoCores

WITHOUT_PAGE = (TwoCores(),)  # which needs two idle cores

__all__ = ["PAGE", "WITHOUT_PAGE"]
