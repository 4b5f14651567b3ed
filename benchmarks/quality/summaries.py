"""Summaries of the comparison: paired differences, costs and counts by set."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from kernelwise.experiments import Row

from .names import GRID

LARGEST = 600  # training rows of the sets over which the mean cost is taken


@dataclass
class SetResults:
    """A set in one condition: its shape, and the rows of each contender by seed."""

    dataset: str
    condition: str
    shape: dict[str, int]
    found: dict[str, dict[int, Row]] = field(default_factory=dict)

    def pairs(self, one: str, other: str, key: str = "accuracy") -> list[tuple[float, float]]:
        """Return the numbers of two contenders, for the seeds that both have."""
        mine, theirs = (self.found.get(name, {}) for name in (one, other))
        return [(mine[seed][key], theirs[seed][key]) for seed in mine if seed in theirs]

    def gain(self, one: str, other: str) -> float | None:
        """Return by how many points a contender beats another, on average over the splits."""
        found = self.pairs(one, other)
        return 100 * fmean(a - b for a, b in found) if found else None

    def accuracy(self, contender: str) -> float | None:
        """Return the mean accuracy of a contender in percent."""
        found = [row["accuracy"] for row in self.found.get(contender, {}).values()]
        return 100 * fmean(found) if found else None


def by_set(rows: Iterable[Row]) -> list[SetResults]:
    """Group rows by set and condition, in the order of the rows."""
    groups: dict[tuple[str, str], SetResults] = {}
    for row in sorted(rows, key=lambda row: row["seed"]):
        case = (row["dataset"], row["condition"])
        shape = {key: row[key] for key in ("n", "p", "classes")}
        group = groups.setdefault(case, SetResults(*case, shape))
        group.found.setdefault(row["contender"], {})[row["seed"]] = row
    return list(groups.values())


def of(sets: Iterable[SetResults], condition: str) -> list[SetResults]:
    """Return the sets of one condition."""
    return [each for each in sets if each.condition == condition]


def gains(sets: Iterable[SetResults], condition: str, one: str, other: str) -> dict[str, float]:
    """Return by how many points a contender beats another, by set."""
    found = {each.dataset: each.gain(one, other) for each in of(sets, condition)}
    return {name: value for name, value in found.items() if value is not None}


def cost(sets: Iterable[SetResults], contender: str) -> float | None:
    """Return the mean over the sets of a contender's CPU time over that of the grid."""
    found = [each.pairs(contender, GRID, "fit_seconds") for each in sets]
    ratios = [sum(a for a, _ in one) / sum(b for _, b in one) for one in found if one]
    return fmean(ratios) if ratios else None


def counts(sets: Sequence[SetResults], contender: str) -> tuple[int, int]:
    """Count the splits on which a contender was measured, and those on which any was."""
    measured = [len(each.found.get(contender, {})) for each in sets]
    return sum(measured), sum(len(set().union(*each.found.values())) for each in sets)


def cost_ratio(row: Row, contender: str) -> float:
    """Return a contender's CPU time over the grid's, medians of all runs."""
    return row["times"][contender]["cpu_median"] / row["times"][GRID]["cpu_median"]


def speed_up(rows: Iterable[Row], contender: str, *, synthetic: bool = False) -> float | None:
    """Return the speed-up over the grid search: the inverse of the mean CPU-time ratio.

    Taken over the sets with up to `LARGEST` training rows, or of the synthetic case.
    """
    found = [
        cost_ratio(row, contender)
        for row in rows
        if contender in row["times"]
        if (row["condition"] == "synthetic") == synthetic
        if synthetic or row["n"] <= LARGEST
    ]
    return 1 / fmean(found) if found else None
