"""Read the weights of features from any fitted model."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from .._models import final_estimator, names_of_weights
from .._typing import Array
from ..svm.base.estimator import BaseLearnedSVC
from ..svm.base.predictor import predictor_of


@dataclass(frozen=True)
class FeatureWeights:
    """Absolute weights, one row per machine, with the names of features and machines."""

    values: Array
    names: list[str]
    machines: list[str]
    selected: Any

    @property
    def shares(self) -> Array:
        """The share of each feature, the mean over machines."""
        return shares(self.values).mean(axis=0)


def shares(values: Array) -> Array:
    """Scale each row to sum one; rows of zeros stay zero."""
    totals = values.sum(axis=-1, keepdims=True)
    return values / np.where(totals > 0, totals, 1.0)


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
    if sp.issparse(X):
        return type(X)(rows)
    if not hasattr(X, "columns"):
        return rows
    names = {"columns": X.columns} if hasattr(X, "iloc") else {"schema": list(X.columns)}
    return type(X)(rows, **names)


def read_weights(
    model: Any, *, attribute: str = "auto", feature_names: Any = None, columns: Any = None
) -> FeatureWeights:
    """Read the weights of a fitted model.

    ``feature_names`` are the names of the weighted features, ``columns`` those of the columns of
    the table that the model was fitted to.
    """
    final = final_estimator(model)
    check_is_fitted(final)
    values = _values(final, attribute)
    d = values.shape[1]
    if feature_names is not None and len(feature_names) != d:
        raise ValueError(
            f"feature_names has {len(feature_names)} names, but there are {d} weights."
        )
    names = names_of_weights(model, d, columns) if feature_names is None else feature_names
    selected = getattr(final, "selected_features_", None)
    if selected is None or len(selected) != d:
        selected = None
    return FeatureWeights(
        values, [str(name) for name in names], _machine_names(final, values), selected
    )


def _values(final: Any, attribute: str) -> Array:
    tried = ("feature_importances_", "coef_") if attribute == "auto" else (attribute,)
    found = next((own for name in tried if (own := getattr(final, name, None)) is not None), None)
    if found is None:
        raise ValueError(
            f"{type(final).__name__} has no {' and no '.join(tried)}; give a fitted estimator that "
            "has, for instance RelevanceSVC or DualObjectiveSVC."
        )
    dense = found.toarray() if hasattr(found, "toarray") else found
    values = np.abs(np.atleast_2d(np.asarray(dense, dtype=np.float64)))
    if values.ndim != 2:
        raise ValueError(f"attribute={attribute!r} has {values.ndim} dimensions, not one or two.")
    return values


def _machine_names(final: Any, values: Array) -> list[str]:
    """Name several machines by their classes."""
    m, classes = len(values), [str(name) for name in getattr(final, "classes_", [])]
    pairs = [f"{a} / {b}" for a, b in combinations(classes, 2)]
    if m == len(pairs) and (m != len(classes) or _is_one_vs_one(final)):
        return pairs
    if m == len(classes):
        return [f"{name} / rest" for name in classes]
    return [f"machine {j + 1}" for j in range(m)]


def _is_one_vs_one(final: Any) -> bool:
    from sklearn.svm import SVC, NuSVC

    if isinstance(final, BaseLearnedSVC):
        return predictor_of(final).multiclass == "ovo"
    return isinstance(final, SVC | NuSVC)
