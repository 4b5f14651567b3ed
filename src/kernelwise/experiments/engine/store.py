"""Result files: a header and one line a task, only ever appended to.

A run that is killed loses at most the line it was writing. Lines that are not whole are passed
over, and of two lines for a task the later one counts; so a file is always fit to go on from.
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

from ..._files import replacing
from ..._version import __version__
from ..experiment import Experiment, Row, Scale, Task
from .errors import ExperimentError
from .seeds import key_of

_FORMAT = 1
_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "joblib")
# What must agree for results to stand in one file; all else in the header is information.
_IDENTITY = ("format", "experiment", "protocol", "kernelwise", "seed", "scale")


def header(experiment: Experiment, scale: Scale, seed: int) -> dict[str, Any]:
    """Return the first line of a file: what is run, by which code, on which machine."""
    return {
        "format": _FORMAT,
        "experiment": experiment.name,
        "protocol": experiment.protocol,
        "kernelwise": __version__,
        "seed": seed,
        "scale": scale.name,
    } | _environment()


@cache
def _environment() -> dict[str, Any]:
    return {
        "code": _code_digest(),
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
    """Name the processor; Linux tells it in a file only."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            models = (line.partition(":")[2] for line in file if line.startswith("model name"))
            return next(models, "").strip() or platform.processor()
    except OSError:
        return platform.processor()


def _code_digest() -> str:
    """Return a digest of the package's source: a version in development covers many states."""
    import hashlib

    root = Path(__file__).resolve().parents[2]
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]


@dataclass(frozen=True)
class Results:
    """What a file says.

    Parameters
    ----------
    header : dict
        Its first line.
    rows : list of dict
        Tasks that were done, with their results, sorted by task.
    failures : dict
        What went wrong, by task as text, for those that have not been done since.
    others : list of dict
        Headers of later runs by other code or on another machine.
    keys : list of str
        The tasks of the rows, as text.
    """

    header: dict[str, Any]
    rows: list[Row]
    failures: dict[str, str]
    others: list[dict[str, Any]]
    keys: list[str]

    def of(self, tasks: Sequence[Task]) -> Results:
        """Return what it says of some tasks."""
        wanted = {key_of(task) for task in tasks}
        pairs = [(k, r) for k, r in zip(self.keys, self.rows, strict=True) if k in wanted]
        failures = {key: error for key, error in self.failures.items() if key in wanted}
        keys, rows = [k for k, _ in pairs], [r for _, r in pairs]
        return Results(self.header, rows, failures, self.others, keys)


class ResultFile:
    """The file of one experiment and scale.

    Parameters
    ----------
    folder : Path
        Where result files are.
    name : str
        Of the experiment.
    scale : str, default="full"
        A quick run has a file of its own.
    """

    def __init__(self, folder: Path, name: str, scale: str = "full") -> None:
        self.path = folder / (f"{name}.jsonl" if scale == "full" else f"{name}.{scale}.jsonl")

    def read(self) -> Results | None:
        """Return what the file says, None where there is no file.

        Returns
        -------
        results : Results or None
            Rows sorted by task.
        """
        try:
            lines = self.path.read_text(encoding="utf-8", errors="replace").split("\n")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise ExperimentError(f"cannot read {self.path}: {error.strerror}") from error
        first = _parsed(lines[0])
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
                told = {name: line[name] for name in ("cpu", "warnings") if name in line}
                done[key] = line["task"] | line["result"] | told
                failures.pop(key, None)
        keys = sorted(done)
        return Results(first, [done[key] for key in keys], failures, others, keys)

    def begin(self, head: dict[str, Any], fresh: bool = False) -> Results:
        """Start the file, or see that what it has may be gone on from.

        Parameters
        ----------
        head : dict
            Of the run that is to be: see `header`.
        fresh : bool, default=False
            Whether to throw away what is there.

        Returns
        -------
        results : Results
            What is there.
        """
        found = None if fresh else self.read()
        if found is None:
            self._write_first(head)
            return Results(head, [], {}, [], [])
        for key in _IDENTITY:
            if found.header.get(key) != head[key]:
                raise ExperimentError(
                    f"{self.path} has results for {key} {found.header.get(key)!r}, this run is for "
                    f"{head[key]!r}: use --fresh to measure anew, or another --results folder"
                )
        if head not in [found.header, *found.others]:
            self._append(head)
            found.others.append(head)
        return found

    def add(self, task: Task, outcome: dict[str, Any]) -> None:
        """Write a line for a task, onto the disk.

        Parameters
        ----------
        task : dict
            What was done.
        outcome : dict
            Either "result" and "cpu", or "error".
        """
        self._append({"task": task} | outcome)

    def _append(self, line: dict[str, Any]) -> None:
        data = json.dumps(line, separators=(",", ":")).encode() + b"\n"
        try:
            with self.path.open("ab+", buffering=0) as file:
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":  # a run was killed while it wrote
                    data = b"\n" + data
                _write_all(file, data)
                os.fsync(file.fileno())
        except OSError as error:
            raise self._unwritable(error) from error

    def _write_first(self, head: dict[str, Any]) -> None:
        data = json.dumps(head, separators=(",", ":")).encode() + b"\n"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(self.path) as draft, draft.open("wb", buffering=0) as file:
                _write_all(file, data)
                os.fsync(file.fileno())
        except OSError as error:
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> ExperimentError:
        return ExperimentError(
            f"cannot write {self.path}: {error.strerror}; what was measured so far is kept, "
            "the same command goes on from there"
        )


def _write_all(file: Any, data: bytes) -> None:
    """Write all of it: a nearly full disk may take a part and say so only at the next call."""
    while data:
        data = data[file.write(data) :]


def _parsed(text: str) -> dict[str, Any] | None:
    """Return the object on a line, None where the line is not whole."""
    try:
        line = json.loads(text)
    except json.JSONDecodeError:
        return None
    whole = isinstance(line, dict) and ("experiment" in line or "task" in line)
    return line if whole else None


def plain(result: Row) -> Row:
    """Return a result as it will be read from the file: Python's numbers and lists for NumPy's."""
    return json.loads(json.dumps(result, default=_without_numpy))


def _without_numpy(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"a result must be of plain values, not {type(value).__name__}")
