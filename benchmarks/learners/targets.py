"""Targets of the learners."""

from collections.abc import Callable, Sequence

from kernelwise.experiments import Row

from ..names import FAST_GRID, GRID
from ..summaries import Mean, cpu_ratio, further, gains, lower_sets, missed_rows, most_solves
from ..targets import Overall, Reading, Target, count, points
from .leave_one_out import CLOSE
from .noisy import TWO_CLASSES
from .search import OURS, REFERENCE
from .steps import SYNTHETIC


def _solves(rows: Sequence[Row]) -> float:
    return float(most_solves(rows))


def _cost(contender: str, names: tuple[str, ...]) -> Callable[[Row], Reading | None]:
    def read(row: Row) -> Reading | None:
        if row["dataset"] not in names:
            return None
        name = f"{row['dataset']} with noise of {row['noise']}, n = {row['n']:,}"
        return Reading(name, row["times"][contender]["ratio"])

    return read


def _gain(rows: Sequence[Row]) -> float:
    return Mean.of(gains(rows, "span", GRID)).value


def _further_gain(rows: Sequence[Row]) -> float:
    return Mean.of(gains(rows, "span", FAST_GRID, further(rows))).value


def _speed(rows: Sequence[Row]) -> float:
    return cpu_ratio(rows, "span", GRID)


def _close_sets(rows: Sequence[Row]) -> float:
    return float(sum(missed_rows(row) <= CLOSE for row in rows))


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
        "noisy sets, of 42, with a lower dual than by the paper's 100 updates",
        "learners-weights", 40, lower_sets, "", form=count,
    ),
    Overall("solves of the default", "learners-weights", 20, _solves, "", False, count),
    Target(
        "100 updates of the paper, n = 2000, 20 + 20 columns", "learners-steps", 12,
        _cost("paper", (SYNTHETIC,)), " fits of `SVC`", at_least=False,
    ),
    Target(
        "100 updates of the paper, two classes, n from 281 to 615", "learners-steps", 18,
        _cost("paper", TWO_CLASSES), " fits of `SVC`", at_least=False,
    ),
    Target(
        "the default, n = 2000, 20 + 20 columns", "learners-steps", 4,
        _cost("default", (SYNTHETIC,)), " fits of `SVC`", at_least=False,
    ),
    Target(
        "the default, two classes, n from 281 to 615", "learners-steps", 4,
        _cost("default", TWO_CLASSES), " fits of `SVC`", at_least=False,
    ),
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
    Overall(
        f"sets where the span count is within {CLOSE:g} % of the rows of leave-one-out",
        "learners-leave-one-out", 5, _close_sets, "", form=count,
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
