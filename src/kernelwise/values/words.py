"""Words as they stand in cells, and those that mean a missing value."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .._typing import Array

# Missing values in any column, as people, R, pandas, SAS, Weka, databases and spreadsheets write
# them. Text that may be an ordinary value is not here: see `means_missing`.
MISSING = (
    *("", "?", "-", "."),
    *("NA", "na", "N/A", "n/a", "N/a", "N.A.", "n.a.", "N.A", "n.a", "N. A.", "n. a.", "<NA>"),
    *("NaN", "nan", "-NaN", "-nan", "NaT", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
    *("NULL", "null", "(null)", "\\N", "None"),
    *("#N/A", "#NA", "#N/A N/A", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!"),
)
_GAPS = frozenset(MISSING)
# Text that means a missing value among numbers; among words it may be an ordinary value.
_MISSING_NUMBER = re.compile(
    r"[-\u2013\u2014_*]+|\.{2,}|\.[a-z_]|\(?(none|null|nil|missing|unknown|unk|blank|empty|undefined"
    r"|no data|not (available|applicable|known))\)?",
    re.IGNORECASE,
)


def as_words(values: Iterable[Any]) -> Any:
    """Return values as an array of text without surrounding blanks; "" is missing, as is None."""
    texts = ["" if value is None else str(value).strip() for value in values]
    out = np.empty(len(texts), dtype=object)
    out[:] = ["" if text in _GAPS else text for text in texts]
    return out


def means_missing(word: str) -> bool:
    """Return whether a word among numbers or dates stands for a missing value."""
    return bool(_MISSING_NUMBER.fullmatch(word))


def each_once(texts: Iterable[str], read: Callable[[str], float]) -> Array:
    """Return a number for each text, where each different text is read once."""
    known: dict[str, float] = {}
    listed = list(texts)
    for text in listed:
        if text not in known:
            known[text] = read(text)
    return np.array([known[text] for text in listed], dtype=np.float64)
