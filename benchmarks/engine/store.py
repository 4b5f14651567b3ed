"""Result files: a header and one line per task.

A file is only appended to while a run lasts, so a killed run loses at most the line it was
writing. The next run cuts such a torn line off and goes on. Of two lines for one task the later
one counts.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from kernelwise._files import replacing
from kernelwise._version import __version__

from .errors import ExperimentError
from .experiment import Experiment, Row, Scale, Task
from .seeds import key_of

_FORMAT = 1
_PACKAGES = ("numpy", "scipy", "scikit-learn", "joblib")
# Entries of the header that must agree for results to share a file; the others are information.
_IDENTITY = ("format", "experiment", "protocol", "kernelwise", "seed", "scale")


def header(experiment: Experiment, scale: Scale, seed: int) -> dict[str, Any]:
    """Return the first line of a file: the experiment, the code and the machine."""
    return {
        "format": _FORMAT,
        "experiment": experiment.name,
        "protocol": experiment.protocol,
        "kernelwise": __version__,
        "seed": seed,
        "scale": scale.name,
        **_environment(),
        **experiment.facts(),
    }


@cache
def _environment() -> dict[str, Any]:
    return {
        "code": _code_digest(),
        "commit": _commit(),
        "python": platform.python_version(),
        "packages": {name: _version_of(name) for name in _PACKAGES},
        "machine": f"{platform.system()} {platform.machine()}, {_processor()}",
        "cpus": os.cpu_count(),
    }


def _version_of(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _processor() -> str:
    """Return the name of the processor; on Linux only a file has it."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            models = (line.partition(":")[2] for line in file if line.startswith("model name"))
            return next(models, "").strip() or platform.processor()
    except OSError:
        return platform.processor()


def _commit() -> str | None:
    """Return the commit of the source, marked if files differ from it; None outside a checkout."""
    import subprocess

    def git(*arguments: str) -> str | None:
        command = ["git", "-C", str(Path(__file__).resolve().parent), *arguments]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10)
        except (OSError, subprocess.SubprocessError):
            return None
        return done.stdout.strip()

    if git("ls-files", "--error-unmatch", __file__) is None:
        return None  # installed somewhere inside a checkout of something else
    commit = git("rev-parse", "--short=10", "HEAD")
    changed = git("status", "--porcelain", "--untracked-files=no")
    return f"{commit}, changed" if commit and changed else commit


def _code_digest() -> str:
    """Return a digest of the package's source, because a development version has many states."""
    import hashlib

    import kernelwise

    root = Path(kernelwise.__file__).resolve().parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]


@dataclass(frozen=True)
class Results:
    """The contents of a result file."""

    header: dict[str, Any]  # the first line
    rows: list[Row]  # finished tasks with their results, sorted by task
    failures: dict[str, str]  # tracebacks by task, of the tasks that have not succeeded since
    others: list[dict[str, Any]]  # headers of later runs by other code or on another machine
    keys: list[str]  # the task of each row, as text

    def of(self, tasks: Sequence[Task]) -> Results:
        """Return the results of some tasks."""
        wanted = {key_of(task) for task in tasks}
        pairs = [(k, r) for k, r in zip(self.keys, self.rows, strict=True) if k in wanted]
        failures = {key: error for key, error in self.failures.items() if key in wanted}
        keys, rows = [k for k, _ in pairs], [r for _, r in pairs]
        return Results(self.header, rows, failures, self.others, keys)


class ResultFile:
    """The result file of one experiment and scale."""

    def __init__(self, folder: Path, name: str, scale: str = "full") -> None:
        self.path = folder / (f"{name}.jsonl" if scale == "full" else f"{name}.{scale}.jsonl")

    def read(self) -> Results | None:
        """Return the contents of the file, with rows sorted by task; None if there is no file."""
        try:
            text = self.path.read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise ExperimentError(f"cannot read {self.path}: {error.strerror}") from error
        lines = text.split("\n")[:-1]  # without the torn line of a killed run
        first = _parsed(lines[0]) if lines else None
        if first is None or "experiment" not in first:
            raise ExperimentError(f"{self.path} is not a result file; move it away or use --fresh")
        done: dict[str, Row] = {}
        failures: dict[str, str] = {}
        others = []
        for line in map(_parsed, lines[1:]):
            if line is None:
                continue
            if "experiment" in line:
                others.append(line)
                continue
            key = key_of(line["task"])
            if "error" in line:
                failures[key] = line["error"]
            else:
                noted = {name: line[name] for name in ("cpu", "warnings") if name in line}
                done[key] = line["task"] | line["result"] | noted
                failures.pop(key, None)
        keys = sorted(done)
        return Results(first, [done[key] for key in keys], failures, others, keys)

    def begin(self, head: dict[str, Any], forget: Sequence[Task] = ()) -> Results:
        """Start the file, or prepare the one that is there; return the results that are kept.

        The results of the tasks in `forget` are thrown away first.
        """
        if forget:
            self._forget(forget)
        found = self.read()
        if found is None:
            self._replace([head])
            return Results(head, [], {}, [], [])
        for key in _IDENTITY:
            if found.header.get(key) != head[key]:
                raise ExperimentError(
                    f"{self.path} has results for {key} {found.header.get(key)!r}, this run is for "
                    f"{head[key]!r}: use --fresh to measure again, or another --results folder"
                )
        self._cut_torn_line()
        if head not in [found.header, *found.others]:
            self._append(head)
            found.others.append(head)
        return found

    def _forget(self, tasks: Sequence[Task]) -> None:
        """Drop the lines of some tasks, and the file if no other task is in it."""
        if not self.path.is_file():
            return
        forgotten = {key_of(task) for task in tasks}
        lines = map(_parsed, self.path.read_text(encoding="utf-8", errors="replace").split("\n"))
        kept = [x for x in lines if x and ("task" not in x or key_of(x["task"]) not in forgotten)]
        if any("task" in line for line in kept):
            self._replace(kept)
        else:
            self.path.unlink()

    def _cut_torn_line(self) -> None:
        """Cut off the unfinished last line of a killed run, and drop torn lines before it."""
        with self.path.open("rb+") as file:
            text = file.read()
            file.truncate(text.rfind(b"\n") + 1)
        lines = text.decode("utf-8", errors="replace").split("\n")[:-1]
        whole = [line for line in map(_parsed, lines) if line is not None]
        if len(whole) < len(lines):
            self._replace(whole)

    def add(self, task: Task, outcome: dict[str, Any]) -> None:
        """Append a task with its result or error, and wait until it is on the disk."""
        self._append({"task": task} | outcome)

    def _append(self, line: dict[str, Any]) -> None:
        try:
            with self.path.open("ab", buffering=0) as file:
                _write_all(file, _as_bytes(line))
                os.fsync(file.fileno())
        except OSError as error:
            raise self._unwritable(error) from error

    def _replace(self, lines: Sequence[dict[str, Any]]) -> None:
        """Write the whole file: the old one stays until the new one is complete."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(self.path) as draft, draft.open("wb", buffering=0) as file:
                _write_all(file, b"".join(map(_as_bytes, lines)))
                os.fsync(file.fileno())
        except OSError as error:
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> ExperimentError:
        return ExperimentError(
            f"cannot write {self.path}: {error.strerror}; the results so far are kept, and the "
            "same command goes on from there"
        )


def _as_bytes(line: dict[str, Any]) -> bytes:
    return json.dumps(line, separators=(",", ":")).encode() + b"\n"


def _write_all(file: Any, data: bytes) -> None:
    """Write all bytes: a nearly full disk may take some of them and fail only at the next call."""
    while data:
        data = data[file.write(data) :]


def _parsed(text: str) -> dict[str, Any] | None:
    """Return the object on a line, None if the line is torn."""
    try:
        line = json.loads(text)
    except json.JSONDecodeError:
        return None
    whole = isinstance(line, dict) and ("experiment" in line or "task" in line)
    return line if whole else None


def plain(result: Row) -> Row:
    """Return a result as the file will have it: Python's numbers and lists in place of NumPy's."""
    return json.loads(json.dumps(result, default=_without_numpy))


def _without_numpy(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"a result must be of plain values, not {type(value).__name__}")
