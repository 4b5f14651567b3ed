"""Probabilities inside SVC, for code written before scikit-learn deprecated them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..._typing import Array

N_FOLDS = 5  # of the calibration; fewer where a class has fewer rows


def calibrated(estimator: Any, y: Any, seed: int) -> Any:
    """Return an unfitted classifier with probabilities, by Platt scaling on held-out rows of y."""
    # Imported here because it is slow to import and seldom needed.
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.model_selection import StratifiedKFold

    smallest = int(np.unique(y, return_counts=True)[1].min())
    folds = StratifiedKFold(min(N_FOLDS, smallest), shuffle=True, random_state=seed)
    return CalibratedClassifierCV(estimator, ensemble=False, cv=folds)


def _asks_for_probability(estimator: Any) -> bool:
    if estimator.probability is not True:
        raise AttributeError("predict_proba is not available when probability=False")
    return True


class ProbabilityMixin:
    """Adds ``probability=True``: Platt scaling on held-out decision values."""

    probability: bool | str
    random_state: Any
    _calibrated_: Any

    def _calibration(self, X: Any, y: Any, sample_weight: Any) -> dict[str, Any]:
        """Return the calibrated model as an attribute, where ``probability=True`` asks for it."""
        if self.probability == "deprecated":
            return {}
        warnings.warn(
            "The `probability` parameter is deprecated, as in scikit-learn 1.9. Use "
            "`CalibratedClassifierCV(SVC(), ensemble=False)` instead of `SVC(probability=True)`.",
            FutureWarning,
            stacklevel=6,
        )
        if not self.probability:
            return {}
        smallest = int(np.unique(y, return_counts=True)[1].min())
        if smallest < 2:
            raise ValueError(
                "probability=True needs at least two samples of each class; drop the class or "
                "leave probability out and use decision_function."
            )
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        plain = clone(self).set_params(probability="deprecated", warm_start=False)
        model = calibrated(plain, y, seed).fit(X, y, sample_weight=sample_weight)
        return {"_calibrated_": model}

    @available_if(_asks_for_probability)
    def predict_proba(self, X: Any) -> Array:
        """Compute probabilities of the classes; needs ``probability=True``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            One column per class. They come from cross-validation and may disagree with `predict`.
        """
        check_is_fitted(self, "_calibrated_")
        return np.asarray(self._calibrated_.predict_proba(X))

    @available_if(_asks_for_probability)
    def predict_log_proba(self, X: Any) -> Array:
        """Compute log-probabilities of the classes; needs ``probability=True``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
            One column per class.
        """
        return np.log(self.predict_proba(X))
