"""Scores of predictions, each with its standard error."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Array


def judge(actual: Any, predicted: Any, decision: Array | None) -> dict[str, tuple[float, float]]:
    """Return each metric of some predictions, with its standard error."""
    from sklearn.metrics import roc_auc_score

    right = predicted == actual
    p = float(right.mean())
    labels, counts = np.unique(actual, return_counts=True)
    recalls = np.array([right[actual == label].mean() for label in labels])
    error = float(np.sqrt(np.sum(recalls * (1 - recalls) / counts)) / len(labels))
    found = {
        "accuracy": (p, float(np.sqrt(p * (1 - p) / len(right)))),
        "balanced_accuracy": (float(recalls.mean()), error),
    }
    if decision is not None and len(labels) == 2:
        area = float(roc_auc_score(actual == labels[1], decision))
        found["auc"] = area, _error_of_area(area, *counts)
    return found


def _error_of_area(area: float, n_no: int, n_yes: int) -> float:
    """Return the standard error of an area under the curve, by Hanley and McNeil."""
    q1, q2 = area / (2 - area), 2 * area**2 / (1 + area)
    variance = area * (1 - area) + (n_yes - 1) * (q1 - area**2) + (n_no - 1) * (q2 - area**2)
    return float(np.sqrt(max(variance, 0.0) / (n_yes * n_no)))
