"""Progress of fits on a terminal: a bar over the fits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from ...svm.base.progress import listening

ShowFit = Callable[[int, int, str], None]
_COUNTED = {"reasons for rows"}  # steps that are no fits


@contextmanager
def fit_progress(console: Console, quiet: bool) -> Iterator[ShowFit]:
    """Yield a function that shows the number of finished fits, their total, and the next one.

    On a terminal this is a bar, which moves within a fit where the number of its steps is known.
    Elsewhere, such as in a log file, nothing is shown.
    """
    if quiet or not console.is_terminal:
        yield lambda done, total, text: None
    else:
        columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
        with Progress(*columns, console=console, transient=True) as bar:
            shown = _Bar(bar)
            with listening(shown.step):
                yield shown.fit


class _Bar:
    """A bar over all fits, which moves within a fit where the number of its steps is known."""

    def __init__(self, bar: Progress) -> None:
        self._bar, self._task = bar, bar.add_task("", total=None)
        self._done, self._text = 0, ""

    def fit(self, done: int, total: int, text: str) -> None:
        """Show that a fit begins."""
        self._done, self._text = done, _fit_text(done, total, text)
        self._bar.update(self._task, completed=done, total=total, description=self._text)

    def step(self, task: str, number: int, total: int) -> None:
        """Show a step of the fit."""
        part = min(1.0, number / total) if total else 0.0
        self._bar.update(self._task, completed=self._done + part, description=self._text)


def _fit_text(done: int, total: int, text: str) -> str:
    """Return which of several fits is under way, or of other steps; "" after the last one."""
    if not text or total < 2:
        return text
    if text in _COUNTED:
        return f"{text}: {min(done + 1, total)} of {total}"
    return f"fit {done + 1} of {total}: {text}"
