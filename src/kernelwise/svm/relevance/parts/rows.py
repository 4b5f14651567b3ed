"""The training rows as the parts of a RelevanceSVC read them."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from ...._records import dataclass
from ...._typing import Array, Index
from ...base.feature_weights import varying_columns
from ...base.task import FitTask
from ...paths.rows import TrainingRows, sample_by_class
from ..columns import ColumnLayout
from ..members import energy_ratio
from .normal_scores import NormalScores


@dataclass(frozen=True)
class PartRows:
    """Distinct rows, with what each of them counts.

    Parameters
    ----------
    X : ndarray of shape (m, d)
        The encoded columns: numbers in their own units, without NaN, and categories as whole
        numbers from zero.
    layout : ColumnLayout
        Which columns are categories, and where they come from.
    classes : ndarray of shape (m,)
        The number of each row's class.
    n_classes : int
        The number of classes; a sample of the rows may lack some of them.
    count : ndarray of shape (m,)
        The sample weight of each row, summed over its copies.
    price : ndarray of shape (m,)
        The cost factor of each row: count times class weight.
    groups : ndarray of shape (m,) or None, default=None
        The number of each row's group; the rows of a group are left out together. None leaves out
        each row alone.
    copy_weight : float, default=inf
        The largest weight that is left out of a row. Infinite leaves out a row with all its
        copies; one leaves out one copy.
    """

    X: Array
    layout: ColumnLayout
    classes: Index
    n_classes: int
    count: Array
    price: Array
    groups: Index | None = None
    copy_weight: float = np.inf

    @classmethod
    def of(
        cls,
        table: TrainingRows,
        layout: ColumnLayout,
        n_classes: int,
        copy_weight: float = np.inf,
    ) -> PartRows:
        """Return the rows of a table whose equal rows were merged."""
        return cls(
            X=table.X,
            layout=layout,
            classes=table.classes,
            n_classes=n_classes,
            count=table.sample_weight,
            price=table.cost_factor,
            groups=table.groups,
            copy_weight=copy_weight,
        )

    @classmethod
    def of_task(cls, task: FitTask) -> PartRows:
        """Return the rows of a large table, whose copies are not merged."""
        return cls(
            X=task.X,
            layout=task.X.encoding.layout,
            classes=task.classes,
            n_classes=len(task.labels.names),
            count=task.sample_weight,
            price=task.cost_factor,
            groups=task.groups,
        )

    def __len__(self) -> int:
        return len(self.classes)

    @cached_property
    def codes(self) -> Array:
        """Codes -1 and +1 of shape (m, k): one column for two classes, else one per class."""
        return codes_of(self.classes, self.n_classes)

    @cached_property
    def used(self) -> Index:
        """The columns that vary; all of them where none does, as any then serve."""
        return used_columns(self.X)

    @cached_property
    def _scores(self) -> tuple[NormalScores, Array]:
        return NormalScores.of_rows(self.X[:, self.used], self.count)

    @property
    def scores(self) -> NormalScores:
        """The normal scores of the columns that vary."""
        return self._scores[0]

    @property
    def scored(self) -> Array:
        """The columns that vary, as normal scores."""
        return self._scores[1]

    @cached_property
    def energy_ratio(self) -> Array:
        """The energy distance of the classes along each of `used`, relative to chance.

        That of a number is along its normal scores.
        """
        is_category = np.asarray(self.layout.is_category)[self.used]
        values = np.where(is_category, self.X[:, self.used], self.scored)
        return energy_ratio(values, self.classes, self.count, is_category)

    @cached_property
    def left_out_share(self) -> Array:
        """The part of each row's weight that is left out with it: all, or that of one copy."""
        return np.minimum(1.0, self.copy_weight / self.count)

    def part(self, rows: Any) -> PartRows:
        """Return some of the rows.

        Parameters
        ----------
        rows : ndarray of int or bool
            Their numbers, or a mask.

        Returns
        -------
        rows : PartRows
            The rows in that order.
        """
        return replace(
            self,
            X=self.X[rows],
            classes=self.classes[rows],
            count=self.count[rows],
            price=self.price[rows],
            groups=None if self.groups is None else self.groups[rows],
        )

    def sample(self, size: int, random_state: Any) -> Index:
        """Return the numbers of about so many rows, picked at random, each class its part."""
        if len(self) <= size:
            return np.arange(len(self))
        return sample_by_class(self.classes, size, random_state)

    def sample_groups(self, size: int, random_state: Any) -> Index:
        """Return about so many rows as `sample` does, but the rows of a group together."""
        if self.groups is None or len(self) <= size:
            return self.sample(size, random_state)
        groups, sizes = np.unique(self.groups, return_counts=True)
        order = random_state.permutation(len(groups))
        kept = order[: max(1, int(np.searchsorted(np.cumsum(sizes[order]), size)))]
        return np.flatnonzero(np.isin(self.groups, groups[kept]))


def codes_of(classes: Index, n_classes: int, dtype: Any = np.float64) -> Array:
    """Return codes -1 and +1: one column for two classes, else one per class."""
    one = np.ones((), dtype=dtype)
    if n_classes == 2:
        return np.where(classes == 1, one, -one)[:, None]
    return np.where(classes[:, None] == np.arange(n_classes), one, -one)


def used_columns(X: Array) -> Index:
    """Return the columns that vary; all of them where none does, as any then serve."""
    varying = varying_columns(X)
    return np.flatnonzero(varying if varying.any() else ~varying)


def copy_weight(count: Array) -> float:
    """Return how much of a row is left out: all of it, or one copy where most rows are copies.

    Leaving out a row with its copies keeps them from telling its class. Where fewer than half of
    the rows are distinct, new rows will mostly be copies too, and one copy is left out.
    """
    return 1.0 if 2 * len(count) < count.sum() else np.inf
