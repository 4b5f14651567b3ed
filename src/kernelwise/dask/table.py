"""A table whose rows stay on a cluster; the client has their labels and weights, and a sample.

    sample      the rows from which everything but the cells is learned
    levels      of the categories of all rows
    factor      each partition sends its rows to their regions, which factorise their cells
    bridge      on the client, from sums over all cells
    finish      the coefficients of the cells, which come to the client

Dask runs the tasks: on the cluster of the current client, or on threads of this process.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from operator import add
from typing import Any

import numpy as np

from .._typing import Array, Index
from ..svm.base.predictor import take
from ..svm.relevance.cells import Bridge, Finished, Plan, Squared, assembled
from ..svm.relevance.columns.encoding import CategoryCodes, ColumnEncoding
from ..svm.relevance.columns.raw import is_frame
from ..svm.relevance.fitting import Job
from ..svm.relevance.prior import Prior
from ..svm.relevance.rows import Rows
from ..svm.relevance.table import Reader
from .partitions import Partition
from .tasks import Shared, factor, finish, levels, split, with_columns


@dataclass(frozen=True)
class TableOnCluster:
    """All rows of a table in partitions, as `svm.relevance.table.Table` has them."""

    partitions: Sequence[Partition]
    y: Any
    weight: Array

    def take(self, rows: Index) -> Any:
        """Return some rows as the user gave them; their numbers ascend."""
        import dask

        starts = [own.start for own in self.partitions]
        ends = np.searchsorted(rows, [*starts, len(self.weight)])
        found = dask.compute(
            *(
                dask.delayed(take)(own.X, rows[a:b] - own.start)
                for own, (a, b) in zip(self.partitions, pairwise(ends), strict=True)
                if a < b
            )
        )
        if not is_frame(found[0]):
            return np.concatenate(found)
        from dask.dataframe.dispatch import concat  # which joins the levels of categories

        return concat(found, axis=0)

    def codes(self, encoding: ColumnEncoding) -> tuple[CategoryCodes, ...]:
        """Return the codes of categories for the levels of all rows."""
        import dask

        unit = min(1.0, float(self.weight[self.weight > 0].mean()))
        found = dask.compute(*self._tasks(levels, Shared(encoding).as_node(), unit))
        learned = []
        for category, parts in zip(encoding.categories, zip(*found, strict=True), strict=True):
            total: dict[Any, float] = {}
            for part in parts:
                for level, weight in part.items():
                    total[level] = total.get(level, 0.0) + weight
            learned.append(CategoryCodes.of_counts(category.column, total))
        return tuple(learned)

    def solve(self, read: Reader, rows: Rows, prior: Prior, job: Job) -> Squared:
        """Solve the squared loss of all rows, of which some are given as a sample."""
        n = int(np.count_nonzero(self.weight))
        plans, parts = Plan.all(rows, n, prior, job.rng, job.settings), []
        for number, plan in enumerate(plans):
            parts.append(self._solve(read, plan))
            job.tell(f"partition {number + 1} of {len(plans)}")
        return assembled(plans, parts)

    def _solve(self, read: Reader, plan: Plan) -> list[Finished]:
        import dask

        n, job = plan.trunk.n_cells, Shared((read, plan)).as_node()
        pieces = self._tasks(split, job)
        first = [dask.delayed(factor)([own[r] for own in pieces], r, job) for r in range(n)]
        held = list(dask.persist(*(own[0] for own in first), *(own[1] for own in first)))
        try:
            sums = [own.compute() for own in held[n:]]
            bridge = Shared(None if None in sums else Bridge.of(reduce(add, sums))).as_node()
            found = dask.compute(*(dask.delayed(finish)(own, bridge, job) for own in held[:n]))
        finally:  # Ctrl-C: a traceback would keep the cluster busy
            held.clear()
        return [with_columns(own, read.columns) for own in found]

    def _tasks(self, function: Any, *arguments: Any) -> list[Any]:
        """Return a function of each partition, not computed yet."""
        import dask

        make = dask.delayed(function)
        return [make([own.X, own.y, own.weight, own.start], *arguments) for own in self.partitions]
