"""Targets of large tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import geometric_mean, mean

from kernelwise.experiments import Row
from kernelwise.svm.relevance.limits import SWITCH

from ..targets import Grouped, Overall, Reading, Target, count, points
from .contenders import BEFORE, CELLS, EXACT, LIGHTGBM, OURS
from .suite import COMPARED, LARGE, exponent, found_row
from .tables import TABLES

_SUITE = "large"
_GIGABYTE = 1e9
_MANY_CATEGORIES = "categories"


def _pairs(rows: Sequence[Row], n: int, other: str, own: str = OURS) -> dict[str, tuple[Row, Row]]:
    """Return our row and that of another contender, by table."""
    found = {
        name: (_own_row(rows, name, n, own), found_row(rows, name, n, other)) for name in TABLES
    }
    return {name: (a, b) for name, (a, b) in found.items() if a is not None and b is not None}


def _own_row(rows: Sequence[Row], name: str, n: int, own: str) -> Row | None:
    """Return a row of ours; above the switch, the default has cells."""
    found = found_row(rows, name, n, own)
    if found is None and own == CELLS and n > SWITCH:
        return found_row(rows, name, n, OURS)
    return found


def gains(rows: Sequence[Row], n: int, other: str) -> dict[str, float]:
    """Return our accuracy minus that of another contender, in points, by table."""
    return {
        name: 100 * (ours["accuracy"] - peer["accuracy"])
        for name, (ours, peer) in _pairs(rows, n, other).items()
    }


def ratios(rows: Sequence[Row], what: str) -> dict[str, float]:
    """Return our time relative to that of LightGBM on the largest tables, by table."""
    return {
        name: ours[what] / peer[what]
        for name, (ours, peer) in _pairs(rows, LARGE, LIGHTGBM).items()
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


def _n_faster(rows: Sequence[Row]) -> float | None:
    found = ratios(rows, "fit_seconds")
    return float(sum(ratio < 1 for ratio in found.values())) if found else None


def _beyond_table(rows: Sequence[Row]) -> dict[str, float]:
    own = [row for row in rows if row["contender"] == OURS and row["n"] >= LARGE]
    return {
        f"{row['table']}, {row['n']:,}": (row["peak_bytes"] - row["table_bytes"]) / _GIGABYTE
        for row in own
    }


def _file_sizes(rows: Sequence[Row]) -> dict[str, float]:
    own = [row for row in rows if row["contender"] == OURS and row["n"] == LARGE]
    return {row["table"]: row["file_bytes"] / row["table_bytes"] for row in own}


def _over_lightgbm(rows: Sequence[Row]) -> dict[str, float]:
    return gains(rows, LARGE, LIGHTGBM)


def _over_exact(rows: Sequence[Row]) -> dict[str, float]:
    """Return the accuracy of cells minus that of exact machines, by table and size."""
    return {
        f"{name}, {n:,}": 100 * (cells["accuracy"] - exact["accuracy"])
        for n in COMPARED
        for name, (cells, exact) in _pairs(rows, n, EXACT, CELLS).items()
    }


def _time_of_cells(rows: Sequence[Row], other: str) -> dict[str, float]:
    """Return the time of cells relative to that of another contender, by table and size."""
    return {
        f"{name}, {n:,}": cells["fit_seconds"] / peer["fit_seconds"]
        for n in COMPARED
        for name, (cells, peer) in _pairs(rows, n, other, CELLS).items()
    }


def _mean_time_of_cells(rows: Sequence[Row]) -> dict[str, float]:
    """Return the geometric mean over the tables of that time, by size."""
    by_size = {n: _pairs(rows, n, EXACT, CELLS).values() for n in COMPARED}
    return {
        f"{n:,} rows": geometric_mean(a["fit_seconds"] / b["fit_seconds"] for a, b in pairs)
        for n, pairs in by_size.items()
        if pairs
    }


TARGETS: tuple[Target, ...] = (
    Grouped(
        f"accuracy at {LARGE:,} rows minus LightGBM's", _SUITE, 0.0,
        _each(_over_lightgbm), unit=" points", form=points,
    ),
    Overall(
        "the same, mean over the tables", _SUITE, 0.5,
        _mean_of(_over_lightgbm), unit=" points", form=points,
    ),
    Grouped(
        f"time of a fit of {LARGE:,} rows relative to LightGBM", _SUITE, 1.5,
        _each(lambda rows: _fit_ratios(rows, with_categories=False)), at_least=False,
    ),
    Grouped(
        "the same with many categories", _SUITE, 2.5,
        _each(lambda rows: _fit_ratios(rows, with_categories=True)), at_least=False,
    ),
    Overall(
        "tables on which that time is less than LightGBM's", _SUITE, 2, _n_faster, unit="",
        form=count,
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
    Overall(
        f"accuracy of cells at {COMPARED[0]:,} to {COMPARED[-1]:,} rows minus that of exact "
        "machines, mean", _SUITE, -0.3, _mean_of(_over_exact), unit=" points", form=points,
    ),
    Grouped(
        "the same, table by table", _SUITE, -0.6, _each(_over_exact), unit=" points", form=points,
    ),
    Overall(
        "time of cells relative to the exact machines of 288e5fa, mean", _SUITE, 0.2,
        _mean_of(lambda rows: _time_of_cells(rows, BEFORE)), at_least=False,
    ),
    Grouped(
        "the same, table by table and size by size", _SUITE, 0.2,
        _each(lambda rows: _time_of_cells(rows, BEFORE)), at_least=False,
    ),
    Grouped(
        "time of cells relative to exact machines, geometric mean over the tables", _SUITE, 0.5,
        _each(_mean_time_of_cells), at_least=False,
    ),
    Grouped(
        "the same, table by table", _SUITE, 0.5,
        _each(lambda rows: _time_of_cells(rows, EXACT)), at_least=False,
    ),
)  # fmt: skip
