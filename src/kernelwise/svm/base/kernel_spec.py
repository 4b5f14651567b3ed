"""From the parameters of an estimator to a kernel object."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..._parameters import as_real
from ..._typing import Array, Matrix
from ...kernels import (
    RBF,
    FunctionKernel,
    Kernel,
    Laplacian,
    Matern32,
    Matern52,
    Precomputed,
)

_WITH_GAMMA: dict[str, Callable[..., Kernel]] = {
    "rbf": RBF,
    "laplacian": Laplacian,
    "matern32": Matern32,
    "matern52": Matern52,
}
KERNEL_NAMES = {"linear", "poly", "sigmoid", "precomputed", *_WITH_GAMMA}


def resolve_gamma(gamma: Any, X: Matrix, weights: Array, of_squares: bool = True) -> float | Array:
    """Return gamma as a number, or as one number per feature.

    "scale" is 1 / (d * variance of all cells), with the sample weights, so that scaling all
    columns by one factor leaves the kernel unchanged; kernels of plain differences use the
    standard deviation in place of the variance. "auto" is 1 / d.
    """
    if isinstance(gamma, str):
        size = _variance(X, weights) if gamma == "scale" else 1.0
        size = size if of_squares else size**0.5
        return 1.0 / (X.shape[1] * size) if size > 0 else 1.0
    return _feature_vector("gamma", gamma, X.shape[1]) if np.ndim(gamma) else float(gamma)


def _variance(X: Matrix, weights: Array) -> float:
    """Return the variance over all cells, rows counted by their weight."""
    with np.errstate(over="ignore", invalid="ignore"):
        if sp.issparse(X):
            total = weights.sum() * X.shape[1]
            mean = float((weights @ X).sum()) / total
            variance = float((weights @ X.multiply(X)).sum()) / total - mean**2
        else:
            variance = _dense_variance(X, weights)
    if not isfinite(variance):
        raise ValueError(
            "X holds values so large that its variance overflows, so gamma='scale' cannot be "
            "computed; scale the columns of X first, for instance with StandardScaler."
        )
    return variance


def _dense_variance(X: Array, weights: Array) -> float:
    """Return the variance; equal weights need no copy of X where no digits are lost."""
    if (weights == weights[0]).all():
        cells = X.ravel(order="K")
        mean, square = float(cells.sum()) / cells.size, float(cells @ cells) / cells.size
        if mean * mean < 0.5 * square:
            return square - mean * mean
    total = weights.sum() * X.shape[1]
    mean = float((weights @ X).sum()) / total
    return float((weights @ (X - mean) ** 2).sum()) / total


def _feature_vector(name: str, values: Any, d: int) -> Array:
    try:
        vector = as_real(values, name)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be numbers, one per feature; got {values!r}.") from None
    if vector.shape != (d,):
        raise ValueError(
            f"{name} must be one number or one for each of the {d} features of X; "
            f"got shape {vector.shape}."
        )
    if not np.isfinite(vector).all() or (vector < 0).any():
        raise ValueError(f"{name} must be finite and not negative.")
    return vector


@dataclass(frozen=True)
class KernelSpec:
    """A kernel as a user names it."""

    kernel: Any  # the name of a kernel, a function, or a kernel object
    gamma: Any = "scale"  # the inverse width of a named kernel
    degree: int = 3  # the degree of "poly"
    coef0: float = 0.0  # the constant of "poly" and "sigmoid"
    feature_weights: Any = None  # (d,), the weights of the features of a named kernel

    @classmethod
    def of(cls, estimator: Any) -> KernelSpec:
        """Read the parameters of an estimator, which may lack some of them."""
        names = ("gamma", "degree", "coef0", "feature_weights")
        given = {name: getattr(estimator, name) for name in names if hasattr(estimator, name)}
        return cls(estimator.kernel, **given)

    @property
    def is_precomputed(self) -> bool:
        """Whether the user gives kernel values in place of rows."""
        if isinstance(self.kernel, str):
            return self.kernel == "precomputed"
        return isinstance(self.kernel, Precomputed)

    @property
    def is_function(self) -> bool:
        """Whether the kernel is a user's function, of rows of any kind."""
        if isinstance(self.kernel, Kernel):
            return isinstance(self.kernel, FunctionKernel)
        return callable(self.kernel)

    @property
    def reads_rows(self) -> bool:
        """Whether the kernel reads rows of numbers."""
        if isinstance(self.kernel, Kernel):
            return not (self.is_function or self.kernel.reads_values)
        return not (self.is_function or self.is_precomputed)

    @property
    def accepts_sparse(self) -> bool:
        """Whether the kernel reads sparse rows."""
        if isinstance(self.kernel, Kernel):
            return self.kernel.accepts_sparse
        return self.is_function or self.kernel not in ("precomputed", "laplacian")

    def resolve(self, X: Matrix, weights: Array) -> Kernel:
        """Return the kernel for these training rows and their sample weights."""
        spec = self.kernel
        if isinstance(spec, type):
            raise ValueError(f"kernel must be an object, not a class: {spec.__name__}(...).")
        if isinstance(spec, str) and spec != "precomputed":
            return self._named(spec, X, weights)
        given = isinstance(spec, Kernel)
        if given and spec.reads_values and not isinstance(spec, Precomputed):
            raise ValueError(
                f"kernel={spec!r} is made of Precomputed; evaluate it and give the matrix as X "
                "with kernel='precomputed'."
            )
        if self.feature_weights is not None:
            raise ValueError(
                "feature_weights goes with the named kernels; give a kernel object its own "
                "weights, as in RBF(weights=...)."
            )
        if given:
            return spec
        return FunctionKernel(spec) if callable(spec) else Precomputed()

    def _named(self, name: str, X: Matrix, weights: Array) -> Kernel:
        from ... import kernels  # some of them are imported when first asked for

        own = self.feature_weights
        own = None if own is None else _feature_vector("feature_weights", own, X.shape[1])
        if name == "linear":
            return kernels.Linear(weights=own)
        gamma: Any = resolve_gamma(self.gamma, X, weights, of_squares=name != "laplacian")
        if np.ndim(gamma):  # one width per feature: gamma becomes the weights
            own, gamma = gamma if own is None else gamma * own, 1.0
        if name == "poly":
            return kernels.Polynomial(gamma, own, degree=self.degree, coef0=self.coef0)
        if name == "sigmoid":
            return kernels.Sigmoid(gamma, own, coef0=self.coef0)
        return _WITH_GAMMA[name](gamma, own)
