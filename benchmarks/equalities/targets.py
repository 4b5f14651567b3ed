"""Targets of the solver of several equalities."""

from collections.abc import Callable, Sequence
from statistics import median

from benchmarks.engine import Row

from ..targets import Grouped, Reading
from .solved import MOST_FEATURES, MOST_ROWS, by_family, power, solved

_SUITE = "equalities"


def _violations(tol: float) -> Callable[[Sequence[Row]], list[Reading]]:
    def read(rows: Sequence[Row]) -> list[Reading]:
        return [Reading(each.name, each.at(tol)[1] / each.allowed(tol)) for each in solved(rows)]

    return read


def _ratios(rows: Sequence[Row]) -> list[Reading]:
    return [Reading(each.name, each.ratio(1e-3)) for each in solved(rows) if each.is_timed]


def _medians(rows: Sequence[Row]) -> list[Reading]:
    families = by_family(each for each in solved(rows) if each.is_timed)
    return [
        Reading(name, median(each.ratio(1e-3) for each in family))
        for name, family in families.items()
    ]


TARGETS = (
    Grouped(
        "violation at tolerance 1e-3, relative to the allowed one",
        _SUITE, 1, _violations(1e-3), "", at_least=False, form=power,
    ),
    Grouped(
        "the same at tolerance 1e-6", _SUITE, 1, _violations(1e-6), "", at_least=False, form=power
    ),
    Grouped(
        f"time relative to that of `SVC`, n up to {MOST_ROWS}, l up to {MOST_FEATURES}: median of "
        "each family", _SUITE, 5, _medians, at_least=False,
    ),
    Grouped("the same for each case", _SUITE, 20, _ratios, at_least=False),
)  # fmt: skip
