"""Targets of the learners."""

from collections.abc import Callable, Sequence

from benchmarks.engine import Row

from ..names import FAST_GRID, GRID
from ..summaries import Mean, cpu_ratio, further, gains
from ..targets import Overall, Reading, Target, count, points
from .search import OURS, REFERENCE


def _gain(rows: Sequence[Row]) -> float:
    return Mean.of(gains(rows, "span", GRID)).value


def _further_gain(rows: Sequence[Row]) -> float:
    return Mean.of(gains(rows, "span", FAST_GRID, further(rows))).value


def _speed(rows: Sequence[Row]) -> float:
    return cpu_ratio(rows, "span", GRID)


def _search(n: int, read: Callable[[dict], float]) -> Callable[[Row], Reading | None]:
    def reading(row: Row) -> Reading | None:
        if row["classes"] > 2 or row["n"] != n:
            return None
        return Reading(f"n = {n:,}, C up to {row['C']:g}", read(row["times"]))

    return reading


def _grid_time(times: dict) -> float:
    return times[REFERENCE]["ratio"]


def _wrong_scores(times: dict) -> float:
    """Return by how many more scores we differ from exact solutions than the reference does."""
    return float(times[OURS]["off"] - times[REFERENCE]["off"])


TARGETS: tuple[Target, ...] = (
    Overall(
        "span path: mean accuracy minus that of `GridSearchCV`", "learners-span-path", -0.5, _gain,
        " points", form=points,
    ),
    Overall(
        "the same on further splits, against `SVCSearchCV`", "learners-span-path", -0.5,
        _further_gain, " points", form=points,
    ),
    Overall(
        "CPU time of `GridSearchCV` over that of the span path", "learners-span-path", 8, _speed,
    ),
    Target(
        "search, 7 x 7 x 5, n = 2000, C up to 100, against `GridSearchCV`", "learners-search", 20,
        _search(2000, _grid_time),
    ),
    Target(
        "search, 7 x 7 x 5, n = 1000, C up to 1000, against `GridSearchCV`", "learners-search", 9,
        _search(1000, _grid_time),
    ),
    *(
        Target(
            f"search, n = {n}: scores that differ from exact ones, minus those of `GridSearchCV`",
            "learners-search", 0, _search(n, _wrong_scores), "", False, count,
        )
        for n in (2000, 1000)
    ),
)  # fmt: skip
