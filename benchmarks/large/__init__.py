"""RelevanceSVC and RelevanceSVR on tables of up to a million rows, with their peers."""

from .page import PAGE as PAGE
