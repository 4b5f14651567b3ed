"""Solved cases as the result file has them, and the bounds that they must keep."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from benchmarks.engine import Row

HUGE = 1e6  # decision values of one feature alone beyond which a case may be degenerate
CLOSE = 1e-2  # violation that is allowed then
MOST_ROWS, MOST_FEATURES = 2500, 100  # up to which times are compared


class SolvedCase(NamedTuple):
    """A case with its solutions; the numbers at tolerance 1e-6 end in _tight."""

    family: str
    name: str
    n: int
    n_features: int
    svc: float
    seconds: float
    violation: float
    status: str
    steps: int
    multipliers: float
    seconds_tight: float
    violation_tight: float
    status_tight: str
    steps_tight: int
    multipliers_tight: float

    def at(self, tol: float) -> tuple[float, float, str, int, float]:
        """Return seconds, violation, status, steps and the largest multiplier at a tolerance."""
        return self[10:] if tol < 1e-4 else self[5:10]

    def allowed(self, tol: float) -> float:
        """Return the allowed violation."""
        *_, status, _, multipliers = self.at(tol)
        return CLOSE if status == "degenerate" and multipliers > HUGE else tol

    @property
    def is_timed(self) -> bool:
        return self.n <= MOST_ROWS and self.n_features <= MOST_FEATURES

    def ratio(self, tol: float) -> float:
        """Return the time relative to that of SVC."""
        return self.at(tol)[0] / self.svc


def solved(rows: Iterable[Row]) -> list[SolvedCase]:
    """Return the cases of all groups."""
    return [SolvedCase(*case) for row in rows for case in row["cases"]]


def by_family(cases: Iterable[SolvedCase]) -> dict[str, list[SolvedCase]]:
    """Return the cases of each family."""
    found: dict[str, list[SolvedCase]] = {}
    for case in cases:
        found.setdefault(case.family, []).append(case)
    return found


def power(number: float) -> str:
    """Return a number as one digit and a power of ten."""
    digit, _, exponent = f"{number:.0e}".partition("e")
    return f"{digit}e{int(exponent)}"
