"""Summaries of methods over tables: means, paired differences, wins and losses."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from benchmarks.engine import Row

from ..summaries import Mean
from .measures import IN_PERCENT, LOWER_IS_BETTER


@dataclass(frozen=True)
class Gain:
    """Differences of two methods, by table: in points, or as they are for a log loss."""

    by_table: dict[str, float]
    higher_is_better: bool = True

    @property
    def mean(self) -> Mean:
        return Mean.of(self.by_table.values())

    @property
    def wins(self) -> int:
        return sum(value > 0 for value in self._values())

    @property
    def losses(self) -> int:
        return sum(value < 0 for value in self._values())

    @property
    def worst(self) -> tuple[str, float]:
        """Return the table on which the first method is furthest behind, and by how much."""
        choose = min if self.higher_is_better else max
        return choose(self.by_table.items(), key=lambda item: item[1])

    def _values(self) -> list[float]:
        sign = 1 if self.higher_is_better else -1
        return [sign * value for value in self.by_table.values()]


class Comparison:
    """Rows of methods on splits of tables."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows: dict[tuple[str, str, str], dict[int, Row]] = {}
        self.shapes: dict[str, Row] = {}
        for row in rows:
            case = (row["condition"], row["dataset"], row["contender"])
            self._rows.setdefault(case, {})[row["split"]] = row
            self.shapes.setdefault(row["dataset"], row)

    def tables(self, condition: str) -> list[str]:
        """Return the tables of a condition, in their order."""
        return list(dict.fromkeys(table for each, table, _ in self._rows if each == condition))

    def contenders(self, condition: str) -> list[str]:
        """Return the methods of a condition, in their order."""
        return list(dict.fromkeys(name for each, _, name in self._rows if each == condition))

    def conditions(self) -> list[str]:
        """Return the conditions, in their order."""
        return list(dict.fromkeys(condition for condition, _, _ in self._rows))

    def value(self, condition: str, table: str, contender: str, measure: str) -> float | None:
        """Return the mean of a measure over the splits of a table."""
        rows = self._rows.get((condition, table, contender), {}).values()
        found = [row[measure] for row in rows if row[measure] is not None]
        return _scale(measure) * fmean(found) if found else None

    def mean(self, condition: str, contender: str, measure: str) -> float | None:
        """Return the mean of a measure over the tables."""
        values = [self.value(condition, t, contender, measure) for t in self.tables(condition)]
        found = [value for value in values if value is not None]
        return fmean(found) if found else None

    def gain(
        self, condition: str, one: str, other: str, measure: str,
        tables: Collection[str] | None = None,
    ) -> Gain | None:  # fmt: skip
        """Compare two methods on the splits that both have; None without any."""
        pairs = {
            table: self._pairs(condition, table, one, other, measure)
            for table in self.tables(condition)
            if tables is None or table in tables
        }
        found = {t: _scale(measure) * fmean(a - b for a, b in p) for t, p in pairs.items() if p}
        return Gain(found, measure not in LOWER_IS_BETTER) if found else None

    def ratio(self, condition: str, one: str, other: str, measure: str) -> Mean | None:
        """Return the mean over the tables of the ratio of a measure."""
        pairs = [self._pairs(condition, t, one, other, measure) for t in self.tables(condition)]
        found = [sum(a for a, _ in p) / sum(b for _, b in p) for p in pairs if p]
        return Mean.of(found) if found else None

    def changed(self, one: str, other: str, contender: str, measure: str) -> Gain | None:
        """Return by how much a measure differs between two conditions, on the splits of both."""
        found = {}
        for table in self.tables(one):
            a, b = (self._rows.get((c, table, contender), {}) for c in (one, other))
            both = [a[k][measure] - b[k][measure] for k in a if k in b]
            if both:
                found[table] = _scale(measure) * fmean(both)
        return Gain(found) if found else None

    def _pairs(
        self, condition: str, table: str, one: str, other: str, measure: str
    ) -> Sequence[tuple[float, float]]:
        mine, theirs = (self._rows.get((condition, table, name), {}) for name in (one, other))
        pairs = [(mine[k][measure], theirs[k][measure]) for k in mine if k in theirs]
        return [(a, b) for a, b in pairs if a is not None and b is not None]


def _scale(measure: str) -> float:
    return 100.0 if measure in IN_PERCENT else 1.0
