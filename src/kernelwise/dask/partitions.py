"""Dask collections as partitions: consecutive rows of a table that are not computed yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Partition:
    """Consecutive rows of a table."""

    X: Any
    y: Any
    weight: Any  # their sample weights; None if all are one
    start: int  # the number of the first row in the table


def is_lazy(X: Any) -> bool:
    """Return whether X is a Dask collection."""
    return hasattr(X, "__dask_graph__")


def is_array(X: Any) -> bool:
    """Return whether X is a dask array."""
    import dask.array as da

    return isinstance(X, da.Array)


def check_collection(X: Any) -> None:
    """Raise an error unless a collection is a table."""
    is_frame = hasattr(type(X), "divisions")
    if not (is_array(X) or is_frame) or X.ndim != 2:
        raise TypeError(
            "X must be a dask array of two dimensions or a Dask data frame; got "
            f"{type(X).__name__}. Convert it with dask.array or dask.dataframe first."
        )


def in_whole_rows(X: Any) -> Any:
    """Return a dask array whose chunks have all columns."""
    return X if X.ndim == 1 or X.numblocks[1] == 1 else X.rechunk({1: -1})


def partitions_of(
    X: Any, y: Any, sample_weight: Any, groups: Any
) -> tuple[list[Partition], list[Any]]:
    """Return the partitions that have rows, and labels, weights and groups as arrays.

    Labels, weights and groups may be in memory, or have other partitions than X.
    """
    import dask

    given = {"y": y, "sample_weight": sample_weight, "groups": groups}
    columns = {name: _columns(own) for name, own in given.items() if own is not None}
    blocks = _blocks(X)
    sizes = X.chunks[0] if is_array(X) else [np.nan]
    if np.isnan(sizes).any():
        sizes = [dask.delayed(len)(block) for block in blocks]
    lengths, known = dask.compute(list(sizes), columns)
    for name, arrays in known.items():
        columns[name] = _aligned(columns[name], arrays, lengths, name)
    starts = np.cumsum([0, *lengths])
    weights = columns.get("sample_weight", [None] * len(blocks))
    each = zip(blocks, columns["y"], weights, starts.tolist(), lengths, strict=False)
    return (
        [Partition(*own) for *own, n_rows in each if n_rows],
        [np.concatenate(known[name]) if name in known else None for name in given],
    )


def _blocks(values: Any) -> list[Any]:
    """Return the partitions of an array, data frame or series; one of values in memory."""
    import dask

    if not is_lazy(values):
        return [dask.delayed(values, traverse=False)]
    if is_array(values):
        return list(in_whole_rows(values).to_delayed().ravel())
    return list(values.to_delayed())


def _columns(values: Any) -> list[Any]:
    import dask

    return [dask.delayed(np.asarray)(block) for block in _blocks(values)]


def _aligned(
    blocks: list[Any], arrays: Sequence[Any], lengths: Sequence[int], name: str
) -> list[Any]:
    """Return labels, weights or groups in the partitions of the rows."""
    import dask.array as da

    own = [len(array) for array in arrays]
    if own == list(lengths):
        return blocks
    if sum(own) != sum(lengths):
        raise ValueError(f"X has {sum(lengths)} rows, but {name} has {sum(own)}.")
    parts = [
        da.from_delayed(block, shape=array.shape, dtype=array.dtype)
        for block, array in zip(blocks, arrays, strict=True)
    ]
    return list(da.concatenate(parts).rechunk({0: tuple(lengths)}).to_delayed().ravel())
