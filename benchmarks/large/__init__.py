"""RelevanceSVC on tables of up to two million rows, beside its peers."""

from .page import PAGE as PAGE
