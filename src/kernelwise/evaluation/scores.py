"""Scores of predictions, each with its standard error."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Array


def score_predictions(
    actual: Any,
    predicted: Any,
    decision: Array | None,
    proba: Array | None = None,
    classes: Any = None,
) -> dict[str, tuple[float, float]]:
    """Return each metric of the predictions with its standard error.

    AUC is for two classes; log loss and Brier score need probabilities of the classes.
    """
    from sklearn.metrics import roc_auc_score

    is_right = predicted == actual
    accuracy = float(is_right.mean())
    labels, counts = np.unique(actual, return_counts=True)
    recalls = np.array([is_right[actual == label].mean() for label in labels])
    recall_error = float(np.sqrt(np.sum(recalls * (1 - recalls) / counts)) / len(labels))
    scores = {
        "accuracy": (accuracy, float(np.sqrt(accuracy * (1 - accuracy) / len(is_right)))),
        "balanced_accuracy": (float(recalls.mean()), recall_error),
    }
    if decision is not None and len(labels) == 2:
        area = float(roc_auc_score(actual == labels[1], decision))
        scores["auc"] = area, _area_error(area, *counts)
    if proba is not None:
        for metric, losses in row_losses(actual, proba, classes).items():
            error = losses.std() / np.sqrt(len(losses))
            scores[metric] = float(losses.mean()), float(error)
    return scores


def row_losses(actual: Any, proba: Array, classes: Any) -> dict[str, Array]:
    """Return the log loss and the Brier score of each row."""
    is_own = np.asarray(actual)[:, None] == np.asarray(classes)
    own = np.clip((proba * is_own).sum(axis=1), np.finfo(np.float64).eps, 1.0)
    squares = ((proba - is_own) ** 2).sum(axis=1)
    return {"log_loss": -np.log(own), "brier": squares / 2 if len(classes) == 2 else squares}


def guess_losses(actual: Any, classes: Any) -> dict[str, Array]:
    """Return the losses of each row if every row is given the shares of the classes."""
    shares = np.array([np.mean(actual == label) for label in classes])
    return row_losses(actual, np.tile(shares, (len(actual), 1)), classes)


def _area_error(area: float, n_negative: int, n_positive: int) -> float:
    """Return the standard error of an area under the ROC curve, by Hanley and McNeil (1982)."""
    q1, q2 = area / (2 - area), 2 * area**2 / (1 + area)
    variance = (
        area * (1 - area) + (n_positive - 1) * (q1 - area**2) + (n_negative - 1) * (q2 - area**2)
    )
    return float(np.sqrt(max(variance, 0.0) / (n_positive * n_negative)))
