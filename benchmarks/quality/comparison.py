"""Methods over tables: means, differences and ratios on the splits that two of them share."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean, median

from benchmarks.engine import Row

from ..summaries import Mean
from .measures import IN_PERCENT, LEAST_ERROR, LOWER_IS_BETTER, error


@dataclass(frozen=True)
class Gain:
    """Differences of two methods, by table: in points, or as they are for a log loss."""

    by_table: Mapping[str, float]
    higher_is_better: bool = True

    @cached_property
    def mean(self) -> Mean:
        return Mean.of(self.by_table.values())

    @property
    def wins(self) -> int:
        sign = 1 if self.higher_is_better else -1
        return sum(sign * value > 0 for value in self.by_table.values())


@dataclass(frozen=True)
class Ratio:
    """The error of one method divided by that of another, by table."""

    by_table: Mapping[str, float]

    @cached_property
    def _log(self) -> Mean:
        return Mean.of(map(math.log, self.by_table.values()))

    @property
    def mean(self) -> float:
        """The geometric mean."""
        return math.exp(self._log.value)

    @property
    def spread(self) -> float:
        """The standard error of the geometric mean, relative to it."""
        return 0.0 if math.isnan(self._log.error) else self._log.error

    @property
    def median(self) -> float:
        return median(self.by_table.values())

    @property
    def wins(self) -> int:
        return sum(value < 1 for value in self.by_table.values())

    @property
    def worst(self) -> tuple[str, float]:
        return max(self.by_table.items(), key=lambda item: item[1])


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
        found = [value for row in rows if (value := _read(row, measure)) is not None]
        return fmean(found) if found else None

    def mean(self, condition: str, contender: str, measure: str) -> float | None:
        """Return the mean of a measure over the tables."""
        values = [self.value(condition, t, contender, measure) for t in self.tables(condition)]
        found = [value for value in values if value is not None]
        return fmean(found) if found else None

    def gain(self, condition: str, one: str, other: str, measure: str) -> Gain | None:
        """Return the differences of two methods; None without a common split."""
        pairs = self._all_pairs(condition, one, other, measure)
        found = {table: fmean(a - b for a, b in each) for table, each in pairs.items()}
        return Gain(found, measure not in LOWER_IS_BETTER) if found else None

    def ratio(
        self, condition: str, one: str, other: str, measure: str = "error",
        tables: Collection[str] | None = None,
    ) -> Ratio | None:  # fmt: skip
        """Return the ratios of two methods; None without a common split."""
        found = {
            table: max(fmean(a for a, _ in each), least) / max(fmean(b for _, b in each), least)
            for table, each in self._all_pairs(condition, one, other, measure).items()
            for least in [LEAST_ERROR if measure == "error" else 0.0]
            if tables is None or table in tables
        }
        return Ratio(found) if found else None

    def _all_pairs(
        self, condition: str, one: str, other: str, measure: str
    ) -> dict[str, Sequence[tuple[float, float]]]:
        """Return the values of both methods on their common splits, by table."""
        found = {}
        for table in self.tables(condition):
            mine, theirs = (self._rows.get((condition, table, name), {}) for name in (one, other))
            shared = [k for k in mine if k in theirs]
            both = [(_read(mine[k], measure), _read(theirs[k], measure)) for k in shared]
            pairs = [(a, b) for a, b in both if a is not None and b is not None]
            if pairs:
                found[table] = pairs
        return found


def _read(row: Row, measure: str) -> float | None:
    """Return a measure of a row, shares in percent."""
    if measure == "error":
        return error(row)
    value = row[measure]
    return None if value is None else (100.0 if measure in IN_PERCENT else 1.0) * float(value)
