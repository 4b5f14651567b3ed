"""The rows that machines are trained on: equal rows merged, sampled, scaled."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..._typing import Array, Codes, Index
from ...kernels import FunctionKernel, Kernel, Precomputed
from ..base.predictor import take
from ..base.task import FitTask


@dataclass(frozen=True)
class TrainingRows:
    """Rows without their copies, in an order of their own.

    Rows of equal content and class count as one row with the sum of their weights. Their order
    depends on nothing but their content, so that neither the order of the table nor whether a row
    is given twice or with the weight two changes a choice that is made with them.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (m, d) or (m, m)
        The rows; kernel values between them for a precomputed kernel.
    Y : ndarray of shape (m, n_machines)
        Codes -1, 0 and +1, in float64.
    classes : ndarray of shape (m,)
        The class of each row.
    sample_weight : ndarray of shape (m,)
        How often each row counts.
    cost_factor : ndarray of shape (m,)
        The factor of C of each row: sample weight times class weight.
    first : ndarray of shape (m,)
        The place of each row in the table that the rows come from; the first of its copies.
    place : ndarray of shape (n,)
        The row here of each row of the table; -1 for those that were left out.
    share : ndarray of shape (n,)
        The part that each row of the table has in the weight of its row here.
    is_square : bool, default=False
        Whether X holds kernel values, so that a part of the rows is a part of the columns, too.
    groups : ndarray of shape (m,) or None, default=None
        The group of each row; rows of different groups are never merged.
    """

    X: Any
    Y: Array
    classes: Index
    sample_weight: Array
    cost_factor: Array
    first: Index
    place: Index
    share: Array
    is_square: bool = False
    groups: Index | None = None

    @classmethod
    def of(
        cls, task: FitTask, X: Any = None, *, merge: bool = True, groups: Index | None = None
    ) -> TrainingRows:
        """Merge the equal rows of a task; ``X`` takes the place of its table, where it is given."""
        return cls.of_table(
            task.X if X is None else X,
            task.Y,
            task.classes,
            task.sample_weight,
            task.labels.class_weight,
            kernel=task.kernel,
            merge=merge,
            groups=groups,
        )

    @classmethod
    def of_table(
        cls,
        X: Any,
        Y: Codes | Array,
        classes: Index,
        sample_weight: Array,
        class_weight: Array,
        *,
        kernel: Kernel | None = None,
        merge: bool = True,
        groups: Index | None = None,
    ) -> TrainingRows:
        """Merge the equal rows of a table.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n, d) or (n, n)
            The table.
        Y : ndarray of shape (n, n_machines)
            Codes -1, 0 and +1.
        classes : ndarray of shape (n,)
            The class of each row.
        sample_weight : ndarray of shape (n,)
            The weights of the rows.
        class_weight : ndarray of shape (n_classes,)
            The weights of the classes.
        kernel : Kernel, default=None
            The kernel; rows are never merged if it is precomputed or a function of the user.
        merge : bool, default=True
            Whether equal rows are merged; otherwise the rows stay as they are.
        groups : ndarray of shape (n,), default=None
            The groups of the rows; equal rows of different groups stay apart.

        Returns
        -------
        rows : TrainingRows
            The rows.
        """
        n = len(classes)
        if merge and not isinstance(kernel, FunctionKernel | Precomputed):
            first, place = _distinct(X, classes, groups)
        else:
            first = place = np.arange(n)
        total = _sums(place, sample_weight, len(first))
        is_square = isinstance(kernel, Precomputed)
        return cls(
            X=_part(X, first, is_square),
            Y=Y[first].astype(np.float64),
            classes=classes[first],
            sample_weight=total,
            cost_factor=total * class_weight[classes[first]],
            first=first,
            place=place,
            share=sample_weight / total[place],
            is_square=is_square,
            groups=None if groups is None else groups[first],
        )

    def __len__(self) -> int:
        return len(self.classes)

    def sample(self, size: int, random_state: Any) -> TrainingRows:
        """Pick rows at random, the same part of each class; all rows where there are few enough.

        Parameters
        ----------
        size : int
            The number of rows, but for rounding.
        random_state : RandomState
            The source of the choice.

        Returns
        -------
        rows : TrainingRows
            The rows that were picked, in the same order; these very rows where all are.
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
            groups=None if self.groups is None else self.groups[chosen],
        )

    def scaled(self, scaling: Any) -> TrainingRows:
        """Return the rows with their columns on one scale."""
        return replace(self, X=scaling.apply(self.X))

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


def _distinct(X: Any, classes: Index, groups: Index | None) -> tuple[Index, Index]:
    """Return the first of each kind of rows, and the kind of each row."""
    contents = _contents(X, classes)
    if groups is not None:
        contents = [each + b"%d" % group for each, group in zip(contents, groups, strict=True)]
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
