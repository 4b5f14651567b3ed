"""Scores of predicted classes and of their probabilities."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._typing import Array, Index
from ..tabular import ClassTarget
from .intervals import (
    area_interval,
    mean_interval,
    mean_of_intervals,
    mean_share_interval,
    share_interval,
)
from .results import HeldOut
from .scoring import Metric, with_interval


@dataclass(frozen=True)
class ClassScoring:
    """Predictions of classes; the log loss decides where there are probabilities."""

    target: ClassTarget

    def predict(self, model: Any, X: Any, rows: Index, actual: Any) -> HeldOut:
        """Return all that a fitted model predicts for some rows."""
        proba = None
        if np.array_equal(model.classes_, self.target.classes) and hasattr(model, "predict_proba"):
            proba = np.asarray(model.predict_proba(X))
        return HeldOut(rows, actual, model.predict(X), _decision_values(model, X), proba)

    def scores(self, held_out: HeldOut) -> dict[str, tuple[float, float]]:
        """Return each metric with its standard error."""
        return score_predictions(held_out, self.target.classes)

    def default_metric(self, measured: Collection[str], balanced: bool) -> str:
        """Return the metric to go by, of those that were measured."""
        if not balanced and "log_loss" in measured:
            return "log_loss"
        return "balanced_accuracy" if self.target.skewed or balanced else "accuracy"

    def losses(self, held_out: HeldOut) -> tuple[str, Array, Array] | None:
        """Return the loss of each row, and that of guessing by the shares of the classes.

        Without probabilities a wrong class costs the inverse of its share, as in the balanced
        accuracy.
        """
        actual, classes = held_out.actual, self.target.classes
        if held_out.proba is not None:
            own = row_losses(actual, held_out.proba, classes)["log_loss"]
            return "log loss", own, guess_losses(actual, classes)["log_loss"]
        labels, number, counts = np.unique(actual, return_inverse=True, return_counts=True)
        weight = len(actual) / (len(labels) * counts[number])
        wrong = (held_out.predicted != actual) * weight
        return "balanced error rate", wrong, weight * (1 - 1 / len(labels))


def _decision_values(model: Any, X: Any) -> Array | None:
    """Return decision values or probabilities of the second of two classes, else None."""
    if len(model.classes_) != 2:
        return None
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(X))
    return np.asarray(model.predict_proba(X)[:, 1])


def score_predictions(held_out: HeldOut, classes: Any) -> dict[str, tuple[float, float]]:
    """Return each metric of the predictions with its standard error.

    AUC is for two classes; log loss and Brier score need probabilities of the classes.
    """
    from sklearn.metrics import roc_auc_score

    actual, is_right = held_out.actual, held_out.predicted == held_out.actual
    accuracy = float(is_right.mean())
    labels, counts = np.unique(actual, return_counts=True)
    recalls = np.array([is_right[actual == label].mean() for label in labels])
    recall_error = float(np.sqrt(np.sum(recalls * (1 - recalls) / counts)) / len(labels))
    scores = {
        "accuracy": (accuracy, float(np.sqrt(accuracy * (1 - accuracy) / len(is_right)))),
        "balanced_accuracy": (float(recalls.mean()), recall_error),
    }
    if held_out.decision is not None and len(labels) == 2:
        area = float(roc_auc_score(actual == labels[1], held_out.decision))
        scores["auc"] = area, _area_error(area, *counts)
    if held_out.proba is not None:
        for metric, losses in row_losses(actual, held_out.proba, classes).items():
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


# --- Metrics with confidence intervals ------------------------------------------------------------


def class_metrics(y: Any, predicted: Any, decision: Array, proba: Array | None, classes: Any,
                  positive: Any) -> list[Metric]:  # fmt: skip
    """Return the metrics of one table with their intervals, beside guessing.

    Areas are of the positive class, or means over the classes, each against the rest.
    """
    labels, counts = np.unique(y, return_counts=True)
    is_right = predicted == y
    recalls = np.array([is_right[y == label].mean() for label in labels])
    metrics = [
        with_interval(
            "accuracy", share_interval(float(is_right.mean()), len(y)), counts.max() / len(y)
        ),
        with_interval("balanced_accuracy", mean_share_interval(recalls, counts), 1 / len(labels)),
        *_area_metrics(y, decision, classes, positive),
    ]
    if proba is not None:
        guesses = guess_losses(y, classes)
        metrics += [
            with_interval(name, mean_interval(losses), guesses[name].mean())
            for name, losses in row_losses(y, proba, classes).items()
        ]
    return metrics


def _area_metrics(y: Any, decision: Array, classes: Any, positive: Any) -> list[Metric]:
    """Return the areas under two curves: of the positive class, or the means over all classes."""
    from sklearn.metrics import average_precision_score, roc_auc_score

    present = [label for label in classes.tolist() if 0 < np.sum(y == label) < len(y)]
    if not present or (decision.shape[1] != len(classes)):
        return []
    areas, precisions, shares = [], [], []
    for label in present if positive is None else [positive]:
        is_own, own = y == label, decision[:, classes == label].ravel()
        n_own = int(is_own.sum())
        areas.append(area_interval(float(roc_auc_score(is_own, own)), n_own, len(y) - n_own))
        # The precision at each found row has the variance of a share (Boyd, Eng and Page 2013).
        precisions.append(share_interval(float(average_precision_score(is_own, own)), n_own))
        shares.append(n_own / len(y))
    return [
        with_interval("auc", mean_of_intervals(areas), 0.5),
        with_interval(
            "average_precision", mean_of_intervals(precisions), sum(shares) / len(shares)
        ),
    ]
