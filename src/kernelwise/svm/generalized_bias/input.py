"""What a classifier with features in its bias makes of X: the features, and the kernel's rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import get_tags

from ..._sklearn import safe_indexing
from ..._typing import Array, Index
from ...kernels import FunctionKernel, Kernel, Precomputed
from ..base.estimator import BaseLearnedSVC
from .features import (
    as_features,
    column_numbers,
    fit_transformer,
    is_columns,
    is_transformer,
    names_out,
    numbered,
)


class BiasFeaturesSVC(BaseLearnedSVC):
    """Base of a classifier with features in its bias: what its parameters say of X."""

    bias_features: Any
    exclude_bias_from_kernel: bool
    fit_intercept: bool
    cross_fit: bool | str
    cv: Any
    C: float
    _bias_columns: Index | None
    _kernel_columns: Index | None

    def _accepts_sparse(self) -> bool:
        accepts = super()._accepts_sparse()
        if accepts and hasattr(self.bias_features, "__sklearn_tags__"):
            return bool(get_tags(self.bias_features).input_tags.sparse)
        return accepts

    def _needs_psd(self) -> bool:
        """Tell whether there are other equalities than that of the constant, or none."""
        return self.bias_features is not None or not self.fit_intercept

    def _validate_fit(self, X: Any, y: Any) -> tuple[Any, Any]:
        given = self.bias_features
        if isinstance(given, type):
            raise ValueError(f"bias_features must be an object, not a class: {given.__name__}().")
        if given is not None and self._is_precomputed():
            raise ValueError(
                "kernel='precomputed' goes with bias_features=None: X then has kernel values and "
                "no features. Give the rows, and the kernel by name, object or function."
            )
        if self.exclude_bias_from_kernel and not is_columns(given):
            raise ValueError(
                "exclude_bias_from_kernel=True needs bias_features that list columns of X; got "
                f"{given!r}. feature_weights of zero keep any column out of a named kernel."
            )
        if self._needs_psd() and np.isinf(self.C):
            raise ValueError(
                "C=inf goes with bias_features=None and fit_intercept=True only: the solver for "
                "features needs a finite C."
            )
        X, y = super()._validate_fit(X, y)
        self._choose_columns(X)
        return X, y

    def _choose_columns(self, X: Any) -> None:
        """Find the columns of the bias and of the kernel; None is not some, and all."""
        self._bias_columns = self._kernel_columns = None
        if not is_columns(self.bias_features):
            return
        if np.ndim(X) != 2 and not sp.issparse(X):
            raise ValueError("bias_features lists columns, but X has none: it is not a table.")
        n_columns, names = X.shape[1], getattr(X, "columns", None)
        names = getattr(self, "feature_names_in_", names)
        self._bias_columns = column_numbers(self.bias_features, n_columns, names)
        if self.exclude_bias_from_kernel:
            self._kernel_columns = np.setdiff1d(np.arange(n_columns), self._bias_columns)
            if len(self._kernel_columns) == 0:
                raise ValueError(
                    f"X has {n_columns} feature(s), all of them in bias_features: "
                    "exclude_bias_from_kernel=True leaves none to the kernel. For features alone "
                    "LogisticRegression and LinearSVC are the tools."
                )

    def _resolve_kernel(self, X: Any, weights: Array) -> Kernel:
        kernel = super()._resolve_kernel(self._kernel_rows(X), weights)
        given = isinstance(kernel, FunctionKernel | Precomputed)  # their matrix can be looked at
        if self._needs_psd() and not kernel.is_psd and not given:
            raise ValueError(
                f"kernel={kernel!r} is not positive semi-definite, so that the machine with "
                "features in its bias, or without one, has no unique solution; use another kernel."
            )
        return kernel

    def _kernel_rows(self, X: Any) -> Any:
        """Return the rows as the kernel reads them."""
        if self._kernel_columns is None:
            return X
        rows = safe_indexing(X, self._kernel_columns, axis=1)
        return np.ascontiguousarray(rows) if isinstance(rows, np.ndarray) else rows

    def _fit_features(self, X: Any, y: Any) -> Array:
        """Return the features of the training rows, and keep what new rows need."""
        names = getattr(self, "feature_names_in_", None)
        self.bias_transformer_, self._bias_function = None, None
        if is_transformer(self.bias_features):
            self.bias_transformer_, F = fit_transformer(
                self.bias_features, X, y, self.cross_fit, self.cv
            )
            self.bias_feature_names_out_ = names_out(self.bias_transformer_, names, F.shape[1])
            return F
        if callable(self.bias_features):
            self._bias_function = self.bias_features
        F = self._features(X)
        if self._bias_columns is None:
            self.bias_feature_names_out_ = numbered("bias", np.arange(F.shape[1]))
        elif names is None:
            self.bias_feature_names_out_ = numbered("x", self._bias_columns)
        else:
            self.bias_feature_names_out_ = names[self._bias_columns]
        return F

    def _features(self, X: Any, width: int | None = None) -> Array:
        """Return the features of rows."""
        n = X.shape[0]
        if self._bias_columns is not None:
            return as_features(safe_indexing(X, self._bias_columns, axis=1), n)
        if self.bias_transformer_ is not None:
            return as_features(self.bias_transformer_.transform(X), n, width)
        if self._bias_function is not None:
            return as_features(self._bias_function(X), n, width)
        return np.empty((n, 0))
