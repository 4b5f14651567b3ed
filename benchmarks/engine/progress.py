"""Progress on the terminal: a line now and then."""

from __future__ import annotations

import sys
import time

_EVERY = 10.0  # seconds between lines
_ENOUGH = 0.1  # share of the work from which the rest is estimated


def duration(seconds: float) -> str:
    """Format a duration in seconds, minutes or hours, for instance "12 min"."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


class RunProgress:
    """Says how much of the expected work is done, and how long the rest takes."""

    def __init__(self, title: str, costs: list[float], quiet: bool = False) -> None:
        self._title, self._quiet = title, quiet
        self._n, self._total = len(costs), sum(costs)
        self._done, self._spent, self._failed = 0, 0.0, 0
        self._begin = self._told = time.monotonic()

    def advance(self, cost: float, failed: bool) -> None:
        """Count a task as done."""
        self._done, self._spent = self._done + 1, self._spent + cost
        self._failed += failed
        if not self._quiet and time.monotonic() - self._told > _EVERY:
            self._say()
            self._told = time.monotonic()

    def _say(self) -> None:
        text = f"{self._title}: {self._done} of {self._n}"
        text += f", {self._failed} failed" if self._failed else ""
        if self._spent > _ENOUGH * self._total:  # before that, most time went into starting up
            passed = time.monotonic() - self._begin
            text += f", about {duration(passed * (self._total / self._spent - 1))} left"
        print(text, file=sys.stderr, flush=True)
