"""What all commands share: messages, errors in one line, files that are written whole."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from .._files import check_writable

_F = TypeVar("_F", bound=Callable[..., None])
_PASSED = (typer.Exit, typer.Abort, typer.BadParameter)
_NARROWEST = 80  # columns: what a file or a pipe gets


class Session:
    """Where a command speaks: messages to stderr, results to stdout."""

    def __init__(self, quiet: bool, as_json: bool = False) -> None:
        self.quiet, self.as_json = quiet, as_json
        self._errors = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)

    def say(self, text: Any) -> None:
        """Say something on the way: text, or a table of rich."""
        if not self.quiet:
            self._errors.print(text)

    def show(self, result: Any) -> None:
        """Show a result to a person: text, or a table of rich."""
        if not self.quiet and not self.as_json:
            console = Console(highlight=False, markup=False)
            if console.width < _NARROWEST:
                console = Console(width=_NARROWEST, highlight=False, markup=False)
            console.print(result)

    def give(self, numbers: Any) -> None:
        """Print a result for machines, if that is wanted."""
        if self.as_json:
            typer.echo(json.dumps(_plain(numbers), indent=1, ensure_ascii=False))

    @contextmanager
    def progress(self) -> Iterator[Callable[[int, int, str], None]]:
        """Give a function that shows how many fits are done, of how many, and the next."""
        if self.quiet or not self._errors.is_terminal:
            yield lambda done, total, text: None
            return
        columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
        with Progress(*columns, console=self._errors, transient=True) as bar:
            task = bar.add_task("")

            def tell(done: int, total: int, text: str) -> None:
                bar.update(task, completed=done, total=total, description=f"{done}/{total} {text}")

            yield tell

    @contextmanager
    def busy(self, text: str) -> Iterator[None]:
        """Say what is being done; on a terminal with the time that it takes."""
        if self.quiet or not self._errors.is_terminal:
            self.say(f"{text} ...")
            yield
            return
        columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
        with Progress(*columns, console=self._errors, transient=True) as spinner:
            spinner.add_task(text, total=None)
            yield

    @contextmanager
    def telling_warnings(self) -> Iterator[None]:
        """Say each warning once, in a line."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        for text in dict.fromkeys(str(each.message) for each in caught):
            self.say(f"note: {first_line(text)}")


def guarded(command: _F) -> _F:
    """Give a command errors of one line and exit codes."""

    @wraps(command)
    def run(*args: Any, **options: Any) -> None:
        try:
            command(*args, **options)
        except _PASSED:
            raise
        except KeyboardInterrupt:
            _fail("interrupted; nothing was written", 130)
        except BrokenPipeError:  # whoever read the output has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except Exception as error:
            if os.environ.get("KERNELWISE_DEBUG"):
                raise
            _fail(_told(error), 1)

    return run  # type: ignore[return-value]


def _told(error: Exception) -> str:
    """Return the error in one line; one that nobody foresaw says what to do about it."""
    from ..io import ModelFileError
    from ..tabular import TableError

    text = first_line(str(error)) or type(error).__name__
    if isinstance(error, MemoryError):
        return "the memory does not suffice; use fewer rows"
    if isinstance(error, TableError | ModelFileError | OSError | ImportError):
        return text
    return f"{type(error).__name__}: {text} (KERNELWISE_DEBUG=1 shows where)"


def _fail(text: str, code: int) -> NoReturn:
    typer.echo(f"kernelwise: {text}", err=True)
    raise typer.Exit(code)


def first_line(text: str) -> str:
    """Return a text in one line, of a length that can be read."""
    line = " ".join(text.split())
    return line if len(line) <= 500 else line[:500] + " ..."


def check_outputs(paths: Sequence[Path | None], force: bool) -> None:
    """Raise before any work where a result could not be written, or would overwrite a file."""
    from ..tabular import TableError

    for path in paths:
        if path is None:
            continue
        if path.is_dir():
            raise TableError(f"{path} is a folder; name a file.")
        if path.exists() and not path.is_file():  # moving a file there would do away with it
            raise TableError(f"{path} is a device or a pipe; name a file.")
        if path.exists() and not force:
            raise TableError(f"{path} is there already; name another file, or add --force.")
        if not path.absolute().parent.is_dir():
            raise TableError(f"there is no folder {str(path.absolute().parent)!r} to write to.")
        try:
            check_writable(path)
        except OSError as error:
            raise TableError(f"{path} cannot be written: {error.strerror}.") from None
    named = [path.absolute() for path in paths if path is not None]
    if len(set(named)) < len(named):
        raise TableError(f"{named[0]} is named twice; each result needs a file of its own.")


def _plain(value: Any) -> Any:
    """Return arrays and tuples as lists, and what is no finite number as None."""
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, float) and not abs(value) < float("inf"):
        return None
    return value
