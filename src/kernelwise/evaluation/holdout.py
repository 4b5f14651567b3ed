"""Score a fitted model on rows that it has not seen: metrics, calibration and drift."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._typing import Array
from ..tabular.errors import TableError, quoted
from ..tabular.labels import known_labels
from ..tabular.pipeline import table_encoder
from .calibration import CalibrationBin, calibration_bins, events
from .drift import Drift, drift_from_training
from .intervals import ConfidenceInterval, mean_of, of_area, of_mean, of_mean_share, of_share
from .results import METRICS
from .scores import guess_losses, row_losses


@dataclass(frozen=True)
class Metric:
    """A metric with its 95 % confidence interval.

    Parameters
    ----------
    name : str
        "accuracy", "balanced_accuracy", "auc", "average_precision", "log_loss" or "brier".
    value, low, high : float
        The metric and its interval.
    guess : float
        What guessing by the shares of the classes in this table gets.
    """

    name: str
    value: float
    low: float
    high: float
    guess: float

    @property
    def label(self) -> str:
        """Name of the metric in tables."""
        return METRICS[self.name]


@dataclass(frozen=True)
class HoldoutScore:
    """The result of `score_model`.

    Parameters
    ----------
    target : str
        The column of the classes.
    n_rows, n_left_out : int
        Number of rows that were scored, and of rows without a class.
    classes : dict of str to int
        Number of rows of each class.
    positive : int or str or None
        The class of the average precision and of the calibration; None with several classes,
        whose areas are means over the classes, each against the rest, and whose calibration is
        that of the most probable class.
    metrics : tuple of Metric
        The metrics; those of probabilities only where the model gives them.
    calibration : tuple of CalibrationBin
        Bins of rows by rising probability; empty without probabilities.
    drift : tuple of Drift or None
        The drift of each column against training, the clearest first; None where the model does
        not know its training table.
    """

    target: str
    n_rows: int
    n_left_out: int
    classes: dict[str, int]
    positive: Any
    metrics: tuple[Metric, ...]
    calibration: tuple[CalibrationBin, ...]
    drift: tuple[Drift, ...] | None

    @property
    def calibration_error(self) -> float:
        """Mean distance of expected and observed shares over the rows; NaN without bins."""
        gaps = [bin.rows * abs(bin.observed - bin.expected) for bin in self.calibration]
        return sum(gaps) / self.n_rows if gaps else float("nan")

    def as_dict(self) -> dict[str, Any]:
        """Return the results as plain data, for JSON.

        Returns
        -------
        results : dict
            The parameters by name; metrics are a dict by name.
        """
        metrics = {each.name: asdict(each) for each in self.metrics}
        for each in metrics.values():
            del each["name"]
        return asdict(self) | {
            "metrics": metrics,
            "calibration": [asdict(bin) for bin in self.calibration],
            "calibration_error": self.calibration_error,
            "drift": None if self.drift is None else [asdict(each) for each in self.drift],
        }


def score_model(model: Any, frame: Any, target: str, *, positive: Any = None) -> HoldoutScore:
    """Score a fitted model on a table that took no part in its fit.

    Parameters
    ----------
    model : sklearn.pipeline.Pipeline
        A fitted pipeline that starts with a `TableEncoder`, such as one of `fit_table`.
    frame : pandas.DataFrame
        The table.
    target : str
        The column of the classes.
    positive : int or str, default=None
        The positive one of two classes; None is the rarer one of the table.

    Returns
    -------
    score : HoldoutScore
        Metrics with confidence intervals, calibration, and drift against training.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from kernelwise.evaluation import fit_table, score_model
    >>> from kernelwise.tabular import check_target
    >>> rng = np.random.default_rng(0)
    >>> frame = pd.DataFrame(rng.normal(size=(200, 2)), columns=["a", "b"])
    >>> frame["kind"] = np.where(frame["a"] > 0, "large", "small")
    >>> train, test = frame[:100], frame[100:]
    >>> model = fit_table(train, check_target(train, "kind"))
    >>> for metric in score_model(model, test, "kind").metrics[:2]:
    ...     print(f"{metric.label} {metric.value:.2f} ({metric.low:.2f} to {metric.high:.2f})")
    accuracy 1.00 (0.96 to 1.00)
    balanced accuracy 1.00 (0.95 to 1.00)
    """
    check_is_fitted(model)
    y, rows = known_labels(frame, target, model.classes_)
    table = frame.iloc[rows].drop(columns=target)
    encoder = table_encoder(model)
    if encoder is not None:
        encoder.require_columns(table)
    encoded, final = (table, model) if encoder is None else (model[:-1].transform(table), model[-1])
    proba = np.asarray(final.predict_proba(encoded)) if hasattr(final, "predict_proba") else None
    decision = proba if proba is not None else _decisions(final, encoded)
    labels, counts = np.unique(y, return_counts=True)
    positive = _positive(labels.tolist(), counts, model.classes_.tolist(), positive)
    metrics = _label_metrics(y, final.predict(encoded))
    metrics += _area_metrics(y, decision, model.classes_, positive)
    bins: tuple[CalibrationBin, ...] = ()
    if proba is not None:
        metrics += _probability_metrics(y, proba, model.classes_)
        bins = calibration_bins(*events(y, proba, model.classes_, positive))
    drift = drift_from_training(model, table)
    return HoldoutScore(
        target,
        len(y),
        len(frame) - len(y),
        dict(zip(map(str, labels), counts.tolist(), strict=True)),
        positive,
        tuple(metrics),
        bins,
        None if drift is None else tuple(drift),
    )


def _decisions(final: Any, encoded: Any) -> Array:
    """Return one column of decision values per class."""
    values = np.asarray(final.decision_function(encoded))
    return np.column_stack([-values, values]) if values.ndim == 1 else values


def _positive(labels: list[Any], counts: Any, classes: list[Any], wanted: Any) -> Any:
    if len(classes) != 2:
        return None
    if wanted is not None:
        named = {str(label): label for label in classes}
        if str(wanted) not in named:
            raise TableError(f"positive={wanted!r} is not a class of the model: {quoted(named)}.")
        return named[str(wanted)]
    return labels[int(counts.argmin())]


def _metric(name: str, interval: ConfidenceInterval, guess: float) -> Metric:
    return Metric(name, interval.value, interval.low, interval.high, float(guess))


def _label_metrics(y: Any, predicted: Any) -> list[Metric]:
    labels, counts = np.unique(y, return_counts=True)
    is_right = predicted == y
    recalls = np.array([is_right[y == label].mean() for label in labels])
    return [
        _metric("accuracy", of_share(float(is_right.mean()), len(y)), counts.max() / len(y)),
        _metric("balanced_accuracy", of_mean_share(recalls, counts), 1 / len(labels)),
    ]


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
        areas.append(of_area(float(roc_auc_score(is_own, own)), n_own, len(y) - n_own))
        # The precision at each found row has the variance of a share (Boyd, Eng and Page 2013).
        precisions.append(of_share(float(average_precision_score(is_own, own)), n_own))
        shares.append(n_own / len(y))
    return [
        _metric("auc", mean_of(areas), 0.5),
        _metric("average_precision", mean_of(precisions), sum(shares) / len(shares)),
    ]


def _probability_metrics(y: Any, proba: Array, classes: Any) -> list[Metric]:
    guesses = guess_losses(y, classes)
    return [
        _metric(name, of_mean(losses), guesses[name].mean())
        for name, losses in row_losses(y, proba, classes).items()
    ]
