"""The rows that machines are trained on: equal rows merged, sampled, scaled."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..._typing import Array, Index
from ...kernels import FunctionKernel, Precomputed
from ..base.predictor import take
from ..base.task import FitTask


@dataclass(frozen=True)
class TrainingRows:
    """Rows without their copies, in an order of their own.

    Rows of equal content and class count as one row with the sum of their weights. Their order
    depends on nothing but their content, so that neither the order of the table nor whether a row
    is given twice or with the weight two changes a choice that is made with them.
    """

    X: Any  # (m, d), or (m, m) kernel values between the rows
    Y: Array  # (m, n_machines), codes -1, 0 and +1 in float64
    classes: Index  # (m,)
    sample_weight: Array  # (m,), sums over the copies
    cost_factor: Array  # (m,), sample weight times class weight
    first: Index  # (m,), the place of each row in the table; the first of its copies
    place: Index  # (n,), the row here of each row of the table; -1 for those left out
    share: Array  # (n,), the part of each row of the table in the weight of its row here
    is_square: bool = False  # whether X holds kernel values, so that rows are columns, too

    @classmethod
    def of(cls, task: FitTask, *, merge: bool = True) -> TrainingRows:
        """Merge the equal rows of a task, unless its kernel is precomputed or a user's function."""
        X, classes, kernel = task.X, task.classes, task.kernel
        if merge and not isinstance(kernel, FunctionKernel | Precomputed):
            first, place = _distinct(X, classes)
        else:
            first = place = np.arange(len(classes))
        total = _sums(place, task.sample_weight, len(first))
        is_square = isinstance(kernel, Precomputed)
        return cls(
            X=_part(X, first, is_square),
            Y=task.Y[first].astype(np.float64),
            classes=classes[first],
            sample_weight=total,
            cost_factor=total * task.labels.class_weight[classes[first]],
            first=first,
            place=place,
            share=task.sample_weight / total[place],
            is_square=is_square,
        )

    def __len__(self) -> int:
        return len(self.classes)

    def sample(self, size: int, random_state: Any) -> TrainingRows:
        """Pick rows at random, the same part of each class; all rows where there are few enough.

        ``size``: the number of rows, but for rounding. ``random_state``: the source of the choice.
        Returns ``rows``: the rows that were picked, in the same order; these very rows where all
        are.
        """
        if len(self) <= size:
            return self
        return self.part(sample_by_class(self.classes, size, random_state))

    def part(self, chosen: Index) -> TrainingRows:
        """Return some of the rows, given by their numbers, ascending."""
        moved = np.full(len(self), -1)
        moved[chosen] = np.arange(len(chosen))
        return replace(
            self,
            X=_part(self.X, chosen, self.is_square),
            Y=self.Y[chosen],
            classes=self.classes[chosen],
            sample_weight=self.sample_weight[chosen],
            cost_factor=self.cost_factor[chosen],
            first=self.first[chosen],
            place=np.where(self.place >= 0, moved[self.place], -1),
        )

    def gather(self, beta: Array) -> Array:
        """Sum coefficients of the table's rows over the copies of each row."""
        used = self.place >= 0
        return _sums(self.place[used], beta[used], len(self))

    def spread(self, beta: Array) -> Array:
        """Share each row's coefficient among its copies in the table; zero for rows left out."""
        used = self.place >= 0
        out = np.zeros(len(self.place))
        out[used] = beta[self.place[used]] * self.share[used]
        return out


def sample_by_class(classes: Index, size: int, random_state: Any) -> Index:
    """Draw about ``size`` rows, in ascending order: the same share of each class, at least two."""
    kept = []
    for label in np.unique(classes):
        members = np.flatnonzero(classes == label)
        quota = min(len(members), max(2, size * len(members) // len(classes)))
        kept.append(random_state.permutation(members)[:quota])
    return np.sort(np.concatenate(kept))


def _sums(place: Index, values: Array, n_places: int) -> Array:
    return np.bincount(place, weights=values, minlength=n_places).astype(np.float64)


def _distinct(X: Any, classes: Index) -> tuple[Index, Index]:
    """Return the first of each kind of rows, and the kind of each row."""
    contents = _contents(X, classes)
    number = {content: i for i, content in enumerate(sorted(set(contents)))}
    kind = np.array([number[content] for content in contents])
    first = np.empty(len(number), dtype=np.intp)
    first[kind[::-1]] = np.arange(len(classes))[::-1]
    return first, kind


def _contents(X: Any, classes: Index) -> list[bytes]:
    """Return the key by which each row is sorted and compared: its class, then its bytes."""
    labels = classes.astype(np.float64)[:, None]
    if sp.issparse(X):
        # Two projections tell sparse rows apart; a product row by row rounds equal rows alike.
        directions = np.random.default_rng(0).normal(size=(2, X.shape[1]))
        X = np.column_stack([X @ direction for direction in directions])
    return [row.tobytes() for row in np.hstack([labels, X]) + 0.0]  # minus zero is zero


def _part(X: Any, rows: Index, is_square: bool) -> Any:
    if is_square:
        return X if len(rows) == len(X) else X[np.ix_(rows, rows)]
    return take(X, rows)
