"""Durations and p-values as text."""

from __future__ import annotations


def duration(seconds: float) -> str:
    """Format a duration in seconds, minutes or hours, for instance "12 min"."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def p_text(value: float) -> str:
    """Format a p-value; "-" where it is NaN because no test was possible."""
    if value != value:
        return "-"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
