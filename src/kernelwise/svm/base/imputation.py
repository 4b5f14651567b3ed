"""Missing values: the mean of a column in place of NaN."""

from __future__ import annotations

import numpy as np

from ..._typing import Array


def column_means(X: Array, weights: Array) -> Array:
    """Return the mean of each column over the rows that have it, by weight; zero where none has."""
    known = ~np.isnan(X)
    share = weights @ known
    total = weights @ np.where(known, X, 0.0)
    return np.divide(total, share, out=np.zeros(X.shape[1]), where=share > 0)


def fill(X: Array, means: Array | None) -> Array:
    """Return the rows with the means in place of NaN; the rows themselves without means."""
    if means is None:
        return X
    missing = np.isnan(X)
    return np.where(missing, means, X) if missing.any() else X
