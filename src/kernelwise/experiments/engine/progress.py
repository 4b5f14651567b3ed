"""Progress on the terminal: a bar if rich is installed, otherwise a line now and then."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any

from ..._text import duration

_EVERY = 10.0  # seconds between plain lines
_ENOUGH = 0.1  # share of the work from which the rest is estimated


class RunProgress:
    """Shows how much of the expected work is done, and how long the rest takes.

    Parameters
    ----------
    title : str
        What is run.
    costs : list of float
        The expected cost of each task that is to be done.
    quiet : bool, default=False
        Whether to say nothing.
    """

    def __init__(self, title: str, costs: list[float], quiet: bool = False) -> None:
        self._title, self._quiet = title, quiet
        self._n, self._total = len(costs), sum(costs)
        self._done, self._spent, self._failed = 0, 0.0, 0
        self._bar: Any = None

    def __enter__(self) -> RunProgress:
        self._begin = self._told = time.monotonic()
        if not self._quiet and self._n and sys.stderr.isatty():
            self._bar = _rich_bar(self._title, self._total)
            if self._bar is not None:
                self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def advance(self, cost: float, failed: bool) -> None:
        """Count a task as done."""
        self._done, self._spent = self._done + 1, self._spent + cost
        self._failed += failed
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], advance=cost, description=self._text())
        elif not self._quiet and time.monotonic() - self._told > _EVERY:
            self._say()
            self._told = time.monotonic()

    def _text(self) -> str:
        failed = f", {self._failed} failed" if self._failed else ""
        return f"{self._title}: {self._done} of {self._n}{failed}"

    def _say(self) -> None:
        text = self._text()
        if self._spent > _ENOUGH * self._total:  # before that, most time went into starting up
            passed = time.monotonic() - self._begin
            text += f", about {duration(passed * (self._total / self._spent - 1))} left"
        print(text, file=sys.stderr, flush=True)


def _rich_bar(title: str, total: float) -> Any:
    try:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar
    except ImportError:
        return None
    bar = Bar(
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TextColumn("{task.percentage:3.0f} %"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    bar.add_task(title, total=total)
    return bar
