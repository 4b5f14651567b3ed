"""Checks of the tables that RelevanceSVC and RelevanceSelector are given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array, check_X_y
from sklearn.utils.validation import validate_data

from .raw import is_frame

_MEGABYTE = 2**20


def check_training_table(estimator: Any, X: Any, y: Any) -> tuple[Any, Any]:
    """Check training rows and labels, and record the number and names of the columns."""
    X = check_training_columns(estimator, X, y)
    _, y = check_X_y(np.zeros((X.shape[0], 1)), y, estimator=estimator)
    return X, y


def check_training_columns(estimator: Any, X: Any, y: Any) -> Any:
    """Check training rows, and record the number and names of the columns."""
    X = _as_table(estimator, X)
    validate_data(estimator, X, skip_check_array=True)
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None."
        )
    return X


def check_table(estimator: Any, X: Any, needed: Sequence[str] | None = None) -> Any:
    """Check that rows have the columns of the training rows, in their order.

    With the names of the columns that a model reads, these are returned alone; a data frame may
    lack the others.
    """
    X = _as_table(estimator, X)
    names = getattr(estimator, "feature_names_in_", None)
    if needed is not None and names is not None and is_frame(X):
        found = [str(name) for name in X.columns]
        if len(found) < len(names) and set(needed) <= set(found) <= set(map(str, names)):
            return table_part(X, [found.index(name) for name in needed])
    validate_data(estimator, X, reset=False, skip_check_array=True)
    if needed is None:
        return X
    every = column_names(estimator)
    return X if len(needed) == len(every) else table_part(X, [every.index(n) for n in needed])


def table_part(X: Any, columns: Sequence[int]) -> Any:
    """Return some columns of a data frame or an array."""
    if not is_frame(X):
        return X[:, columns]
    return X.iloc[:, columns] if hasattr(X, "iloc") else X[[X.columns[j] for j in columns]]


def column_names(estimator: Any) -> list[str]:
    """Return the names of the columns; x0, x1, ... where they have none."""
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        return [f"x{j}" for j in range(estimator.n_features_in_)]
    return [str(name) for name in names]


def _as_table(estimator: Any, X: Any) -> Any:
    if sp.issparse(X):
        size = X.shape[0] * X.shape[1] * 8 / _MEGABYTE
        raise TypeError(
            f"{type(estimator).__name__} takes dense tables, and X is sparse. Convert it with "
            f"X.toarray(), which takes {size:.3g} MB here, or select columns first; SVC and "
            "DualObjectiveSVC take sparse matrices."
        )
    if not is_frame(X) and hasattr(X, "to_pandas"):  # a table of Arrow, which has no dtypes
        X = X.to_pandas()
    if not is_frame(X):
        return check_array(
            X, dtype=None, ensure_all_finite=False, input_name="X", estimator=estimator
        )
    if 0 in X.shape:
        what = "sample(s)" if X.shape[0] == 0 else "feature(s)"
        raise ValueError(f"Found a table with 0 {what} (shape={X.shape}); at least 1 is required.")
    return X
