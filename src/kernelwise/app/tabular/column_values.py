"""Convert the values of a column to numbers, dates or text."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._typing import Array
from ...values import dates
from ...values.numbers import MIN_SHARE, read_numbers, share_of_numbers
from ...values.words import as_words

MAX_SIZE = 1e100  # of numbers, whose squares would overflow beyond 1e154
_DAY = 86_400e6  # microseconds


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
    return as_words(np.where(missing, None, series.astype(object).to_numpy()))


def as_numbers(series: Any, decimal: str = ".", unit: float = 1.0) -> Array:
    """Return the values as floats; NaN where one is missing, too large or not a number.

    The decimal sign of text is detected; ``decimal`` decides where both signs are possible. The
    values are divided by ``unit``, after which none may be too large.
    """
    if is_text(series):
        values = read_numbers(as_text(series), decimal)
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
    values = read_numbers(as_text(series), ".") if is_text(series) else np.array(series, float)
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
    values = read_numbers(as_text(series), ".") if is_text(series) else np.array(series, float)
    return int((np.abs(values / unit) > MAX_SIZE).sum())


def as_days(series: Any, format: str) -> Array:
    """Return dates as days since 1970, in UTC; NaN where one is not a date."""
    import pandas as pd

    if is_text(series):
        return dates.read_dates(as_text(series), format)
    times = pd.to_datetime(series, errors="coerce", utc=True).dt.tz_localize(None)
    found = times.to_numpy().astype("datetime64[us]")  # whose range exceeds that of nanoseconds
    return np.where(np.isnat(found), np.nan, found.astype(np.int64) / _DAY)


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
    return share_of_numbers(as_text(series), as_numbers(series))


def date_format(series: Any) -> str | None:
    """Return the format of a column of dates; None for any other column."""
    if not is_text(series):
        return "ISO8601" if has_date_type(series) else None
    return dates.date_format(as_text(series))


def have_zones(series: Any) -> bool:
    """Return whether dates name a time zone, which `as_days` converts to UTC."""
    if not is_text(series):
        return getattr(series.dtype, "tz", None) is not None
    return dates.name_zones(as_text(series))
