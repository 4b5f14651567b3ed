"""Which rows of a large table are read for what, and the columns that its cells compare.

    some      rows that weights and regressions are learned from, at most 50,000 or so; of a table
              of numbers a quarter, but not fewer than 5,000: its cells learn most
    judged    rows of these whose left-out decisions mix and calibrate: half, at most 10,000 or so,
              or 25,000 where these are left out at once
    fold      rows that are left out of the cells together: the judged ones, or their groups

All three follow from the numbers of the rows (`scale.sampling`), not from their order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...._threads import run
from ...._typing import Array, Index
from ....scale.sampling import row_keys, uniform
from .evidence import EvidenceWeights
from .metric import MetricColumns
from .normal_scores import NormalScores
from .rows import PartRows

SAMPLE_ROWS = 50_000  # rows that weights and regressions are learned from, about
_SAMPLE_VALUES = 5_000_000  # values of these rows, about: a wide table has fewer rows
_LEAST_SAMPLE = 10_000  # the fewest rows of a wide table; half of it for few rows of numbers
_ROWS_PER_SAMPLED = 4  # rows of a table of numbers for each of these
JUDGED_ROWS = 10_000  # rows whose left-out decisions are made, about, where they are several folds
_JUDGED_AT_ONCE = 25_000  # the same where they are one fold, which costs little more than 10,000
_FOLDS = 5  # parts of which the judged rows are one or more
_UNCOMPARED = (
    0.02  # share of all weights whose columns, those of the least weights, cells leave out
)
_BLOCK_ROWS = 32_768  # rows that are encoded at a time


@dataclass(frozen=True)
class CellSample:
    """The rows of a table that are read for more than their cells.

    Parameters
    ----------
    seed : int
        Picks the rows, and the trees: theirs are `seed`, `seed + 1` and so on.
    numbers : ndarray of shape (n,)
        The number of each row in the whole table.
    some : ndarray
        The rows that weights and regressions are learned from, ascending.
    judged : ndarray
        The rows whose left-out decisions are made, ascending; some of `some`.
    fold : ndarray of shape (n,)
        The rows that are left out together; -1 for rows that are not left out.
    fold_of_group : ndarray or None, default=None
        The fold of each group; None where there are none.
    """

    seed: int
    numbers: Index
    some: Index
    judged: Index
    fold: Index
    fold_of_group: Any = None

    @classmethod
    def of(
        cls,
        rows: PartRows,
        numbers: Index,
        seed: int,
        n_trees: int,
        n_rows: int | None = None,
        n_groups: int | None = None,
    ) -> CellSample:
        """Pick rows.

        Parameters
        ----------
        rows : PartRows
            The training rows.
        numbers : ndarray of shape (n,)
            The number of each row in the whole table.
        seed : int
            Picks the rows.
        n_trees : int
            The number of trees, whose seeds the rows do not share.
        n_rows : int, default=None
            The number of rows of the whole table, where these are its sample alone.
        n_groups : int, default=None
            The number of its groups; None is as many as these rows have.

        Returns
        -------
        sample : CellSample
            The rows.
        """
        n = len(numbers) if n_rows is None else n_rows
        place = _places(numbers, seed + n_trees, n)
        of_sample = sample_share(n, rows.X.shape[1], has_categories=rows.layout.has_categories)
        is_some = place < of_sample
        at_once = min(1 / _FOLDS, _JUDGED_AT_ONCE / n)
        share = min(1.0, max(JUDGED_ROWS / n, at_once), of_sample / 2)
        if share * _FOLDS > 1:  # a part of a fold would cost as much as a whole one
            share = int(share * _FOLDS) / _FOLDS
        fold_of_group = None
        if rows.groups is None:
            fold = np.where(place < share, (_FOLDS * place).astype(np.intp), -1)
        else:
            groups = np.arange(int(rows.groups.max()) + 1 if n_groups is None else n_groups)
            fold_of_group = (_FOLDS * _places(groups, seed + n_trees, len(groups))).astype(np.intp)
            fold_of_group[fold_of_group >= np.ceil(_FOLDS * share)] = -1
            fold = fold_of_group[rows.groups]
        judged = np.flatnonzero(is_some & (fold >= 0))
        return cls(seed, numbers, np.flatnonzero(is_some), judged, fold, fold_of_group)


def sample_share(n: int, d: int, *, has_categories: bool) -> float:
    """Return the share of the rows of a table of n rows and d columns that is learned from.

    The regression of a table with categories may stand alone, and reads as many rows as it can.
    """
    most = min(SAMPLE_ROWS, max(_LEAST_SAMPLE, _SAMPLE_VALUES // d))
    if not has_categories:
        most = min(most, max(_LEAST_SAMPLE // 2, n // _ROWS_PER_SAMPLED))
    return most / n


def _places(units: Index, seed: int, n_units: int) -> Array:
    """Return a place in [0, 1) for each of so many units by its key; few divide it evenly."""
    if n_units > JUDGED_ROWS:
        out: Array = uniform(units, seed)
        return out
    different, which = np.unique(units, return_inverse=True)
    rank = np.argsort(np.argsort(row_keys(different, seed)))
    places: Array = rank[which] / len(different)
    return places


@dataclass(frozen=True)
class CellColumns:
    """Turns encoded columns into those that the kernel of the cells compares.

    Parameters
    ----------
    columns : ndarray of shape (n_columns,)
        The encoded columns of positive weight.
    metric : MetricColumns
        Their units.
    """

    columns: Index
    metric: MetricColumns

    @classmethod
    def of(cls, learned: EvidenceWeights) -> CellColumns:
        """Return the columns that have more than a trace of the weight.

        The evidence leaves a little to columns of noise. Without them distances change by a part
        in fifty at most, and cells are fitted and stored in less time and memory.
        """
        kept = np.flatnonzero(learned.weights > weight_of_traces(learned.weights))
        return cls(kept, part_of_metric(learned.columns, kept))

    def apply(self, X: Any, threads: int = 1) -> Array:
        """Return rows in these units, in float32, encoded block by block.

        Parameters
        ----------
        X : ndarray or EncodedTable of shape (n, d)
            Encoded rows, or rows that are encoded as they are read.
        threads : int, default=1
            Threads over blocks of rows.

        Returns
        -------
        Z : ndarray of shape (n, n_columns)
            The columns of positive weight.
        """
        out = np.empty((len(X), len(self.columns)), dtype=np.float32)

        def one_block(start: int) -> None:
            block = slice(start, start + _BLOCK_ROWS)
            out[block] = self.metric.apply(X[block], self.columns)

        run(one_block, range(0, len(X), _BLOCK_ROWS), threads)
        return out


def weight_of_traces(weights: Array) -> float:
    """Return the largest weight whose columns, with all smaller ones, have a fiftieth of the total.

    Parameters
    ----------
    weights : ndarray of shape (d,)
        The weights, not negative.

    Returns
    -------
    weight : float
        Zero where no positive weight is that small.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.svm.relevance.parts.cell_rows import weight_of_traces
    >>> weight_of_traces(np.array([1.0, 0.01, 0.005, 1.0])), weight_of_traces(np.ones(100))
    (0.01, 0.0)
    """
    different, counts = np.unique(weights, return_counts=True)
    are_traces = np.cumsum(counts * different) <= _UNCOMPARED * weights.sum()
    return float(different[are_traces].max(initial=0.0))


def part_of_metric(metric: MetricColumns, columns: Index) -> MetricColumns:
    """Return the units of some columns."""
    place = np.cumsum(~metric.is_category) - 1  # of each number among the numbers
    numbers = place[columns[~metric.is_category[columns]]]
    scores = metric.scores
    slices = [slice(scores.stops[j], scores.stops[j + 1]) for j in numbers]
    part = NormalScores(
        np.concatenate([np.empty(0), *(scores.values[own] for own in slices)]),
        np.concatenate([np.empty(0), *(scores.scores[own] for own in slices)]),
        np.cumsum([0, *(own.stop - own.start for own in slices)]),
    )
    return MetricColumns(part, metric.sizes[numbers], metric.is_category[columns])
