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


def deal_groups(classes: Index, groups: Index, n_folds: int, random_state: Any) -> list[Index]:
    """Deal whole groups out to folds that have about the same number of rows of each class.

    Parameters
    ----------
    classes : ndarray of shape (n,)
        The class of each row.
    groups : ndarray of shape (n,)
        The group of each row.
    n_folds : int
        The most folds; there are no more than groups.
    random_state : RandomState
        Breaks ties between groups of equal size.

    Returns
    -------
    folds : list of ndarray
        The rows of each fold.
    """
    number = np.unique(groups, return_inverse=True)[1]
    sizes = np.zeros((int(number.max()) + 1, int(classes.max()) + 1))
    np.add.at(sizes, (number, classes), 1)
    sizes /= np.maximum(sizes.sum(axis=0), 1)
    order = random_state.permutation(len(sizes))
    order = order[np.argsort(-sizes[order].sum(axis=1), kind="stable")]  # large groups first
    n_folds = min(n_folds, len(sizes))
    filled = np.zeros((n_folds, sizes.shape[1]))
    fold_of = np.empty(len(sizes), dtype=np.intp)
    for group in order:
        growth = ((filled + sizes[group]) ** 2 - filled**2).sum(axis=1)
        fold_of[group] = np.argmin(growth)
        filled[fold_of[group]] += sizes[group]
    return [np.flatnonzero(fold_of[number] == fold) for fold in range(n_folds)]


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
