"""Targets of large tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import mean

from benchmarks.engine import Row

from ..targets import Grouped, Overall, Reading, Target, points
from .contenders import LIGHTGBM, OURS
from .suite import LARGE, MIDDLE, exponent, found_row, score
from .tables import TABLES

_SUITE = "large"
_GIGABYTE = 1e9
_MANY_CATEGORIES = "categories"


def _pairs(rows: Sequence[Row], n: int, other: str) -> dict[str, tuple[Row, Row]]:
    """Return our row and that of another contender, by table."""
    found = {
        name: (found_row(rows, name, n, OURS), found_row(rows, name, n, other)) for name in TABLES
    }
    return {name: (a, b) for name, (a, b) in found.items() if a is not None and b is not None}


def gains(rows: Sequence[Row], n: int, other: str) -> dict[str, float]:
    """Return our accuracy, or R², minus that of another contender, in points, by table."""
    return {
        name: 100 * (score(ours) - score(peer))
        for name, (ours, peer) in _pairs(rows, n, other).items()
    }


def ratios(rows: Sequence[Row], what: str) -> dict[str, float]:
    """Return our time relative to that of LightGBM, by table of the middle size."""
    return {
        name: ours[what] / peer[what]
        for name, (ours, peer) in _pairs(rows, MIDDLE, LIGHTGBM).items()
    }


def _each(
    values: Callable[[Sequence[Row]], dict[str, float]],
) -> Callable[[Sequence[Row]], list[Reading]]:
    return lambda rows: [Reading(name, value) for name, value in values(rows).items()]


def _mean_of(
    values: Callable[[Sequence[Row]], dict[str, float]],
) -> Callable[[Sequence[Row]], float | None]:
    return lambda rows: mean(found) if (found := list(values(rows).values())) else None


def _fit_ratios(rows: Sequence[Row], *, with_categories: bool) -> dict[str, float]:
    found = ratios(rows, "fit_seconds")
    return {k: v for k, v in found.items() if (k == _MANY_CATEGORIES) == with_categories}


def _beyond_table(rows: Sequence[Row]) -> dict[str, float]:
    own = [row for row in rows if row["contender"] == OURS and row["n"] >= LARGE]
    return {
        f"{row['table']}, {row['n']:,}": (row["peak_bytes"] - row["table_bytes"]) / _GIGABYTE
        for row in own
    }


def _file_sizes(rows: Sequence[Row]) -> dict[str, float]:
    own = [row for row in rows if row["contender"] == OURS and row["n"] == MIDDLE]
    return {row["table"]: row["file_bytes"] / row["table_bytes"] for row in own}


def _over_lightgbm(rows: Sequence[Row]) -> dict[str, float]:
    return gains(rows, MIDDLE, LIGHTGBM)


TARGETS: tuple[Target, ...] = (
    Grouped(
        f"accuracy, or R², at {MIDDLE:,} rows minus LightGBM's", _SUITE, 0.0,
        _each(_over_lightgbm), unit=" points", form=points,
    ),
    Overall(
        "the same, mean over the tables", _SUITE, 0.5,
        _mean_of(_over_lightgbm), unit=" points", form=points,
    ),
    Grouped(
        f"time of a fit of {MIDDLE:,} rows relative to LightGBM", _SUITE, 1.5,
        _each(lambda rows: _fit_ratios(rows, with_categories=False)), at_least=False,
    ),
    Grouped(
        "the same with many categories", _SUITE, 2.5,
        _each(lambda rows: _fit_ratios(rows, with_categories=True)), at_least=False,
    ),
    Grouped(
        "time of a prediction relative to LightGBM", _SUITE, 3.0,
        _each(lambda rows: ratios(rows, "predict_seconds")), at_least=False,
    ),
    Overall("growth exponent", _SUITE, 1.1, exponent, unit="", at_least=False),
    Grouped(
        "peak memory beyond the table", _SUITE, 1.0, _each(_beyond_table), unit=" GB",
        at_least=False,
    ),
    Grouped("model file relative to the table", _SUITE, 1.2, _each(_file_sizes), at_least=False),
)  # fmt: skip
