"""Prediction sets by conformal prediction on rows that a model did not have.

The conformity of a row with a class is the lead of that class's score over the best other one. A
class belongs to the set of a new row if it conforms better than a share of 1 - confidence of the
held-out rows conform with their own classes:

    p(x, c) = (1 + #{i held out: a(x_i, y_i) <= a(x, c)}) / (1 + n)
    c is in the set of x  if  p(x, c) > 1 - confidence

The true class of a new row from the same source as the held-out rows ranks like one of those rows,
so that the set misses it with a probability of at most 1 - confidence, and hardly less.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import Array, Index
from .scores import coupled


@dataclass(frozen=True)
class Conformity:
    """How well held-out rows conform with their own classes.

    ``values`` (m,) are the conformities, ascending; ``weight`` (m + 1,) are the sums of the sample
    weights of the first rows, from none to all.
    """

    values: Array
    weight: Array

    @classmethod
    def of(cls, scores: Array, classes: Index, sample_weight: Array) -> Conformity:
        """Measure the conformity of rows (m,) from their scores (m, n_classes)."""
        own = conformities(scores)[np.arange(len(classes)), classes]
        order = np.argsort(own)
        return cls(own[order], np.append(0.0, np.cumsum(sample_weight[order])))

    def sets(self, scores: Array, confidence_level: float) -> Any:
        """Return which classes belong to the set of each row, of the shape of its scores."""
        if not 0 < confidence_level < 1:
            raise ValueError(f"confidence_level must be between 0 and 1; got {confidence_level!r}.")
        place = np.searchsorted(self.values, conformities(scores), side="right")
        return (1 + self.weight[place]) / (1 + self.weight[-1]) > 1 - confidence_level


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
