"""The reproduction on the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..._text import duration
from ..experiment import Experiment
from .sections import Section, cell_text, check_text
from .tables import Table

_COLOURS = {"met": "green", "missed": "red", "open": "yellow"}
_ENDLESS = 10_000  # characters, to measure the natural width of a table


def section_view(section: Section) -> Any:
    """Return a section as a renderable of rich.

    Parameters
    ----------
    section : Section
        See `kernelwise.experiments.sections`.

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
    ]
    for table in summary.tables:
        parts += ["", _TableView(table)]
    if summary.checks:
        parts.append(_checks([check_text(check) for check in summary.checks]))
    said = [f"{each.text}: {each.verdict}" for each in summary.claims]
    return Group(*parts, _remarks([*summary.remarks, *said]), "")


def _style() -> dict[str, Any]:
    """Return the style in which eight columns of numbers fit 80 characters."""
    from rich import box

    return {"box": box.SIMPLE_HEAD, "padding": (0, 1, 0, 0), "pad_edge": False}


class _TableView:
    """A table of results; if it is too wide, headings wrap and columns stand closer."""

    def __init__(self, table: Table) -> None:
        self._table = table
        pairs = [zip(row, table.columns, strict=True) for row in table.rows]
        self._rows = [[cell_text(cell, column) for cell, column in row] for row in pairs]

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Any]:
        grid = self._grid(narrow=False)
        wanted = console.measure(grid, options=options.update(max_width=_ENDLESS)).maximum
        yield grid if wanted <= options.max_width else self._grid(narrow=True)

    def _grid(self, narrow: bool) -> Any:
        from rich.table import Table as Grid

        table = self._table
        looks = _style() | ({"padding": 0, "show_edge": False} if narrow else {})
        grid = Grid(
            title=table.title,
            caption=table.note or None,
            title_justify="left",
            caption_justify="left",
            **looks,
        )
        for place, column in enumerate(table.columns):
            heading = f"{column.group}\n{column.name}" if column.group else column.name
            texts = [*(row[place] for row in self._rows), *heading.split()]
            width = max(map(len, texts)) if narrow else None  # a cell is never broken
            justify: Any = "right" if place else "left"
            grid.add_column(heading, justify=justify, no_wrap=not narrow, width=width)
        for row in self._rows:
            grid.add_row(*row)
        return grid


def _remarks(remarks: Sequence[str]) -> Any:
    from rich.table import Table as Grid

    grid = Grid.grid(padding=(0, 1, 0, 0))
    for remark in remarks:
        grid.add_row("-", remark)
    return grid


def _checks(rows: Sequence[tuple[str, str, str, str]]) -> Any:
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid("target", "wanted", "measured", "verdict", **_style())
    for name, target, value, verdict in rows:
        grid.add_row(name, target, value, Text(verdict, style=_COLOURS[verdict]))
    return grid


def list_facts(experiment: Experiment) -> dict[str, Any]:
    """Return name, title, number of tasks and cost of an experiment.

    Parameters
    ----------
    experiment : Experiment
        Which.

    Returns
    -------
    facts : dict
        Name and title; what it reproduces; the number of tasks and the seconds of CPU at the scales
        "full" and "quick".
    """
    tasks = {name: experiment.tasks(experiment.scale(name)) for name in ("full", "quick")}
    return {
        "name": experiment.name,
        "title": experiment.title,
        "reproduces": list(experiment.reproduces),
        "tasks": {name: len(some) for name, some in tasks.items()},
        "cpu_seconds": {
            name: round(sum(map(experiment.cost, some)), 2) for name, some in tasks.items()
        },
    }


def list_view(experiments: Sequence[Experiment]) -> Any:
    """Return a list of experiments with their CPU times and what of the papers they measure.

    Parameters
    ----------
    experiments : sequence of Experiment
        Which.

    Returns
    -------
    view : rich.console.Group
        Each name with its title, and the tables, figures and numbers of the paper, below it.
    """
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    first = "experiment"
    width = max(map(len, (first, *(each.name for each in experiments))))
    heading = f"{first:{width}}{'tasks':>8}{'CPU, full':>12}{'CPU, quick':>12}"
    parts: list[Any] = [Text(heading, style="bold")]
    for experiment in experiments:
        facts = list_facts(experiment)
        full, quick = (duration(facts["cpu_seconds"][scale]) for scale in ("full", "quick"))
        line = f"{experiment.name:{width}}{facts['tasks']['full']:8d}{full:>12}{quick:>12}"
        parts.append(Text(line))
        for text in (experiment.title, *experiment.reproduces):
            indent = 2 if text == experiment.title else 4
            parts.append(Padding(Text(text, style="dim"), (0, 0, 0, indent), expand=False))
    return Group(*parts)
