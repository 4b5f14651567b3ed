"""Rows that occur several times: a copy among the training rows gives a held-out row away."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._typing import Index

_MIN_SHARE = 0.01  # share of copies from which they are worth a note


def find_duplicate_rows(rows: Any, seed: int = 0) -> Index | None:
    """Return where each row occurs first, if more rows are copies than chance explains.

    Tables of few words have equal rows by chance. How many, is estimated by shuffling each column
    on its own.

    ``rows``: the columns that are used. ``seed``: shuffles the columns. Returns ``first`` (n,),
    the place of the first row that equals each row; None where copies are few or chance.
    """
    n = len(rows)
    if not rows.shape[1]:
        return None
    first = _first_places(rows)
    n_copies = n - len(np.unique(first))
    if n_copies < max(1, _MIN_SHARE * n):
        return None
    rng = np.random.default_rng(seed)
    shuffled = rows.copy()
    for name in shuffled:
        shuffled[name] = rng.permutation(shuffled[name].to_numpy())
    n_by_chance = n - len(np.unique(_first_places(shuffled)))
    return first if n_copies > 2 * n_by_chance else None


def _first_places(rows: Any) -> Index:
    from pandas.util import hash_pandas_object

    hashes = hash_pandas_object(rows, index=False).to_numpy()
    _, places, own = np.unique(hashes, return_index=True, return_inverse=True)
    return places[own]
