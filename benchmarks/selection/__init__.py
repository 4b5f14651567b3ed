"""Which columns matter: how often the selections are false, and how much they find."""

from .page import PAGE as PAGE
