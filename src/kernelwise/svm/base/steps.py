"""Steps that turn the rows a user gives into the rows or features that a machine reads.

Each step is a small immutable object with ``apply(X)``. A predictor holds them, so that
prediction and every export read the same thing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from ..._sklearn import safe_indexing
from ..._typing import Array, Index


class RowStep(Protocol):
    """A map from rows to rows."""

    def apply(self, X: Any) -> Any:
        """Return the new rows."""


def apply_all(steps: Sequence[RowStep], X: Any) -> Any:
    """Apply one step after the other."""
    for step in steps:
        X = step.apply(X)
    return X


@dataclass(frozen=True)
class Columns:
    """Keeps some columns."""

    columns: Index  # (n_columns,)

    def apply(self, X: Any) -> Any:
        """Return these columns, contiguous in memory."""
        rows = safe_indexing(X, self.columns, axis=1)
        return np.ascontiguousarray(rows) if isinstance(rows, np.ndarray) else rows


@dataclass(frozen=True)
class Products:
    """Adds products of the columns."""

    transformer: Any  # the fitted transformer that makes them

    def apply(self, X: Array) -> Array:
        """Return the columns and their products."""
        with np.errstate(over="ignore", invalid="ignore"):
            products: Array = self.transformer.transform(X)
        if not np.isfinite(products).all():
            raise ValueError(
                "products of the columns of X overflow; scale the columns first, for instance with "
                "StandardScaler, or lower degree."
            )
        return products


@dataclass(frozen=True)
class UnitNorm:
    """Divides each row by its norm; a row of zeros stays."""

    def apply(self, X: Array) -> Array:
        """Return the rows with norm one."""
        # Powers of two keep every bit, and the squares of large or small rows from overflowing.
        _, exponents = np.frexp(np.abs(X).max(axis=1, keepdims=True, initial=0.0))
        scaled = np.ldexp(X, -exponents)
        norms = np.linalg.norm(scaled, axis=1, keepdims=True)
        return scaled / np.where(norms > 0, norms, 1.0)


@dataclass(frozen=True)
class TransformerFeatures:
    """Features that a fitted transformer makes."""

    transformer: Any
    width: int

    def apply(self, X: Any) -> Array:
        """Return the features of rows."""
        return as_features(self.transformer.transform(X), X.shape[0], self.width)


@dataclass(frozen=True)
class FunctionFeatures:
    """Features that a user's function makes."""

    function: Callable[[Any], Any]  # maps rows to features
    width: int | None = None  # the number of features; None accepts any

    def apply(self, X: Any) -> Array:
        """Return the features of rows."""
        return as_features(self.function(X), X.shape[0], self.width)


@dataclass(frozen=True)
class ColumnFeatures:
    """Features that are columns of the table."""

    columns: Index  # (n_columns,)

    def apply(self, X: Any) -> Array:
        """Return the columns as finite, dense numbers."""
        return as_features(safe_indexing(X, self.columns, axis=1), X.shape[0])


def as_features(values: Any, n_rows: int, width: int | None = None) -> Array:
    """Check features from a transformer or function: finite numbers, one row per row of X."""
    try:
        dense = values.toarray() if sp.issparse(values) else values
        features = np.array(dense, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise ValueError("bias_features must give numbers, one column per feature.") from None
    wanted = f"({n_rows}, {'n_bias_features' if width is None else width})"
    if features.ndim != 2 or len(features) != n_rows or width not in (None, features.shape[1]):
        raise ValueError(
            f"bias_features must give an array of shape {wanted}; got {features.shape}."
        )
    if not np.isfinite(features).all():
        raise ValueError(
            "bias_features gives NaN or infinite values; they must be finite for every row."
        )
    return features
