"""Messages, results, errors and output files of all commands."""

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
from zipfile import is_zipfile

import typer
import typer.core
from rich.console import Console

from ..._files import check_writable
from .interrupts import was_interrupted

_F = TypeVar("_F", bound=Callable[..., None])
_PASSED = (typer.Exit, typer.Abort, typer.BadParameter)
_MIN_WIDTH = 80  # characters per line, also in files and pipes


class Session:
    """The output of a command: messages to stderr, results to stdout."""

    def __init__(self, quiet: bool, as_json: bool = False) -> None:
        self.quiet, self.as_json = quiet, as_json
        self._noted: set[str] = set()
        self._errors = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)

    def say(self, text: Any) -> None:
        """Print a message, as text or as a table of rich."""
        if not self.quiet:
            self._errors.print(text)

    def show(self, result: Any) -> None:
        """Print a result for a person, as text or as a table of rich."""
        if not self.quiet and not self.as_json:
            console = Console(highlight=False, markup=False)
            if console.width < _MIN_WIDTH:
                console = Console(width=_MIN_WIDTH, highlight=False, markup=False)
            console.print(result)

    def give(self, numbers: Any) -> None:
        """Print a result as JSON, if that was asked for."""
        if self.as_json:
            typer.echo(json.dumps(_plain(numbers), indent=1, ensure_ascii=False))

    @contextmanager
    def progress(self) -> Iterator[Callable[[int, int, str], None]]:
        """Yield a function that shows the finished fits, their total, and the next one."""
        from .progress import fit_progress

        with fit_progress(self._errors, self.quiet) as show:
            yield show

    def note(self, text: str) -> None:
        """Print a note for the reader, each once."""
        if text not in self._noted:
            self._noted.add(text)
            self.say(f"note: {text}")

    @contextmanager
    def showing_warnings(self) -> Iterator[None]:
        """Print each warning once, in one line."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        for text in dict.fromkeys(str(each.message) for each in caught):
            self.note(_one_line(text))


class PlainCommand(typer.core.TyperCommand):
    """A command whose usage names its arguments without braces."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the parts of the line of usage."""
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]


@contextmanager
def keeping(text: str) -> Iterator[None]:
    """Say what is kept, if the work in this block is interrupted."""
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(text) from None


def guarded(command: _F) -> _F:
    """Decorate a command so that errors are one line and an exit code."""

    @wraps(command)
    def run(*args: Any, **options: Any) -> None:
        try:
            command(*args, **options)
        except _PASSED:
            raise
        except KeyboardInterrupt as error:
            fail(f"interrupted; {error}" if error.args else "interrupted; nothing was written", 130)
        except BrokenPipeError:  # the reader of the output has closed it
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except Exception as error:
            if was_interrupted():
                fail("interrupted", 130)
            if os.environ.get("KERNELWISE_DEBUG"):
                raise
            fail(_error_text(error), 1)

    return run  # type: ignore[return-value]


def _error_text(error: Exception) -> str:
    """Return the error in one line; an unexpected one says how to see its traceback."""
    from ..io import ModelFileError
    from ..tabular import TableError

    text = _one_line(str(error)) or type(error).__name__
    if isinstance(error, MemoryError):
        detail = f" ({text})" if str(error) else ""
        return f"not enough memory{detail}; use fewer rows or columns"
    if isinstance(error, TableError | ModelFileError | OSError | ImportError):
        return text
    return f"{type(error).__name__}: {text} (KERNELWISE_DEBUG=1 shows the traceback)"


def fail(text: str, code: int) -> NoReturn:
    """End the command with one line and an exit code."""
    typer.echo(f"kernelwise: {text}", err=True)
    raise typer.Exit(code)


def _one_line(text: str) -> str:
    """Return a text in one line of readable length."""
    line = " ".join(text.split())
    return line if len(line) <= 500 else line[:500] + " ..."


def require_model_file(path: Path) -> None:
    """Raise where there is no such file, or where it is a table or something else."""
    from ..tabular import TableError

    if not path.is_file():
        raise TableError(f"there is no model file {str(path)!r}.")
    if not is_zipfile(path):
        raise TableError(
            f"{str(path)!r} is not a model file; the model comes first and the table second, as in "
            "kernelwise predict model.kw new.csv."
        )


def check_outputs(
    paths: Sequence[Path | None], force: bool, inputs: Sequence[str | Path] = ()
) -> None:
    """Raise, before any work, where a result cannot be written or would replace a file.

    ``force`` allows files to be replaced, but never those that the command reads.
    """
    from ..tabular import TableError

    for path in paths:
        if path is None:
            continue
        if any(_same_file(path, Path(read)) for read in inputs):
            raise TableError(f"{path} is read by this command; name another file to write.")
        if path.is_dir():
            raise TableError(f"{path} is a folder; name a file.")
        if path.exists() and not path.is_file():  # writing would replace it by a file
            raise TableError(f"{path} is a device or a pipe; name a file.")
        if path.exists() and not force:
            raise TableError(f"{path} already exists; name another file, or add --force.")
        if not path.absolute().parent.is_dir():
            raise TableError(f"there is no folder {str(path.absolute().parent)!r} to write to.")
        try:
            check_writable(path)
        except OSError as error:
            raise TableError(f"{path} cannot be written: {error.strerror}.") from None
    named = [path.absolute() for path in paths if path is not None]
    if len(set(named)) < len(named):
        raise TableError(f"{named[0]} is named twice; each result needs a file of its own.")


def _same_file(first: Path, second: Path) -> bool:
    return first.exists() and second.exists() and first.samefile(second)


def _plain(value: Any) -> Any:
    """Return arrays and tuples as lists, and infinite numbers and NaN as None."""
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, float) and not abs(value) < float("inf"):
        return None
    return value
