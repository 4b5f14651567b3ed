"""Probabilities by a cross-validation inside the fit, and classes that count alike by them."""

from __future__ import annotations

from typing import Any

import numpy as np

_FOLDS = 5
FITS = _FOLDS + 1
FEWEST = 4  # rows of a class


def rows_of_classes(y: Any) -> tuple[Any, Any]:
    """Return the classes and how many rows each has."""
    return np.unique(y, return_counts=True)


def calibrated(estimator: Any, y: Any, seed: int) -> Any:
    """Return a classifier with probabilities, in ``FITS`` fits in place of one."""
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.model_selection import StratifiedKFold

    smallest = int(rows_of_classes(y)[1].min())
    folds = StratifiedKFold(min(_FOLDS, smallest), shuffle=True, random_state=seed)
    return CalibratedClassifierCV(estimator, ensemble=False, cv=folds)


def above_its_share(estimator: Any, y: Any) -> Any:
    """Return a classifier of two classes that takes the one more probable than its share of y.

    That is the best choice by given probabilities where both classes count alike.
    """
    from sklearn.model_selection import FixedThresholdClassifier

    classes, counts = rows_of_classes(y)
    return FixedThresholdClassifier(
        estimator,
        threshold=float(counts[1] / counts.sum()),
        pos_label=classes.tolist()[1],
        response_method="predict_proba",
    )
