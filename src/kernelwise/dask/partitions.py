"""Partitions of dask arrays and data frames, whose rows have numbers in the whole table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._records import dataclass
from .._typing import Array, Index
from ..svm.relevance.raw_columns import is_frame


@dataclass(frozen=True)
class Partition:
    """Some consecutive rows of a table, which are not computed yet.

    Parameters
    ----------
    X : Delayed
        The rows.
    y : Delayed
        Their classes.
    weight : Delayed or None
        Their sample weights; None where all are one.
    groups : Delayed or None
        Their groups; None where there are none.
    start : int
        The number of the first row in the whole table.
    n_rows : int
        The number of rows.
    """

    X: Any
    y: Any
    weight: Any
    groups: Any
    start: int
    n_rows: int


@dataclass(frozen=True)
class Rows:
    """The rows of a partition that count: those of positive sample weight.

    Parameters
    ----------
    X : data frame or ndarray of shape (n, d)
        The rows as the user gives them.
    y : ndarray of shape (n,)
        Their classes.
    weight : ndarray of shape (n,)
        Their sample weights.
    numbers : ndarray of shape (n,)
        Their numbers in the whole table.
    groups : ndarray of shape (n,) or None
        Their groups; None where there are none.
    """

    X: Any
    y: Any
    weight: Array
    numbers: Index
    groups: Any

    @classmethod
    def of(cls, X: Any, y: Any, weight: Any, groups: Any, start: int) -> Rows:
        """Return the rows of a computed partition that count."""
        y = np.asarray(y).ravel()
        weight = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=np.float64).ravel()
        groups = None if groups is None else np.asarray(groups).ravel()
        if not len(X) == len(y) == len(weight) == (len(y) if groups is None else len(groups)):
            raise ValueError(
                f"A partition has {len(X)} rows, {len(y)} labels and {len(weight)} weights; X, y, "
                "sample_weight and groups need the same partitions."
            )
        if not np.isfinite(weight).all():
            raise ValueError("sample_weight must be finite.")
        if y.dtype.kind == "f" and np.isnan(y).any():
            raise ValueError("Input y contains NaN.")
        rows = cls(X, y, weight, start + np.arange(len(y)), groups)
        return rows if (weight > 0).all() else rows.part(weight > 0)

    def part(self, chosen: Any) -> Rows:
        """Return some of the rows, by a mask or by places."""
        X = self.X.iloc[chosen] if is_frame(self.X) else self.X[chosen]
        groups = None if self.groups is None else self.groups[chosen]
        return Rows(X, self.y[chosen], self.weight[chosen], self.numbers[chosen], groups)

    @classmethod
    def joined(cls, parts: Sequence[Rows]) -> Rows:
        """Put the rows of partitions together, in their order."""
        tables = [each.X for each in parts]
        if is_frame(tables[0]):
            from dask.dataframe.dispatch import concat  # which joins the levels of categories

            table = concat(tables, axis=0)
        else:
            table = np.concatenate(tables)
        return cls(
            table,
            np.concatenate([each.y for each in parts]),
            np.concatenate([each.weight for each in parts]),
            np.concatenate([each.numbers for each in parts]),
            None if parts[0].groups is None else np.concatenate([each.groups for each in parts]),
        )


def partitions_of(X: Any, y: Any, sample_weight: Any, groups: Any, client: Any) -> list[Partition]:
    """Return the partitions of a table.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame of shape (n, d)
        The rows.
    y : dask.array.Array or dask.dataframe.Series of shape (n,)
        The classes.
    sample_weight : the same as y, or None
        The weights of the rows.
    groups : the same as y, or None
        The groups of the rows.
    client : distributed.Client
        Computes the lengths of partitions, where they are not known.

    Returns
    -------
    partitions : list of Partition
        The partitions that have rows, in order.
    """
    blocks, lengths = _blocks(X, "X", client)
    labels = _aligned(y, "y", lengths, client)
    weights, units = (
        [None] * len(blocks) if given is None else _aligned(given, name, lengths, client)
        for name, given in (("sample_weight", sample_weight), ("groups", groups))
    )
    starts = np.cumsum([0, *lengths])
    found = zip(blocks, labels, weights, units, starts, lengths, strict=False)
    return [Partition(*each) for each in found if each[-1] > 0]


def is_array(X: Any) -> bool:
    """Return whether X is a dask array."""
    import dask.array as da

    return isinstance(X, da.Array)


def is_dask_frame(X: Any) -> bool:
    """Return whether X is a data frame or a series of Dask."""
    return hasattr(X, "npartitions") and hasattr(X, "map_partitions")


def in_whole_rows(X: Any) -> Any:
    """Return a dask array whose chunks have all columns."""
    return X if X.ndim == 1 or len(X.chunks[1]) == 1 else X.rechunk({1: -1})


def _blocks(X: Any, name: str, client: Any) -> tuple[list[Any], list[int]]:
    """Return the delayed partitions of a collection, and the number of rows of each."""
    if is_array(X):
        X = in_whole_rows(X)
        if any(np.isnan(size) for size in X.chunks[0]):
            blocks = X.to_delayed().ravel().tolist()
            return blocks, _lengths(blocks, client)
        return X.to_delayed().ravel().tolist(), [int(size) for size in X.chunks[0]]
    if is_dask_frame(X):
        blocks = X.to_delayed()
        return blocks, _lengths(blocks, client)
    raise TypeError(
        f"{name} must be a dask array or a data frame of Dask; got {type(X).__name__}. Fit a plain "
        "RelevanceSVC to a table in memory, or convert it with dask.array.from_array."
    )


def _lengths(blocks: Sequence[Any], client: Any) -> list[int]:
    import dask

    counted = [dask.delayed(len, name="kernelwise-length")(block) for block in blocks]
    return [int(n) for n in client.gather(client.compute(counted))]


def _aligned(values: Any, name: str, lengths: list[int], client: Any) -> list[Any]:
    """Return the delayed partitions of a column, which has those of the table."""
    if is_array(values):
        if values.ndim == 2 and values.shape[1] == 1:
            values = values[:, 0]
        if values.ndim != 1:
            raise ValueError(f"{name} must have one column; got the shape {values.shape}.")
    blocks, own = _blocks(values, name, client)
    if sum(own) != sum(lengths):
        raise ValueError(f"X has {sum(lengths)} rows, but {name} has {sum(own)}.")
    return blocks if own == lengths else _in_other_partitions(blocks, own, lengths)


def _in_other_partitions(blocks: Sequence[Any], own: list[int], lengths: list[int]) -> list[Any]:
    """Return a column in other partitions: Dask may join those of one column of a parquet file."""
    import dask
    import dask.array as da

    as_array = dask.delayed(np.asarray, pure=True)
    parts = [
        da.from_delayed(as_array(block), shape=(size,), dtype=object)
        for block, size in zip(blocks, own, strict=True)
    ]
    return list(da.concatenate(parts).rechunk((tuple(lengths),)).to_delayed().ravel())
