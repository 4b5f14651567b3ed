"""What can go wrong with an experiment and is the user's to mend."""

from __future__ import annotations


class ExperimentError(Exception):
    """A wrong name, folder, file or setting: one line that says what to do about it."""
