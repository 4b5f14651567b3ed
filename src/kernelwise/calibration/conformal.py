"""Prediction sets and intervals by conformal prediction on rows that a model did not have.

The conformity of a row with a class is the lead of that class's score over the best other one. A
class belongs to the set of a new row if it conforms better than a share of 1 - confidence of the
held-out rows conform with their own classes:

    p(x, c) = (1 + #{i held out: a(x_i, y_i) <= a(x, c)}) / (1 + n)
    c is in the set of x  if  p(x, c) > 1 - confidence

The true class of a new row from the same source as the held-out rows ranks like one of those rows,
so that the set misses it with a probability of at most 1 - confidence, and hardly less. In the same
way the residual of a new row lies between two residuals of held-out rows, and its decision value
exceeds that of a share of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from .._typing import Array, Index
from .scores import coupled


@dataclass(frozen=True)
class Ranking:
    """A number of each held-out row, against which those of new rows are ranked.

    ``values`` (m,) are the numbers, ascending; ``weight`` (m + 1,) are the sums of the sample
    weights of the first rows, from none to all.
    """

    values: Array
    weight: Array

    @classmethod
    def of(cls, values: Array, sample_weight: Array) -> Self:
        """Sort the numbers (m,) of rows."""
        order = np.argsort(values)
        return cls(values[order], np.append(0.0, np.cumsum(sample_weight[order])))

    def shares(self, values: Array) -> Array:
        """Return the share of rows, with the new one, whose number is at most that of the new."""
        place = np.searchsorted(self.values, values, side="right")
        shares: Array = (1 + self.weight[place]) / (1 + self.weight[-1])
        return shares

    def interval(self, confidence_level: float) -> tuple[float, float]:
        """Return two of the numbers that a new one lies between at a confidence level."""
        _check_level(confidence_level)
        tail = (1 - confidence_level) / 2 * (1 + self.weight[-1])
        tail *= 1 + 1e-9  # (1 - 0.9) / 2 is a little below 0.05
        below, above = self.weight[1:], self.weight[-1] - self.weight[:-1]
        low, high = int((below <= tail).sum()) - 1, int((above > tail).sum())
        last = len(self.values) - 1
        return float(self.values[max(low, 0)]), float(self.values[min(high, last)])


class Conformity(Ranking):
    """How well held-out rows conform with their own classes."""

    @classmethod
    def of_classes(cls, scores: Array, classes: Index, sample_weight: Array) -> Conformity:
        """Measure the conformity of rows (m,) from their scores (m, n_classes)."""
        return cls.of(conformities(scores)[np.arange(len(classes)), classes], sample_weight)

    def sets(self, scores: Array, confidence_level: float) -> Any:
        """Return which classes belong to the set of each row, of the shape of its scores."""
        _check_level(confidence_level)
        return self.shares(conformities(scores)) > 1 - confidence_level


def _check_level(confidence_level: float) -> None:
    if not 0 < confidence_level < 1:
        raise ValueError(f"confidence_level must be between 0 and 1; got {confidence_level!r}.")


def conformities(scores: Array) -> Array:
    """Return the lead of each class's score over the best other score of the row."""
    two = np.sort(scores, axis=1)[:, -2:]
    best = scores == two[:, 1:]
    return scores - np.where(best, two[:, :1], two[:, 1:])


def class_scores(decisions: Array, pairs: Array | None) -> Array:
    """Return one score per class from decision values (n, n_machines).

    ``pairs`` (n_machines, n_classes) are the classes of machines of pairs; None is one machine per
    class, or one for two classes.
    """
    if decisions.shape[1] == 1:
        return np.hstack([-decisions, decisions])
    return decisions if pairs is None else coupled(decisions, pairs)
