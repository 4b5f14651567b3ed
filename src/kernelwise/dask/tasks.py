"""What runs on workers: functions of one partition, or of one region.

They depend on their arguments alone, so that a task that is computed again, after the death of a
worker, has the same result.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._threads import single_blas
from .._typing import Array, Index
from ..svm.base.predictor import take
from ..svm.relevance.cells import Finished, Known, Region, Sums
from ..svm.relevance.columns.encoding import count_levels
from ..svm.relevance.rows import Rows


@dataclass(frozen=True)
class Shared:
    """A value that many tasks need, as one node of their graph.

    It travels as one string of bytes: Dask would hand over its arrays as views at any address,
    which compiled code refuses.
    """

    value: Any

    def __reduce__(self) -> Any:
        return _arrived, (pickle.dumps(self.value),)

    def as_node(self) -> Any:
        """Return the value as a node."""
        import dask

        return dask.delayed(self, traverse=False)


def _arrived(data: bytes) -> Shared:
    return Shared(pickle.loads(data))


class Held:
    """A region between the two passes, which tells Dask its size: 2 kB per row."""

    def __init__(self, region: Region) -> None:
        self.region = region

    def __sizeof__(self) -> int:
        cells = self.region.cells
        arrays = [
            (cell.G, cell.known.T, cell.known.rows.Z, cell.known.rows.lines) for cell in cells
        ]
        return sum(own.nbytes for each in arrays for own in each if own is not None)


def counted(X: Any, y: Any, weight: Any, start: int) -> tuple[Any, Any, Array, Index]:
    """Return the rows of a partition that count, their labels, weights and numbers."""
    y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    weight = np.ones(len(y)) if weight is None else weight.astype(np.float64)
    own = np.flatnonzero(weight > 0)
    return take(X, own), y[own], weight[own], start + own


def levels(partition: Sequence[Any], encoding: Shared, factor: float) -> list[dict[Any, float]]:
    """Return the weight of each level of each category, in units of a factor."""
    X, _, weight, _ = counted(*partition)
    raws = encoding.value.category_columns(X)
    return [count_levels(raw, weight / factor) for raw in raws]


def split(partition: Sequence[Any], job: Shared) -> list[tuple[Any, ...]]:
    """Return the rows of each region, as arrays."""
    read, plan = job.value
    known: Known = read(*counted(*partition))
    found = []
    for own in plan.regions(known):
        some = known.part(own)
        rows = some.rows.Z, some.rows.lines, some.rows.places, some.rows.weight
        found.append((*rows, some.T, some.cost_factor, some.numbers, some.wanted))
    return found


def factor(pieces: Sequence[Any], number: int, job: Shared) -> tuple[Held, Sums | None]:
    """Factorise the cells of a region, whose rows come from all partitions."""
    read, plan = job.value
    arrays = [np.concatenate(each) for each in zip(*pieces, strict=True)]
    known = Known(Rows(read.columns, *arrays[:4]), *arrays[4:])
    with single_blas():
        region, sums = plan.factor(known, number)
    return Held(region), sums


def finish(held: Held, bridge: Shared, job: Shared) -> Finished:
    """Finish the cells of a region; their rows do not refer to the columns, which are large."""
    _, plan = job.value
    with single_blas():
        return with_columns(plan.finish(held.region, bridge.value), None)


def with_columns(region: Finished, columns: Any) -> Finished:
    """Return a finished region whose rows refer to some columns."""
    cells = [replace(cell, rows=replace(cell.rows, columns=columns)) for cell in region.cells]
    return replace(region, cells=cells)
