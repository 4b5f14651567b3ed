"""Measures of predictions: accuracy, ranking and probabilities."""

from __future__ import annotations

import numpy as np

from ..measure import rounded
from .opponents import Judged

SMALLEST = 1e-6  # probability: a smaller one counts as this in the log loss, for all methods


def measures(y: np.ndarray, judged: Judged) -> dict[str, float | None]:
    """Return the measures of one fit; average precision only for two classes, of class 1."""
    from sklearn.metrics import average_precision_score, balanced_accuracy_score

    two = y.max() == 1
    scores = columns(judged.scores)
    found: dict[str, float | None] = {
        "accuracy": float(np.mean(judged.predicted == y)),
        "balanced_accuracy": float(balanced_accuracy_score(y, judged.predicted)),
        "auc": auc(y, scores),
        "average_precision": float(average_precision_score(y, scores[:, 1])) if two else None,
        "log_loss": None,
        "brier": None,
    }
    if judged.probabilities is not None:
        p = columns(judged.probabilities)
        found["log_loss"] = log_loss(y, p)
        found["brier"] = float(np.mean(np.sum((p - np.eye(p.shape[1])[y]) ** 2, axis=1)))
    return {name: None if value is None else rounded(value) for name, value in found.items()}


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
