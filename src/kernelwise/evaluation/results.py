"""What an evaluation has found: plain data, for tables, reports and machines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import Array, Index
from ..tabular import Column, Target, Weight

METRICS = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "auc": "AUC",
}


@dataclass(frozen=True)
class Score:
    """How well a method does on rows that it has not seen.

    Parameters
    ----------
    method : str
        Its name, as in `methods`.
    label : str
        What to call it in tables.
    values : dict of str to ndarray
        For each metric ("accuracy", "balanced_accuracy" and, with two classes, "auc") a value a
        split.
    errors : dict of str to float
        For each metric the standard error from the rows of one split alone.
    seconds : ndarray of shape (n_splits,)
        How long each fit took, without the encoding.
    failure : str, default=""
        Why it could not be fitted.
    """

    method: str
    label: str
    values: dict[str, Array]
    errors: dict[str, float]
    seconds: Array
    failure: str = ""

    def mean(self, metric: str) -> float:
        """Return the mean over the splits.

        Parameters
        ----------
        metric : str
            A key of ``values``.

        Returns
        -------
        mean : float
            The mean; NaN where there is none.
        """
        values = self.values.get(metric, np.empty(0))
        return float(values.mean()) if len(values) else float("nan")

    def spread(self, metric: str) -> float:
        """Return how far the value may be off.

        Parameters
        ----------
        metric : str
            A key of ``values``.

        Returns
        -------
        spread : float
            The standard deviation over the splits; with one split the standard error from its
            rows.
        """
        values = self.values.get(metric, np.empty(0))
        if len(values) > 1:
            return float(values.std(ddof=1))
        return self.errors.get(metric, float("nan"))


@dataclass(frozen=True)
class Difference:
    """How much better the first method is than another, on the same splits.

    Parameters
    ----------
    method, other : str
        The methods.
    mean : float
        The mean difference of the metric.
    low, high : float
        Its interval of 95 %; NaN where all splits have the same difference but 0.
    p_value : float
        By the corrected resampled t-test, which knows that splits share rows; NaN as above.
    """

    method: str
    other: str
    mean: float
    low: float
    high: float
    p_value: float


@dataclass(frozen=True)
class HeldOut:
    """What the first method said of rows that it has not seen, in the first round of splits.

    Parameters
    ----------
    rows : ndarray of int
        Places of the rows in the table.
    actual, predicted : ndarray
        Their classes.
    decision : ndarray or None
        Decision values in favour of the second class; None with more than two.
    """

    rows: Index
    actual: Any
    predicted: Any
    decision: Array | None


@dataclass(frozen=True)
class Evaluation:
    """What `evaluate` or `compare` has found.

    Parameters
    ----------
    target : Target
        The classes.
    columns : tuple of Column
        What was made of each column.
    metric : str
        What counts: "accuracy", or "balanced_accuracy" where the classes differ much in size or
        were made to count alike.
    protocol : str
        How rows were held out, in words.
    n_splits : int
        The splits.
    seed : int
        What the splits and the methods were seeded with.
    scores : tuple of Score
        One a method, the one in question first.
    differences : tuple of Difference
        Of the first method to the others; none with one split.
    held_out : HeldOut
        Predictions of the first method.
    notes : tuple of str
        What is worth a word: rows left out, fits that did not converge.
    weights : tuple of Weight, default=()
        How much the columns count for the model of all rows, once there is one.
    test_ratio : float, default=0.0
        Test rows over training rows, the mean over the splits. Splits share rows, so the variance
        of a mean difference is that of the splits times ``1 / n_splits + test_ratio``.
    """

    target: Target
    columns: tuple[Column, ...]
    metric: str
    protocol: str
    n_splits: int
    seed: int
    scores: tuple[Score, ...]
    differences: tuple[Difference, ...]
    held_out: HeldOut
    notes: tuple[str, ...]
    weights: tuple[Weight, ...] = ()
    test_ratio: float = 0.0

    @property
    def best(self) -> Score:
        """The score of the method in question."""
        return self.scores[0]

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers as plain data, for JSON.

        Returns
        -------
        numbers : dict
            Scores, differences, classes and notes; None where a number is not defined.
        """
        return {
            "target": self.target.name,
            "classes": dict(zip(map(str, self.target.classes), self.target.counts, strict=True)),
            "metric": self.metric,
            "protocol": self.protocol,
            "seed": self.seed,
            "scores": [_score_dict(score) for score in self.scores],
            "differences": [_known(vars(difference)) for difference in self.differences],
            "weights": [vars(weight) for weight in self.weights],
            "notes": list(self.notes),
        }


def _known(numbers: dict[str, Any]) -> dict[str, Any]:
    """Return None in the place of NaN, which JSON does not have."""
    return {name: None if value != value else value for name, value in numbers.items()}


def _score_dict(score: Score) -> dict[str, Any]:
    numbers: dict[str, Any] = {"method": score.method, "label": score.label}
    if score.failure:
        return numbers | {"failure": score.failure}
    for metric in score.values:
        mean, spread = score.mean(metric), score.spread(metric)
        numbers[metric] = _known({"mean": round(mean, 6), "spread": round(spread, 6)})
    return numbers | {"seconds": round(float(score.seconds.mean()), 4)}
