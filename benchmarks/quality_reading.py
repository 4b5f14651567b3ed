"""Numbers that are made of the rows of the comparison: paired differences, costs and truth."""

from collections.abc import Iterable, Sequence
from statistics import fmean

from .quality_names import GRID

LARGEST = 600  # training rows of the sets that the mean cost is about


def pairs(row: dict, method: str, other: str, key: str = "accuracy") -> list[tuple[float, float]]:
    """Return the numbers of two methods, of the seeds that both were measured with."""
    lists = [row["found"].get(name, {}).get(key, []) for name in (method, other)]
    return [(a, b) for a, b in zip(*lists, strict=False) if a is not None and b is not None]


def of(rows: Iterable[dict], condition: str) -> list[dict]:
    return [row for row in rows if row["case"]["condition"] == condition]


def gain(row: dict, method: str, other: str) -> float | None:
    """Return by how many points a method is the better one, on average over the splits."""
    found = pairs(row, method, other)
    return 100 * fmean(a - b for a, b in found) if found else None


def gains(rows: Iterable[dict], condition: str, method: str, other: str) -> dict[str, float]:
    """Return by how many points a method is the better one, by set."""
    found = {row["case"]["set"]: gain(row, method, other) for row in of(rows, condition)}
    return {name: value for name, value in found.items() if value is not None}


def accuracy(row: dict, method: str) -> float | None:
    """Return the mean accuracy of a method in percent."""
    found = [a for a, _ in pairs(row, method, method)]
    return 100 * fmean(found) if found else None


def cost(rows: Iterable[dict], method: str, other: str = GRID) -> float | None:
    """Return the mean over the rows of a method's CPU time over that of another."""
    found = [pairs(row, method, other, "cpu") for row in rows]
    ratios = [sum(a for a, _ in one) / sum(b for _, b in one) for one in found if one]
    return fmean(ratios) if ratios else None


def methods(rows: Iterable[dict]) -> set[str]:
    """Return who was measured at all."""
    return {name for row in rows for name in (row.get("found") or row["times"])}


def counts(rows: Sequence[dict], method: str) -> tuple[int, int]:
    """Count the splits that a method was measured on, and those that anybody was."""
    lengths = [len(next(iter(row["found"].values()))["accuracy"]) for row in rows]
    return sum(len(pairs(row, method, method)) for row in rows), sum(lengths)


def cost_ratio(row: dict, method: str) -> float:
    """Return a method's CPU time over the grid's, medians where there are several."""
    return row["times"][method]["cpu_median"] / row["times"][GRID]["cpu_median"]


def speed(rows: Iterable[dict], method: str, *, synthetic: bool = False) -> float | None:
    """Return one over the mean ratio of a method's CPU time to the grid's.

    Of the sets with up to `LARGEST` training rows, or of the synthetic case.
    """
    found = [
        cost_ratio(row, method)
        for row in rows
        if method in row["times"]
        if (row["case"]["condition"] == "synthetic") == synthetic
        if synthetic or row["case"]["n"] <= LARGEST
    ]
    return 1 / fmean(found) if found else None
