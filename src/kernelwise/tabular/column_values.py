"""The values of a column as numbers, dates or text, whatever they came as."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import numpy as np

from .._typing import Array
from .delimited import MISSING
from .number_parsing import decimal_sign, parse

# Tried in turn; the first that reads every value wins, so that days come before months.
DATE_FORMATS = (
    "ISO8601",
    "%d.%m.%Y",
    "%d.%m.%Y %H:%M",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d/%m/%Y %H:%M",
    "%m/%d/%Y %H:%M",
    "%Y/%m/%d",
    "%d-%b-%Y",
    "%d %b %Y",
    "%d %B %Y",
    "%b %d, %Y",
    "%B %d, %Y",
)
ENOUGH = 0.9  # part of the values that must be numbers, or dates, for the column to be so
_SAMPLE = 50
# Words that say among numbers that there is none; among words they may be a value like others.
_NO_NUMBER = re.compile(
    r"[-\u2013\u2014_*]+|\.{2,}|\.[a-z_]|\(?(none|null|nil|missing|unknown|unk|blank|empty|undefined"
    r"|no data|not (available|applicable|known))\)?",
    re.IGNORECASE,
)
_DATE = re.compile(r"(\d{1,4}|[^\W\d]{3,9}) ?[-./ ] ?(\d{1,2}|[^\W\d]{3,9})(, |[-./ ]) ?\d{1,4}")


def is_text(series: Any) -> bool:
    """Tell whether a column holds text, or anything that is read as text."""
    from pandas.api import types

    # True and False are words: with a gap among them a file gives them as such.
    of_words = types.is_complex_dtype(series.dtype) or types.is_bool_dtype(series.dtype)
    of_numbers = types.is_numeric_dtype(series.dtype) and not of_words
    return not (of_numbers or series.dtype.kind == "m" or holds_stamps(series))


def holds_stamps(series: Any) -> bool:
    """Tell whether a column holds points in time as such, not as text."""
    from pandas.api import types

    return bool(types.is_datetime64_any_dtype(series.dtype))


def as_text(series: Any) -> Any:
    """Return the values as an array of text without blanks around it; "" is missing."""
    if not is_text(series) and not holds_stamps(series):
        numbers = as_numbers(series)
        texts = np.array([f"{value:.15g}" for value in numbers], dtype=object)
        texts[np.isnan(numbers)] = ""
        return texts
    missing = series.isna().to_numpy()
    values = series.astype(object).to_numpy()
    unwanted = set(MISSING)
    texts = np.empty(len(values), dtype=object)
    for k, value in enumerate(values):
        text = "" if missing[k] else str(value).strip()
        texts[k] = "" if text in unwanted else text
    return texts


def as_numbers(series: Any, decimal: str = ".") -> Array:
    """Return the values as floats; NaN is missing, infinite or no number.

    The decimal sign of text is found out; the given one is taken where both will do.
    """
    if is_text(series):
        values = _read_numbers(as_text(series), decimal)
    elif holds_stamps(series):
        return np.full(len(series), np.nan)
    elif isinstance(series.dtype, np.dtype) and series.dtype.kind in "fiu":  # at once: most are so
        values = np.array(series, dtype=float)
    else:
        numbers = series.dt.total_seconds() if series.dtype.kind == "m" else series
        values = np.array(numbers.astype("float64").to_numpy(dtype=float, na_value=np.nan))
    values[~np.isfinite(values)] = np.nan
    return values


def _read_numbers(texts: Any, decimal: str) -> Array:
    """Return text as numbers: as a computer writes them, or else as people do."""
    import pandas as pd

    values = np.array(pd.to_numeric(pd.Series(texts, dtype=object), errors="coerce"), float)
    rest = np.isnan(values) & (texts != "")
    if decimal == "." and not rest.any():
        return values
    if decimal_sign(texts, decimal) == ",":
        return parse(texts, ",")
    values[rest] = parse(texts[rest], ".")
    return values


def as_dates(series: Any, format: str) -> Any:
    """Return the values as dates without a time zone; NaT where they are none."""
    import pandas as pd

    if is_text(series):
        texts = pd.Series(as_text(series), dtype=object)
        dates = pd.to_datetime(texts.where(texts != ""), format=format, errors="coerce", utc=True)
    else:
        dates = pd.to_datetime(series, errors="coerce", utc=True)
    return dates.dt.tz_localize(None).reset_index(drop=True)


def holds_numbers(series: Any) -> bool:
    """Tell whether nearly all values are numbers."""
    return strays(series)[0] >= ENOUGH


def strays(series: Any) -> tuple[float, dict[str, int]]:
    """Return which part of the values are numbers, and how often each word stands among them.

    The most frequent word is the first. Words for a gap, such as "unknown", do not count in the
    part, unless they are the most of the column.
    """
    if not is_text(series):
        return float(not holds_stamps(series)), {}
    texts, numbers = as_text(series), as_numbers(series)
    words = Counter(texts[(texts != "") & np.isnan(numbers)])
    n_numbers, n_words = int((~np.isnan(numbers)).sum()), words.total()
    if not n_numbers:
        return 0.0, dict(words.most_common())
    if n_words < n_numbers:
        n_words -= sum(count for word, count in words.items() if _NO_NUMBER.fullmatch(word))
    return n_numbers / (n_numbers + n_words), dict(words.most_common())


def date_format(series: Any) -> str | None:
    """Return the format of a column of dates; None if it is no such column."""
    if not is_text(series):
        return "ISO8601" if holds_stamps(series) else None
    texts = as_text(series)
    places = np.flatnonzero(texts != "")
    alike = sum(bool(_DATE.match(text)) for text in texts[places[:_SAMPLE]])
    if not alike or alike < ENOUGH * len(places[:_SAMPLE]):  # most columns end here: it is quick
        return None
    some, present = series.iloc[places[:_SAMPLE]], series.iloc[places]
    best, found = ENOUGH, None
    for format in DATE_FORMATS:
        if _part_read(some, format) >= ENOUGH:
            part = _part_read(present, format)
            if part == 1:
                return format
            best, found = (part, format) if part > best else (best, found)
    return found


def have_times(dates: Any) -> bool:
    """Tell whether dates have a time of day: not all are at midnight."""
    return bool((dates.dropna() != dates.dropna().dt.normalize()).any())


def _part_read(series: Any, format: str) -> float:
    return float(as_dates(series, format).notna().mean())
