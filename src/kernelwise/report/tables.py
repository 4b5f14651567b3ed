"""The rows of the tables of the page, as plain data."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import Array
from ..evaluation import CalibrationBin, Difference, Evaluation, HeldOut, Score
from ..evaluation.calibration import calibration_bins, events
from ..evaluation.results import LOSSES, METRICS
from ..evaluation.scores import score_predictions
from ..inspection import ModelChecks, WeightStability
from ..tabular import Target, Weight

_MAX_PARTS = 8  # features of a column that are named
_PLAIN = {"auc", "average_precision", *LOSSES}  # metrics that are not shown in percent


@dataclass(frozen=True)
class WeightRow:
    """A row of the table of weights; all shares in percent."""

    name: str
    share: float
    parts: str
    low: float | None
    high: float | None
    selected: float | None
    loss: float | None = None
    loss_spread: float | None = None
    verdict: str = ""
    p_value: float | None = None


@dataclass(frozen=True)
class ScoreRow:
    """A row of the comparison, with the difference from the evaluated method."""

    score: Score
    cells: tuple[str, ...]
    values: tuple[float, ...]
    difference: Difference | None


@dataclass(frozen=True)
class Confusion:
    """Counts of held-out rows by actual class (rows) and predicted class (columns)."""

    classes: tuple[Any, ...]
    counts: Any

    @property
    def recall(self) -> Array:
        """Share of each class that was predicted correctly."""
        return _ratio(self.counts.diagonal(), self.counts.sum(axis=1))

    @property
    def precision(self) -> Array:
        """Share of the predictions of each class that are correct."""
        return _ratio(self.counts.diagonal(), self.counts.sum(axis=0))


@dataclass(frozen=True)
class Reliability:
    """Shares of held-out rows of a class by its probability, or by the decision value.

    With more than two classes the class is the most probable one of each row.
    """

    label: str
    bins: tuple[CalibrationBin, ...]
    probabilities: bool
    brier: float | None
    log_loss: float | None = None


def weight_rows(
    weights: tuple[Weight, ...],
    stability: WeightStability | None,
    checks: ModelChecks | None = None,
) -> tuple[WeightRow, ...]:
    """Return the weights, with their range over resamples and their checks where those are known.

    The loss is how much the log loss grows, or the accuracy falls, when a column is shuffled.
    """
    position = {} if stability is None else {n: k for k, n in enumerate(stability.feature_names)}
    verdicts = None if checks is None else checks.verdicts
    losses = _losses(checks)
    rows = []
    for weight in weights:
        low = high = selected = None
        own = [position[name] for name in weight.features if name in position]
        if stability is not None and own:
            shares = stability.shares[:, own].sum(axis=1)
            low, high = (100 * np.quantile(shares, stability.levels)).tolist()
            selected = 100 * float(np.asarray(stability.selected)[:, own].any(axis=1).mean())
        loss, loss_spread = losses.get(weight.column, (None, None))
        rows.append(
            WeightRow(
                weight.column,
                100 * weight.share,
                _parts(weight),
                low,
                high,
                selected,
                loss,
                loss_spread,
                "" if verdicts is None else verdicts.verdict(weight.column),
                None if verdicts is None else verdicts.adjusted.get(weight.column),
            )
        )
    return tuple(rows)


def _losses(checks: ModelChecks | None) -> dict[str, tuple[float | None, float | None]]:
    """Return the cost of shuffling each column, and half its interval, where measured."""
    if checks is None or checks.importance is None:
        return {}
    check = checks.importance
    spreads = (check.high - check.low) / 2
    found = zip(check.feature_names, check.loss.tolist(), spreads.tolist(), strict=True)
    return {name: (mean, spread) for name, mean, spread in found if mean == mean}


def _parts(weight: Weight) -> str:
    """Name the features made from a column, the largest weight first; "" where there is one."""
    if len(weight.features) == 1:
        return ""
    parts = sorted(weight.features.items(), key=lambda part: -part[1])
    prefix = f"{weight.column}: "  # which stands above them
    named = [
        f"{name.removeprefix(prefix)} {100 * share:.1f} %" for name, share in parts[:_MAX_PARTS]
    ]
    rest = len(parts) - _MAX_PARTS
    return ", ".join(named) + (f" and {rest} more" if rest > 0 else "")


def tiles(evaluation: Evaluation) -> list[tuple[str, str, str]]:
    """Return the name, value and spread of each metric of the evaluated method."""
    best, found = evaluation.best, []
    for metric in metrics_of(evaluation):
        value, spread = best.mean(metric), best.spread(metric)
        if metric in _PLAIN:
            found.append((METRICS[metric], f"{value:.3f}", f"{spread:.3f}"))
        else:
            found.append((METRICS[metric], f"{100 * value:.1f} %", f"{100 * spread:.1f}"))
    return found


def metrics_of(evaluation: Evaluation) -> dict[str, str]:
    """Return the headings of the measured metrics, that of the evaluation first."""
    names = [evaluation.metric, *(name for name in METRICS if name != evaluation.metric)]
    measured = [name for name in names if name in evaluation.best.values]
    return {name: METRICS[name] + ("" if name in _PLAIN else ", %") for name in measured}


def value_text(metric: str, value: float, spread: float) -> str:
    """Return a score with its spread: shares of rows in percent, others as they are."""
    if value != value:
        return "-"
    if metric in _PLAIN:
        return f"{value:.3f}\u00a0±\u00a0{spread:.3f}"
    return f"{100 * value:.1f}\u00a0±\u00a0{100 * spread:.1f}"


def score_rows(evaluation: Evaluation) -> list[ScoreRow]:
    """Return one row per method, the best first and failed ones last."""
    gaps = {each.other: _from_first(each) for each in evaluation.differences}
    metrics = metrics_of(evaluation)
    rows = []
    for score in evaluation.scores:
        found = () if score.failure else tuple(metrics)
        cells = tuple(value_text(m, score.mean(m), score.spread(m)) for m in found)
        values = tuple(score.mean(m) for m in found)
        rows.append(ScoreRow(score, cells, values, gaps.get(score.method)))
    return sorted(rows, key=lambda row: (bool(row.score.failure), [-v for v in row.values[:1]]))


def _from_first(lead: Difference) -> Difference:
    """Turn the lead of the first method into the other's difference from it, in points."""
    mean, low, high = -100 * lead.mean, -100 * lead.high, -100 * lead.low
    return Difference(lead.other, lead.method, mean, low, high, lead.p_value)


def confusion(held_out: HeldOut, target: Target) -> Confusion:
    """Count held-out rows by actual and predicted class."""
    from sklearn.metrics import confusion_matrix

    labels = list(target.classes)
    counts = confusion_matrix(held_out.actual, held_out.predicted, labels=labels)
    return Confusion(target.classes, counts)


def reliability(held_out: HeldOut, target: Target) -> Reliability | None:
    """Return the share of a class by its probability, or by the decision value of two classes.

    None where there is neither, or with too few rows.
    """
    values, yes = _judged(held_out, target)
    bins = calibration_bins(values, yes) if len(values) else ()
    if len(bins) < 2:
        return None
    is_binary = len(target.classes) == 2
    label = str(target.positive) if is_binary else "the likeliest class"
    if held_out.proba is None:
        return Reliability(label, bins, False, None)
    scores = score_predictions(
        held_out.actual, held_out.predicted, None, held_out.proba, target.classes
    )
    return Reliability(label, bins, True, scores["brier"][0], scores["log_loss"][0])


def positive_number(target: Target) -> int:
    """Return the number of the positive one of two classes."""
    return 0 if target.positive == target.classes[0] else 1


def _judged(held_out: HeldOut, target: Target) -> tuple[Array, Any]:
    """Return the probabilities or decision values to judge, and whether each came true."""
    if held_out.proba is not None:
        return events(held_out.actual, held_out.proba, target.classes, target.positive)
    values = class_values(held_out, target, positive_number(target))
    if values is None:
        return np.empty(0), np.empty(0, dtype=bool)
    return values, held_out.actual == target.positive


def class_values(held_out: HeldOut, target: Target, number: int) -> Array | None:
    """Return the probabilities or decision values in favour of a class; None without any."""
    if held_out.proba is not None:
        return np.asarray(held_out.proba[:, number])
    if held_out.decision is None or len(target.classes) != 2:
        return None
    return np.asarray(held_out.decision) * (1 if number == 1 else -1)


def kinds(evaluation: Evaluation) -> list[tuple[str, int]]:
    """Return the number of columns of each kind, the most frequent first."""
    return Counter(column.kind for column in evaluation.columns).most_common()


def _ratio(part: Any, whole: Any) -> Array:
    return np.where(whole > 0, part / np.maximum(whole, 1), np.nan)
