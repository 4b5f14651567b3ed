"""The reproduction on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .base import Experiment
from .pages import Section, cell_text, check_text
from .progress import duration
from .tables import Table

_COLOURS = {"met": "green", "missed": "red", "open": "yellow"}


def section_view(section: Section) -> Any:
    """Return a section as something that rich prints.

    Parameters
    ----------
    section : Section
        See `kernelwise.experiments.pages.sections`.

    Returns
    -------
    view : rich.console.Group
        Tables, targets and remarks.
    """
    from rich.console import Group
    from rich.rule import Rule
    from rich.text import Text

    summary = section.summary
    parts: list[Any] = [
        Rule(Text(section.experiment.title, style="bold"), align="left"),
        Text(f"{section.experiment.name}: {section.status}", style="dim"),
        *map(_table, summary.tables),
    ]
    if summary.checks:
        parts.append(_checks([check_text(check) for check in summary.checks]))
    return Group(*parts, *(Text(f"- {remark}") for remark in summary.remarks), "")


def _style() -> dict[str, Any]:
    """Return what makes eight columns of numbers fit 80 characters."""
    from rich import box

    return {"box": box.SIMPLE_HEAD, "padding": (0, 1, 0, 0), "pad_edge": False}


def _table(table: Table) -> Any:
    from rich.table import Table as Grid

    grid = Grid(title=table.title, caption=table.note or None, title_justify="left", **_style())
    for place, column in enumerate(table.columns):
        heading = f"{column.group}\n{column.name}" if column.group else column.name
        grid.add_column(heading, justify="right" if place else "left", no_wrap=not place)
    for row in table.rows:
        cells = zip(row, table.columns, strict=True)
        grid.add_row(*(cell_text(cell, column) for cell, column in cells))
    return grid


def _checks(rows: Sequence[tuple[str, str, str, str]]) -> Any:
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid("target", "wanted", "measured", "verdict", **_style())
    for name, target, value, verdict in rows:
        grid.add_row(name, target, value, Text(verdict, style=_COLOURS[verdict]))
    return grid


def list_view(experiments: Sequence[Experiment]) -> Any:
    """Return a table of the experiments with the CPU time they take.

    Parameters
    ----------
    experiments : sequence of Experiment
        Which.

    Returns
    -------
    view : rich.table.Table
        A row for each.
    """
    from rich.table import Table as Grid

    grid = Grid(**_style())
    grid.add_column("experiment", no_wrap=True)
    grid.add_column("what")
    for heading in ("tasks", "CPU, full", "CPU, quick"):
        grid.add_column(heading, justify="right", no_wrap=True)
    for experiment in experiments:
        full, quick = (experiment.tasks(experiment.scale(name)) for name in ("full", "quick"))
        costs = (duration(sum(map(experiment.cost, tasks))) for tasks in (full, quick))
        grid.add_row(experiment.name, experiment.title, str(len(full)), *costs)
    return grid
