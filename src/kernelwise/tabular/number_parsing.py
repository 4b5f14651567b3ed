"""Numbers as people write them: $1,234.50, 1.234,50 €, 4,5 %, (12'000)."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import numpy as np

from .._typing import Array

_MONEY = r"(?:[$€£¥₹₽₩]|EUR|USD|GBP|CHF)"
_SIGN = r"[-+\u2212]?"
_GAP = "[ \u00a0\u202f]?"
_DRESSED = re.compile(
    rf"(\()?({_SIGN}){_GAP}(?:{_MONEY}{_GAP})?({_SIGN})(.*?\d){_GAP}(?:{_MONEY}|%)?(\))?"
)
_EXPONENT = r"(?:[eE][+-]?\d+)?"
_BLANKS = " '\u2019\u00a0\u202f"  # between thousands


def _pattern(decimal: str, thousands: str) -> re.Pattern[str]:
    """Return digits, thousands in groups of three by one sign, and decimals after another."""
    grouped = rf"[1-9]\d{{0,2}}([{_BLANKS}{thousands}])\d{{3}}(?:\2\d{{3}})*"
    return re.compile(rf"((?:{grouped}|\d+)?)(?:{re.escape(decimal)}(\d+))?({_EXPONENT})")


_PATTERNS = {".": _pattern(".", ","), ",": _pattern(",", ".")}


def decimal_sign(texts: Any, preferred: str = ".") -> str:
    """Return the sign, "." or ",", that reads more of the texts; the preferred one of equals.

    So 1,234 is a thousand and more, unless other values, such as 0,5, tell otherwise.
    """
    read = {sign: int(np.isfinite(parse(texts, sign)).sum()) for sign in _PATTERNS}
    return max(read, key=lambda sign: (read[sign], sign == preferred))


def parse(texts: Any, decimal: str) -> Array:
    """Return the numbers that the texts are, NaN where they are none."""
    import pandas as pd

    codes, distinct = pd.factorize(pd.Series(texts, dtype=object))
    values = np.array([*map(partial(_number, decimal=decimal), distinct), np.nan])
    return np.asarray(values[codes])


def _number(text: str, decimal: str) -> float:
    dressed = _DRESSED.fullmatch(text)
    if not dressed or bool(dressed[1]) != bool(dressed[5]) or (dressed[2] and dressed[3]):
        return float("nan")
    found = _PATTERNS[decimal].fullmatch(dressed[4])
    if not found:
        return float("nan")
    whole = re.sub(r"\D", "", found[1])
    value = float(f"{whole or '0'}.{found[3] or '0'}{found[4]}")
    negative = dressed[1] or (dressed[2] or dressed[3]) in {"-", "\u2212"}
    return -value if negative else value
