"""Rows that occur several times, which make scores on held-out rows too good."""

from __future__ import annotations

from typing import Any

import numpy as np

_MIN_SHARE = 0.01  # share of copies from which they are worth a note


def copies_note(rows: Any, seed: int = 0) -> str:
    """Return a sentence where more rows are copies of others than chance explains; else "".

    Tables of few words have equal rows by chance. How many, is estimated by shuffling each column
    on its own.

    Parameters
    ----------
    rows : pandas.DataFrame
        The columns that are used.
    seed : int, default=0
        Shuffles the columns.

    Returns
    -------
    note : str
        The sentence.
    """
    n_copies = int(rows.duplicated().sum())
    if n_copies < max(1, _MIN_SHARE * len(rows)):
        return ""
    rng = np.random.default_rng(seed)
    shuffled = rows.copy()
    for name in shuffled:
        shuffled[name] = rng.permutation(shuffled[name].to_numpy())
    if n_copies <= 2 * int(shuffled.duplicated().sum()):
        return ""
    return (
        f"{n_copies} of {len(rows)} rows are copies of other rows; a copy among the training rows "
        "gives a held-out row away, so that the scores are too good: remove copies that are not "
        "observations of their own"
    )
