"""The results of an evaluation as plain data, for tables, reports and JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._typing import Array, Index
from ..tabular import ClassTarget, Column, Target, Weight


def p_text(value: float) -> str:
    """Format a p-value; "-" where it is NaN because no test was possible."""
    if value != value:
        return "-"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


METRICS = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "auc": "AUC",
    "average_precision": "average precision",
    "log_loss": "log loss",
    "brier": "Brier score",
    "rmse": "RMSE",
    "r2": "R²",
    "mae": "MAE",
    "pinball": "pinball loss",
    "coverage": "coverage of 90 % intervals",
    "width": "width of 90 % intervals",
}
# Metrics where lower is better; of all others, except the coverage, more is better.
LOSSES = {"log_loss", "brier", "rmse", "mae", "pinball", "width"}
# Shares of rows, which reports show in percent, and metrics in the units of the target.
SHARES = {"accuracy", "balanced_accuracy", "coverage"}
UP_TO_1 = SHARES | {"auc", "average_precision"}  # metrics between 0 and 1
UNITS = {"rmse", "mae", "pinball", "width"}


def significant(value: float, digits: int, sign: str = "") -> str:
    """Return a number with some significant digits, without an exponent unless it is very small."""
    if value != value:
        return "-"
    if not value or not math.isfinite(value) or not 1e-6 < abs(value) < 1e15:
        return f"{value:{sign}.{digits}g}"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:{sign}.{decimals}f}"


def value_text(metric: str, value: float) -> str:
    """Return a value of a metric: four digits in the units of the target, else three decimals."""
    if value != value:
        return "-"
    return significant(value, 4) if metric in UNITS else f"{value:.3f}"


def gain(metric: str, value: float) -> float:
    """Return a number that is the larger, the better the value; NaN counts as the worst."""
    if value != value:
        return float("-inf")
    return -value if metric in LOSSES else value


@dataclass(frozen=True)
class Score:
    """The scores of one method on unseen rows.

    Parameters
    ----------
    method : str
        Its name, a key of `methods`.
    label : str
        Its name in tables.
    values : dict of str to ndarray of shape (n_splits,)
        One value per split for each metric. Classes: "accuracy", "balanced_accuracy", "auc" with
        two classes, "log_loss" and "brier" for methods that give probabilities. Numbers: "rmse",
        "r2", "mae", and "pinball", "coverage" and "width" for methods that give intervals.
    errors : dict of str to float
        For each metric the standard error from the rows of one split alone.
    seconds : ndarray of shape (n_splits,)
        Seconds of each fit, without the encoding of the columns.
    failure : str, default=""
        Why the method could not be fitted.
    """

    method: str
    label: str
    values: dict[str, Array]
    errors: dict[str, float]
    seconds: Array
    failure: str = ""

    def mean(self, metric: str) -> float:
        """Return the mean of a metric over the splits.

        Parameters
        ----------
        metric : str
            A key of ``values``.

        Returns
        -------
        mean : float
            The mean; NaN where the metric was not measured.
        """
        values = self.values.get(metric, np.empty(0))
        return float(values.mean()) if len(values) else float("nan")

    def spread(self, metric: str) -> float:
        """Return the uncertainty of a metric.

        Parameters
        ----------
        metric : str
            A key of ``values``.

        Returns
        -------
        spread : float
            The standard deviation over the splits; with one split, the standard error from its
            rows.
        """
        values = self.values.get(metric, np.empty(0))
        if len(values) > 1:
            return float(values.std(ddof=1))
        return self.errors.get(metric, float("nan"))


@dataclass(frozen=True)
class Difference:
    """The lead of the first method over another on the same splits.

    Parameters
    ----------
    method, other : str
        The names of the two methods.
    mean : float
        The mean difference of the metric; positive where the first method is better.
    low, high : float
        The 95 % interval of the mean; NaN where all splits have the same difference other than 0.
    p_value : float
        By the corrected resampled t-test, which allows for rows that splits share; NaN as above.
    """

    method: str
    other: str
    mean: float
    low: float
    high: float
    p_value: float


@dataclass(frozen=True)
class HeldOut:
    """Predictions of a method for unseen rows.

    Parameters
    ----------
    rows : ndarray of int
        Positions of the rows in the table.
    actual, predicted : ndarray
        Their classes or numbers.
    decision : ndarray or None, default=None
        Decision values in favour of the second class; None with more than two classes.
    proba : ndarray of shape (n_rows, n_classes) or None, default=None
        Probabilities of the classes; None where the method gives none.
    ends : ndarray of shape (n_rows, n_levels, 2) or None, default=None
        The ends of intervals of numbers at 50, 80, 90 and 95 %; None where the method gives none.
    """

    rows: Index
    actual: Any
    predicted: Any
    decision: Array | None = None
    proba: Array | None = None
    ends: Array | None = None

    @classmethod
    def joined(cls, parts: Sequence[HeldOut]) -> HeldOut:
        """Return the rows of several parts as one.

        Parameters
        ----------
        parts : sequence of HeldOut
            The parts.

        Returns
        -------
        held_out : HeldOut
            All rows; optional predictions only where every part has them.
        """

        def of(name: str) -> Any:
            values = [getattr(part, name) for part in parts]
            return None if any(value is None for value in values) else np.concatenate(values)

        return cls(*map(of, cls.__dataclass_fields__))


@dataclass(frozen=True)
class Evaluation:
    """The result of `evaluate` or `evaluate_model`.

    Parameters
    ----------
    target : Target
        The target: a `ClassTarget` or a `NumberTarget`.
    columns : tuple of Column
        A description of each column.
    metric : str
        The metric to go by: "log_loss" for classes; "balanced_accuracy" if they were balanced, and
        for methods without probabilities if they differ much in size, else "accuracy". "rmse" for
        numbers.
    protocol : str
        How rows were held out, in words.
    n_splits : int
        Number of splits.
    seed : int
        Seed of the splits and of the methods.
    scores : tuple of Score
        One entry per method, the one under evaluation first.
    differences : tuple of Difference
        The leads of the first method over the others; empty with one split.
    held_out : HeldOut
        Predictions of the first method, in the first repeat of the splits.
    notes : tuple of str
        Remarks for the reader, such as rows that were left out or fits that did not converge.
    weights : tuple of Weight, default=()
        The weights of the columns in the model that was fitted to all rows, if there is one.
    test_ratio : float, default=0.0
        Number of test rows over that of training rows, the mean over the splits. Splits share
        rows, so the variance of a mean difference is that over the splits times
        ``1 / n_splits + test_ratio``.
    guessing : str, default=""
        A sentence where the method is no better than guessing by the distribution of the target:
        its loss on held-out rows is not below that of guessing by one standard error. It is one
        of the notes, too.
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
    guessing: str = ""

    @property
    def better_than_guessing(self) -> bool:
        """Whether held-out rows show that the method predicts better than guessing."""
        return not self.guessing

    @property
    def best(self) -> Score:
        """The score of the method under evaluation."""
        return self.scores[0]

    @property
    def ranked(self) -> list[Score]:
        """All scores, the best by the metric first, and methods that failed last."""
        order = {id(s): (bool(s.failure), -gain(self.metric, s.mean(self.metric)))
                 for s in self.scores}  # fmt: skip
        return sorted(self.scores, key=lambda score: order[id(score)])

    def as_dict(self) -> dict[str, Any]:
        """Return the results as plain data, for JSON.

        Returns
        -------
        results : dict
            Scores, differences, classes and notes; None where a number is not defined.
        """
        target = self.target
        classes = {}
        if isinstance(target, ClassTarget):
            counts = dict(zip(map(str, target.classes), target.counts, strict=True))
            classes = {"classes": counts}
        return {
            "target": target.name,
            "task": target.task,
            **classes,
            "metric": self.metric,
            "protocol": self.protocol,
            "seed": self.seed,
            "scores": [_score_dict(score) for score in self.scores],
            "differences": [_without_nan(vars(difference)) for difference in self.differences],
            "weights": [vars(weight) for weight in self.weights],
            "better_than_guessing": self.better_than_guessing,
            "notes": list(self.notes),
        }


def _without_nan(numbers: dict[str, Any]) -> dict[str, Any]:
    """Replace NaN, which JSON does not have, by None."""
    return {name: None if value != value else value for name, value in numbers.items()}


def _score_dict(score: Score) -> dict[str, Any]:
    numbers: dict[str, Any] = {"method": score.method, "label": score.label}
    if score.failure:
        return numbers | {"failure": score.failure}
    for metric in score.values:
        mean, spread = score.mean(metric), score.spread(metric)
        numbers[metric] = _without_nan(
            {"mean": float(f"{mean:.7g}"), "spread": float(f"{spread:.7g}")}
        )
    return numbers | {"seconds": round(float(score.seconds.mean()), 4)}


_ANY = (-np.inf, np.inf)
_ROUNDING = 1e-9  # relative range of the differences up to which they count as equal


def corrected_interval(differences: Array, test_ratio: float) -> tuple[float, float, float]:
    """Return the mean of the differences per split, its error, and half its 95 % interval.

    The error and the interval are NaN, not 0, where all differences are equal and not 0: with few
    splits of few rows that happens by chance, and does not show how far off the mean may be.
    """
    from scipy import stats

    n, mean = len(differences), float(differences.mean())
    if mean and np.ptp(differences) <= _ROUNDING * abs(mean):
        return mean, float("nan"), float("nan")
    error = float(np.sqrt((1 / n + test_ratio) * differences.var(ddof=1)))
    return mean, error, float(stats.t.ppf(0.975, n - 1)) * error


def compare_scores(scores: Sequence[Score], metric: str, test_ratio: float) -> Iterable[Difference]:
    """Yield the lead of the first score over each other; see `Evaluation.test_ratio`."""
    from scipy import stats

    first, *others = scores
    for other in others:
        if other.failure or metric not in other.values or len(first.values[metric]) < 2:
            continue
        differences = first.values[metric] - other.values[metric]
        differences = -differences if metric in LOSSES else differences
        mean, error, half = corrected_interval(differences, test_ratio)
        t = abs(mean) / error if error else 0.0  # without an error no split has a difference
        p_value = float(2 * stats.t.sf(t, len(differences) - 1))
        limits = (-1, 1) if metric in UP_TO_1 else _ANY
        low, high = np.clip([mean - half, mean + half], *limits).tolist()
        yield Difference(first.method, other.method, mean, low, high, p_value)


def holm(pvalues: Array) -> Array:
    """Return p-values adjusted by Holm's step-down method."""
    order = np.argsort(pvalues, kind="stable")
    factors = np.arange(len(pvalues), 0, -1)
    adjusted = np.empty(len(pvalues))
    adjusted[order] = np.minimum(1, np.maximum.accumulate(factors * pvalues[order]))
    return adjusted
