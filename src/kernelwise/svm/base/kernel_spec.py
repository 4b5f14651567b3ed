"""From the parameters of an estimator to a kernel object."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..._typing import Array, Matrix
from ...kernels import (
    RBF,
    FunctionKernel,
    Kernel,
    Laplacian,
    Linear,
    Matern32,
    Matern52,
    Polynomial,
    Precomputed,
    Sigmoid,
)

_WITH_GAMMA: dict[str, Callable[..., Kernel]] = {
    "rbf": RBF,
    "laplacian": Laplacian,
    "matern32": Matern32,
    "matern52": Matern52,
}
KERNEL_NAMES = {"linear", "poly", "sigmoid", "precomputed", *_WITH_GAMMA}


def resolve_gamma(gamma: Any, X: Matrix, weights: Array, of_squares: bool = True) -> float | Array:
    """Return gamma as a number, or as one number a feature.

    "scale" is 1 / (d * variance of all cells), with the sample weights, so that the kernel does
    not change when all columns are scaled alike; the standard deviation takes the place of the
    variance in a kernel of plain differences. "auto" is 1 / d.
    """
    if isinstance(gamma, str):
        size = _variance(X, weights) if gamma == "scale" else 1.0
        size = size if of_squares else size**0.5
        return 1.0 / (X.shape[1] * size) if size > 0 else 1.0
    return _feature_vector("gamma", gamma, X.shape[1]) if np.ndim(gamma) else float(gamma)


def _variance(X: Matrix, weights: Array) -> float:
    """Return the variance over all cells, rows counted by their weight."""
    if (weights == weights[0]).all() and not sp.issparse(X):
        with np.errstate(over="ignore", invalid="ignore"):
            variance = _plain_variance(X)
    else:
        total = weights.sum() * X.shape[1]
        with np.errstate(over="ignore", invalid="ignore"):
            mean = float((weights @ X).sum()) / total
            if sp.issparse(X):
                variance = float((weights @ X.multiply(X)).sum()) / total - mean**2
            else:
                variance = float((weights @ (X - mean) ** 2).sum()) / total
    if not np.isfinite(variance):
        raise ValueError(
            "X holds values so large that its variance overflows, so gamma='scale' cannot be "
            "computed; scale the columns of X first, for instance with StandardScaler."
        )
    return variance


def _plain_variance(X: Array) -> float:
    """Return X.var(), without a copy of X where the mean is so small that no digits are lost."""
    cells = X.ravel(order="K")
    square = cells @ cells / cells.size
    mean = (X @ np.ones(X.shape[1])).sum() / cells.size  # faster than to add up one after the other
    return float(square - mean**2 if mean**2 < square / 2 else X.var())


def _feature_vector(name: str, values: Any, d: int) -> Array:
    try:
        vector = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be numbers, one a feature; got {values!r}.") from None
    if vector.shape != (d,):
        raise ValueError(
            f"{name} must be one number or one for each of the {d} features of X; "
            f"got shape {vector.shape}."
        )
    if not np.isfinite(vector).all() or (vector < 0).any():
        raise ValueError(f"{name} must be finite and not negative.")
    return vector


def resolve_kernel(svc: Any, X: Matrix, weights: Array) -> Kernel:
    """Return the kernel that an estimator's parameters describe, for these training rows."""
    spec = svc.kernel
    if isinstance(spec, type):
        raise ValueError(f"kernel must be an object, not a class: {spec.__name__}(...).")
    given = isinstance(spec, Kernel)
    if given and spec.reads_values and not isinstance(spec, Precomputed):
        raise ValueError(
            f"kernel={spec!r} is made of Precomputed; evaluate it and give the matrix as X with "
            "kernel='precomputed'."
        )
    if given or callable(spec) or spec == "precomputed":
        if getattr(svc, "feature_weights", None) is not None:
            raise ValueError(
                "feature_weights goes with the named kernels; give a kernel object its own "
                "weights, as in RBF(weights=...)."
            )
        if given:
            return spec
        return FunctionKernel(spec) if callable(spec) else Precomputed()
    d = X.shape[1]
    own = getattr(svc, "feature_weights", None)
    own = None if own is None else _feature_vector("feature_weights", own, d)
    if spec == "linear":
        return Linear(weights=own)
    gamma: Any = resolve_gamma(svc.gamma, X, weights, of_squares=spec != "laplacian")
    if np.ndim(gamma):  # one width a feature: gamma is the weights
        own, gamma = gamma if own is None else gamma * own, 1.0
    if spec == "poly":
        return Polynomial(gamma, own, degree=svc.degree, coef0=svc.coef0)
    if spec == "sigmoid":
        return Sigmoid(gamma, own, coef0=svc.coef0)
    return _WITH_GAMMA[spec](gamma, own)
