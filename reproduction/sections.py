"""Sections of the pages, read from the result files alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.engine import Drawing, ResultFile, Results
from benchmarks.engine.progress import duration

from .experiment import PaperExperiment
from .tables import Cell, Check, Column, Spread, Summary


@dataclass(frozen=True)
class Section:
    """An experiment with its results."""

    experiment: PaperExperiment
    results: Results
    n_tasks: int  # at the full scale

    @property
    def summary(self) -> Summary:
        """Tables, checks and remarks."""
        return self.experiment.summarise(self.results.rows)

    @property
    def drawings(self) -> list[Drawing]:
        """Figures; none without rows."""
        return self.experiment.figures(self.results.rows) if self.results.rows else []

    @property
    def status(self) -> str:
        """Number of tasks, CPU time, versions and machine."""
        rows, head = self.results.rows, self.results.header
        done = f"{len(rows)} of {self.n_tasks} tasks"
        if head["scale"] != "full":
            done = f"{len(rows)} tasks of the {head['scale']} run (the full one has {self.n_tasks})"
        parts = [
            f"{done}, {duration(sum(row['cpu'] for row in rows))} of CPU",
            f"seed {head['seed']}",
            f"kernelwise {head['kernelwise']}, NumPy {head['packages']['numpy']}, scikit-learn "
            f"{head['packages']['scikit-learn']}",
            head["machine"],
        ]
        if head.get("commit"):
            parts.insert(3, f"commit {head['commit']}")
        if self.results.failures:
            parts.insert(1, f"{len(self.results.failures)} failed")
        if warned := sum("warnings" in row for row in rows):
            parts.insert(1, f"{warned} with warnings")
        if others := len(self.results.others):
            parts.append(f"continued with other code or on another machine ({others} times)")
        return "; ".join(parts) + "."


def sections(
    experiments: Sequence[PaperExperiment], folder: Path, scale: str = "full"
) -> tuple[list[Section], list[str]]:
    """Return the sections of experiments with results, and the names of the others."""
    found, missing = [], []
    for experiment in experiments:
        results = ResultFile(folder, experiment.name, scale).read()
        if results is None or not results.rows:
            missing.append(experiment.name)
        else:
            n_tasks = len(experiment.tasks(experiment.scale()))
            found.append(Section(experiment, results, n_tasks))
    return found, missing


def cell_text(cell: Cell, column: Column) -> str:
    """Return a cell as text, with the decimals of the column."""
    if cell is None:
        return "-"
    if isinstance(cell, str):
        return cell
    if isinstance(cell, Spread):
        mean = cell_text(cell.mean, column)
        return mean if cell.error is None else f"{mean} ± {cell.error:.{column.digits}f}"
    if isinstance(cell, int):
        return str(cell)
    return f"{cell:{'+' if column.signed else ''}.{column.digits}f}"


def check_text(check: Check) -> tuple[str, str, str, str]:
    """Return a check as the cells of a row: name, target, measured, verdict."""
    value = "too little measured" if check.value is None else f"{check.value:.{check.digits}f}"
    return check.name, f"{check.relation} {check.limit:g}", value, check.verdict
