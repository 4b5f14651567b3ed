"""The base of all classifiers: from a table and labels to a code matrix, and back."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import column_or_1d, compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight

from .._typing import Array, Codes, Index, Matrix
from .machines import Machines


class BaseLearnedSVC(ClassifierMixin, BaseEstimator, ABC):
    """Base of the classifiers; a method writes one hook, `_fit_machines`."""

    @abstractmethod
    def _fit_machines(self, X: Matrix, Y: Codes, weights: Array, classes: Index) -> Machines:
        """Fit one machine for each column of the code matrix.

        ``weights`` multiplies C of each row: sample weight times class weight. ``classes`` is the
        class of each row, for the order of the support rows.
        """

    def _encode(self, y: Any, sample_weight: Array) -> tuple[Index, Array]:
        """Set ``classes_`` and ``class_weight_``; return each row's class and its weight of C.

        Rows of weight zero count as absent, also for the list of classes.
        """
        y = y if isinstance(y, np.ndarray) and y.ndim == 1 else column_or_1d(y, warn=True)
        counted = sample_weight > 0
        try:
            if y.dtype.kind not in "biuSU":  # those are classes whatever their values
                check_classification_targets(y)
            self.classes_ = np.unique(y[counted])
        except TypeError as error:
            raise TypeError("y mixes labels of several types; make them all strings.") from error
        if len(self.classes_) < 2:
            raise ValueError(
                "The number of classes has to be greater than one; got "
                f"{len(self.classes_)} class among the samples of positive weight."
            )
        y, sample_weight = y[counted], sample_weight[counted]
        self.class_weight_ = self._class_weights(y, sample_weight)
        classes = np.searchsorted(self.classes_, y)
        return classes, sample_weight * self.class_weight_[classes]

    def _class_weights(self, y: Array, sample_weight: Array) -> Array:
        """Return the weight of each class; balanced ones count the sample weights."""
        if self.class_weight is None:
            return np.ones(len(self.classes_))
        try:
            weights: Array = compute_class_weight(
                self.class_weight, classes=self.classes_, y=y, sample_weight=sample_weight
            )
        except ValueError as error:
            if "could not convert" not in str(error):
                raise
            raise ValueError("class_weight must give a number for each class.") from error
        if not (weights > 0).all():
            raise ValueError("class_weight must be positive for every class.")
        return weights

    def _weights(self, sample_weight: Any, X: Matrix) -> Array:
        """Check the sample weights; negative ones count as zero, as in scikit-learn."""
        try:
            weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
        except ValueError as error:
            if "could not convert" not in str(error):
                raise
            raise ValueError("sample_weight must be numbers, one a row.") from error
        weights = np.maximum(weights, 0)
        if not weights.any():
            raise ValueError("Invalid input - all samples have zero or negative weights.")
        return weights

    def _warn_unless_converged(self, machines: Machines, tol: float) -> None:
        status, violation = machines.certificate.status, machines.certificate.violation
        short = np.flatnonzero(status != "converged")
        if len(short):
            worst = short[np.argmax(violation[short])]
            warnings.warn(
                f"{len(short)} of {len(status)} machine(s) did not converge: the largest KKT "
                f"violation is {violation[worst]:.3g} (the tolerance is tol={tol:g}) after "
                f"{machines.certificate.n_iter[worst]} steps ({status[worst]}). The model is "
                "usable but not optimal. Scale the columns, for instance with StandardScaler, "
                "lower C, or raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=5,
            )
