"""The error of experiments that the user can fix."""

from __future__ import annotations


class ExperimentError(Exception):
    """A wrong name, folder, file or setting, in one line that says what to do."""
