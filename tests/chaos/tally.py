"""Counts of one kind of attack: tried, how each trial ended, and what broke."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Tally:
    """The outcomes of one kind of attack.

    `ends` counts the trials by how they ended; `broken` describes those that did not hold; `facts`
    are further figures, such as the largest growth of memory in megabytes.
    """

    name: str
    ends: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)
    facts: dict[str, float] = field(default_factory=dict)

    def held(self, end: str) -> None:
        """Count a trial that ended as it may."""
        self.ends[end] += 1

    def broke(self, what: str) -> None:
        """Count a trial that did not hold."""
        self.ends["broken"] += 1
        self.broken.append(what)

    def as_dict(self) -> dict[str, Any]:
        """Return the counts as plain values, for the file of results."""
        return {
            "tried": self.ends.total(),
            "ends": dict(sorted(self.ends.items())),
            "facts": self.facts,
        }

    def __str__(self) -> str:
        ends = ", ".join(f"{end} {count}" for end, count in sorted(self.ends.items()))
        facts = "".join(f"; {name} {value:.3g}" for name, value in self.facts.items())
        return f"{self.name}: tried {self.ends.total()}: {ends}{facts}"
