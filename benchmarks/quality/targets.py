"""Targets of RelevanceSVC, in each of its two forms."""

from collections.abc import Callable, Sequence
from statistics import fmean

from kernelwise.experiments import Row

from ..targets import Grouped, Overall, Reading, Target, points
from .names import ENSEMBLE, FOREST, FORMS, GRID, PLAIN, SIGNS_CONDITION, SINGLE, UNCALIBRATED
from .summaries import by_set, gains, speed_up

_ACCURACY, _COST = "quality-accuracy", "quality-cost"
# On sets with few rows, with 2000 rows, and on few rows with probabilities.
_SPEED_UPS = {SINGLE: (20, 12, 15), ENSEMBLE: (10, 6, 7.5)}


def _percent(number: float) -> str:
    return f"{number:.1f}"


def _mean_gain(condition: str, form: str, other: str) -> Callable[[Sequence[Row]], float | None]:
    def read(rows: Sequence[Row]) -> float | None:
        found = gains(by_set(rows), condition, form, other)
        return fmean(found.values()) if found else None

    return read


def _clean_gains(form: str) -> Callable[[Sequence[Row]], list[Reading]]:
    def read(rows: Sequence[Row]) -> list[Reading]:
        return [Reading(*item) for item in gains(by_set(rows), "clean", form, GRID).items()]

    return read


def _accuracy(name: str, condition: str, form: str) -> Callable[[Sequence[Row]], float | None]:
    def read(rows: Sequence[Row]) -> float | None:
        mine = [r for r in rows if (r["dataset"], r["condition"]) == (name, condition)]
        return next((each.accuracy(form) for each in by_set(mine)), None)

    return read


def _speed_up(form: str, *, synthetic: bool) -> Callable[[Sequence[Row]], float | None]:
    return lambda rows: speed_up(rows, form, synthetic=synthetic)


def _targets_of(form: str) -> tuple[Target, ...]:
    title = FORMS[form]
    against = [
        ("doubled", GRID, 1.5, "the grid"),
        ("doubled", PLAIN, 3, "`SVC()`"),
        ("doubled", FOREST, 0, "the forest"),
        ("x4", GRID, 5, "the grid"),
        ("clean", GRID, 0, "the grid"),
    ]
    few, many, calibrated = _SPEED_UPS[form]
    plain = UNCALIBRATED[form]
    return (
        *(
            Overall(
                f"{title}, {condition}: mean accuracy minus that of {label}", _ACCURACY, goal,
                _mean_gain(condition, form, other), " points", form=points,
            )
            for condition, other, goal, label in against
        ),
        Grouped(
            f"{title}, clean: the worst set, minus the grid", _ACCURACY, -4, _clean_gains(form),
            " points", form=points,
        ),
        Overall(
            f"{title}, sonar doubled: accuracy", _ACCURACY, 80.5,
            _accuracy("sonar", "doubled", form), " %", form=_percent,
        ),
        Overall(
            f"{title}, sign(x1 x2): accuracy", _ACCURACY, 88,
            _accuracy("sign(x1 x2)", SIGNS_CONDITION, form), " %", form=_percent,
        ),
        Overall(
            f"{title}: speed-up over the grid search (inverse of the mean CPU-time ratio), n up to "
            "600, without probabilities", _COST, few, _speed_up(plain, synthetic=False),
        ),
        Overall(
            f"{title}: the same, n = 2000, p = 50", _COST, many, _speed_up(plain, synthetic=True)
        ),
        Overall(
            f"{title}: the same with probabilities, n up to 600", _COST, calibrated,
            _speed_up(form, synthetic=False),
        ),
    )  # fmt: skip


TARGETS: tuple[Target, ...] = tuple(target for form in FORMS for target in _targets_of(form))
