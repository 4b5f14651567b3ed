"""Score a fitted model on rows that it has not seen: metrics, calibration and drift."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from sklearn.base import is_regressor
from sklearn.utils.validation import check_is_fitted

from ..._typing import Array
from ..tabular.encoder import table_encoder
from ..tabular.errors import TableError, quoted
from ..tabular.targets import known_target
from .class_scores import class_metrics
from .drift import Drift, drift_from_training
from .intervals import CalibrationBin, calibration_bins, events
from .number_scores import NumberScoring, coverage_bins, number_metrics
from .scoring import Metric


@dataclass(frozen=True)
class HoldoutScore:
    """The result of `score_model`.

    Parameters
    ----------
    target : str
        The column of the target.
    n_rows, n_left_out : int
        Number of rows that were scored, and of rows without a target.
    classes : dict of str to int
        Number of rows of each class; empty for numbers.
    positive : int or str or None
        The class of the average precision and of the calibration; None with several classes,
        whose areas are means over the classes, each against the rest, and whose calibration is
        that of the most probable class.
    metrics : tuple of Metric
        The metrics; those of probabilities and intervals only where the model gives them.
    calibration : tuple of CalibrationBin
        Bins of rows by rising probability, or one entry per level of the intervals of a number;
        empty without probabilities and intervals.
    drift : tuple of Drift
        The drift of each column against training, the clearest first.
    """

    target: str
    n_rows: int
    n_left_out: int
    classes: dict[str, int]
    positive: Any
    metrics: tuple[Metric, ...]
    calibration: tuple[CalibrationBin, ...]
    drift: tuple[Drift, ...]

    @property
    def calibration_error(self) -> float:
        """Mean distance of expected and observed shares over the rows; NaN without bins."""
        gaps = [bin.rows * abs(bin.observed - bin.expected) for bin in self.calibration]
        return sum(gaps) / sum(bin.rows for bin in self.calibration) if gaps else float("nan")

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
            "drift": [asdict(each) for each in self.drift],
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
        The column of the target.
    positive : int or str, default=None
        The positive one of two classes; None is the rarer one of the table.

    Returns
    -------
    score : HoldoutScore
        Metrics with confidence intervals, calibration, and drift against training.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from kernelwise.app.evaluation import fit_table, score_model
    >>> from kernelwise.app.tabular import check_target
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
    encoder = table_encoder(model)
    if encoder is None:
        raise TableError("the model does not read tables; give a pipeline with a TableEncoder.")
    y, rows = known_target(frame, target, getattr(model, "classes_", None))
    table = frame.iloc[rows].drop(columns=target)
    encoder.require_columns(table)
    encoded, final = model[:-1].transform(table), model[-1]
    scored = _score_numbers if is_regressor(model) else _score_classes
    found = scored(final, encoded, y, positive)
    drift = tuple(drift_from_training(model, table))
    return HoldoutScore(target, len(y), len(frame) - len(y), **found, drift=drift)


def _score_numbers(final: Any, encoded: Any, y: Any, positive: Any) -> dict[str, Any]:
    """Return the fields of the score that depend on the kind of the target."""
    held_out = NumberScoring().predict(final, encoded, np.arange(len(y)), y)
    metrics, bins = tuple(number_metrics(held_out)), coverage_bins(held_out)
    return {"classes": {}, "positive": None, "metrics": metrics, "calibration": bins}


def _score_classes(final: Any, encoded: Any, y: Any, positive: Any) -> dict[str, Any]:
    """Return the fields of the score that depend on the kind of the target."""
    proba = np.asarray(final.predict_proba(encoded)) if hasattr(final, "predict_proba") else None
    decision = proba if proba is not None else _decisions(final, encoded)
    labels, counts = np.unique(y, return_counts=True)
    positive = _positive(labels.tolist(), counts, final.classes_.tolist(), positive)
    metrics = class_metrics(y, final.predict(encoded), decision, proba, final.classes_, positive)
    bins: tuple[CalibrationBin, ...] = ()
    if proba is not None:
        bins = calibration_bins(*events(y, proba, final.classes_, positive))
    classes = dict(zip(map(str, labels), counts.tolist(), strict=True))
    return {
        "classes": classes,
        "positive": positive,
        "metrics": tuple(metrics),
        "calibration": bins,
    }


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
