"""Shifts of decisions by levels: random effects.

Levels are those of a category, alone or with another column, and the values of a number whose
values repeat, such as a limit or a default that many rows have.

    shift of a cell = R / (V + ridge),  R = sum of the pulls of its rows, V = of their curvatures

on decisions of rows that no part has seen. A family of cells enters if its left-out loss is 4 nats
lower than without it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._typing import Array, Index
from .rows import Rows
from .settings import Settings

_RIDGES = (0.5, 2.0, 8.0, 32.0)  # in units of the curvature of a row
_MAX_FAMILIES = 5
_TRIED = 4  # families whose ridges are tried in each round, by a promise without a ridge
_BINS = 8  # of a number beside a category
_CELLS_PER_ROW = 4  # families with more cells than this are not tried
_ROWS_PER_VALUE = 20  # of a number whose values are levels, on average; without: adult ll +.02
KEY = 1_000_003  # larger than any number of codes of a column

Slopes = Callable[[Array], tuple[Array, Array]]  # decisions -> pulls and curvatures, (n, k)
Value = Callable[[Array], float]  # decisions -> loss in nats


@dataclass(frozen=True)
class Family:
    """Cells of one column, or of a category and another column."""

    first: int  # the columns; the same for one column
    second: int
    cuts: Array | None  # the cuts of the second column, if it is a number
    keys: Index  # (n_cells,): the cells, ascending
    shifts: Array  # (n_cells, k): what decisions in each cell are shifted by

    def shift(self, Z: Array) -> Array:
        """Return the shifts of rows; new cells have none."""
        key = _keys(Z, self.first, self.second, self.cuts)
        at = np.minimum(np.searchsorted(self.keys, key), len(self.keys) - 1)
        out: Array = np.where((self.keys[at] == key)[:, None], self.shifts[at], 0.0)
        return out


def _codes(z: Array, cuts: Array | None) -> Index:
    return z.astype(np.int64) if cuts is None else np.searchsorted(cuts, z)


def _keys(Z: Array, a: int, b: int, cuts: Array | None) -> Index:
    own = _codes(Z[:, b], cuts)
    return own if a == b else Z[:, a].astype(np.int64) * KEY + own


def find_families(
    rows: Rows, z: Array, value: Value, slopes: Slopes, settings: Settings
) -> list[Family]:
    """Return the families of cells whose shifts lower the left-out loss, one after the other."""
    candidates = _candidates(rows)
    found: list[Family] = []
    best = value(z)
    while candidates and len(found) < _MAX_FAMILIES:
        pulls, curvatures = slopes(z)
        tried = [
            (value(z + out), pair, shifts, out)
            for pair in _most_promising(candidates, pulls, curvatures)
            for shifts, out in _shrunk(candidates[pair], pulls, curvatures)
        ]
        new, (a, b), shifts, out = min(tried, key=lambda each: each[0])
        if new > best - settings.nats:
            break
        best, z = new, z + out
        own = candidates[a, b]
        keys, first = np.unique(_keys(rows.Z, a, b, own.cuts), return_index=True)
        found.append(Family(a, b, own.cuts, keys, shifts[own.cell[first]]))
    return found


@dataclass(frozen=True)
class _Cells:
    """The cell of each row, how many cells there are, and the cuts of the second column."""

    cell: Index
    size: int
    cuts: Array | None

    @classmethod
    def of(cls, Z: Array, j: int, cuts: Array | None) -> _Cells:
        """Return the levels of a column as cells."""
        found, cell = np.unique(_codes(Z[:, j], cuts), return_inverse=True)
        return cls(cell, len(found), cuts)

    def beside(self, other: _Cells) -> _Cells:
        """Return the cells of these levels and those of another column."""
        return _Cells(self.cell * other.size + other.cell, self.size * other.size, other.cuts)


def _candidates(rows: Rows) -> dict[tuple[int, int], _Cells]:
    """Return the cells of each column with levels, and of each category with another column."""
    Z, is_category, group = rows.Z, rows.columns.is_category, rows.columns.group
    varying = np.flatnonzero(np.ptp(Z, axis=0) > 0).tolist() if len(Z) else []
    found = {}
    coarse = {}
    quantiles = np.arange(1, _BINS) / _BINS
    for j in varying:
        if is_category[j]:
            found[j, j] = coarse[j] = _Cells.of(Z, j, None)
            continue
        coarse[j] = _Cells.of(Z, j, np.unique(np.quantile(Z[:, j], quantiles)))
        values = np.unique(Z[:, j])
        n_bins = int(np.diff(rows.columns.bins.starts)[j])
        if n_bins < len(values) <= len(Z) / _ROWS_PER_VALUE:
            found[j, j] = _Cells.of(Z, j, (values[1:] + values[:-1]) / 2)
    for a in varying:
        for b in varying if is_category[a] else []:
            is_new = group[b] != group[a] and (b > a or not is_category[b])
            if is_new and coarse[a].size * coarse[b].size <= _CELLS_PER_ROW * len(Z):
                found[a, b] = coarse[a].beside(coarse[b])
    return found


def _most_promising(candidates: Any, pulls: Array, curvatures: Array) -> list[tuple[int, int]]:
    """Return the families with the largest gain that products of other rows' pulls foretell."""

    def promise(pair: tuple[int, int]) -> float:
        cell, m = candidates[pair].cell, candidates[pair].size
        total = 0.0
        for q in range(pulls.shape[1]):
            own = pulls[:, q]
            products = np.bincount(cell, own, m) ** 2 - np.bincount(cell, own**2, m)
            V = np.bincount(cell, curvatures[:, q], m)
            total += max(float((products / (V + r)).sum()) for r in (0.5, 16.0))
        return total

    return sorted(candidates, key=promise, reverse=True)[:_TRIED]


def _shrunk(cells: _Cells, pulls: Array, curvatures: Array) -> Any:
    """Yield for each ridge the shifts of the cells, and those of rows without themselves."""
    cell, m, k = cells.cell, cells.size, pulls.shape[1]
    R = np.column_stack([np.bincount(cell, pulls[:, q], m) for q in range(k)])
    V = np.column_stack([np.bincount(cell, curvatures[:, q], m) for q in range(k)])
    for ridge in _RIDGES:
        yield R / (V + ridge), (R[cell] - pulls) / (V[cell] - curvatures + ridge)
