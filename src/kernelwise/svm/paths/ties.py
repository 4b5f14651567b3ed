"""Ties of criteria, broken by a rule: scores equal but for rounding count as equal."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._typing import Array

ROUNDING = 1e-9  # difference of two scores that is rounding, relative to a score above one


def at_lowest(scores: Any) -> Any:
    """Return which scores equal the lowest one but for rounding.

    A criterion that is flat has its lowest value anywhere, by the order in which sums were made:
    the choice among these must not be made by their last digits.

    ``scores`` (n,): the scores; NaN counts as infinite. Returns ``lowest`` (n,), at least one is
    true.

    Examples
    --------
    >>> from kernelwise.svm.paths.ties import at_lowest
    >>> at_lowest([0.3, 0.1 + 0.2, 0.5])
    array([ True,  True, False])
    """
    values: Array = np.asarray(scores, dtype=np.float64)
    values = np.where(np.isnan(values), np.inf, values)
    lowest = float(values.min())
    return values <= lowest + slack(lowest)


def slack(score: float) -> float:
    """Return by how much another score may exceed a score, and be equal to it but for rounding."""
    return ROUNDING * max(1.0, abs(score))
