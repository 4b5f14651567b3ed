"""Training and test rows of an evaluation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._typing import Index
from ..tabular import TableError, Target


class Splits(NamedTuple):
    """Training and test rows, how many splits test each row once, the protocol, and notes."""

    rows: list[tuple[Index, Index]]
    n_first: int
    protocol: str
    notes: list[str]


def make_splits(
    classes: Target, cv: int, repeats: int, test_size: float | None, seed: int
) -> Splits:
    """Deal out the rows: once by ``test_size``, else in stratified folds."""
    from sklearn.model_selection import RepeatedStratifiedKFold, train_test_split

    y = classes.y
    if test_size is not None:
        if not 0 < test_size < 1:
            raise TableError(f"test_size={test_size:g} must be between 0 and 1.")
        try:
            split = train_test_split(
                np.arange(len(y)), test_size=test_size, stratify=y, random_state=seed
            )
        except ValueError as error:
            raise TableError(f"test_size={test_size:g} does not do: {error}") from error
        return Splits([tuple(split)], 1, f"{len(split[1])} of {len(y)} rows held out", [])
    if cv < 2 or repeats < 1:
        raise TableError(f"cv={cv} and repeats={repeats}: at least 2 folds and 1 repeat.")
    n_folds, notes = min(cv, classes.smallest), []
    if n_folds < cv:
        notes.append(f"{n_folds} folds instead of {cv}: the smallest class has {n_folds} rows")
    folds = RepeatedStratifiedKFold(n_splits=n_folds, n_repeats=repeats, random_state=seed)
    often = f", {repeats} times" if repeats > 1 else ""
    protocol = f"{n_folds}-fold cross-validation{often}, {len(y)} rows"
    return Splits(list(folds.split(np.zeros(len(y)), y)), n_folds, protocol, notes)
