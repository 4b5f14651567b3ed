"""Quality of RelevanceSVC and RelevanceSVR beside their peers."""

from .page import PAGE as PAGE
