"""ROC and precision-recall curves of held-out rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._typing import Array
from ..evaluation import HeldOut
from ..tabular import ClassTarget
from .tables import class_values, positive_number

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
