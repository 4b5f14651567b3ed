"""P-values as text."""

from __future__ import annotations


def p_text(value: float) -> str:
    """Format a p-value; "-" where it is NaN because no test was possible."""
    if value != value:
        return "-"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
