"""Methods that a fitted search passes on to its best estimator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..._typing import Array
from ..svc import SVC
from ..svr import SVR


def _best_has(name: str) -> Callable[[Any], bool]:
    """Return a check that the best estimator has a method, or will have it after ``fit``."""

    def check(search: Any) -> bool:
        if not search.refit:
            raise AttributeError(
                f"This {type(search).__name__} has refit=False; {name} needs an estimator that is "
                "fitted to all rows: set refit=True, or fit one with best_params_."
            )
        getattr(getattr(search, "best_estimator_", search._template()), name)
        return True

    return check


class BestEstimatorMixin:
    """Delegates predictions to ``best_estimator_``.

    Before ``fit`` it has the methods of ``estimator``, or of ``SVC()`` if that is None.
    """

    estimator: Any
    best_estimator_: Any
    _kind: ClassVar[type[SVC | SVR]] = SVC  # the class of the estimators

    def _template(self) -> Any:
        return self._kind() if self.estimator is None else self.estimator

    @available_if(_best_has("predict"))
    def predict(self, X: Any) -> Any:
        """Predict with the best estimator.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows; kernel values against the training rows for ``kernel="precomputed"``.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The predicted classes or numbers.
        """
        check_is_fitted(self)
        return self.best_estimator_.predict(X)

    @available_if(_best_has("predict_interval"))
    def predict_interval(self, X: Any, confidence_level: float = 0.9) -> tuple[Array, Array]:
        """Return intervals of the best estimator; needs ``SVR(calibration="loo")``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows; kernel values against the training rows for ``kernel="precomputed"``.
        confidence_level : float, default=0.9
            The share of rows whose interval is to have their target, between 0 and 1.

        Returns
        -------
        low, high : ndarray of shape (n_samples,) or (n_samples, n_targets)
            The ends.
        """
        check_is_fitted(self)
        ends: tuple[Array, Array] = self.best_estimator_.predict_interval(X, confidence_level)
        return ends

    @available_if(_best_has("decision_function"))
    def decision_function(self, X: Any) -> Array:
        """Compute the decision values of the best estimator.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows; kernel values against the training rows for ``kernel="precomputed"``.

        Returns
        -------
        decisions : ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_pairs)
            The decision values.
        """
        check_is_fitted(self)
        return self.best_estimator_.decision_function(X)

    @available_if(_best_has("predict_proba"))
    def predict_proba(self, X: Any) -> Array:
        """Compute probabilities with the best estimator; needs ``SVC(calibration=...)``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            One column per class.
        """
        check_is_fitted(self)
        probabilities: Array = self.best_estimator_.predict_proba(X)
        return probabilities

    @available_if(_best_has("predict_log_proba"))
    def predict_log_proba(self, X: Any) -> Array:
        """Compute log-probabilities with the best estimator; needs ``SVC(calibration=...)``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
            One column per class.
        """
        check_is_fitted(self)
        log_probabilities: Array = self.best_estimator_.predict_log_proba(X)
        return log_probabilities

    @available_if(_best_has("predict_set"))
    def predict_set(self, X: Any, confidence_level: float = 0.9) -> Any:
        """Return the classes that each row may have; needs ``SVC(calibration="halves")``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows; kernel values against the training rows for ``kernel="precomputed"``.
        confidence_level : float, default=0.9
            The share of rows whose set is to have their class, between 0 and 1.

        Returns
        -------
        sets : ndarray of bool of shape (n_samples, n_classes)
            Whether each class belongs to the set of the row.
        """
        check_is_fitted(self)
        return self.best_estimator_.predict_set(X, confidence_level)
