"""Convert the values of a column to numbers, dates or text."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import numpy as np

from ..._typing import Array
from .delimited import MISSING
from .number_parsing import decimal_sign, parse

# Tried in turn, and the first that reads every value is taken: days come before months.
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
MAX_SIZE = 1e100  # of numbers, whose squares would overflow beyond 1e154
MIN_SHARE = 0.9  # share of numbers, or dates, from which on a column is one of numbers, or dates
_N_SAMPLE = 50  # values on which a date format is tried first
# Text that means a missing value among numbers; among words it may be an ordinary value.
_MISSING_NUMBER = re.compile(
    r"[-\u2013\u2014_*]+|\.{2,}|\.[a-z_]|\(?(none|null|nil|missing|unknown|unk|blank|empty|undefined"
    r"|no data|not (available|applicable|known))\)?",
    re.IGNORECASE,
)
_ZONE = re.compile(r":\d\d(\.\d+)? ?(Z|UTC|[+-]\d\d:?\d\d)$")  # after a time of day
_DATE = re.compile(r"(\d{1,4}|[^\W\d]{3,9}) ?[-./ ] ?(\d{1,2}|[^\W\d]{3,9})(, |[-./ ]) ?\d{1,4}")


def is_text(series: Any) -> bool:
    """Return whether the values of a column are text, or are treated as text."""
    from pandas.api import types

    # True and False count as text, because a file with gaps among them has them as text.
    is_words = types.is_complex_dtype(series.dtype) or types.is_bool_dtype(series.dtype)
    is_numbers = types.is_numeric_dtype(series.dtype) and not is_words
    return not (is_numbers or series.dtype.kind == "m" or has_date_type(series))


def has_date_type(series: Any) -> bool:
    """Return whether a column has the type of dates, rather than dates as text."""
    from pandas.api import types

    return bool(types.is_datetime64_any_dtype(series.dtype))


def as_text(series: Any) -> Any:
    """Return the values as an array of text without surrounding blanks; "" is missing."""
    if not is_text(series) and not has_date_type(series):
        numbers = as_numbers(series)
        texts = np.array([f"{value:.15g}" for value in numbers], dtype=object)
        texts[np.isnan(numbers)] = ""
        return texts
    missing = series.isna().to_numpy()
    values = series.astype(object).to_numpy()
    gaps = set(MISSING)
    texts = np.empty(len(values), dtype=object)
    for k, value in enumerate(values):
        text = "" if missing[k] else str(value).strip()
        texts[k] = "" if text in gaps else text
    return texts


def as_numbers(series: Any, decimal: str = ".", unit: float = 1.0) -> Array:
    """Return the values as floats; NaN where one is missing, too large or not a number.

    The decimal sign of text is detected; ``decimal`` decides where both signs are possible. The
    values are divided by ``unit``, after which none may be too large.
    """
    if is_text(series):
        values = _read_numbers(as_text(series), decimal)
    elif has_date_type(series):
        return np.full(len(series), np.nan)
    elif isinstance(series.dtype, np.dtype) and series.dtype.kind in "fiu":  # fast and frequent
        values = np.array(series, dtype=float)
    else:
        numbers = series.dt.total_seconds() if series.dtype.kind == "m" else series
        values = np.array(numbers.astype("float64").to_numpy(dtype=float, na_value=np.nan))
    if unit != 1.0:
        values /= unit
    values[np.abs(values) > MAX_SIZE] = np.nan
    return values


def unit_of(series: Any) -> float:
    """Return what a column is divided by: its median size where that is beyond 1e100, else one."""
    if not count_too_large(series):
        return 1.0
    values = _read_numbers(as_text(series), ".") if is_text(series) else np.array(series, float)
    sizes = np.abs(values[np.isfinite(values)])
    unit = float(np.median(sizes)) if len(sizes) else 1.0
    return unit if unit > MAX_SIZE else 1.0


def as_floats(series: Any, decimal: str = ".", unit: float = 1.0) -> Any:
    """Return the values as `as_numbers` does, but floats as they are where none is too large.

    A large table is then not copied, as pandas copies when somebody writes, and float32 stays.
    """
    is_float = isinstance(series.dtype, np.dtype) and series.dtype in (np.float32, np.float64)
    if is_float and unit == 1.0:
        limit = min(MAX_SIZE, float(np.finfo(series.dtype).max))
        if not (np.abs(series.to_numpy()) > limit).any():
            return series.reset_index(drop=True)
    return as_numbers(series, decimal, unit)


def count_too_large(series: Any, unit: float = 1.0) -> int:
    """Return how many values are infinite or beyond 1e100; `as_numbers` takes them for missing."""
    if has_date_type(series) or (not is_text(series) and series.dtype.kind != "f"):
        return 0
    values = _read_numbers(as_text(series), ".") if is_text(series) else np.array(series, float)
    return int((np.abs(values / unit) > MAX_SIZE).sum())


def _read_numbers(texts: Any, decimal: str) -> Array:
    """Return text as numbers, as computers write them or as people do."""
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
    """Return the values as dates without a time zone; NaT where one is not a date."""
    import pandas as pd

    if is_text(series):
        texts = pd.Series(as_text(series), dtype=object)
        dates = pd.to_datetime(texts.where(texts != ""), format=format, errors="coerce", utc=True)
    else:
        dates = pd.to_datetime(series, errors="coerce", utc=True)
    return dates.dt.tz_localize(None).reset_index(drop=True)


def holds_numbers(series: Any) -> bool:
    """Return whether nearly all values are numbers."""
    return numeric_share(series)[0] >= MIN_SHARE


def numeric_share(series: Any) -> tuple[float, dict[str, int]]:
    """Return the share of numbers among the values, and the counts of all other values.

    The most frequent other value comes first. Words for a missing value, such as "unknown", do not
    lower the share, unless they outnumber the numbers.
    """
    if not is_text(series):
        return float(not has_date_type(series)), {}
    texts, numbers = as_text(series), as_numbers(series)
    words = Counter(texts[(texts != "") & np.isnan(numbers)])
    n_numbers, n_words = int((~np.isnan(numbers)).sum()), words.total()
    if not n_numbers:
        return 0.0, dict(words.most_common())
    if n_words < n_numbers:
        n_words -= sum(count for word, count in words.items() if means_missing(word))
    return n_numbers / (n_numbers + n_words), dict(words.most_common())


def means_missing(word: str) -> bool:
    """Return whether a word among numbers or dates stands for a missing value."""
    return bool(_MISSING_NUMBER.fullmatch(word))


def date_format(series: Any) -> str | None:
    """Return the format of a column of dates; None for any other column."""
    if not is_text(series):
        return "ISO8601" if has_date_type(series) else None
    texts = as_text(series)
    places = np.flatnonzero(texts != "")
    n_alike = sum(bool(_DATE.match(text)) for text in texts[places[:_N_SAMPLE]])
    if not n_alike or n_alike < MIN_SHARE * len(places[:_N_SAMPLE]):  # true of most columns
        return None
    sample, present = series.iloc[places[:_N_SAMPLE]], series.iloc[places]
    best, found = MIN_SHARE, None
    for format in DATE_FORMATS:
        if _readable_share(sample, format) >= MIN_SHARE:
            share = _readable_share(present, format)
            if share == 1:
                return format
            best, found = (share, format) if share > best else (best, found)
    return found


def have_times(dates: Any) -> bool:
    """Return whether dates have a time of day, that is, not all are at midnight."""
    return bool((dates.dropna() != dates.dropna().dt.normalize()).any())


def have_zones(series: Any) -> bool:
    """Return whether dates name a time zone, which `as_dates` converts to UTC."""
    if not is_text(series):
        return getattr(series.dtype, "tz", None) is not None
    texts = as_text(series)
    return any(_ZONE.search(text) for text in texts[texts != ""][:_N_SAMPLE])


def _readable_share(series: Any, format: str) -> float:
    return float(as_dates(series, format).notna().mean())
