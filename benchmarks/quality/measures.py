"""Measures of predictions: of classes and their probabilities, and of numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..measure import rounded
from .contenders import Predictions

SMALLEST = 1e-6  # probability: a smaller one counts as this in the log loss, for all methods
LEAST_ERROR = 0.01  # a smaller error counts as this in a ratio of two of them
LEVEL = 0.9  # confidence of sets and intervals
IN_PERCENT = {"accuracy", "balanced_accuracy", "auc", "average_precision", "r2", "coverage"}
LOWER_IS_BETTER = {"log_loss", "brier", "rmse", "error"}
LABELS = {
    "accuracy": "accuracy", "balanced_accuracy": "balanced accuracy", "auc": "AUC",
    "average_precision": "average precision", "log_loss": "log loss", "r2": "R²",
    "rmse": "RMSE / sd",
}  # fmt: skip


def of_classes(y: np.ndarray, found: Predictions) -> dict[str, float | None]:
    """Return the measures of one fit; average precision only for two classes, of class 1."""
    from sklearn.metrics import average_precision_score, balanced_accuracy_score

    assert found.scores is not None
    scores = columns(found.scores)
    values: dict[str, float | None] = {
        "accuracy": float(np.mean(found.predicted == y)),
        "balanced_accuracy": float(balanced_accuracy_score(y, found.predicted)),
        "auc": auc(y, scores),
        "average_precision": None,
        "log_loss": None,
        "brier": None,
    }
    if y.max() == 1:
        values["average_precision"] = float(average_precision_score(y, scores[:, 1]))
    if found.probabilities is not None:
        p = columns(found.probabilities)
        values["log_loss"] = log_loss(y, p)
        values["brier"] = float(np.mean(np.sum((p - np.eye(p.shape[1])[y]) ** 2, axis=1)))
    return {name: None if value is None else rounded(value) for name, value in values.items()}


def of_numbers(y: np.ndarray, found: Predictions) -> dict[str, float | None]:
    """Return R² and the root mean squared error in standard deviations of the target."""
    squared = float(np.mean((y - found.predicted) ** 2)) / float(np.var(y))
    return {"r2": rounded(1 - squared), "rmse": rounded(float(np.sqrt(squared)))}


def error(row: Mapping[str, Any]) -> float | None:
    """Return the error by which methods are compared: RMSE, log loss, or 1 - AUC of two classes."""
    if "rmse" in row:
        return float(row["rmse"])
    if row["classes"] > 2:
        return None if row["log_loss"] is None else float(row["log_loss"])
    return 1 - float(row["auc"])


def coverage(y: np.ndarray, model: object, X: object) -> dict[str, float]:
    """Return how often sets of classes, or intervals, hold the truth, and their mean size.

    The width of an interval is in standard deviations of the target.
    """
    if hasattr(model, "predict_set"):
        held = columns(np.asarray(model.predict_set(X, confidence_level=LEVEL)))
        inside, size = held[np.arange(len(y)), y], held.sum(axis=1)
    else:
        low, high = model.predict_interval(X, confidence_level=LEVEL)  # type: ignore[attr-defined]
        inside, size = (low <= y) & (y <= high), (high - low) / np.std(y)
    return {"coverage": rounded(float(np.mean(inside))), "size": rounded(float(np.mean(size)))}


def columns(scores: np.ndarray) -> np.ndarray:
    """Return scores with one column per class; one of two classes alone is that of class 1."""
    if scores.ndim == 1 or scores.shape[1] == 1:
        scores = np.ravel(scores)
        return np.column_stack([-scores, scores])
    return scores


def auc(y: np.ndarray, scores: np.ndarray) -> float:
    """Return the area under the ROC curve: the mean over the classes of each against the rest."""
    from sklearn.metrics import roc_auc_score

    classes = range(1, 2) if scores.shape[1] == 2 else range(scores.shape[1])
    return float(np.mean([roc_auc_score(y == label, scores[:, label]) for label in classes]))


def log_loss(y: np.ndarray, probabilities: np.ndarray) -> float:
    """Return the mean negative logarithm of the probability of the true class."""
    own = probabilities[np.arange(len(y)), y]
    return float(-np.mean(np.log(np.maximum(own, SMALLEST))))
