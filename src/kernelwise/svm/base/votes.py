"""Several classes by pairs: one machine a pair of classes, and the most votes win."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from ..._typing import Array, Codes, Index
from .multiclass import libsvm_layout, one_vs_one, pairs_to_classes, vote


class OneVsOneMixin:
    """One-vs-one in place of the base's one-vs-rest; stands before the base."""

    classes_: Any
    decision_function_shape: str
    _decisions: Any

    def _codes(self, classes: Index, n_classes: int) -> Codes:
        return one_vs_one(classes, n_classes)

    def _layout(self, coef: Array, classes: Index) -> Array:
        return libsvm_layout(coef, classes, len(self.classes_))

    def decision_function(self, X: Any) -> Array:
        """Evaluate the decision values.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows; kernel values against the training rows for ``kernel="precomputed"``.

        Returns
        -------
        decisions : ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_pairs)
            With two classes positive for the second; else one column a class ("ovr") or one a
            pair of classes ("ovo").
        """
        decisions: Array = self._decisions(X)
        if len(self.classes_) == 2:
            return decisions.ravel()
        if self.decision_function_shape == "ovr":
            return pairs_to_classes(decisions, len(self.classes_))
        return decisions

    def predict(self, X: Any) -> Any:
        """Predict classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows; kernel values against the training rows for ``kernel="precomputed"``.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The predicted classes: those that win most of their pairs, the first on ties.
        """
        check_is_fitted(self)
        return self.classes_[vote(self._decisions(X), len(self.classes_))]
