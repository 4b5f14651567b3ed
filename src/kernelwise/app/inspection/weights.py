"""Read the weights of features from any fitted model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..._models import final_estimator, names_of_weights
from ..._typing import Array


@dataclass(frozen=True)
class FeatureWeights:
    """The share of each feature in the absolute weights, its name, and whether it is selected."""

    shares: Array
    names: list[str]
    selected: Any


def has_equal_share(own: Array) -> Any:
    """Return which features have at least an equal share of the weight, up to rounding."""
    return (own > 0) & (own >= (1 - 1e-9) / len(own))


def frame_columns(X: Any) -> list[str] | None:
    """Return the column names of a data frame, else None."""
    columns = getattr(X, "columns", None)
    if columns is None:
        return None
    names = [str(name) for name in columns]
    if len(set(names)) < len(names):
        raise ValueError("X has several columns of the same name; rename them.")
    return names


def like(X: Any, rows: Array) -> Any:
    """Return rows of numbers as a table of the same type as X."""
    return type(X)(rows, columns=X.columns) if hasattr(X, "columns") else rows


def read_weights(model: Any, columns: Any = None) -> FeatureWeights:
    """Read ``feature_importances_`` or ``coef_`` of a fitted model; the mean over machines.

    ``columns`` are the names of the columns of the table that the model was fitted to.
    """
    final = final_estimator(model)
    check_is_fitted(final)
    tried = ("feature_importances_", "coef_")
    found = next((own for name in tried if (own := getattr(final, name, None)) is not None), None)
    if found is None:
        raise ValueError(
            f"{type(final).__name__} has no {' and no '.join(tried)}; give a fitted estimator that "
            "has, for instance RelevanceSVC or DualObjectiveSVC."
        )
    dense = found.toarray() if hasattr(found, "toarray") else found
    values = np.abs(np.atleast_2d(np.asarray(dense, dtype=np.float64)))
    totals = values.sum(axis=1, keepdims=True)
    shares = (values / np.where(totals > 0, totals, 1.0)).mean(axis=0)
    selected = getattr(final, "selected_features_", None)
    if selected is None or len(selected) != len(shares):
        selected = None
    return FeatureWeights(shares, names_of_weights(model, len(shares), columns), selected)
