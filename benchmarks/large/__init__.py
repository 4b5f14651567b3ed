"""RelevanceSVC and RelevanceSVR on tables of up to two million rows, with their peers."""

from .page import PAGE as PAGE
