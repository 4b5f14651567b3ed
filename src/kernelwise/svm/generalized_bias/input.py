"""From X to the features of the bias and the rows of the kernel of a GeneralizedBiasSVC."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..._typing import Array, Index
from ..base.steps import ColumnFeatures, Columns, FunctionFeatures, RowStep, TransformerFeatures
from .features import (
    column_numbers,
    fit_transformer,
    is_columns,
    is_transformer,
    names_out,
    numbered,
)


@dataclass(frozen=True)
class BiasColumns:
    """The columns of X that the bias and the kernel read."""

    # (n_bias_features,), columns that are features of the bias; None where the features are not
    # columns
    bias: Index | None = None
    # (n_kernel_columns,), columns that the kernel reads; None for all of them
    kernel: Index | None = None

    @classmethod
    def of(cls, X: Any, bias_features: Any, names: Any, exclude: bool) -> BiasColumns:
        """Find the columns; ``exclude`` keeps those of the bias out of the kernel."""
        if not is_columns(bias_features):
            return cls()
        if np.ndim(X) != 2 and not sp.issparse(X):
            raise ValueError("bias_features lists columns, but X has none: it is not a table.")
        n_columns = X.shape[1]
        bias = column_numbers(bias_features, n_columns, names)
        if not exclude:
            return cls(bias)
        kernel = np.setdiff1d(np.arange(n_columns), bias)
        if len(kernel) == 0:
            raise ValueError(
                f"X has {n_columns} feature(s), all of them in bias_features: "
                "exclude_bias_from_kernel=True leaves none to the kernel. For features alone "
                "LogisticRegression and LinearSVC are the tools."
            )
        return cls(bias, kernel)

    @property
    def before_kernel(self) -> tuple[RowStep, ...]:
        """The step from rows to the kernel's rows, if there is one."""
        return () if self.kernel is None else (Columns(self.kernel),)


@dataclass(frozen=True)
class BiasFeatures:
    """The features of the bias: steps that make them, their names, and their training values."""

    # the step that makes the features of new rows; empty where there are none
    steps: tuple[RowStep, ...]
    names: Any  # (n_bias_features,)
    training: Array  # (n, n_bias_features), the features of the training rows
    transformer: Any = None  # the fitted transformer, where one makes the features

    @classmethod
    def of(
        cls,
        X: Any,
        y: Any,
        bias_features: Any,
        columns: BiasColumns,
        feature_names: Any,
        *,
        cross_fit: bool | str,
        cv: Any,
    ) -> BiasFeatures:
        """Make the features of the training rows X with classes y."""
        if is_transformer(bias_features):
            transformer, F = fit_transformer(bias_features, X, y, cross_fit, cv)
            names = names_out(transformer, feature_names, F.shape[1])
            return cls((TransformerFeatures(transformer, F.shape[1]),), names, F, transformer)
        if callable(bias_features):
            F = FunctionFeatures(bias_features).apply(X)
            step = FunctionFeatures(bias_features, F.shape[1])
            return cls((step,), numbered("bias", np.arange(F.shape[1])), F)
        if columns.bias is None:
            return cls((), numbered("bias", np.arange(0)), np.empty((X.shape[0], 0)))
        picked = ColumnFeatures(columns.bias)
        if feature_names is None:
            return cls((picked,), numbered("x", columns.bias), picked.apply(X))
        return cls((picked,), feature_names[columns.bias], picked.apply(X))
