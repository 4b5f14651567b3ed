"""Training and test rows of an evaluation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._typing import Index
from ..tabular import TableError, Target


class Splits(NamedTuple):
    """Pairs of training and test rows, and how they were made.

    ``n_first`` is the number of splits that test each row once: the first repeat of the folds.
    """

    rows: list[tuple[Index, Index]]
    n_first: int
    protocol: str
    notes: list[str]

    @property
    def test_ratio(self) -> float:
        """Number of test rows over that of training rows, the mean over the splits."""
        return float(np.mean([len(test) / len(train) for train, test in self.rows]))


def make_splits(
    classes: Target, cv: int, repeats: int, test_size: float | None, seed: int
) -> Splits:
    """Return stratified folds, or one held-out part where ``test_size`` is given."""
    if test_size is not None:
        return _held_out_part(classes, test_size, seed)
    if cv < 2 or repeats < 1:
        raise TableError(f"cv={cv} and repeats={repeats}: give at least 2 folds and 1 repeat.")
    from sklearn.model_selection import RepeatedStratifiedKFold

    y, n_folds = classes.y, min(cv, classes.smallest)
    folds = RepeatedStratifiedKFold(n_splits=n_folds, n_repeats=repeats, random_state=seed)
    times = f", {repeats} times" if repeats > 1 else ""
    protocol = f"{n_folds}-fold cross-validation{times}, {len(y)} rows"
    fewer = f"{n_folds} folds instead of {cv}: the smallest class has {n_folds} rows"
    notes = [fewer] if n_folds < cv else []
    return Splits(list(folds.split(np.zeros(len(y)), y)), n_folds, protocol, notes)


def _held_out_part(classes: Target, test_size: float, seed: int) -> Splits:
    from sklearn.model_selection import train_test_split

    if not 0 < test_size < 1:
        raise TableError(f"test_size={test_size:g} must be between 0 and 1.")
    places = np.arange(len(classes.y))
    try:
        train, test = train_test_split(
            places, test_size=test_size, stratify=classes.y, random_state=seed
        )
    except ValueError as error:
        raise TableError(
            f"test_size={test_size:g} leaves too few rows of some class to train or to test on: "
            f"{error}"
        ) from error
    return Splits([(train, test)], 1, f"{len(test)} of {len(places)} rows held out", [])
