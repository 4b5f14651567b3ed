"""Rows that are held out: folds that are dealt out by class, and a part of each class."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._typing import Index


def deal(classes: Index, n_folds: int, random_state: Any) -> list[Index]:
    """Deal the rows of each class out to folds in turn; a class may have fewer rows than that."""
    fold_of, dealt = np.empty(len(classes), dtype=np.intp), 0
    for label in np.unique(classes):
        members = random_state.permutation(np.flatnonzero(classes == label))
        fold_of[members] = (dealt + np.arange(len(members))) % n_folds
        dealt += len(members)
    return [np.flatnonzero(fold_of == fold) for fold in range(n_folds)]


def hold_out(classes: Index, fraction: float, random_state: Any) -> Index:
    """Pick the same part of each class, of which at least one row stays."""
    picked = []
    for label in np.unique(classes):
        members = random_state.permutation(np.flatnonzero(classes == label))
        picked.append(members[: min(len(members) - 1, max(1, round(fraction * len(members))))])
    rows = np.sort(np.concatenate(picked))
    if len(rows) == 0:
        raise ValueError("criterion='validation' needs a class with two different rows at least.")
    return rows
