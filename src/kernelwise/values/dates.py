"""Dates and times as people and computers write them, and the parts that a model reads."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import numpy as np

from .._typing import Array
from .numbers import MIN_SHARE
from .words import each_once

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
_N_SAMPLE = 50  # values on which a date format is tried first
_ZONE = re.compile(r":\d\d(\.\d+)? ?(Z|UTC|[+-]\d\d:?\d\d)$")  # after a time of day
_DATE = re.compile(r"(\d{1,4}|[^\W\d]{3,9}) ?[-./ ] ?(\d{1,2}|[^\W\d]{3,9})(, |[-./ ]) ?\d{1,4}")
_SHORT = re.compile(r"(?<=-)(\d)(?=[-T ]|$)")  # a month or day of one digit
_EPOCH = datetime(1970, 1, 1)
_DAY = 86_400.0  # seconds
_MICROSECOND = 1e-6
_THURSDAY = 3  # the day of the week of 1 January 1970, counted from Monday


def date_format(texts: Any, share: Callable[[Any, str], float] | None = None) -> str | None:
    """Return the format of words that are dates; None for any others.

    ``share`` returns the share of dates that a format reads, by default with `read_dates`.
    """
    share = share or (lambda texts, format: float(np.mean(~np.isnan(read_dates(texts, format)))))
    present = texts[texts != ""]
    sample = present[:_N_SAMPLE]
    n_alike = sum(bool(_DATE.match(text)) for text in sample)
    if not n_alike or n_alike < MIN_SHARE * len(sample):  # true of most columns
        return None
    best, found = MIN_SHARE, None
    for format in DATE_FORMATS:
        if share(sample, format) >= MIN_SHARE:
            own = share(present, format)
            if own == 1:
                return format
            best, found = (own, format) if own > best else (best, found)
    return found


def name_zones(texts: Any) -> bool:
    """Return whether times name a time zone."""
    return any(_ZONE.search(text) for text in texts[texts != ""][:_N_SAMPLE])


def read_dates(texts: Any, format: str) -> Array:
    """Return words as days since 1970, in UTC; NaN where one is not a date."""
    return each_once(texts, lambda text: _days(text, format))


def _days(text: str, format: str) -> float:
    try:
        when = _iso_date(text) if format == "ISO8601" else datetime.strptime(text, format)
    except ValueError:
        return float("nan")
    if when.tzinfo is not None:
        when = when.astimezone(UTC).replace(tzinfo=None)
    since = when - _EPOCH
    return since.days + (since.seconds + since.microseconds * _MICROSECOND) / _DAY


def _iso_date(text: str) -> datetime:
    """Return a date and time in ISO 8601 with hyphens; months and days may have one digit."""
    if not _DATE.match(text):
        raise ValueError(text)
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        padded = _SHORT.sub(r"0\1", text.removesuffix(" UTC") + "Z" * text.endswith(" UTC"))
        return datetime.fromisoformat(padded)


def have_times(days: Array) -> bool:
    """Return whether days have a time of day, that is, not all are at midnight."""
    known = days[~np.isnan(days)]
    return bool((known != np.floor(known)).any())


def date_parts(days: Array, first: float, *, timed: bool) -> dict[str, Array]:
    """Return year, month, day of the week, hour if there are times, and days since the first."""
    gone = np.isnan(days)
    known = np.where(gone, 0.0, days)
    whole = np.floor(known)
    dates = whole.astype("datetime64[D]")
    months = dates.astype("datetime64[M]").astype(np.int64)
    parts = {
        "year": months // 12 + 1970,
        "month": months % 12 + 1,
        "day of week": (whole + _THURSDAY) % 7,
    }
    if timed:
        minutes = np.floor(((known - whole) * _DAY + 1e-3) / 60)  # days are rounded
        parts["hour"] = minutes / 60
    parts["days"] = known - first
    return {name: np.where(gone, np.nan, own) for name, own in parts.items()}
