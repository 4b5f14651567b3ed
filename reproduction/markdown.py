"""The reproduction as a Markdown page, with its pictures in a folder beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.engine import save
from kernelwise._files import write_text

from .sections import Section, cell_text, check_text
from .tables import Table

_INTRODUCTION = """\
# Reproduction of the papers

The figures printed in the papers, those that `python -m reproduction` measures, and where the two
differ. ± is the standard error of a mean over the repeats. The experiments are in the repository,
in `reproduction/papers`, and this page is rendered from their result files:

```console
$ export KERNELWISE_DATA=FOLDER                        # the data sets, see below
$ make reproduce ONLY="dual-objective --jobs 2"        # all experiments without ONLY
$ python -m reproduction --list                        # what there is, and how long it takes
$ python -m reproduction --render --markdown {path}
```

A data set is read from the first of these sources that has it: the folder, as NAME.csv.gz with
column names in the first line, the class in the last column, `target`, and empty cells for missing
values; scikit-learn; or OpenML, which needs a network and pandas. The list of the sets,
`reproduction/datasets/registry.py`, has their sizes, classes and gaps, with which whatever is read
is compared, and the columns that become known only together with the class, which are left out.
"""


def write_markdown(sections: Sequence[Section], path: Path) -> None:
    """Write the page, and its pictures to ``images/PAGE`` in the same folder."""
    parts = [_INTRODUCTION.format(path=path.name), *_claims(sections)]
    for section in sections:
        parts.append(section_text(section, remarks=False))
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


def section_text(section: Section, remarks: bool = True) -> str:
    """Return what is known of an experiment without its figures, and remarks and verdicts."""
    verdicts = [f"{claim.text}: {claim.verdict}" for claim in section.summary.claims]
    said = _remarks([*section.summary.remarks, *verdicts]) if remarks else ()
    return "\n".join([*_section(section), *said])


def _section(section: Section) -> Iterator[str]:
    experiment, summary = section.experiment, section.summary
    yield f"## {experiment.title}\n"
    yield f"{experiment.paper}. `python -m reproduction {experiment.name}`\n"
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
