"""The base class of the classifiers: classes in, machines of two, votes or scores out."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassifierMixin

from ..._sklearn import checked_fit
from ..._typing import Array
from .estimator import KernelMachine, machine_attributes
from .multiclass import ONE_VS_REST, SCHEMES, Multiclass
from .predictor import predictor_of
from .probability import ProbabilityMixin
from .task import FitTask, Fitted, Labels


class KernelClassifier(ProbabilityMixin, ClassifierMixin, KernelMachine):
    """Base of the classifiers. A method fills in the hooks of `KernelMachine`, and one more.

    - ``_multiclass()`` returns how several classes become machines: one-vs-rest by default.
    """

    decision_function_shape: str
    classes_: Any
    class_weight: Any

    def _multiclass(self) -> Multiclass:
        """Return how several classes become machines of two."""
        return ONE_VS_REST

    # --- Fit ------------------------------------------------------------------------------

    @checked_fit
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> KernelClassifier:
        """Fit the machines.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            The training rows; kernel values between them for ``kernel="precomputed"``.
        y : array-like of shape (n_samples,)
            The classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows; they multiply C. Rows of weight zero count as absent.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._fit(X, y, sample_weight)
        return self

    def _targets(self, y: Any, sample_weight: Any) -> Labels:
        """Return the classes of the rows, class by class."""
        return Labels.of(y, sample_weight, self.class_weight, self._multiclass()).by_class()

    def _common_attributes(self, task: FitTask, fitted: Fitted) -> dict[str, Any]:
        """Return the attributes that every fitted classifier has."""
        return class_attributes(task, fitted)

    # --- Predict --------------------------------------------------------------------------

    def decision_function(self, X: Any) -> Array:
        """Evaluate the decision values.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows; kernel values against the training rows for ``kernel="precomputed"``.

        Returns
        -------
        decisions : ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_pairs)
            For two classes, positive values mean the second class; otherwise one column per class,
            or one per pair of classes with ``decision_function_shape="ovo"``. Calibrated
            classifiers return log-odds, or scores whose softmax are probabilities; with
            ``class_weight`` those of the weighted classes.
        """
        shape = getattr(self, "decision_function_shape", "ovr")
        if self._decides_by_scores() and (shape == "ovr" or len(self.classes_) == 2):
            scores = self._class_scores(X)
            return scores.ravel() if scores.shape[1] == 1 else scores
        values = self._decisions(X)
        return self._fitted_scheme().scores(values, len(self.classes_), shape)

    def predict(self, X: Any) -> Any:
        """Predict classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows; kernel values against the training rows for ``kernel="precomputed"``.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The predicted classes: the largest decision value wins, or the most votes of pairs where
            the classifier is not calibrated; the first class wins ties.
        """
        if self._decides_by_scores():
            return self._winners(self._class_scores(X), ONE_VS_REST)
        return self._winners(self._decisions(X), self._fitted_scheme())

    def _winners(self, values: Array, scheme: Multiclass) -> Any:
        """Return the class of each row from decision values or scores."""
        break_ties = getattr(self, "break_ties", False)
        if break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
        return self.classes_[scheme.winners(values, len(self.classes_), break_ties)]

    def _fitted_scheme(self) -> Multiclass:
        return SCHEMES[predictor_of(self).multiclass]


def class_attributes(task: FitTask, fitted: Fitted) -> dict[str, Any]:
    """Return the attributes that every fitted classifier has."""
    labels, n_classes = task.labels, len(task.labels.names)
    vectors = fitted.vectors or fitted.predictor.vectors
    own = labels.classes[vectors.support]
    dual_coef = labels.multiclass.layout(vectors.coef, own, n_classes)
    found = machine_attributes(task, fitted)
    # The objective is 1/2 ||w||^2 - sum alpha.
    sizes = np.abs(vectors.coef).sum(axis=0)
    squares = 2 * (found["certificate_"]["objective"] + sizes)
    return found | {
        "classes_": labels.names,
        "class_weight_": labels.class_weight,
        "n_support_": np.bincount(own, minlength=n_classes).astype(np.int32),
        "dual_coef_": sp.csr_matrix(dual_coef) if sp.issparse(vectors.rows) else dual_coef,
        "margin_": np.array([1 / sqrt(s) if s > 0 else np.inf for s in squares.tolist()]),
    }
