"""The cells part: trees of exact machines at the weights of the evidence, linear in the rows.

The kernel of the evidence begins, and where no column is a category the Gaussian kernel of the same
weights beside it. Width, cost and the kernel of each tree are chosen on held-out rows
(`scale.judge`); the trees are grown on all rows (`scale.forest`), one after the other, so that a
fit that runs out of time has the first of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any, ClassVar, Protocol

import numpy as np

from ...._records import dataclass
from ...._typing import Array, Index
from ....kernels import RBF, Laplacian
from ....scale.cells import CellSettings, HeldOut
from ....scale.forest import (
    PREDICT_ROWS,
    CellForest,
    CellTable,
    FittedTree,
    StoppedError,
    fit_tree,
    forest_of,
)
from ....scale.judge import Choice, judge_members
from ...base.progress import FitProgress
from ..limits import CELL_SIZE, N_TREES
from .cell_odds import best_room, log_odds
from .cell_rows import CellColumns, CellSample
from .evidence import EvidenceWeights
from .joint import kernel_shares
from .rows import PartRows, codes_of

_FIRST_COST = 1.0  # where the walk over C begins
_TOL = 1e-2  # tolerance of the machines, in units of the margin
_BLOCK_VALUES = 2**23  # encoded values that are decided at a time
_LEAST_BLOCK = 8192  # rows that are decided at a time, however many columns they have


@dataclass(frozen=True)
class CellsPart:
    """Fitted trees of cells.

    Parameters
    ----------
    columns : CellColumns
        The columns that are compared, and their units.
    forest : CellForest
        The trees.
    members : tuple of CellSettings
        The kernel and the cost of each tree.
    left_out : ndarray of shape (n_judged, k)
        Decisions on the judged rows without each of them.
    importances : ndarray of shape (d,)
        The share of each encoded column in the distance of two rows.
    room : float or None, default=None
        How decisions become log-odds (`cell_odds`); None leaves them as they are.
    """

    columns: CellColumns
    forest: CellForest
    members: tuple[CellSettings, ...]
    left_out: Array
    importances: Array
    room: float | None = None
    name: ClassVar[str] = "cells"

    @property
    def block_rows(self) -> int:
        """The rows that are best decided at a time: fewer of them visit each cell too often."""
        return max(_LEAST_BLOCK, min(PREDICT_ROWS, _BLOCK_VALUES // len(self.importances)))

    @property
    def n_not_converged(self) -> int:
        """The number of cells whose machines did not reach the tolerance."""
        return sum(int(np.count_nonzero(~tree.converged)) for tree in self.forest.trees)

    def decision_values(self, X: Array, threads: int = 1) -> Array:
        """Return the decisions on encoded rows."""
        own = self.forest.decision_values(self.columns.apply(X, threads), threads=threads)
        return log_odds(own, self.room)

    def additive_values(self, X: Array) -> None:
        """Return None: nothing is additive."""


class TreeStore(Protocol):
    """Keeps finished trees, so that a fit can go on where another one was killed."""

    @property
    def others(self) -> int:
        """The number of trees there that are of no use to the fit."""

    def open(self, table: CellTable, held_out: HeldOut) -> None:
        """Say which rows the trees are of."""

    def load(self, member: CellSettings, seed: int, cell_size: int) -> FittedTree | None:
        """Return a tree that was kept; None where there is none."""

    def save(self, fitted: FittedTree, member: CellSettings, seed: int, cell_size: int) -> None:
        """Keep a tree."""


class RowsElsewhere(Protocol):
    """Fits trees to rows that are elsewhere; the fit itself has only a sample of them."""

    @property
    def n_rows(self) -> int:
        """The number of all rows."""

    @property
    def n_groups(self) -> int | None:
        """The number of groups of all rows; None where there are none."""

    def fit(
        self,
        table: CellTable,
        columns: CellColumns,
        members: Sequence[CellSettings],
        seed: int,
        cell_size: int,
        held_out: HeldOut,
        fold_of_group: Any,
    ) -> tuple[CellForest, Array] | None:
        """Return the trees, and their decisions on the rows of the sample that are left out.

        None where the fit stops before the first tree is there.
        """


@dataclass(frozen=True)
class CellOptions:
    """How cells are fitted.

    Parameters
    ----------
    cell_size : int, default=2000
        The largest number of rows of a cell.
    n_trees : int, default=3
        The number of trees.
    threads : int, default=1
        Threads over cells. They do not change the result.
    stops : callable, default=None
        Asked now and then whether to stop with the trees that are there.
    store : TreeStore, default=None
        Keeps finished trees.
    elsewhere : RowsElsewhere, default=None
        Fits the trees, where the rows of the fit are a sample of those that are elsewhere.
    """

    cell_size: int = CELL_SIZE
    n_trees: int = N_TREES
    threads: int = 1
    stops: Callable[[], bool] | None = None
    store: TreeStore | None = None
    elsewhere: RowsElsewhere | None = None

    def n_rows(self, n_here: int) -> int:
        """Return the number of all rows, for a fit that has so many of them."""
        return n_here if self.elsewhere is None else self.elsewhere.n_rows


@dataclass(frozen=True)
class CellPlan:
    """The rows of cells whose kernel, width and cost are still to be chosen.

    Parameters
    ----------
    columns : CellColumns
        The columns that are compared.
    held_out : HeldOut
        What is left out of them.
    learned : EvidenceWeights
        The weights of the columns.
    rows : PartRows
        The training rows.
    sample : CellSample
        Which rows choose, and which are left out.
    options : CellOptions
        How cells are fitted.
    """

    columns: CellColumns
    held_out: HeldOut
    learned: EvidenceWeights
    rows: PartRows
    sample: CellSample
    options: CellOptions

    @classmethod
    def of(
        cls,
        rows: PartRows,
        learned: EvidenceWeights,
        sample: CellSample,
        options: CellOptions | None = None,
    ) -> CellPlan | None:
        """Choose the columns that are compared; None where none has a weight."""
        options = CellOptions() if options is None else options
        columns = CellColumns.of(learned)
        if len(columns.columns) == 0:
            return None
        held_out = HeldOut(sample.fold, rows.left_out_share)
        return cls(columns, held_out, learned, rows, sample, options)

    def table(self, some: Index | None = None, threads: int = 1) -> CellTable:
        """Return rows in the units of the kernel: some, or all, which take the most memory."""
        rows, numbers = self.rows, self.sample.numbers
        if some is not None:
            rows, numbers = rows.part(some), numbers[some]
        X = self.columns.apply(rows.X, threads)
        codes = codes_of(rows.classes, rows.n_classes, np.int8)  # of ten classes and all rows
        return CellTable(X, codes, rows.price, numbers)

    def judge(self, threads: int = 1) -> Choice | None:
        """Choose width, cost and kernels on held-out rows; None where the fit stops.

        The held-out rows of the choice are places among those that weights are learned from.
        """
        some, options, groups = self.sample.some, self.options, self.rows.groups
        if options.stops is not None and options.stops():
            return None
        return judge_members(
            self.table(some, threads),
            first_members(self.learned, self.columns),
            self.sample.seed,
            cell_size=options.cell_size,
            n_trees=options.n_trees,
            groups=None if groups is None else groups[some],
            threads=threads,
        )

    def fit(
        self,
        members: tuple[CellSettings, ...],
        progress: FitProgress | None = None,
        table: CellTable | None = None,
    ) -> CellsPart | None:
        """Fit one tree per member to all rows; None where the fit stops before the first is there.

        Parameters
        ----------
        members : tuple of CellSettings
            The kernel and the cost of each tree.
        progress : FitProgress, default=None
            Told of each tree.
        table : CellTable, default=None
            All rows, as `table` returns them, where they are there already.

        Returns
        -------
        part : CellsPart or None
            The part.
        """
        held_out, options = self.held_out, self.options
        if table is None:
            table = self.table(threads=options.threads)
        found: tuple[CellForest, Array | None] | None = None
        if options.elsewhere is not None:
            key = members, self.sample.seed, options.cell_size, held_out
            found = options.elsewhere.fit(table, self.columns, *key, self.sample.fold_of_group)
        elif trees := _fit_trees(table, members, self.sample.seed, held_out, options, progress):
            found = forest_of(table, trees, threads=options.threads, held_out=held_out)
        if found is None:
            return None
        forest, left_out = found
        assert left_out is not None
        judged = self.sample.judged
        decisions = left_out[np.searchsorted(held_out.rows, judged)]
        room = best_room(decisions, self.rows.part(judged))
        return CellsPart(
            self.columns,
            forest,
            members[: len(forest.trees)],
            log_odds(decisions, room),
            kernel_shares(self.rows.part(self.sample.some), self.learned),
            room,
        )


def _fit_trees(
    table: CellTable,
    members: tuple[CellSettings, ...],
    seed: int,
    held_out: HeldOut,
    options: CellOptions,
    progress: FitProgress | None,
) -> list[FittedTree]:
    """Fit one tree after the other, or load it, until there are enough or time is up."""
    store, trees = options.store, []
    if store is not None:
        store.open(table, held_out)
    for number, member in enumerate(members):
        key: Any = member, seed + number, options.cell_size
        fitted = None if store is None else store.load(*key)
        if fitted is None:
            try:
                with _task(progress, f"cells: tree {number + 1} of {len(members)}"):
                    fitted = fit_tree(
                        table, *key, threads=options.threads, held_out=held_out, stops=options.stops
                    )
            except StoppedError:
                break
            if store is not None:
                store.save(fitted, *key)
        if progress is not None:
            n_cells, n_rows = len(fitted.cells.intercepts), len(fitted.cells.rows)
            progress.line(f"tree {number + 1}: {n_cells} cells, {n_rows} support vectors")
        trees.append(fitted)
    return trees


def _task(progress: FitProgress | None, name: str) -> Any:
    return nullcontext() if progress is None else progress.task(name)


def first_members(learned: EvidenceWeights, columns: CellColumns) -> list[CellSettings]:
    """Return the kernels of which the judge chooses.

    Parameters
    ----------
    learned : EvidenceWeights
        The weights of the columns.
    columns : CellColumns
        The columns that are compared.

    Returns
    -------
    members : list of CellSettings
        The kernel of the evidence; and, without categories, a Gaussian kernel of the same weights.
    """
    weights, is_category = learned.weights[columns.columns], columns.metric.is_category
    if is_category.any():
        kernels: list[Any] = [Laplacian(weights=weights, categorical=is_category)]
    else:
        kernels = [Laplacian(weights=weights), RBF(weights=weights)]
    return [CellSettings(kernel, _FIRST_COST, tol=_TOL) for kernel in kernels]
