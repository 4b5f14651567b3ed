"""The base class of experiments."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from .figures import Drawing

Task = dict[str, Any]
Row = dict[str, Any]
SCALES = ("full", "quick", "smoke")


@dataclass(frozen=True)
class Scale:
    """How much of an experiment to run: one of `SCALES`, and the number of repeats."""

    name: str
    repeats: int

    @property
    def is_full(self) -> bool:
        return self.name == "full"


class Experiment(ABC):
    """Tasks, and what is drawn from their results.

    A subclass sets the attributes and writes `tasks` and `run`. It has no state, because it is sent
    to other processes.

    Attributes
    ----------
    name : str
        Name on the command line and of the result file, in lower case.
    title : str
        One line.
    repeats : dict
        Number of repeats at each scale.
    seconds : float
        CPU seconds of one task; override `cost` if tasks differ.
    seed_keys : tuple of str or None
        Entries of a task on which its seed depends; None is all. Tasks that differ in other
        entries only have the same seed, and so the same split.
    protocol : int
        Raised when earlier results stop being comparable.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    repeats: ClassVar[Mapping[str, int]] = dict.fromkeys(SCALES, 1)
    seconds: ClassVar[float] = 1.0
    seed_keys: ClassVar[tuple[str, ...] | None] = None
    protocol: ClassVar[int] = 1

    @abstractmethod
    def tasks(self, scale: Scale) -> list[Task]:
        """List the tasks: small, independent, of plain values, complete for their results."""

    @abstractmethod
    def run(self, task: Task, seed: int, data_dir: Path | None) -> Row:
        """Do one task, in any process, on one thread; return plain values or NumPy's."""

    def figures(self, rows: Sequence[Row]) -> list[Drawing]:
        """Draw the figures of the rows that exist, perhaps not all."""
        return []

    def cost(self, task: Task) -> float:
        """Estimate the CPU seconds of a task; only ratios matter once some are finished."""
        return self.seconds

    def needs(self, task: Task) -> set[str]:
        """Return the names of the data sets that a task reads."""
        return set()

    def check_data(self, tasks: Sequence[Task], data_dir: Path | None) -> dict[str, str]:
        """Check the data before any work; return reasons by name of sets that tasks can lack.

        Raise ExperimentError if no task can be done.
        """
        return {}

    def facts(self) -> dict[str, Any]:
        """Return further entries for the header of the result file."""
        return {}

    def scale(self, name: str = "full", repeats: int | None = None) -> Scale:
        """Return a scale by name, with another number of repeats if one is given."""
        return Scale(name, self.repeats[name] if repeats is None else repeats)
