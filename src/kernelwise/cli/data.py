"""``kernelwise data``: list, show and fetch the data sets of the papers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer
from rich import box
from rich.table import Table

from .._files import write_text
from . import options
from .console import PlainCommand, Session, check_outputs, guarded

if TYPE_CHECKING:
    from ..datasets.registry import Spec

data = typer.Typer(
    help="List, show or fetch the papers' data sets.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@data.command("list", cls=PlainCommand)
@guarded
def list_sets(as_json: options.AsJson = False, quiet: options.Quiet = False) -> None:
    """List the data sets, with their sizes."""
    from ..datasets import list_datasets

    session = Session(quiet, as_json)
    infos = list_datasets()
    table = Table(box=box.SIMPLE_HEAD, padding=0, show_edge=False)
    table.add_column("name", no_wrap=True)
    for heading in ("rows", "columns", "classes", "gaps"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("source")
    for info in infos:
        sizes = map(str, (info.rows, info.features, info.classes, info.missing))
        table.add_row(info.name, *sizes, ", ".join(info.sources))
    session.show(table)
    session.give([info._asdict() for info in infos])


@data.command(cls=PlainCommand)
@guarded
def show(
    name: options.SetName, as_json: options.AsJson = False, quiet: options.Quiet = False
) -> None:
    """Show the facts of a data set."""
    from ..datasets import list_datasets, where

    spec = _spec(name)
    session = Session(quiet, as_json)
    info = next(each for each in list_datasets() if each.name == name)
    facts = info._asdict() | {"place": where(name), "about": spec.about, "licence": spec.licence}
    session.show(_page(spec, facts))
    session.give(facts)


@data.command(cls=PlainCommand)
@guarded
def fetch(
    name: options.SetName,
    out: options.CsvOut = None,
    quiet: options.Quiet = False,
    force: options.Force = False,
) -> None:
    """Write a data set as CSV.

    The classes are in the column "target".
    """
    from ..datasets import load_dataset

    session = Session(quiet)
    _spec(name)
    check_outputs([out], force)
    text = load_dataset(name).to_frame().to_csv(index=False, lineterminator="\n")
    if out is None:
        typer.echo(text, nl=False)
    else:
        write_text(out, text)
        session.say(f"{name}: {out}")


def _spec(name: str) -> Spec:
    """Return the facts of a set; a wrong name is an error of the user, shown in one line."""
    from ..datasets.registry import spec_of
    from ..tabular import TableError

    try:
        return spec_of(name)
    except ValueError as error:
        raise TableError(str(error)) from None


def _page(spec: Spec, facts: dict[str, Any]) -> Table:
    """Return a table of the facts, one per line."""
    classes = ", ".join(f"{label} ({count} rows)" for label, count in spec.classes.items())
    lines = {
        "name": spec.name,
        "about": spec.about,
        "rows": str(spec.rows),
        "columns": str(spec.features),
        "classes": classes or "none: a regression",
        "gaps": str(spec.missing),
        "left out": "; ".join(f"{column}, which {why}" for column, why in spec.leaks.items()),
        "papers": ", ".join(spec.papers),
        "sources": ", ".join(facts["sources"]),
        "place": facts["place"],
        "licence": spec.licence,
    }
    page = Table.grid(padding=(0, 2, 0, 0))
    page.add_column(no_wrap=True)
    for heading, text in lines.items():
        if text:
            page.add_row(heading, text)
    return page
