"""What RelevanceSVC was to reach, in each of its two forms."""

from collections.abc import Callable, Sequence
from statistics import fmean

from .quality_names import ENSEMBLE, FOREST, FORMS, GRID, PLAIN, SIGNS_CONDITION, SINGLE
from .quality_reading import accuracy, gain, gains, speed
from .quality_store import SUITE
from .targets import Case, Overall, Target

_SPEEDS = {SINGLE: (20, 12), ENSEMBLE: (10, 6)}  # sets with few rows, and 2000 rows


def _points(number: float) -> str:
    return f"{number:+.2f}"


def _percent(number: float) -> str:
    return f"{number:.1f}"


def _mean_gain(condition: str, method: str, other: str) -> Callable[[Sequence[dict]], float | None]:
    def read(rows: Sequence[dict]) -> float | None:
        found = gains(rows, condition, method, other)
        return fmean(found.values()) if found else None

    return read


def _clean_gain(method: str) -> Callable[[dict], Case | None]:
    def read(row: dict) -> Case | None:
        found = gain(row, method, GRID) if row["case"]["condition"] == "clean" else None
        return None if found is None else Case(row["case"]["set"], found)

    return read


def _accuracy(name: str, condition: str, method: str) -> Callable[[dict], Case | None]:
    def read(row: dict) -> Case | None:
        asked = (row["case"]["set"], row["case"]["condition"]) == (name, condition)
        found = accuracy(row, method) if asked else None
        return None if found is None else Case(f"{name}, {condition}", found)

    return read


def _speed(method: str, *, synthetic: bool) -> Callable[[Sequence[dict]], float | None]:
    return lambda rows: speed(rows, method, synthetic=synthetic)


def _targets_of(method: str) -> tuple[Target, ...]:
    form = FORMS[method]
    against = [
        ("doubled", GRID, 1.5, "the grid"),
        ("doubled", PLAIN, 3, "`SVC()`"),
        ("doubled", FOREST, 0, "the forest"),
        ("x4", GRID, 5, "the grid"),
        ("clean", GRID, 0, "the grid"),
    ]
    few, many = _SPEEDS[method]
    return (
        *(
            Overall(
                f"{form}, {condition}: mean accuracy over that of {label}", SUITE, goal,
                _mean_gain(condition, method, other), " points", form=_points,
            )
            for condition, other, goal, label in against
        ),
        Target(
            f"{form}, clean: the worst set, over the grid", SUITE, -4, _clean_gain(method),
            " points", form=_points,
        ),
        Target(
            f"{form}, sonar doubled: accuracy", SUITE, 80.5,
            _accuracy("sonar", "doubled", method), " %", form=_percent,
        ),
        Target(
            f"{form}, sign(x1 x2): accuracy", SUITE, 88,
            _accuracy("sign(x1 x2)", SIGNS_CONDITION, method), " %", form=_percent,
        ),
        Overall(
            f"{form}: one over the mean ratio of its CPU time to the grid's, n up to 600",
            "cost", few, _speed(method, synthetic=False),
        ),
        Overall(
            f"{form}: the same, n = 2000, p = 50", "cost", many, _speed(method, synthetic=True)
        ),
    )  # fmt: skip


QUALITY_TARGETS: tuple[Target, ...] = tuple(
    target for method in (SINGLE, ENSEMBLE) for target in _targets_of(method)
)
