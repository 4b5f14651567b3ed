"""What the learners were to reach."""

from collections.abc import Callable, Sequence

from .names import FAST_GRID, GRID, TWO_CLASSES
from .reading import Mean, cpu_ratio, further, gains, lower_sets, missed_rows, most_solves
from .targets import Case, Overall, Target

CLOSE = 2.0  # percent of the rows that the span estimate may be off


def _count(number: float) -> str:
    return f"{number:.0f}"


def _points(number: float) -> str:
    return f"{number:+.2f}"


def _solves(rows: Sequence[dict]) -> float:
    return float(most_solves(rows))


def _cost(contender: str, names: tuple[str, ...]) -> Callable[[dict], Case | None]:
    def read(row: dict) -> Case | None:
        case = row["case"]
        if case["set"] not in names:
            return None
        name = f"{case['set']} with noise of {case['noise']}, n = {case['n']:,}"
        return Case(name, row["times"][contender]["ratio"])

    return read


def _gain(rows: Sequence[dict]) -> float:
    return Mean.of(gains(rows, "span", GRID)).value


def _further_gain(rows: Sequence[dict]) -> float:
    return Mean.of(gains(rows, "span", FAST_GRID, further(rows))).value


def _speed(rows: Sequence[dict]) -> float:
    return cpu_ratio(rows, "span", GRID)


def _close_sets(rows: Sequence[dict]) -> float:
    return float(sum(missed_rows(row) <= CLOSE for row in rows))


def _search(n: int, read: Callable[[dict], float]) -> Callable[[dict], Case | None]:
    def case(row: dict) -> Case | None:
        if row["case"]["classes"] > 2 or row["case"]["n"] != n:
            return None
        return Case(f"n = {n:,}, C up to {row['case']['C']:g}", read(row["times"]))

    return case


def _grid_time(times: dict) -> float:
    return times["GridSearchCV(SVC)"]["ratio"]


def _wrong_scores(times: dict) -> float:
    """Return by how many more scores we are off those of exact solutions than the reference."""
    return float(times["kernelwise"]["off"] - times["GridSearchCV(SVC)"]["off"])


_SYNTHETIC = ("make_classification",)
LEARNER_TARGETS: tuple[Target, ...] = (
    Overall(
        "noisy sets, of 42, with a lower dual than by 100 paper updates",
        "weights", 40, lower_sets, "", form=_count,
    ),
    Overall("solves of the default", "weights", 20, _solves, "", False, _count),
    Target(
        "100 paper updates, n = 2000, 20 + 20 columns", "weight_steps", 12,
        _cost("paper", _SYNTHETIC), " fits of `SVC`", at_least=False,
    ),
    Target(
        "100 paper updates, two classes, n from 281 to 615", "weight_steps", 18,
        _cost("paper", TWO_CLASSES), " fits of `SVC`", at_least=False,
    ),
    Target(
        "the default, n = 2000, 20 + 20 columns", "weight_steps", 4,
        _cost("default", _SYNTHETIC), " fits of `SVC`", at_least=False,
    ),
    Target(
        "the default, two classes, n from 281 to 615", "weight_steps", 4,
        _cost("default", TWO_CLASSES), " fits of `SVC`", at_least=False,
    ),
    Overall(
        "span path: mean accuracy over that of `GridSearchCV`", "span_path", -0.5, _gain,
        " points", form=_points,
    ),
    Overall(
        "the same on further splits, against `SVCSearchCV`", "span_path", -0.5, _further_gain,
        " points", form=_points,
    ),
    Overall(
        "span path: CPU time of `GridSearchCV` over its own", "span_path", 8, _speed,
    ),
    Overall(
        f"sets where the span count is within {CLOSE:g} % of the rows of leave-one-out",
        "leave_one_out", 5, _close_sets, "", form=_count,
    ),
    Target(
        "search, 7 x 7 x 5, n = 2000, C up to 100, against `GridSearchCV`", "search", 20,
        _search(2000, _grid_time),
    ),
    Target(
        "search, 7 x 7 x 5, n = 1000, C up to 1000, against `GridSearchCV`", "search", 9,
        _search(1000, _grid_time),
    ),
    *(
        Target(
            f"search, n = {n}: scores that differ from exact ones, over those of `GridSearchCV`",
            "search", 0, _search(n, _wrong_scores), "", False, _count,
        )
        for n in (2000, 1000)
    ),
)  # fmt: skip
