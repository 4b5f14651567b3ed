"""Tables, checks, claims and remarks of an experiment, as plain data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import sem


@dataclass(frozen=True)
class Spread:
    """A mean and its standard error, which is None for a single value."""

    mean: float
    error: float | None = None

    @classmethod
    def of(cls, values: Any) -> Spread | None:
        """Return mean and standard error of some values, None if there are none."""
        values = np.asarray(values, dtype=float)
        if values.ndim != 1:
            raise ValueError(f"values must be one number per repeat; got shape {values.shape}.")
        if values.size == 0:
            return None
        error = float(sem(values)) if values.size > 1 else None
        return cls(float(values.mean()), error)


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    name: str
    digits: int = 2  # decimals of its numbers
    group: str = ""  # heading above it, which neighbours may share
    signed: bool = False  # whether positive numbers get a plus sign

    @property
    def heading(self) -> str:
        """Group and name in one line."""
        return f"{self.group} {self.name}".strip()


Cell = str | float | int | Spread | None


@dataclass(frozen=True)
class Table:
    """A table; the first column names the row, and a cell without a value is None."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    note: str = ""


def compared(group: str, digits: int = 2) -> list[Column]:
    """Return the three columns of a comparison: paper, ours and difference."""
    return [
        Column("paper", digits, group),
        Column("ours", digits, group),
        Column("diff.", digits, group, signed=True),
    ]


def against(paper: float | None, values: Any) -> list[Cell]:
    """Return the cells of a comparison: printed value, measured values, and difference."""
    ours = Spread.of(values)
    return [paper, ours, None if ours is None or paper is None else ours.mean - paper]


Part = tuple[Column | Sequence[Column], Callable[..., Any]]


def tabulate(
    title: str,
    heading: str,
    items: Mapping[str, Any] | Iterable[str],
    parts: Iterable[Part],
    note: str = "",
) -> Table:
    """Make a table with a row per item, from pairs of a column and a function of the item.

    The function takes the item, or key and value of a mapping. Several columns may share a function
    that returns a list.
    """
    columns, rows = [Column(heading)], [[item] for item in items]
    for own, make in parts:
        columns += own if isinstance(own, Sequence) else [own]
        for row in rows:
            found = make(row[0], items[row[0]]) if isinstance(items, Mapping) else make(row[0])
            row += found if isinstance(found, list | tuple) else [found]
    return Table(title, columns, rows, note)


_RELATIONS = {
    ">": lambda value, limit: value > limit,
    "<": lambda value, limit: value < limit,
    ">=": lambda value, limit: value >= limit,
    "<=": lambda value, limit: value <= limit,
}


@dataclass(frozen=True)
class Check:
    """A target and whether it is met."""

    name: str
    value: float | None  # None if there is too little for a verdict
    relation: str  # ">", "<", ">=" or "<="
    limit: float
    digits: int = 2  # decimals to show

    @property
    def verdict(self) -> str:
        """One of "met", "missed" and "open"."""
        if self.value is None:
            return "open"
        return "met" if _RELATIONS[self.relation](self.value, self.limit) else "missed"


@dataclass(frozen=True)
class Claim:
    """A claim of a paper, and whether it holds, for each reading of its protocol or each set."""

    text: str
    paper: str  # the figure that the paper prints, or what it says
    ours: Mapping[str, str]  # figure by reading; the name is empty for a single reading
    holds: Mapping[str, bool]  # by reading; empty where figures cannot decide
    undecided: str = ""  # "illustration" or "cannot be judged": the verdict where `holds` is empty

    @classmethod
    def judged(
        cls,
        text: str,
        paper: str,
        found: Mapping[str, Any],
        shown: Callable[[Any], str],
        holds: Callable[[Any], Any],
    ) -> Claim:
        """Return a claim whose figure of each reading is shown and judged by functions of it."""
        ours = {name: shown(value) for name, value in found.items()}
        return cls(text, paper, ours, {name: bool(holds(each)) for name, each in found.items()})

    @classmethod
    def illustration(cls, text: str, paper: str, ours: str) -> Claim:
        """Return a claim that an example of our own shows, which proves nothing."""
        return cls(text, paper, {"": ours}, {}, "illustration")

    @classmethod
    def unjudged(cls, text: str, paper: str, reason: str) -> Claim:
        """Return a claim that cannot be judged, with the reason."""
        return cls(text, paper, {"": reason}, {}, "cannot be judged")

    @property
    def verdict(self) -> str:
        """The verdict over all readings."""
        kept = [reading for reading, holds in self.holds.items() if holds]
        if not self.holds:
            return self.undecided
        if len(kept) == len(self.holds):
            return "holds"
        share = f"{len(kept)} of {len(self.holds)}"
        return f"holds under {', '.join(kept)} ({share})" if kept else "does not hold"

    @property
    def measured(self) -> str:
        """Our figures, each with its reading."""
        return "; ".join(f"{name}: {text}" if name else text for name, text in self.ours.items())


def spread_text(values: Any, digits: int = 1, signed: bool = False) -> str:
    """Return mean and standard error of some values as text."""
    spread = Spread.of(values)
    if spread is None:
        return "-"
    mean = f"{spread.mean:{'+' if signed else ''}.{digits}f}"
    return mean if spread.error is None else f"{mean} ± {spread.error:.{digits}f}"


@dataclass(frozen=True)
class Summary:
    """Tables, checks and remarks of an experiment."""

    tables: Sequence[Table] = ()
    checks: Sequence[Check] = ()
    remarks: Sequence[str] = ()
    claims: Sequence[Claim] = ()
