"""Summaries of rows: means with standard errors, paired differences, and ratios of times."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from .names import GRID
from .text import digits

_FEWEST = 5  # differences for a test


@dataclass(frozen=True)
class Mean:
    """A mean and its standard error, NaN for a single number."""

    value: float
    error: float

    @classmethod
    def of(cls, numbers: Iterable[float]) -> "Mean":
        found = list(numbers)
        error = stdev(found) / math.sqrt(len(found)) if len(found) > 1 else math.nan
        return cls(fmean(found), error)

    def text(self, places: int = 2) -> str:
        if math.isnan(self.error):
            return f"{self.value:.{places}f}"
        return f"{self.value:.{places}f} ± {self.error:.{places}f}"


def signed_rank(differences: Sequence[float]) -> str:
    """Return p of Wilcoxon's two-sided signed-rank test as text."""
    from scipy.stats import wilcoxon

    kept = [d for d in differences if abs(d) > 1e-12]
    if len(kept) < _FEWEST:
        return "too few differences for a test"
    # Without ties of zero, and by the normal approximation where others tie.
    p = float(wilcoxon(kept).pvalue)
    return "p < 0.0001" if p < 1e-4 else f"p = {digits(p, 2)}"


def _scores(row: dict, method: str) -> list[float]:
    return (row.get("times") or row["found"])[method]["accuracy"]


def accuracies(rows: Iterable[dict], method: str, rounds: slice = slice(None)) -> list[float]:
    """Return a method's accuracy in percent, the mean of its rounds, one number per row."""
    return [100 * fmean(_scores(row, method)[rounds]) for row in rows]


def gains(
    rows: Sequence[dict], method: str, other: str, rounds: slice = slice(None)
) -> list[float]:
    """Return by how many points a method beats another, one number per row.

    Only rounds in which both took part count: one may be left out of the later ones.
    """
    found = []
    for row in rows:
        pairs = list(zip(_scores(row, method), _scores(row, other), strict=False))[rounds]
        found.append(100 * fmean(one - two for one, two in pairs))
    return found


def compared(rows: Sequence[dict], method: str, other: str, rounds: slice = slice(None)) -> str:
    """Return by how many points a method beats another, with standard error and p."""
    found = gains(rows, method, other, rounds)
    mean = Mean.of(found)
    sign = "+" if mean.value >= 0 else ""
    return f"{sign}{mean.text()} ({signed_rank(found)})"


def further(rows: Sequence[dict]) -> slice:
    """Return the later rounds of a span path, without the slow grid."""
    return slice(len(_scores(rows[0], GRID)), None)


def agreements(rows: Iterable[dict], method: str, other: str) -> tuple[int, int]:
    """Count the rounds in which two methods have equal accuracy, and all rounds of both."""
    pairs = [
        one == two
        for row in rows
        for one, two in zip(_scores(row, method), _scores(row, other), strict=False)
    ]
    return sum(pairs), len(pairs)


def cpu_per_fit(rows: Iterable[dict], method: str) -> float:
    """Return the mean CPU time of a fit, with equal weight for each row."""
    return fmean(fmean(row["times"][method]["cpu"]) for row in rows)


def cpu_ratio(rows: Sequence[dict], method: str, other: str) -> float:
    """Return the CPU time of another method divided by that of a method, over all rows."""
    return cpu_per_fit(rows, other) / cpu_per_fit(rows, method)
