"""Numbers that count rows or name them, and say nothing else."""

from __future__ import annotations

import re

import numpy as np

from .._typing import Array

MIN_ID_ROWS = 20  # rows below which different values do not make a column an id
ID_SHARE = 0.9  # share of different values above which a column of words is an id
_MIN_PAIRS = 20.0  # pairs of equal numbers that chance would give, from which none is an id
_ID = re.compile(
    r"(^|[_\W]|(?-i:[a-z](?=I))|case|user|customer|patient|person|subject|record|order|account|member)"
    r"(id|uuid|guid|key|index|rows?|rownames?|rownumbers?|nr|no|number|seqn|seqno|id[_\W]?str)$",
    re.IGNORECASE,
)


def is_numbering(name: str, present: Array) -> bool:
    """Return whether whole numbers are ids, by the name of the column or by their spacing.

    Numbers drawn from a range of N would hardly all be different if n^2 / 2 N is large (the
    birthday problem): such numbers count rows, also in a part of a table.
    """
    n, values = len(present), np.unique(present)
    if n < MIN_ID_ROWS or len(values) < n or np.any(values != np.round(values)):
        return False
    width = float(values[-1] - values[0]) + 1
    is_dense = n * (n - 1) / (2 * width) > _MIN_PAIRS
    is_count = width == n and bool(np.all(np.diff(present) > 0))
    return is_count or is_dense or bool(_ID.search(name))
