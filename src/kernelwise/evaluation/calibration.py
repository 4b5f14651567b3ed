"""Probabilities by cross-validation inside the fit, and thresholds that balance two classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..svm.base.probability import N_FOLDS, calibrated

N_FITS = N_FOLDS + 1  # fits of a calibrated classifier: one per fold, and one on all rows
MIN_ROWS = 4  # rows that each class needs

__all__ = ["MIN_ROWS", "N_FITS", "balanced_by_threshold", "calibrated"]


def balanced_by_threshold(estimator: Any, y: Any) -> Any:
    """Return a classifier of two classes that predicts the second where it exceeds its share of y.

    Given the probabilities, this is the best choice where both classes count alike.
    """
    from sklearn.model_selection import FixedThresholdClassifier

    classes, counts = np.unique(y, return_counts=True)
    return FixedThresholdClassifier(
        estimator,
        threshold=float(counts[1] / counts.sum()),
        pos_label=classes.tolist()[1],
        response_method="predict_proba",
    )
