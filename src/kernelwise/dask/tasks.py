"""What runs on the workers: functions of one partition, or of one region of one tree.

They depend on the rows and on small values that are part of the graph, and on nothing else, so
that a task that is computed again after the death of a worker has the same result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from .._records import dataclass
from .._threads import single_blas
from .._typing import Array, Index
from ..scale.cells import CellSettings, HeldOut
from ..scale.forest import CellTable, FittedTree, fit_leaves
from ..scale.regions import Trunk, grow_region
from ..scale.sampling import uniform
from ..svm.relevance.columns import ColumnEncoding, count_levels
from ..svm.relevance.parts.cell_rows import CellColumns
from ..svm.relevance.parts.rows import codes_of
from ..svm.relevance.raw_columns import columns_of
from .partitions import Rows
from .shared import Shared


@dataclass(frozen=True)
class Tally:
    """The sums of a partition, or of all of them.

    Parameters
    ----------
    names : ndarray of shape (n_classes,)
        The classes of the rows that count.
    weights : ndarray of shape (n_classes,)
        Their summed sample weights.
    n_rows : int
        The number of rows that count.
    groups : ndarray or None
        Their different groups, ascending; None where there are none.
    """

    names: Any
    weights: Array
    n_rows: int
    groups: Any

    @classmethod
    def of(cls, rows: Rows) -> Tally:
        """Count the rows of a partition."""
        names, classes = np.unique(rows.y, return_inverse=True)
        weights: Any = np.bincount(classes, rows.weight, len(names))
        groups = None if rows.groups is None else np.unique(rows.groups)
        return cls(names, weights, len(rows.y), groups)

    @classmethod
    def sum(cls, tallies: Sequence[Tally]) -> Tally:
        """Add up those of partitions."""
        names = np.unique(np.concatenate([each.names for each in tallies]))
        weights = np.zeros(len(names))
        for each in tallies:
            weights[np.searchsorted(names, each.names)] += each.weights
        groups = None
        if tallies[0].groups is not None:
            groups = np.unique(np.concatenate([each.groups for each in tallies]))
        return cls(names, weights, sum(each.n_rows for each in tallies), groups)


def draw(X: Any, y: Any, weight: Any, groups: Any, start: int, seed: int, share: float) -> Rows:
    """Return the rows that count whose keys lie in the first share of all keys."""
    return _drawn(Rows.of(X, y, weight, groups, start), seed, share)


def _drawn(rows: Rows, seed: int, share: float) -> Rows:
    return rows.part(uniform(rows.numbers, seed) < share)


def tally_and_draw(
    X: Any, y: Any, weight: Any, groups: Any, start: int, seed: int, share: float
) -> tuple[Tally, Rows]:
    """Return the sums of a partition, and the rows that `draw` returns."""
    rows = Rows.of(X, y, weight, groups, start)
    return Tally.of(rows), _drawn(rows, seed, share)


def levels_and_draw(
    X: Any,
    y: Any,
    weight: Any,
    groups: Any,
    start: int,
    encoding: Shared,
    seed: int,
    share: float,
) -> tuple[list[dict[Any, float]], Rows]:
    """Return the summed weights of each category's levels, and the rows that `draw` returns."""
    rows = Rows.of(X, y, weight, groups, start)
    own: ColumnEncoding = encoding.value
    raws = columns_of(rows.X, own.names)
    levels = [count_levels(raws[each.column], rows.weight) for each in own.categories]
    return levels, _drawn(rows, seed, share)


@dataclass(frozen=True)
class Units:
    """What turns rows as the user gives them into rows of cells.

    Parameters
    ----------
    encoding : ColumnEncoding
        How columns become numbers and codes.
    columns : CellColumns
        The encoded columns that are compared, and their units.
    names : ndarray of shape (n_classes,)
        The classes.
    class_weight : ndarray of shape (n_classes,)
        Their weights.
    groups : ndarray or None
        The groups of all rows, ascending; None where there are none.
    """

    encoding: ColumnEncoding
    columns: CellColumns
    names: Any
    class_weight: Array
    groups: Any

    @property
    def row_bytes(self) -> int:
        """The memory of a row of cells."""
        return 4 * len(self.columns.columns) + 24

    def rows(self, given: Rows) -> CellRows:
        """Return rows of cells."""
        classes = np.searchsorted(self.names, given.y).astype(np.int32)
        X = self.columns.apply(self.encoding.apply(given.X))
        groups = None
        if self.groups is not None:
            groups = np.searchsorted(self.groups, given.groups).astype(np.int32)
        return CellRows(X, classes, given.weight, given.numbers, groups)


@dataclass(frozen=True)
class CellRows:
    """Rows on their way to their cells.

    Parameters
    ----------
    X : ndarray of shape (n, d), of float32
        The columns that are compared, in their units.
    classes : ndarray of shape (n,), of int32
        The number of each row's class.
    weight : ndarray of shape (n,)
        The sample weights.
    numbers : ndarray of shape (n,)
        The numbers of the rows in the whole table.
    groups : ndarray of shape (n,), of int32, or None
        The number of each row's group; None where there are none.
    """

    X: Array
    classes: Index
    weight: Array
    numbers: Index
    groups: Any

    def part(self, rows: Any) -> CellRows:
        """Return some of the rows."""
        groups = None if self.groups is None else self.groups[rows]
        return CellRows(
            self.X[rows], self.classes[rows], self.weight[rows], self.numbers[rows], groups
        )

    @classmethod
    def joined(cls, parts: Sequence[CellRows]) -> CellRows:
        """Put rows together, by ascending number."""
        numbers = np.concatenate([each.numbers for each in parts])
        rows = cls(
            np.concatenate([each.X for each in parts]),
            np.concatenate([each.classes for each in parts]),
            np.concatenate([each.weight for each in parts]),
            numbers,
            None if parts[0].groups is None else np.concatenate([each.groups for each in parts]),
        )
        return rows if (np.diff(numbers) > 0).all() else rows.part(np.argsort(numbers))


def draw_for_trunks(
    X: Any,
    y: Any,
    weight: Any,
    groups: Any,
    start: int,
    units: Shared,
    shares: Sequence[tuple[int, float]],
) -> list[tuple[Array, Index]]:
    """Return, for each seed and share, rows whose keys lie in the first share of all keys."""
    given = Rows.of(X, y, weight, groups, start)
    places = [uniform(given.numbers, seed) < share for seed, share in shares]
    some = np.logical_or.reduce(places)
    rows = units.value.rows(given.part(some))
    return [(rows.X[own[some]], rows.numbers[own[some]]) for own in places]


def split(
    X: Any,
    y: Any,
    weight: Any,
    groups: Any,
    start: int,
    units: Shared,
    trunk: Shared,
    first: int,
    stop: int,
) -> list[CellRows | None]:
    """Return the rows of each region from the first to the stop; None where there are none."""
    rows = units.value.rows(Rows.of(X, y, weight, groups, start))
    own: Trunk = trunk.value
    where = own.tree.route(rows.X)
    order = np.argsort(where, kind="stable")
    stops = np.searchsorted(where[order], np.arange(first, stop + 1))
    return [rows.part(order[begin:end]) if end > begin else None for begin, end in pairwise(stops)]


@dataclass(frozen=True)
class TreeTask:
    """How the cells of one tree are fitted.

    Parameters
    ----------
    trunk : Trunk
        The first levels of the tree.
    member : CellSettings
        Kernel, C and loss.
    seed : int
        The seed of the tree.
    cell_size : int
        The largest number of rows of a cell.
    class_weight : ndarray of shape (n_classes,)
        The weights of the classes.
    left_out : ndarray
        The numbers of the rows whose left-out decisions are wanted, ascending.
    fold : ndarray
        The fold of each of them.
    fold_of_group : ndarray or None
        The fold of all rows of each group, negative where it is never left out; None leaves out
        the rows of `left_out` alone.
    """

    trunk: Trunk
    member: CellSettings
    seed: int
    cell_size: int
    class_weight: Array
    left_out: Index
    fold: Index
    fold_of_group: Any = None

    def held_out(self, rows: CellRows) -> HeldOut:
        """Return the folds of rows."""
        if self.fold_of_group is not None:
            return HeldOut(self.fold_of_group[rows.groups], np.ones(len(rows.numbers)))
        place = np.minimum(np.searchsorted(self.left_out, rows.numbers), len(self.left_out) - 1)
        known = self.left_out[place] == rows.numbers
        return HeldOut(np.where(known, self.fold[place], -1), np.ones(len(known)))


@dataclass(frozen=True)
class Region:
    """The cells of one region.

    Parameters
    ----------
    fitted : FittedTree
        The tree of the region; its rows are places in `stored`.
    stored : ndarray of shape (n_stored, d)
        The rows that are support vectors.
    numbers : ndarray of shape (n_stored,)
        Their numbers in the whole table.
    left_out : ndarray
        The numbers of the rows that were left out and whose decisions are wanted.
    """

    fitted: FittedTree
    stored: Array
    numbers: Index
    left_out: Index


def fit_region(job: Shared, region: int, pieces: Sequence[CellRows | None]) -> Region:
    """Grow the tree of one region and fit the machines of its cells."""
    task: TreeTask = job.value
    rows = CellRows.joined([piece for piece in pieces if piece is not None])
    n_classes = len(task.class_weight)
    table = CellTable(
        rows.X,
        codes_of(rows.classes, n_classes),
        rows.weight * task.class_weight[rows.classes],
        rows.numbers,
    )
    held_out = task.held_out(rows)
    with single_blas():
        grown = grow_region(rows.X, rows.numbers, task.trunk, region, task.cell_size, task.seed)
        fitted = fit_leaves(table, *grown, task.member, held_out=held_out)
    used = np.unique(fitted.cells.rows)
    cells = replace(fitted.cells, rows=np.searchsorted(used, fitted.cells.rows))
    left_out = rows.numbers[held_out.rows]
    wanted = np.isin(left_out, task.left_out)
    assert fitted.left_out is not None
    return Region(
        FittedTree(cells, fitted.left_out[wanted]),
        rows.X[used],
        rows.numbers[used],
        left_out[wanted],
    )
