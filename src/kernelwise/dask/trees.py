"""Trees of cells of a table in partitions: first levels on the client, regions on the workers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain, islice, pairwise, takewhile
from typing import Any

import numpy as np

from .._records import dataclass
from .._threads import single_blas
from .._typing import Array, Index
from ..scale.cells import CellSettings, HeldOut
from ..scale.forest import CellForest, CellTable, CellTree
from ..scale.regions import Trunk, grow_trunk, join, trunk_rows
from ..scale.sampling import sample_rows
from ..svm.relevance.columns import ColumnEncoding
from ..svm.relevance.parts.cell_rows import CellColumns
from .cluster import Cluster, as_node
from .tasks import Region, TreeTask, Units, draw_for_trunks, fit_region, split


@dataclass(frozen=True)
class TreesOnCluster:
    """Fits the trees of cells to all rows, which stay on the cluster.

    Parameters
    ----------
    cluster : Cluster
        The partitions.
    n_rows : int
        The number of rows that count.
    encoding : ColumnEncoding
        How columns become numbers and codes.
    names : ndarray of shape (n_classes,)
        The classes.
    class_weight : ndarray of shape (n_classes,)
        Their weights.
    groups : ndarray or None
        The groups of all rows, ascending; None where there are none.
    region_rows : int
        The largest number of rows of a region, about.
    stops : callable, default=None
        Asked now and then whether to stop with the trees that are there.
    """

    cluster: Cluster
    n_rows: int
    encoding: ColumnEncoding
    names: Any
    class_weight: Array
    groups: Any
    region_rows: int
    stops: Callable[[], bool] | None = None

    @property
    def n_groups(self) -> int | None:
        """The number of groups of all rows; None where there are none."""
        return None if self.groups is None else len(self.groups)

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
        """Fit one tree per member.

        Parameters
        ----------
        table : CellTable
            A sample of the rows, by ascending number, with all those that are left out.
        columns : CellColumns
            The columns that the cells compare.
        members : sequence of CellSettings
            Kernel and cost of each tree.
        seed : int
            The seed of the first tree; those of the others follow.
        cell_size : int
            The largest number of rows of a cell.
        held_out : HeldOut
            The folds of the rows of the sample.
        fold_of_group : ndarray or None
            The fold of each group; None where there are none.

        Returns
        -------
        forest : CellForest
            The trees; None in place of both where the fit stops before the first is there.
        left_out : ndarray of shape (n_left_out, k)
            Mean decisions on the rows that are left out, without them.
        """
        units = Units(self.encoding, columns, self.names, self.class_weight, self.groups)
        trunks = self._trunks(units, members, seed, cell_size)
        left_out = table.numbers[held_out.rows]
        jobs = [
            TreeTask(
                trunk,
                member,
                seed + number,
                cell_size,
                self.class_weight,
                left_out,
                held_out.fold[held_out.rows],
                fold_of_group,
            )
            for number, (trunk, member) in enumerate(zip(trunks, members, strict=True))
        ]
        regions = self._regions(units, jobs)
        if not regions:
            return None
        forest = join_forest(jobs[: len(regions)], regions)
        decisions = np.mean([_left_out(each, left_out) for each in regions], axis=0)
        unknown = np.isnan(decisions).any(axis=1)
        decisions[unknown] = forest.decision_values(table.X[held_out.rows[unknown]])
        return forest, decisions

    def _trunks(
        self, units: Units, members: Sequence[CellSettings], seed: int, cell_size: int
    ) -> list[Trunk]:
        """Grow the first levels of each tree on the rows of its least keys."""
        size = trunk_rows(self.n_rows, cell_size, self.region_rows)
        seeds = [seed + number for number in range(len(members))]

        def pull(share: float) -> list[list[tuple[Array, Index]]]:
            shares = [(own, share) for own in seeds]
            return self.cluster.over_partitions(
                "first levels", partial(draw_for_trunks, shares=shares), units
            )

        def is_enough(found: list[list[tuple[Array, Index]]]) -> bool:
            return all(
                sum(len(each[number][1]) for each in found) >= size for number in range(len(seeds))
            )

        found = pull_enough(pull, is_enough, size, self.n_rows)
        trunks = []
        for number, (own, member) in enumerate(zip(seeds, members, strict=True)):
            X = np.concatenate([each[number][0] for each in found])
            numbers = np.concatenate([each[number][1] for each in found])
            some = sample_rows(numbers, size, own)
            kernel: Any = member.kernel
            with single_blas():
                trunks.append(grow_trunk(X[some], numbers[some], kernel, cell_size, own))
        return trunks

    def _regions(self, units: Units, jobs: Sequence[TreeTask]) -> list[list[Region]]:
        """Fit all regions of all trees; return those of the first trees that are complete."""
        import dask

        make, get = dask.delayed(fit_region, pure=True), dask.delayed(_get, pure=True)
        n_passes = self.cluster.n_passes(self.n_rows * units.row_bytes)
        batches, n_batches = [], []
        for job in jobs:
            own, stops = as_node(job), _stops(job.trunk.n_regions, n_passes)
            for first, stop in pairwise(stops):
                some = partial(split, first=first, stop=stop)
                pieces = self.cluster.tasks(some, units, job.trunk)
                batches.append(
                    [
                        make(own, region, [get(each, region - first) for each in pieces])
                        for region in range(first, stop)
                    ]
                )
            n_batches.append(len(stops) - 1)
        found = iter(self.cluster.compute("cells", batches, self.stops))
        trees = [list(chain.from_iterable(islice(found, n))) for n in n_batches]
        return list(takewhile(lambda own: all(each is not None for each in own), trees))


def _stops(n_regions: int, n_passes: int) -> list[int]:
    """Return where the regions of each pass begin, and the end of the last."""
    n = min(n_regions, n_passes)
    return [number * n_regions // n for number in range(n + 1)]


def _get(pieces: Sequence[Any], region: int) -> Any:
    return pieces[region]


def pull_enough(pull: Any, is_enough: Any, size: int, n_rows: int) -> Any:
    """Ask for rows by their keys until there are enough of them.

    Parameters
    ----------
    pull : callable
        Returns the rows whose keys lie in a share of all keys.
    is_enough : callable
        Tells whether these are enough.
    size : int
        The number of rows that are needed.
    n_rows : int
        The number of all rows.

    Returns
    -------
    found : object
        What was pulled last.
    """
    share = (size + 6 * np.sqrt(size) + 10) / max(n_rows, 1)  # six deviations more than needed
    while True:
        found = pull(min(share, 1.0))
        if share >= 1 or is_enough(found):
            return found
        share *= 4


def join_forest(jobs: Sequence[TreeTask], regions: Sequence[Sequence[Region]]) -> CellForest:
    """Join the regions of all trees; the support vectors are stored once.

    Parameters
    ----------
    jobs : sequence of TreeTask
        What was fitted, tree by tree.
    regions : sequence of sequence of Region
        The regions of each tree.

    Returns
    -------
    forest : CellForest
        The trees.
    """
    flat = [each for own in regions for each in own]
    numbers, first = np.unique(np.concatenate([each.numbers for each in flat]), return_index=True)
    stored = np.concatenate([each.stored for each in flat])[first]
    trees = []
    for job, own in zip(jobs, regions, strict=True):
        parts = [each.fitted.cells for each in own]
        ends = np.concatenate([np.diff(part.stops) for part in parts])
        trees.append(
            CellTree(
                join(job.trunk, [part.tree for part in parts]),
                job.member.kernel,
                np.concatenate(
                    [np.searchsorted(numbers, each.numbers[each.fitted.cells.rows]) for each in own]
                ).astype(np.int32),
                np.cumsum([0, *ends]),
                np.concatenate([part.coef for part in parts]),
                np.concatenate([part.intercepts for part in parts]),
                np.concatenate([part.converged for part in parts]),
            )
        )
    return CellForest(stored, tuple(trees))


def _left_out(regions: Sequence[Region], numbers: Index) -> Array:
    """Return the left-out decisions of one tree on rows of given numbers; NaN where unknown."""
    decisions = [each.fitted.left_out for each in regions]
    first: Any = next(each for each in decisions if each is not None)
    out = np.full((len(numbers), first.shape[1]), np.nan)
    for each, own in zip(regions, decisions, strict=True):
        out[np.searchsorted(numbers, each.left_out)] = own
    return out
