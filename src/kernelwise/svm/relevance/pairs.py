"""A screen of all pairs of columns, for columns that act only together.

The sums of a target t over the cells of two columns in a few bins each, less an additive fit of
both, make a statistic of their interaction:

    sum over cells (S - N (a + b))^2 / (N + 1),   S = sum of t, N = rows, a, b = effects of the bins

which has about a chi-squared distribution if nothing is there. Counts and sums of all pairs are
products of one-hot matrices.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import chi2

from ..._typing import Array, Index
from .rows import Rows

_BINS = 3  # of each column: three genotypes, or low, middle and high
_BLOCK = 100  # columns whose pairs are counted at a time; memory
_SWEEPS = 4  # of the additive fit; correlated columns need more than one
_LEVEL = 0.05  # probability that any pair is found if nothing is there


def pair_shares(rows: Rows, T: Array, columns: Index) -> Array | None:
    """Return the share of each group in the interactions that stand out, or None if none does."""
    table = rows.columns
    columns = columns[np.ptp(rows.Z, axis=0)[columns] > 0]
    p = len(columns)
    if p < 2:
        return None
    codes = _coarse(rows, columns)
    hot = (codes[:, :, None] == np.arange(_BINS)).astype(np.float32).reshape(len(rows), -1)
    used = (hot > 0).any(axis=0).reshape(p, _BINS).sum(axis=1)
    limit = chi2.isf(_LEVEL / (p * (p - 1) / 2 * T.shape[1]), np.arange((_BINS - 1) ** 2 + 1))
    excess = np.zeros(p)
    for start in range(0, p, _BLOCK):
        block = np.arange(start, min(start + _BLOCK, p))
        freedom = np.multiply.outer(used[block] - 1, used[start:] - 1)
        found = _interactions(hot, T, start, block) - limit[freedom]
        found[(freedom == 0) | (block[:, None] >= np.arange(start, p))] = 0
        np.maximum(found, 0, out=found)
        excess[block] += found.sum(axis=1)
        excess[start:] += found.sum(axis=0)
    if not excess.any():
        return None
    shares = np.bincount(table.group[columns], excess / excess.sum(), table.n_groups)
    return shares.astype(np.float64)


def _coarse(rows: Rows, columns: Index) -> Index:
    """Return thirds of numbers, and the most frequent levels of categories, as small codes."""
    codes = np.empty((len(rows), len(columns)), dtype=np.intp)
    for out, j in enumerate(columns):
        values, place, counts = np.unique(rows.Z[:, j], return_inverse=True, return_counts=True)
        if rows.columns.is_category[j]:
            rank = np.argsort(np.argsort(-counts, kind="stable"))
            codes[:, out] = np.minimum(rank, _BINS - 1)[place]
        elif len(values) <= _BINS:
            codes[:, out] = place
        else:
            middle = np.cumsum(counts) - 0.5 * counts
            codes[:, out] = (middle * _BINS / len(rows)).astype(np.intp)[place]
    return codes


def _interactions(hot: Array, T: Array, start: int, block: Index) -> Array:
    """Return the largest statistic over the targets of each pair of a block with later columns."""
    first = hot[:, start * _BINS : (block[-1] + 1) * _BINS]
    later = hot[:, start * _BINS :]
    shape = len(block), _BINS, later.shape[1] // _BINS, _BINS
    N = (first.T @ later).reshape(shape)
    n_first, n_later = (np.maximum(N.sum(axis=k, keepdims=True), 1) for k in (3, 1))
    out = np.zeros((shape[0], shape[2]))
    for t in T.T.astype(np.float32):
        left = ((first * t[:, None]).T @ later).reshape(shape)
        for _ in range(_SWEEPS):
            left -= N * (left.sum(axis=3, keepdims=True) / n_first)
            left -= N * (left.sum(axis=1, keepdims=True) / n_later)
        np.square(left, out=left)
        left /= N + 1
        np.maximum(out, left.sum(axis=(1, 3)), out=out)
    return out
