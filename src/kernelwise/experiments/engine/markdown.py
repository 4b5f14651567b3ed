"""The reproduction as a Markdown page, with its pictures in a folder beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from ..._files import write_text
from .figures import save
from .sections import Section, cell_text, check_text, checked
from .tables import Table

_INTRODUCTION = """\
# Reproduction of the papers

The figures printed in the papers, those that `kernelwise reproduce` measures, and where the two
differ. ± is the standard error of a mean over the repeats. This page is rendered from result files:

```console
$ kernelwise reproduce
$ kernelwise reproduce --render --markdown {path}
```
"""


def write_markdown(sections: Sequence[Section], path: Path) -> None:
    """Write the page, and its pictures to ``images/PAGE`` beside it.

    Parameters
    ----------
    sections : sequence of Section
        See `kernelwise.experiments.sections`.
    path : Path
        Path of the page.
    """
    path, sections = Path(path), checked(sections)
    parts = [_INTRODUCTION.format(path=path.name), *_claims(sections)]
    for section in sections:
        parts.extend(_section(section))
        for drawing in section.drawings:
            picture = Path("images") / path.stem / f"{section.experiment.name}-{drawing.name}.png"
            save(drawing, path.parent / picture)
            parts.append(f"![{drawing.caption}]({picture.as_posix()})\n\n{drawing.caption}\n")
        parts.extend(_remarks(section.summary.remarks))
    write_text(path, "\n".join(parts))


def _claims(sections: Sequence[Section]) -> Iterator[str]:
    """Return the table that opens the page: what the papers claim, and what holds."""
    rows = [
        [each.text, each.paper, each.measured, each.verdict, f"`{section.experiment.name}`"]
        for section in sections
        for each in section.summary.claims
    ]
    if rows:
        yield "## What holds\n"
        yield _grid(("claim", "paper", "ours, by reading", "verdict", "experiment"), rows, [""] * 5)
        yield (
            "Each reading is explained in the section of its experiment, also where it was looked "
            "for after the first results. A claim that holds under some readings only names them; "
            "the limits in parentheses, within which a figure counts as the paper's, are ours.\n"
        )


def _section(section: Section) -> Iterator[str]:
    experiment, summary = section.experiment, section.summary
    yield f"## {experiment.title}\n"
    yield f"{experiment.paper}. `kernelwise reproduce {experiment.name}`\n"
    yield f"{experiment.description}\n"
    yield f"{section.status}\n"
    if summary.checks:
        rows = [check_text(check) for check in summary.checks]
        yield _grid(("target", "wanted", "measured", "verdict"), rows, ("", "r", "r", ""))
    for table in summary.tables:
        yield from _table(table)


def _table(table: Table) -> Iterator[str]:
    yield f"**{table.title}**\n"
    rows = [
        [cell_text(cell, column) for cell, column in zip(row, table.columns, strict=True)]
        for row in table.rows
    ]
    headings = [column.heading for column in table.columns]
    yield _grid(headings, rows, ["", *["r"] * (len(headings) - 1)])
    if table.note:
        yield f"{table.note}\n"


def _grid(headings: Sequence[str], rows: Sequence[Sequence[str]], alignment: Sequence[str]) -> str:
    rules = ["---:" if side == "r" else "---" for side in alignment]
    lines = [headings, rules, *rows]
    return "\n".join("| " + " | ".join(_escaped(line)) + " |" for line in lines) + "\n"


def _escaped(cells: Sequence[str]) -> list[str]:
    return [cell.replace("|", "\\|") for cell in cells]


def _remarks(remarks: Sequence[str]) -> Iterator[str]:
    if remarks:
        yield "\n".join(f"- {remark}" for remark in remarks) + "\n"
