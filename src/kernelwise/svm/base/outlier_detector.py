"""The base class of the outlier detectors: rows in, one machine around them, +1 or -1 out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import OutlierMixin
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

ROUNDING = 1e-9  # decision value, relative to the offset, that counts as zero


class KernelOutlierDetector(OutlierMixin, KernelMachine):
    """Base of the outlier detectors. A method fills in the hooks of `KernelMachine`."""

    offset_: Array
    _ranks_: Ranking

    # --- Fit ------------------------------------------------------------------------------

    @checked_fit
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> KernelOutlierDetector:
        """Fit the machine.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            The training rows; kernel values between them for ``kernel="precomputed"``.
        y : object, default=None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. Rows of weight zero count as absent.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._fit(X, None, sample_weight)
        return self

    def _targets(self, y: Any, sample_weight: Any) -> Numbers:
        """Return +1 for each row, as all of them belong."""
        return Numbers.of(y, sample_weight)

    def _common_attributes(self, task: FitTask, fitted: Fitted) -> dict[str, Any]:
        found = machine_attributes(task, fitted)
        return found | {"n_iter_": found["n_iter_"].item(), "offset_": -found["intercept_"]}

    def _calibrated(self, task: FitTask, fitted: Fitted) -> Fitted:
        """Keep the decision values of rows that were left out."""
        if getattr(self, "calibration", None) is None or fitted.left_out is None:
            return fitted
        found = fitted.left_out()
        attributes = {
            "calibration_": Bunch(mode="loo", n_rows=len(found.rows)),
            "_ranks_": Ranking.of(found.decisions[:, 0], task.sample_weight[found.rows]),
        }
        return replace(fitted, attributes=dict(fitted.attributes) | attributes)

    # --- Predict --------------------------------------------------------------------------

    def decision_function(self, X: Any) -> Array:
        """Evaluate the decision values.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows; kernel values against the training rows for ``kernel="precomputed"``.

        Returns
        -------
        decisions : ndarray of shape (n_samples,)
            Positive inside the boundary, zero on it, negative outside.
        """
        values = self._decisions(X)[:, 0]
        # Rounding must not decide on which side of the boundary its own rows are.
        values[np.abs(values) <= ROUNDING * np.abs(self.offset_)] = 0.0
        return values

    def score_samples(self, X: Any) -> Array:
        """Evaluate the decision values without the offset.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows; kernel values against the training rows for ``kernel="precomputed"``.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            The larger, the more like the training rows.
        """
        return self.decision_function(X) + self.offset_

    def predict(self, X: Any) -> Any:
        """Say which rows are like the training rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows; kernel values against the training rows for ``kernel="precomputed"``.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            +1 inside the boundary and on it, -1 outside.
        """
        return np.where(self.decision_function(X) >= 0, 1, -1)

    @available_if(needs_calibration("predict_proba"))
    def predict_proba(self, X: Any) -> Array:
        """Compute how usual each row is among rows like the training rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows; kernel values against the training rows for ``kernel="precomputed"``.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, 2)
            The second column is the probability that a row from the source of the training rows
            has a decision value of at most that of the row: a conformal p-value, from training
            rows that were left out. Of such rows at most 5 % have less than 0.05. The first
            column is one minus that.
        """
        check_is_fitted(self)
        if not hasattr(self, "_ranks_"):
            raise NotFittedError(
                f"This {type(self).__name__} was fitted without calibration; fit it again."
            )
        inside = self._ranks_.shares(self.decision_function(X))
        return np.column_stack([1 - inside, inside])
