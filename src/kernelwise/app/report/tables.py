"""The rows of the tables of the page, as plain data."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._typing import Array
from ..evaluation import CalibrationBin, Difference, Evaluation, HeldOut, Score
from ..evaluation.class_scores import score_predictions
from ..evaluation.intervals import calibration_bins, events
from ..evaluation.results import METRICS, SHARES, UNITS, value_text
from ..inspection import ColumnEffects, ModelChecks, WeightStability
from ..tabular import ClassTarget, Weight
from .findings import amount, score_text

_MAX_PARTS = 8  # features of a column that are named


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
    ends: tuple[float, float] = (float("nan"), float("nan"))
    verdict: str = ""
    p_value: float | None = None


@dataclass(frozen=True)
class ScoreRow:
    """A row of the comparison, with the lead of the evaluated method."""

    score: Score
    cells: tuple[str, ...]
    values: tuple[float, ...]
    lead: Difference | None
    lead_text: str = ""


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
    """Return the columns, those of the largest loss on held-out rows first, else by weight.

    The loss is how much the loss of the model grows when a column is shuffled.
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
        loss, *ends = losses.get(weight.column, (None, float("nan"), float("nan")))
        rows.append(
            WeightRow(
                weight.column,
                100 * weight.share,
                _parts(weight),
                low,
                high,
                selected,
                loss,
                (ends[0], ends[1]),
                "" if verdicts is None else verdicts.verdict(weight.column),
                None if verdicts is None else verdicts.adjusted.get(weight.column),
            )
        )
    if losses:
        rows.sort(key=lambda row: -np.inf if row.loss is None else row.loss, reverse=True)
    return tuple(rows)


def _losses(checks: ModelChecks | None) -> dict[str, tuple[Any, ...]]:
    """Return the cost of shuffling each column with its interval, where it was measured."""
    if checks is None or checks.importance is None:
        return {}
    check = checks.importance
    found = zip(
        check.feature_names,
        check.loss.tolist(),
        check.low.tolist(),
        check.high.tolist(),
        strict=True,
    )
    return {name: (loss, low, high) for name, loss, low, high in found if loss == loss}


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
    best = evaluation.best
    return [
        (METRICS[m], score_text(m, best.mean(m)), amount(m, best.spread(m)))
        for m in metrics_of(evaluation)
    ]


def metrics_of(evaluation: Evaluation) -> dict[str, str]:
    """Return the headings of the measured metrics, that of the evaluation first."""
    names = [evaluation.metric, *(name for name in METRICS if name != evaluation.metric)]
    measured = [name for name in names if name in evaluation.best.values]
    return {name: METRICS[name] + (", %" if name in SHARES else "") for name in measured}


def score_rows(evaluation: Evaluation) -> list[ScoreRow]:
    """Return one row per method, the best first and failed ones last."""
    leads = {each.other: each for each in evaluation.differences}
    metrics, metric = metrics_of(evaluation), evaluation.metric
    rows = []
    for score in evaluation.ranked:
        found = () if score.failure else tuple(metrics)
        cells = tuple(_cell(m, score.mean(m), score.spread(m)) for m in found)
        values = tuple(score.mean(m) for m in found)
        lead = leads.get(score.method)
        rows.append(ScoreRow(score, cells, values, lead, _lead_text(metric, lead)))
    return rows


def _cell(metric: str, value: float, spread: float) -> str:
    if value != value:
        return "-"
    shown = f"{100 * value:.1f}" if metric in SHARES else value_text(metric, value)
    after = amount if metric in SHARES | UNITS else value_text
    return f"{shown}\u00a0±\u00a0{after(metric, spread)}"


def _lead_text(metric: str, lead: Difference | None) -> str:
    if lead is None:
        return ""
    if lead.low != lead.low:
        return f"{amount(metric, lead.mean, '+')} (no interval)"
    low, high = (amount(metric, end, "+") for end in (lead.low, lead.high))
    return f"{amount(metric, lead.mean, '+')} ({low} to {high})"


def confusion(held_out: HeldOut, target: ClassTarget) -> Confusion:
    """Count held-out rows by actual and predicted class."""
    from sklearn.metrics import confusion_matrix

    labels = list(target.classes)
    counts = confusion_matrix(held_out.actual, held_out.predicted, labels=labels)
    return Confusion(target.classes, counts)


def reliability(held_out: HeldOut, target: ClassTarget) -> Reliability | None:
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
    scores = score_predictions(held_out, target.classes)
    return Reliability(label, bins, True, scores["brier"][0], scores["log_loss"][0])


def positive_number(target: ClassTarget) -> int:
    """Return the number of the positive one of two classes."""
    return 0 if target.positive == target.classes[0] else 1


def _judged(held_out: HeldOut, target: ClassTarget) -> tuple[Array, Any]:
    """Return the probabilities or decision values to judge, and whether each came true."""
    if held_out.proba is not None:
        return events(held_out.actual, held_out.proba, target.classes, target.positive)
    values = class_values(held_out, target, positive_number(target))
    if values is None:
        return np.empty(0), np.empty(0, dtype=bool)
    return values, held_out.actual == target.positive


def class_values(held_out: HeldOut, target: ClassTarget, number: int) -> Array | None:
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


def effect_rows(effects: ColumnEffects) -> list[dict[str, Any]]:
    """Return the effects as rows."""
    table = effects.table()
    return [dict(zip(table, values, strict=True)) for values in zip(*table.values(), strict=True)]


def number_summary(y: Array) -> list[tuple[str, str]]:
    """Return the distribution of a number in words."""
    points = np.quantile(y, [0.0, 0.25, 0.5, 0.75, 1.0]).tolist()
    named = zip(("lowest", "first quarter", "median", "third quarter", "highest"), points,
                strict=True)  # fmt: skip
    rest = (("mean", float(y.mean())), ("standard deviation", float(y.std())))
    return [(name, f"{value:.6g}") for name, value in (*named, *rest)]


MAX_CURVES = 6  # classes that have curves


@dataclass(frozen=True)
class ClassCurves:
    """The curves of one class against all others."""

    label: str
    false_positive_rate: Array
    true_positive_rate: Array
    recall: Array
    precision: Array
    auc: float  # the area under the ROC curve
    average_precision: float  # the mean precision over the recall
    share: float  # the share of the class, which is the precision of guessing


def class_curves(held_out: HeldOut, target: ClassTarget) -> list[ClassCurves]:
    """Return the curves of the positive one of two classes, or of each of the largest classes.

    Empty without probabilities or decision values, or where all held-out rows are of one class.
    """
    if len(target.classes) == 2:
        numbers = [positive_number(target)]
    else:
        numbers = np.argsort(-np.asarray(target.counts), kind="stable")[:MAX_CURVES].tolist()
    found = [_curves(held_out, target, number) for number in numbers]
    return [each for each in found if each is not None]


def _curves(held_out: HeldOut, target: ClassTarget, number: int) -> ClassCurves | None:
    from sklearn import metrics

    values = class_values(held_out, target, number)
    is_own = np.asarray(held_out.actual) == target.classes[number]
    if values is None or is_own.all() or not is_own.any():
        return None
    false_rate, true_rate, _ = metrics.roc_curve(is_own, values)
    precision, recall, _ = metrics.precision_recall_curve(is_own, values)
    return ClassCurves(
        str(target.classes[number]),
        false_rate,
        true_rate,
        recall,
        precision,
        float(metrics.roc_auc_score(is_own, values)),
        float(metrics.average_precision_score(is_own, values)),
        float(is_own.mean()),
    )
