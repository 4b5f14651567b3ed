"""Probabilities by cross-validation inside the fit, and thresholds that balance two classes."""

from __future__ import annotations

from typing import Any

import numpy as np

N_FOLDS = 5  # of the calibration; fewer where a class has fewer rows
N_FITS = N_FOLDS + 1  # fits of a calibrated classifier: one per fold, and one on all rows
MIN_ROWS = 4  # rows that each class needs


def calibrated(estimator: Any, y: Any, seed: int) -> Any:
    """Return an unfitted classifier with probabilities, by Platt scaling on held-out rows of y."""
    # Imported here because it is slow to import and seldom needed.
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.model_selection import StratifiedKFold

    smallest = int(np.unique(y, return_counts=True)[1].min())
    folds = StratifiedKFold(min(N_FOLDS, smallest), shuffle=True, random_state=seed)
    return CalibratedClassifierCV(estimator, ensemble=False, cv=folds)


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
