"""The base class of the regressors: numbers in, one machine for each target, numbers out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import Bunch
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..._sklearn import checked_fit
from ..._typing import Array
from ...calibration.conformal import Ranking
from .estimator import KernelMachine, machine_attributes
from .left_out import needs_calibration
from .task import FitTask, Fitted, Numbers


class KernelRegressor(RegressorMixin, KernelMachine):
    """Base of the regressors. A method fills in the hooks of `KernelMachine`."""

    _target_checks: ClassVar[dict[str, Any]] = {"multi_output": True, "y_numeric": True}
    _is_flat_: bool
    _residuals_: tuple[Ranking, ...]

    # --- Fit ------------------------------------------------------------------------------

    @checked_fit
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> KernelRegressor:
        """Fit one machine for each target.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            The training rows; kernel values between them for ``kernel="precomputed"``.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            The targets. Several share the kernel matrix.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows; they multiply C. Rows of weight zero count as absent.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._fit(X, y, sample_weight)
        return self

    def _targets(self, y: Any, sample_weight: Any) -> Numbers:
        return Numbers.of(y, sample_weight)

    def _common_attributes(self, task: FitTask, fitted: Fitted) -> dict[str, Any]:
        found = machine_attributes(task, fitted)
        if is_flat := np.ndim(task.given[1]) == 1:
            found["n_iter_"] = found["n_iter_"].item()
        return found | {"_is_flat_": is_flat}

    def _calibrated(self, task: FitTask, fitted: Fitted) -> Fitted:
        """Keep the residuals of rows that were left out."""
        if getattr(self, "calibration", None) is None or fitted.left_out is None:
            return fitted
        found = fitted.left_out()
        residuals, weights = task.Y[found.rows] - found.decisions, task.sample_weight[found.rows]
        predictions = np.full((len(task.given[1]), task.n_machines), np.nan)
        predictions[task.targets.rows[found.rows]] = found.decisions
        attributes = {
            "calibration_": Bunch(mode="loo", n_rows=len(found.rows)),
            "loo_predictions_": predictions[:, 0] if np.ndim(task.given[1]) == 1 else predictions,
            "_residuals_": tuple(Ranking.of(column, weights) for column in residuals.T),
        }
        return replace(fitted, attributes=dict(fitted.attributes) | attributes)

    # --- Predict --------------------------------------------------------------------------

    def predict(self, X: Any) -> Array:
        """Predict the targets.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows; kernel values against the training rows for ``kernel="precomputed"``.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
            The predicted targets.
        """
        values = self._decisions(X)
        return values[:, 0] if self._is_flat_ else values

    @available_if(needs_calibration("predict_interval"))
    def predict_interval(self, X: Any, confidence_level: float = 0.9) -> tuple[Array, Array]:
        """Return intervals that have the targets at a confidence level.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows; kernel values against the training rows for ``kernel="precomputed"``.
        confidence_level : float, default=0.9
            The share of rows whose interval is to have their target, between 0 and 1.

        Returns
        -------
        low, high : ndarray of shape (n_samples,) or (n_samples, n_targets)
            The ends: the prediction plus quantiles of the residuals of left-out rows, the same for
            all rows.
        """
        check_is_fitted(self)
        if not hasattr(self, "_residuals_"):
            raise NotFittedError(
                f"This {type(self).__name__} was fitted without calibration; fit it again."
            )
        ends = np.array([each.interval(confidence_level) for each in self._residuals_])
        low, high = (self._decisions(X)[:, :, None] + ends).transpose(2, 0, 1)
        return (low[:, 0], high[:, 0]) if self._is_flat_ else (low, high)

    # --- scikit-learn's interface ---------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
