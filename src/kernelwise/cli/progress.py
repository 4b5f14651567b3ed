"""Progress of fits on a terminal: a bar over the fits, and the step inside the current one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from ..svm.base.progress import listening

ShowFit = Callable[[int, int, str], None]
_FIRST_LINE = 10.0  # seconds before the first line in a log file
_COUNTED = {"reasons for rows"}  # steps that are no fits
_WIDTH = 56  # characters of the text before the bar


@contextmanager
def fit_progress(console: Console, quiet: bool) -> Iterator[ShowFit]:
    """Yield a function that shows the number of finished fits, their total, and the next one.

    Inside a fit, the step under way is shown, too. On a terminal this is a bar; elsewhere it is a
    line each time that the elapsed time has doubled.
    """
    if quiet:
        yield lambda done, total, text: None
    elif console.is_terminal:
        columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
        with Progress(*columns, console=console, transient=True) as bar:
            shown = _Bar(bar)
            with listening(shown.step):
                yield shown.fit
    else:
        log = _Log(console)
        with listening(log.step):
            yield log.fit


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
        text = f"{self._text}, {task}"[:_WIDTH]
        self._bar.update(self._task, completed=self._done + part, description=text)


class _Log:
    """Lines in a log file, ever fewer of them."""

    def __init__(self, console: Console) -> None:
        self._console, self._start, self._next = console, monotonic(), _FIRST_LINE
        self._text = ""

    def fit(self, done: int, total: int, text: str) -> None:
        """Show that a fit begins, if it is time to."""
        self._text = _fit_text(done, total, text)
        self._show(self._text)

    def step(self, task: str, number: int, total: int) -> None:
        """Show a step of the fit, if it is time to."""
        self._show(f"{self._text}, {task}")

    def _show(self, text: str) -> None:
        seconds = monotonic() - self._start
        if text and seconds >= self._next:
            self._next = 2 * seconds
            self._console.print(f"{seconds:.0f} s: {text}")


def _fit_text(done: int, total: int, text: str) -> str:
    """Return which of several fits is under way, or of other steps; "" after the last one."""
    if not text or total < 2:
        return text
    if text in _COUNTED:
        return f"{text}: {min(done + 1, total)} of {total}"
    return f"fit {done + 1} of {total}: {text}"
