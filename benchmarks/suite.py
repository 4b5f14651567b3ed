"""A benchmark suite: an experiment with one task per case, and a section of a page."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from benchmarks.engine import Experiment, ResultFile, Results, Row, Scale, Task, key_of

from . import data, environment
from .measure import FULL, QUICK, Effort

__all__ = ["Results", "Row", "Suite", "Task"]


class Suite(Experiment):
    """A benchmark: cases that are measured, and a section that shows them.

    `title` is the heading of the section. A suite that `is_timed` runs its cases one after the
    other; one that `needs_folder` reads the papers' data sets unless it is quick.
    """

    is_timed: ClassVar[bool] = True
    needs_folder: ClassVar[bool] = False

    @abstractmethod
    def cases(self, quick: bool) -> list[Task]:
        """List the cases; the quick ones are few, small and need no folder of data sets."""

    @abstractmethod
    def measure(self, case: Task, effort: Effort) -> Row:
        """Measure one case."""

    @abstractmethod
    def section(self, results: Results) -> str:
        """Return the text of the section: a paragraph made from the numbers, and a table."""

    def tasks(self, scale: Scale) -> list[Task]:
        """Return the cases as tasks; a quick one says so."""
        if scale.is_full:
            return self.cases(quick=False)
        return [case | {"quick": True} for case in self.cases(quick=True)]

    def run(self, task: Task, seed: int, data_dir: Path | None) -> Row:
        """Measure one case."""
        return self.measure(task, QUICK if task.get("quick") else FULL)

    def check_data(self, tasks: Sequence[Task], data_dir: Path | None) -> dict[str, str]:
        """Fail at once, not after minutes of work, if there is no folder of data sets."""
        if self.needs_folder and any("quick" not in task for task in tasks):
            data.folder()
        return {}

    def facts(self) -> dict[str, Any]:
        """Return what a page says of the machine."""
        return environment.facts()

    def read(self, folder: Path, scale: str = "full") -> Results | None:
        """Return the results of the present cases, in their order; None without any."""
        found = ResultFile(folder, self.name, scale).read()
        if found is None:
            return None
        rows = dict(zip(found.keys, found.rows, strict=True))
        keys = [key for key in map(key_of, self.tasks(self.scale(scale))) if key in rows]
        return replace(found, rows=[rows[key] for key in keys], keys=keys) if keys else None
