"""Targets, and whether the results meet them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.engine import Row

from .text import digits

EQUAL_OBJECTIVE = 1e-6  # largest relative excess of our objective that counts as equal
Rows = Mapping[str, Sequence[Row]]  # by suite


@dataclass(frozen=True)
class Reading:
    """The number of one row that a target is about."""

    name: str
    value: float
    excess: float = 0.0  # relative excess of our objective


@dataclass(frozen=True)
class Target:
    """A bound that a number of each row of a suite must keep.

    `read` returns a Reading of a row, or None if the target is not about that row.
    """

    text: str
    suite: str
    goal: float
    read: Callable
    unit: str = "x"
    at_least: bool = True
    form: Callable[[float], str] = digits

    @property
    def goal_text(self) -> str:
        return f"{'at least' if self.at_least else 'at most'} {self.goal:g}{self.unit}"

    def show(self, value: float) -> str:
        return f"{self.form(value)}{self.unit}"

    def readings(self, rows: Sequence[Row]) -> list[Reading]:
        return [reading for reading in map(self.read, rows) if reading is not None]

    def misses(self, readings: Iterable[Reading]) -> list[str]:
        """Return the name of each case that misses, with its number."""
        missed = []
        for each in readings:
            good = each.value >= self.goal if self.at_least else each.value <= self.goal
            if not good:
                missed.append(f"{each.name}: {self.show(each.value)}")
            elif each.excess > EQUAL_OBJECTIVE:
                missed.append(f"{each.name}: objective higher by {each.excess:.1g}")
        return missed


@dataclass(frozen=True)
class Overall(Target):
    """A bound on one number, which `read` makes of all rows of a suite."""

    def readings(self, rows: Sequence[Row]) -> list[Reading]:
        value = self.read(rows) if rows else None
        return [] if value is None else [Reading("overall", value)]


@dataclass(frozen=True)
class Grouped(Target):
    """A bound on several numbers: `read` makes the Readings of all rows of a suite."""

    def readings(self, rows: Sequence[Row]) -> list[Reading]:
        return self.read(rows)


def verdicts(rows: Rows, targets: Iterable[Target]) -> list[dict]:
    """Return for each target its goal, the worst case, the misses and the verdict."""
    found = []
    for target in targets:
        readings = target.readings(rows.get(target.suite, []))
        misses = target.misses(readings)
        values = [reading.value for reading in readings]
        worst = min(values, default=None) if target.at_least else max(values, default=None)
        found.append(
            {
                "target": target.text,
                "goal": target.goal_text,
                "cases": len(readings),
                "worst": "" if worst is None else target.show(worst),
                "misses": misses,
                "verdict": _verdict(readings, misses),
            }
        )
    return found


def _verdict(readings: Sequence[Reading], misses: Sequence[str]) -> str:
    if not readings:
        return "not measured"
    return f"**missed** in {len(misses)} of {len(readings)}" if misses else "met"


def count(number: float) -> str:
    """Return a whole number as text."""
    return f"{number:.0f}"


def points(number: float) -> str:
    """Return a difference of accuracies as text."""
    return f"{number:+.2f}"
