"""Tables whose cells learn from all rows, and all other parts from a sample of them.

A table tells its labels and weights, hands out some of its rows, and solves the squared loss of all
rows: in memory here, on a cluster in `kernelwise.dask`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..._typing import Array, Index
from ..base.predictor import take
from .cells import Known, Plan, Squared, solve
from .columns.encoding import CategoryCodes, ColumnEncoding
from .columns.table_input import table_part
from .fitting import Job, Kept
from .losses import standardised
from .prior import Prior
from .rows import ModelColumns, Rows
from .target import Target

_BLOCK = 65_536  # rows that are encoded at a time
_SEED = 0  # picks the sample

Targets = Callable[[Any, Array], tuple[Array, Array]]  # labels, weights -> targets, loss weights


@dataclass(frozen=True)
class ClassTargets:
    """From labels and sample weights to codes of mean zero and deviation one, and loss weights."""

    names: Any  # (n_classes,): the classes
    class_weight: Array  # (n_classes,): their weights, in units of the loss
    mean: Array  # (k,): the weighted means of the codes of all rows

    @classmethod
    def of(cls, names: Any, classes: Index, class_weight: Array, weight: Array) -> ClassTargets:
        """Take the means over all rows."""
        shares: Array = np.bincount(classes, weight * class_weight[classes], len(names)).astype(
            float
        )
        shares = shares / shares.sum()
        return cls(names, class_weight, shares[1:] if len(names) == 2 else shares)

    def __call__(self, y: Any, weight: Array) -> tuple[Array, Array]:
        """Return targets of shape (n, k), and the weight of each row's loss."""
        classes = np.searchsorted(self.names, y)
        positive = np.arange(len(self.names)) if len(self.names) > 2 else np.ones(1)
        codes = (classes[:, None] == positive).astype(np.float64)
        return standardised(codes, self.mean), weight * self.class_weight[classes]


@dataclass(frozen=True)
class NumberTargets:
    """From one of several columns of numbers to its transforms; ``scale`` divides weights."""

    transforms: tuple[Target, ...]
    column: int
    scale: float

    def __call__(self, y: Any, weight: Array) -> tuple[Array, Array]:
        """Return targets of shape (n, k), and the weight of each row's loss."""
        own = np.asarray(y, dtype=np.float64).reshape(len(weight), -1)[:, self.column]
        return np.column_stack([t.apply(own) for t in self.transforms]), weight / self.scale


@dataclass(frozen=True)
class Reader:
    """Reads rows as cells need them."""

    columns: ModelColumns  # the columns that are kept
    sources: Index  # the user's columns that they come from
    targets: Targets  # makes targets and weights of the loss
    wanted: Index  # the numbers of the rows whose decisions without them are needed, ascending

    def __call__(self, X: Any, y: Any, weight: Array, numbers: Index) -> Known:
        """Return rows with their targets."""
        rows = self.columns.rows(self.columns.encoding.apply(table_part(X, self.sources.tolist())))
        return Known(rows, *self.targets(y, weight), numbers, np.isin(numbers, self.wanted))


class Table(Protocol):
    """All rows of a table, wherever they are; rows of weight zero do not count."""

    @property
    def y(self) -> Any:
        """The labels or targets of the rows, of shape (n,) or (n, n_targets)."""

    @property
    def weight(self) -> Array:
        """The sample weight of each row."""

    def take(self, rows: Index) -> Any:
        """Return some rows as the user gave them."""

    def codes(self, encoding: ColumnEncoding) -> tuple[CategoryCodes, ...]:
        """Return the codes of categories for the levels of all rows."""

    def solve(self, read: Reader, rows: Rows, prior: Prior, job: Job) -> Squared:
        """Solve the squared loss of all rows, of which some are given as a sample."""


@dataclass(frozen=True)
class TableInMemory:
    """All rows of a table in memory."""

    X: Any
    y: Any
    weight: Array

    def take(self, rows: Index) -> Any:
        """Return some rows as the user gave them."""
        return self.X if len(rows) == len(self.weight) else take(self.X, rows)

    def codes(self, encoding: ColumnEncoding) -> tuple[CategoryCodes, ...]:
        """Return the codes of categories for the levels of all rows."""
        rows = np.flatnonzero(self.weight)
        weight = self.weight[rows] / min(1.0, float(self.weight[rows].mean()))
        raws = encoding.category_columns(self.take(rows))
        pairs = zip(encoding.categories, raws, strict=True)
        return tuple(CategoryCodes.of(own.column, raw, weight) for own, raw in pairs)

    def solve(self, read: Reader, rows: Rows, prior: Prior, job: Job) -> Squared:
        """Solve the squared loss of all rows, of which some are given as a sample."""
        numbers = np.flatnonzero(self.weight)
        some = (numbers[a : a + _BLOCK] for a in range(0, len(numbers), _BLOCK))
        blocks = [read(take(self.X, i), self.y[i], self.weight[i], i) for i in some]
        plans = Plan.all(rows, len(numbers), prior, job.rng, job.settings)
        return solve(plans, Known.joined(blocks), job.threads, job.tell)


@dataclass(frozen=True)
class Whole:
    """All rows of a table of which a fit has a sample."""

    table: Table
    numbers: Index  # the numbers of the rows of the sample, ascending
    targets: Targets  # makes targets and weights of the loss

    def __call__(self, job: Job, kept: Kept, prior: Prior) -> Squared:
        """Solve the squared loss of all rows, with left-out decisions of the sample."""
        read = Reader(kept.rows.columns, kept.sources, self.targets, self.numbers)
        return self.table.solve(read, kept.rows, prior, job)


def sample_of(classes: Index, size: int) -> tuple[Index, Array]:
    """Return a sample of rows, and how many rows each of them stands for, at least one.

    A class has at least half of an equal share of the sample, as far as its rows go.
    """
    n, counts = len(classes), np.bincount(classes)
    if n <= size:
        return np.arange(n), np.ones(n)
    least = np.minimum(counts, size // (2 * np.count_nonzero(counts)))
    quota = least + ((size - least.sum()) * (counts - least)) // max(n - int(least.sum()), 1)
    mixed = np.random.default_rng(_SEED).permutation(n)
    mixed = mixed[np.argsort(classes[mixed], kind="stable")]
    rank = np.arange(n) - np.repeat(np.cumsum(counts) - counts, counts)
    chosen = np.sort(mixed[rank < np.repeat(quota, counts)])
    stands_for = counts / np.maximum(quota, 1)
    return chosen, (stands_for / stands_for[counts > 0].min())[classes[chosen]]
