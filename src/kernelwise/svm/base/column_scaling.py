"""Scaling of the columns for learning, and of kernels back to the unscaled columns.

Codes of categories are not scaled: two codes are equal or they are not. Instead, the learning of a
category starts at the weight that brings it to the scale of the other columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._typing import Array, Index
from ...kernels import Laplacian
from .feature_weights import category_variances, column_variances, varying_columns


@dataclass(frozen=True)
class Scaling:
    """The columns that vary, each with its mean and its spread.

    Parameters
    ----------
    columns : ndarray of shape (q,)
        The columns that are used.
    centre : ndarray of shape (q,)
        The mean of each column.
    spread : ndarray of shape (q,)
        The divisor of each column.
    deviation : ndarray of shape (q,)
        The standard deviation of each.
    n_columns : int
        The number of all columns.
    is_category : ndarray of shape (q,)
        Which columns are categories.
    """

    columns: Index
    centre: Array
    spread: Array
    deviation: Array
    n_columns: int
    is_category: Any

    @classmethod
    def of(cls, X: Array, counts: Array, standardize: bool, is_category: Any = None) -> Scaling:
        """Measure the columns with weighted rows; one spread for all without ``standardize``."""
        category = np.zeros(X.shape[1], dtype=bool) if is_category is None else is_category
        variance = column_variances(X, counts)
        variance[category] = category_variances(X[:, category], counts)
        deviation = np.sqrt(variance)
        varying = varying_columns(X)
        if not varying.any():  # nothing can be learned, so any columns serve
            varying[:] = deviation[:] = True
        columns = np.flatnonzero(varying)
        deviation = deviation[columns]
        with np.errstate(over="ignore", divide="ignore"):
            if not np.isfinite(deviation**2).all() or not np.isfinite(1 / deviation**2).all():
                raise ValueError(
                    "X has columns whose values are too large or too small for their variance to "
                    "be computed; scale them first, for instance with StandardScaler."
                )
        centre = (counts / counts.sum()) @ X[:, columns]
        spread = deviation if standardize else np.full(len(columns), deviation.max())
        category = category[columns]
        return cls(columns, np.where(category, 0, centre), spread, deviation, X.shape[1], category)

    @property
    def divisor(self) -> Array:
        """The divisor of each column: its spread, or one for a category."""
        return np.where(self.is_category, 1.0, self.spread)

    @property
    def start(self) -> Array:
        """The weight of each scaled column at which all columns count alike."""
        return self.divisor / self.spread

    def apply(self, X: Array) -> Array:
        """Return the columns that are used, scaled."""
        used = X if len(self.columns) == self.n_columns else X[:, self.columns]
        return (used - self.centre) / self.divisor

    def in_terms(self, kernel: Any, weights: Array | None = None) -> Array:
        """Return the contribution of each used column to a distance: weight times spread.

        Weights in place of the kernel's may have several rows, as may the contributions then.
        """
        own = kernel.weights if weights is None else weights
        unit: Array = _terms_of(kernel, self.deviation / self.divisor) * own
        return unit

    def comparable(self, kernel: Any, weights: Array | None = None) -> Array:
        """Return the contributions of all columns to a distance, with mean one over those used."""
        return self._everywhere(with_mean_one(self.in_terms(kernel, weights), len(self.columns)))

    def unscaled(self, kernel: Any) -> Any:
        """Return the same kernel for columns that are not scaled."""
        weights = self._everywhere(kernel.weights / _terms_of(kernel, self.divisor))
        if not self.is_category.any():
            return kernel.with_params(weights=weights)
        categorical = self._everywhere(self.is_category).astype(bool)
        return kernel.with_params(weights=weights, categorical=categorical)

    def _everywhere(self, values: Array) -> Array:
        out = np.zeros((*values.shape[:-1], self.n_columns))
        out[..., self.columns] = values
        return out


def with_mean_one(values: Array, n: int) -> Array:
    """Return values whose sum along the last axis is n; those of sum zero stay."""
    total = values.sum(axis=-1, keepdims=True)
    factor = np.divide(n, total, out=np.ones_like(total), where=total > 0)
    return values * factor


def _terms_of(kernel: Any, differences: Array) -> Array:
    """Return differences of these sizes in the kernel's own term: plain or squared."""
    return differences if isinstance(kernel, Laplacian) else differences**2
