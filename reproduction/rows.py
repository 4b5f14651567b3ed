"""Select, group and average rows of results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from .tables import Spread

Rows = Iterable[Mapping[str, Any]]


def only(rows: Rows, **entries: Any) -> list[Any]:
    """Return the rows that have these entries."""
    return [row for row in rows if all(row[key] == value for key, value in entries.items())]


def values_of(rows: Rows, key: str) -> list[Any]:
    """Return an entry of each row."""
    return [row[key] for row in rows]


def mean_of(rows: Rows, key: str) -> float:
    """Return the mean of an entry over the rows."""
    return float(np.mean(values_of(rows, key)))


def spread_of(rows: Rows, key: str) -> Spread | None:
    """Return mean and standard error of an entry over the rows; None without rows."""
    return Spread.of(values_of(rows, key))


def grouped(
    rows: Rows, keys: str | tuple[str, ...], order: Iterable[Any] | None = None
) -> dict[Any, list[Any]]:
    """Group rows by one entry or several; groups have the order of `order`, or of the rows."""
    found: dict[Any, list[Any]] = {value: [] for value in order or ()}
    for row in rows:
        value = row[keys] if isinstance(keys, str) else tuple(row[key] for key in keys)
        if order is None or value in found:
            found.setdefault(value, []).append(row)
    return {value: own for value, own in found.items() if own}
