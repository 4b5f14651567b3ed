"""Training and test rows of an evaluation."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ..._parameters import check_count, check_number
from ..._typing import Index
from ..tabular import TableError, Target
from ..tabular.targets import MIN_CLASS

_MAX_REPEATS = 10_000


class Splits(NamedTuple):
    """Pairs of training and test rows, and how they were made.

    ``n_first`` is the number of splits that test each row once: the first repeat of the folds.
    ``together`` says whether copies of a row are held out together.
    """

    rows: list[tuple[Index, Index]]
    n_first: int
    protocol: str
    notes: list[str]
    together: bool = False

    @property
    def test_ratio(self) -> float:
        """Ratio of test rows to training rows, averaged over the splits."""
        return float(np.mean([len(test) / len(train) for train, test in self.rows]))


def make_splits(
    target: Target,
    cv: int,
    repeats: int,
    test_size: float | None,
    seed: int,
    copies: Index | None = None,
    hold_together: bool = True,
) -> Splits:
    """Return stratified folds, or one held-out part where ``test_size`` is given.

    A class of a single row is always among the training rows.

    ``copies`` are the places of the first rows that equal each row, by `find_duplicate_rows`: such
    rows are held out together, unless ``hold_together`` is false.
    """
    strata = target.strata
    n, together = len(strata), copies if hold_together else None
    if together is not None and not _can_hold_together(strata, together):
        together = None  # equal rows have several classes, or a class has one row many times
    heads = np.arange(n) if together is None else np.unique(together)
    alone = np.bincount(strata[heads])[strata[heads]] < 2
    always, heads = heads[alone], heads[~alone]
    y = strata[heads]
    notes = [] if copies is None else [_copies_note(n, copies, together is not None)]
    suffix = ", copies together" if together is not None else ""
    if test_size is not None:
        pair = _held_out_part(y, test_size, seed)
        rows = _with_copies([pair], heads, always, together)
        protocol = f"{len(rows[0][1])} of {n} rows held out{suffix}"
        return Splits(rows, 1, protocol, notes, together is not None)
    n_folds = _n_folds(y, cv, repeats)
    rows = _with_copies(_folds(y, n_folds, repeats, seed), heads, always, together)
    times = f", {repeats} times" if repeats > 1 else ""
    if n_folds < cv:
        different = " different" if together is not None else ""
        has = f"a class has {n_folds}{different} rows"
        notes = [f"{n_folds} folds instead of {cv}: {has}", *notes]
    protocol = f"{n_folds}-fold cross-validation{times}, {n} rows{suffix}"
    return Splits(rows, n_folds, protocol, notes, together is not None)


def _folds(y: Index, n_folds: int, repeats: int, seed: int) -> list[tuple[Index, Index]]:
    from sklearn.model_selection import RepeatedStratifiedKFold

    folds = RepeatedStratifiedKFold(n_splits=n_folds, n_repeats=repeats, random_state=seed)
    with warnings.catch_warnings():  # classes of fewer rows than folds are in some of them
        warnings.filterwarnings("ignore", message="The least populated class")
        return list(folds.split(np.zeros(len(y)), y))


def _can_hold_together(strata: Index, copies: Index) -> bool:
    """Return whether enough different rows of each class are left if copies count once."""
    counts, different = np.bincount(strata), np.bincount(strata[np.unique(copies)])
    different = np.pad(different, (0, len(counts) - len(different)))
    return bool(np.all((different >= 2) | (counts < 2)))


def _copies_note(n: int, copies: Index, together: bool) -> str:
    text = f"{n - len(np.unique(copies))} of {n} rows are copies of other rows; "
    if together:
        return text + (
            "copies are held out together, so that none of them gives a held-out row away; remove "
            "those that are not observations of their own"
        )
    return text + (
        "a copy among the training rows gives a held-out row away, so that the scores are too "
        "good: remove copies that are not observations of their own"
    )


def _with_copies(
    pairs: Iterable[tuple[Index, Index]], heads: Index, always: Index, copies: Index | None
) -> list[tuple[Index, Index]]:
    """Return training rows, with those that are always among them, and test rows, with copies."""

    def all_of(chosen: Index) -> Index:
        return np.sort(chosen) if copies is None else np.flatnonzero(np.isin(copies, chosen))

    return [
        (all_of(np.concatenate([heads[train], always])), all_of(heads[test]))
        for train, test in pairs
    ]


def _n_folds(y: Any, cv: int, repeats: int) -> int:
    """Return the number of folds; at most as many as each class of some rows has rows."""
    check_count(cv, "cv")
    check_count(repeats, "repeats", most=_MAX_REPEATS)
    if cv < 2 or repeats < 1:
        raise TableError(f"cv={cv} and repeats={repeats}: give at least 2 folds and 1 repeat.")
    counts = np.unique(y, return_counts=True)[1]
    common = counts[counts >= MIN_CLASS]
    return min(cv, int(common.min() if len(common) else max(2, counts.min())))


def _held_out_part(y: Any, test_size: float, seed: int) -> tuple[Index, Index]:
    from sklearn.model_selection import train_test_split

    check_number(test_size, "test_size")
    if not 0 < test_size < 1:
        raise TableError(f"test_size={test_size:g} must be between 0 and 1.")
    try:
        train, test = train_test_split(
            np.arange(len(y)), test_size=test_size, stratify=y, random_state=seed
        )
    except ValueError as error:
        least = len(np.unique(y)) / len(y)  # a row of each class
        remedy = f"give a share from {least:.2g} to {1 - least:.2g}" if least <= 0.5 else str(error)
        raise TableError(
            f"test_size={test_size:g} leaves too few rows of some class to train or to test on: "
            f"{remedy}."
        ) from error
    return train, test


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
