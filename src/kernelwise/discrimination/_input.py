"""Checks of the input of every measure: rows, classes and weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_array, column_or_1d

from .._parameters import as_real
from .._sklearn import naming_the_remedy
from .._typing import Array, Index


def rows_of(X: Any, *, missing: bool = False) -> Array:
    """Return the rows as finite float64 numbers; NaN is allowed where ``missing``."""
    finite = "allow-nan" if missing else True
    with naming_the_remedy():
        rows: Array = check_array(X, dtype=np.float64, input_name="X", ensure_all_finite=finite)
    return rows


def weights_of(sample_weight: Any, n: int) -> Array:
    """Return the weights of the rows, with a finite and positive sum."""
    if sample_weight is None:
        return np.ones(n)
    try:
        weights = as_real(sample_weight, "sample_weight")
    except (TypeError, ValueError) as error:
        raise ValueError("sample_weight must be numbers, one per row of X.") from error
    if weights.shape != (n,):
        raise ValueError(
            f"sample_weight must be {n} numbers, one per row of X; got shape {weights.shape}."
        )
    with np.errstate(over="ignore"):
        total = weights.sum()
    if not np.isfinite(total) or np.any(weights < 0):
        raise ValueError("sample_weight must be finite and not negative, and so must its sum.")
    if total == 0:
        raise ValueError("sample_weight must not be zero for every row.")
    return weights


def classes_of(y: Any, n: int) -> Index:
    """Return the class of each row, numbered from 0."""
    y = column_or_1d(y)
    if len(y) != n:
        raise ValueError(f"y must be {n} labels, one per row of X; got {len(y)}.")
    try:
        if np.any(y != y):  # only NaN differs from itself; y may hold any objects
            raise ValueError("y contains NaN.")
        return np.unique(y, return_inverse=True)[1]
    except TypeError as error:
        raise TypeError("y mixes labels of several types; make them all strings.") from error


def categories_of(categorical: Any, n_features: int) -> Any:
    """Return which features are categories, as booleans; None means none."""
    if categorical is None:
        return np.zeros(n_features, dtype=bool)
    mask = np.asarray(categorical)
    if mask.dtype != bool or mask.shape != (n_features,):
        raise ValueError(
            f"categorical must be {n_features} booleans, one per column of X; "
            f"got {mask.dtype} of shape {mask.shape}."
        )
    return mask
