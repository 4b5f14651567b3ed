"""Numbers as people write them: $1,234.50, 1.234,50 €, 4,5 %, (12'000)."""

from __future__ import annotations

import re
from collections import Counter
from functools import partial
from typing import Any

import numpy as np

from .._typing import Array
from .words import each_once, means_missing

MIN_SHARE = 0.9  # share of numbers, or dates, from which on a column is one of numbers, or dates
# Text that is a number without being parsed
PLAIN = re.compile(
    r"[-+]?(\d+\.?\d*([eE][-+]?\d+)?|\.\d+([eE][-+]?\d+)?|inf|infinity)", re.IGNORECASE
)
_MONEY = r"(?:[$€£¥₹₽₩]|EUR|USD|GBP|CHF)"
_SIGN = r"[-+\u2212]?"
_GAP = "[ \u00a0\u202f]?"
_DRESSED = re.compile(
    rf"(\()?({_SIGN}){_GAP}(?:{_MONEY}{_GAP})?({_SIGN})(.*?\d){_GAP}(?:{_MONEY}|%)?(\))?"
)
_EXPONENT = r"(?:[eE][+-]?\d+)?"
_GROUP_SIGNS = " '\u2019\u00a0\u202f"  # between groups of three digits, besides the comma or point


def _pattern(decimal: str, thousands: str) -> re.Pattern[str]:
    """Match digits, in groups of three or not, and decimals after the decimal sign."""
    grouped = rf"[1-9]\d{{0,2}}([{_GROUP_SIGNS}{thousands}])\d{{3}}(?:\2\d{{3}})*"
    return re.compile(rf"((?:{grouped}|\d+)?)(?:{re.escape(decimal)}(\d+))?({_EXPONENT})")


_PATTERNS = {".": _pattern(".", ","), ",": _pattern(",", ".")}


def decimal_sign(texts: Any, preferred: str = ".") -> str:
    """Return the decimal sign, "." or ",", that reads more of the texts; ``preferred`` in a tie.

    So 1,234 is 1234, unless another value such as 0,5 shows that the comma is the decimal sign.
    """
    n_read = {sign: int(np.isfinite(parse(texts, sign)).sum()) for sign in _PATTERNS}
    return max(n_read, key=lambda sign: (n_read[sign], sign == preferred))


def parse(texts: Any, decimal: str) -> Array:
    """Return the texts as numbers; NaN where one is not a number."""
    return each_once(texts, partial(_number, decimal=decimal))


def plain_numbers(texts: Any) -> Array:
    """Return text as computers write numbers; NaN where it is anything else."""
    return each_once(texts, lambda text: float(text) if PLAIN.fullmatch(text) else np.nan)


def read_numbers(texts: Any, decimal: str = ".") -> Array:
    """Return text as numbers, as computers write them or as people do.

    The decimal sign is detected; ``decimal`` decides where both signs are possible.
    """
    values = plain_numbers(texts)
    rest = np.isnan(values) & (texts != "")
    if decimal == "." and not rest.any():
        return values
    if decimal_sign(texts, decimal) == ",":
        return parse(texts, ",")
    values[rest] = parse(texts[rest], ".")
    return values


def share_of_numbers(texts: Any, numbers: Array) -> tuple[float, dict[str, int]]:
    """Return the share of numbers among words, and the counts of all other words.

    The most frequent other word comes first. Words for a missing value, such as "unknown", do not
    lower the share, unless they outnumber the numbers.
    """
    words = Counter(texts[(texts != "") & np.isnan(numbers)])
    n_numbers, n_words = int((~np.isnan(numbers)).sum()), words.total()
    if not n_numbers:
        return 0.0, dict(words.most_common())
    if n_words < n_numbers:
        n_words -= sum(count for word, count in words.items() if means_missing(word))
    return n_numbers / (n_numbers + n_words), dict(words.most_common())


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
