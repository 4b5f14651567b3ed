"""Shifts of decisions by the levels of a category, alone or with another column: random effects.

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
_KEY = 1_000_003  # larger than any number of codes of a column

Slopes = Callable[[Array], tuple[Array, Array]]  # decisions -> pulls and curvatures, (n, k)
Value = Callable[[Array], float]  # decisions -> loss in nats


@dataclass(frozen=True)
class Family:
    """Cells of one category, or of a category and another column.

    Parameters
    ----------
    first, second : int
        The columns; the same for a category alone.
    cuts : ndarray or None
        The cuts of the second column, if it is a number.
    keys : ndarray of shape (n_cells,)
        The cells, ascending.
    shifts : ndarray of shape (n_cells, k)
        What decisions in each cell are shifted by.
    """

    first: int
    second: int
    cuts: Array | None
    keys: Index
    shifts: Array

    def shift(self, Z: Array) -> Array:
        """Return the shifts of rows; new cells have none."""
        key = _keys(Z, self.first, self.second, self.cuts)
        at = np.minimum(np.searchsorted(self.keys, key), len(self.keys) - 1)
        out: Array = np.where((self.keys[at] == key)[:, None], self.shifts[at], 0.0)
        return out


def _codes(z: Array, cuts: Array | None) -> Index:
    return z.astype(np.int64) if cuts is None else np.searchsorted(cuts, z)


def _keys(Z: Array, a: int, b: int, cuts: Array | None) -> Index:
    first = Z[:, a].astype(np.int64)
    return first if a == b else first * _KEY + _codes(Z[:, b], cuts)


def find_families(
    rows: Rows, z: Array, value: Value, slopes: Slopes, settings: Settings
) -> list[Family]:
    """Return the families of cells whose shifts lower the left-out loss, one after the other.

    Parameters
    ----------
    rows : Rows
        Rows that no part has seen.
    z : ndarray of shape (n, k)
        The decisions of the mixture on them.
    value : callable
        Returns the loss of decisions in nats.
    slopes : callable
        Returns minus the derivative of each row's loss along its decisions, and the curvature.
    settings : Settings
        The constants.

    Returns
    -------
    families : list of Family
        At most five.
    """
    cuts, candidates = _candidates(rows)
    found: list[Family] = []
    best = value(z)
    while candidates and len(found) < _MAX_FAMILIES:
        pulls, curvatures = slopes(z)
        tried = [
            (value(z + out), pair, shifts, out)
            for pair in _most_promising(candidates, pulls, curvatures)
            for shifts, out in _shrunk(*candidates[pair], pulls, curvatures)
        ]
        new, (a, b), shifts, out = min(tried, key=lambda each: each[0])
        if new > best - settings.level_nats:
            break
        best, z = new, z + out
        cell = candidates[a, b][0]
        keys, first = np.unique(_keys(rows.Z, a, b, cuts[b]), return_index=True)
        found.append(Family(a, b, cuts[b], keys, shifts[cell[first]]))
    return found


def _candidates(rows: Rows) -> tuple[dict[int, Any], dict[tuple[int, int], tuple[Index, int]]]:
    """Return the cuts of each column, and the cell of each row by pair of columns."""
    Z, columns = rows.Z, rows.columns
    varying = np.flatnonzero(np.ptp(Z, axis=0) > 0).tolist() if len(Z) else []
    is_category, group = columns.is_category, columns.group
    quantiles = np.arange(1, _BINS) / _BINS
    found: dict[tuple[int, int], tuple[Index, int]] = {}
    if not any(is_category[j] for j in varying):
        return {}, found
    cuts = {
        j: None if is_category[j] else np.unique(np.quantile(Z[:, j], quantiles)) for j in varying
    }
    codes = {j: np.unique(_codes(Z[:, j], cuts[j]), return_inverse=True)[1] for j in varying}
    size = {j: int(codes[j].max()) + 1 for j in varying}
    for a in varying:
        if not is_category[a]:
            continue
        found[a, a] = codes[a], size[a]
        for b in varying:
            is_new = group[b] != group[a] and (b > a or not is_category[b])
            if is_new and size[a] * size[b] <= _CELLS_PER_ROW * len(Z):
                found[a, b] = codes[a] * size[b] + codes[b], size[a] * size[b]
    return cuts, found


def _most_promising(candidates: Any, pulls: Array, curvatures: Array) -> list[tuple[int, int]]:
    """Return the families with the largest gain that products of other rows' pulls foretell."""

    def promise(pair: tuple[int, int]) -> float:
        cell, m = candidates[pair]
        total = 0.0
        for q in range(pulls.shape[1]):
            own = pulls[:, q]
            products = np.bincount(cell, own, m) ** 2 - np.bincount(cell, own**2, m)
            V = np.bincount(cell, curvatures[:, q], m)
            total += max(float((products / (V + r)).sum()) for r in (0.5, 16.0))
        return total

    return sorted(candidates, key=promise, reverse=True)[:_TRIED]


def _shrunk(cell: Index, m: int, pulls: Array, curvatures: Array) -> Any:
    """Yield for each ridge the shifts of the cells, and those of rows without themselves."""
    k = pulls.shape[1]
    R = np.column_stack([np.bincount(cell, pulls[:, q], m) for q in range(k)])
    V = np.column_stack([np.bincount(cell, curvatures[:, q], m) for q in range(k)])
    for ridge in _RIDGES:
        yield R / (V + ridge), (R[cell] - pulls) / (V[cell] - curvatures + ridge)
