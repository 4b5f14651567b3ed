"""How a fit reports to whoever listens.

Five listeners, one object: lines that ``verbose`` asks for, the user's ``callback``, scikit-learn's
callbacks, a line on the terminal where ``verbose="auto"`` and the fit takes over two seconds, and a
program with its own display of all fits (`listening`).
"""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from itertools import count
from threading import Thread, current_thread
from time import perf_counter
from typing import Any, ClassVar

from ...qp import Progress

Listener = Callable[[str, int, int], Any]
_LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)
_PATIENCE = 2.0  # seconds before a fit with verbose="auto" says anything
_REDRAW = 0.1  # seconds between two updates of a line on a terminal


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Report each task of all fits that begin in this context.

    ``listener``: called with the name of the task, its number and the number of tasks of the fit,
    at most; 0 where that is unknown.
    """
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


class FitProgress:
    """Reports the progress of one fit.

    ``estimator``: the estimator that is fitted: scikit-learn's callbacks receive it. ``verbose``:
    whether to print a line per step to stdout; "auto" shows the running task on a terminal once
    the fit has taken two seconds. ``callback``: called with each event; a true return value asks
    the fit to stop.
    """

    def __init__(
        self,
        estimator: Any,
        verbose: bool | str = False,
        callback: Callable[[Any], Any] | None = None,
    ) -> None:
        self._estimator, self._callback = estimator, callback
        self._prints = bool(verbose) and verbose != "auto"
        self._listener = _LISTENER.get()
        alone = verbose == "auto" and self._listener is None and _has_terminal()
        self._late = _LateLine(type(estimator).__name__) if alone else None
        self._context: Any = None
        self._numbers, self._number, self._total = count(), 0, 0

    @classmethod
    def of(cls, estimator: Any) -> FitProgress:
        """Read the parameters ``verbose`` and ``callback`` of an estimator, where it has them."""
        verbose = getattr(estimator, "verbose", False)
        return cls(estimator, verbose, getattr(estimator, "callback", None))

    def begin(self, n_tasks: int | None) -> None:
        """Announce how many tasks the fit has; None where that is unknown."""
        self._total = n_tasks or 0
        if hasattr(self._estimator, "_skl_callbacks"):
            self._context = self._estimator._init_callback_context(
                max_subtasks=n_tasks, sequential_subtasks=False
            )
            self._context.call_on_fit_task_begin(estimator=self._estimator)

    def end(self) -> None:
        """Announce that the fit is complete."""
        if self._context is not None:
            self._context.call_on_fit_task_end(estimator=self._estimator)
            self._context = None
        if self._late is not None:
            self._late.close()

    @contextmanager
    def task(self, name: str) -> Iterator[None]:
        """Report a part of the fit as one task."""
        number = self._number = next(self._numbers)
        self._show(name, number)
        if self._context is None:
            yield
            return
        task = self._context.subcontext(task_name=name, task_id=number)
        task.call_on_fit_task_begin(estimator=self._estimator)
        yield
        task.call_on_fit_task_end(estimator=self._estimator)

    @property
    def listens(self) -> bool:
        """Whether anybody hears of single tasks."""
        heard = self._context, self._late, self._callback, self._listener
        return self._prints or any(each is not None for each in heard)

    @property
    def prints(self) -> bool:
        """Whether `line` prints anything."""
        return self._prints

    def line(self, text: str) -> None:
        """Print a line, where ``verbose`` asks for lines."""
        if self._prints:
            print(f"[kernelwise.{type(self._estimator).__name__}] {text}")

    def step(self, event: Any) -> bool:
        """Pass an event to the user's callback; return whether it asks the fit to stop."""
        return self._callback is not None and bool(self._callback(event))

    @property
    def stops(self) -> Callable[[Any], bool] | None:
        """The function `step`, or None where nobody listens."""
        return None if self._callback is None else self.step

    def of_machine(self, machine: int, n_machines: int) -> Callable[[Progress], bool] | None:
        """Return a listener for the solver of one machine; None where nobody listens."""
        shows = self.shows_violation("machine")
        if self._callback is None:
            return shows

        def hear(event: Progress) -> bool:
            if shows is not None:
                shows(event)
            return self.step(replace(event, machine=machine, n_machines=n_machines))

        return hear

    def shows_violation(self, task: str) -> Callable[[Progress], bool] | None:
        """Return a listener that shows how far a solve is; None where nobody sees it."""
        if self._late is None and self._listener is None:
            return None
        number = self._number

        def show(event: Progress) -> bool:
            self._show(f"{task}, violation {event.violation:.1e}", number)
            return False

        return show

    def _show(self, task: str, number: int) -> None:
        """Show the task under way."""
        if self._late is not None:
            self._late.show(task, number, self._total)
        if self._listener is not None:
            self._listener(task, number, self._total)


def _has_terminal() -> bool:
    """Return whether stderr is a terminal, and this process no worker that shares it."""
    return sys.stderr.isatty() and multiprocessing.parent_process() is None


class _LateLine:
    """A line on the terminal about the task under way, once a fit has taken two seconds.

    Of fits in several threads, one has the line.
    """

    _thread: ClassVar[Thread | None] = None  # the thread whose fit has the line

    def __init__(self, name: str) -> None:
        self._name, self._start, self._next = name, perf_counter(), _PATIENCE
        self._shown = 0  # characters of the line on the terminal

    def show(self, task: str, number: int, total: int) -> None:
        """Show the task, if it is time to and no other fit has the line."""
        seconds = perf_counter() - self._start
        if seconds < self._next:
            return
        self._next = seconds + _REDRAW
        if not self._has_line():
            return
        done = f"step {number + 1} of at most {total}" if total else f"step {number + 1}"
        text = f"[kernelwise.{self._name}] {seconds:.0f} s: {task} ({done})"
        print("\r" + text.ljust(self._shown), end="", file=sys.stderr, flush=True)
        self._shown = len(text)

    def close(self) -> None:
        """Clear the line, and leave it to others."""
        if self._shown:
            print("\r" + " " * self._shown + "\r", end="", file=sys.stderr, flush=True)
            self._shown, _LateLine._thread = 0, None

    def _has_line(self) -> bool:
        """Take the line, unless a fit in another thread that runs has it."""
        other = _LateLine._thread
        if other is None or not other.is_alive():
            other = _LateLine._thread = current_thread()
        return other is current_thread()
