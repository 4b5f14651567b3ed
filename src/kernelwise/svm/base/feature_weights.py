"""Feature weights: the parameters of a kernel that hold them, and the importances they give."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..._typing import Array, Matrix
from ...kernels import Kernel, Laplacian


def weight_names(kernel: Kernel, X: Matrix) -> list[str]:
    """Return the names of the kernel's feature weights; an error where it has none."""
    if not kernel.is_psd:
        raise ValueError(
            f"kernel={kernel!r} is not positive semi-definite, so that its dual objective has "
            "several local optima; use another kernel, or coef0 of at least 0."
        )
    names = kernel.vjp(X[:1], np.zeros((1, 1)))  # the parameters with a derivative
    found = [name for name in names if name.split("__")[-1] == "weights"]
    if not found:
        raise no_weights(kernel)
    return found


def no_weights(kernel: Kernel) -> ValueError:
    """Return the error for a kernel without feature weights."""
    return ValueError(
        f"kernel={kernel!r} has no feature weights to learn; use a named kernel such as 'rbf', or "
        "a kernel object with weights."
    )


def varying_columns(X: Matrix) -> Any:
    """Return which columns are not constant."""
    if sp.issparse(X):
        return (X.max(axis=0) - X.min(axis=0)).toarray().ravel() > 0
    return np.ptp(X, axis=0) > 0


def column_variances(X: Matrix, weights: Array) -> Array:
    """Return the variance of each column, rows counted by their weight; infinite on overflow."""
    share = weights / weights.sum()
    with np.errstate(over="ignore", invalid="ignore"):
        means = share @ X
        if sp.issparse(X):
            return np.maximum(0, np.asarray(share @ X.multiply(X) - means**2).ravel())
        return share @ (X - means) ** 2


def category_variances(codes: Array, weights: Array) -> Array:
    """Return the variance of each category: half the chance that two rows differ.

    This is the variance of a column of zeros and ones where a category has two levels.
    """
    share = weights / weights.sum()
    places = (np.unique(column, return_inverse=True)[1] for column in codes.T)
    shares = (np.bincount(place, weights=share) for place in places)
    halves = np.array([(1 - of_levels @ of_levels) / 2 for of_levels in shares], dtype=np.float64)
    return np.maximum(0, halves)  # rounding may go below zero


def spreads(kernel: Kernel, X: Matrix, weights: Array) -> Array:
    """Return each column's spread in the unit of its weight's term: variance, or deviation."""
    variance = column_variances(X, weights)
    for part in (kernel, *kernel.get_params().values()):
        categorical = getattr(part, "categorical", None)
        if categorical is not None:
            variance[categorical] = category_variances(X[:, categorical], weights)
    variance[~varying_columns(X)] = 0  # a constant column may have rounding errors
    plain = any(isinstance(part, Laplacian) for part in (kernel, *kernel.get_params().values()))
    return np.sqrt(variance) if plain else variance


def weight_shares(weights: Array, spread: Array) -> Array:
    """Return weights times spreads, scaled to sum one; machines count alike."""
    products = np.atleast_2d(weights) * spread
    totals = products.sum(axis=1, keepdims=True)
    shares = np.divide(products, totals, out=np.zeros_like(products), where=totals > 0)
    return shares.mean(axis=0)
