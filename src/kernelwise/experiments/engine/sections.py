"""Sections of the pages, read from the result files alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..._checks import check_kind
from ..._text import duration
from ..experiment import Experiment
from .store import ResultFile, Results
from .tables import Cell, Check, Column, Drawing, Spread, Summary


@dataclass(frozen=True)
class Section:
    """An experiment with its results.

    Parameters
    ----------
    experiment : Experiment
        Which.
    results : Results
        The contents of its file.
    n_tasks : int
        Number of tasks at the full scale.
    """

    experiment: Experiment
    results: Results
    n_tasks: int

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
    experiments: Sequence[Experiment], folder: Path, scale: str = "full"
) -> tuple[list[Section], list[str]]:
    """Return the sections of experiments with results, and the names of the others.

    Parameters
    ----------
    experiments : sequence of Experiment
        Which.
    folder : Path
        Of the result files.
    scale : str, default="full"
        Which files.

    Returns
    -------
    sections : list of Section
        In order.
    missing : list of str
        Names.
    """
    found, missing = [], []
    for experiment in experiments:
        check_kind(experiment, "experiments", Experiment)
        results = ResultFile(folder, experiment.name, scale).read()
        if results is None or not results.rows:
            missing.append(experiment.name)
        else:
            n_tasks = len(experiment.tasks(experiment.scale()))
            found.append(Section(experiment, results, n_tasks))
    return found, missing


def checked(sections: Sequence[Section]) -> list[Section]:
    """Return the sections of a page; raise where something else is among them.

    Parameters
    ----------
    sections : sequence of Section
        The sections.

    Returns
    -------
    sections : list of Section
        The same.
    """
    for section in sections:
        check_kind(section, "sections", Section)
    return list(sections)


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


def as_json(section: Section) -> dict[str, Any]:
    """Return a section as plain values, for programs."""
    summary = section.summary
    return {
        "name": section.experiment.name,
        "title": section.experiment.title,
        "header": section.results.header,
        "n_rows": len(section.results.rows),
        "n_tasks": section.n_tasks,
        "failures": section.results.failures,
        "tables": [
            {
                "title": table.title,
                "columns": [column.heading for column in table.columns],
                "rows": [[_json_cell(cell) for cell in row] for row in table.rows],
                "note": table.note,
            }
            for table in summary.tables
        ],
        "checks": [
            {"name": c.name, "value": c.value, "target": f"{c.relation} {c.limit:g}"}
            | {"verdict": c.verdict}
            for c in summary.checks
        ],
        "remarks": list(summary.remarks),
        "claims": [
            {"claim": c.text, "paper": c.paper, "ours": dict(c.ours), "verdict": c.verdict}
            for c in summary.claims
        ],
    }


def _json_cell(cell: Cell) -> Any:
    return {"mean": cell.mean, "error": cell.error} if isinstance(cell, Spread) else cell
