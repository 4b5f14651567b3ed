"""``kernelwise data``: the papers' data sets, to try things with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.table import Table

from .options import AsJson, Force, Quiet
from .session import Session, check_outputs, guarded, write_whole

data = typer.Typer(
    help="List, show or fetch the papers' data sets.", no_args_is_help=True, rich_markup_mode=None
)
Name = Annotated[str, typer.Argument(help="A name of the list.")]


@data.command("list")
@guarded
def list_sets(as_json: AsJson = False, quiet: Quiet = False) -> None:
    """List the data sets, with their sizes."""
    from ..datasets import list_datasets

    session = Session(quiet, as_json)
    found = list_datasets()
    table = Table("name", "rows", "columns", "classes", "missing", "from", box=box.SIMPLE_HEAD)
    for one in found:
        sizes = map(str, (one.rows, one.features, one.classes, one.missing))
        table.add_row(one.name, *sizes, ", ".join(one.sources))
    session.show(table)
    session.give([one._asdict() for one in found])


@data.command()
@guarded
def show(name: Name, as_json: AsJson = False, quiet: Quiet = False) -> None:
    """Show what a data set is."""
    from ..datasets import list_datasets, where

    _check_name(name)
    session = Session(quiet, as_json)
    facts = next(one for one in list_datasets() if one.name == name)._asdict()
    facts["place"] = where(name)
    for key, value in facts.items():
        text = ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
        session.show(f"{key:10s}{text}")
    session.give(facts)


@data.command()
@guarded
def fetch(
    name: Name,
    out: Annotated[
        Path | None, typer.Option(help="The CSV file to write, in place of the standard output.")
    ] = None,
    quiet: Quiet = False,
    force: Force = False,
) -> None:
    """Write a data set as CSV, with the classes in the column "target"."""
    session = Session(quiet)
    _check_name(name)
    check_outputs([out], force)
    text = _frame(name).to_csv(index=False, lineterminator="\n")
    if out is None:
        typer.echo(text, nl=False)
    else:
        write_whole(out, text)
        session.say(f"{name}: {out}")


def _check_name(name: str) -> None:
    from difflib import get_close_matches

    from ..datasets import list_datasets
    from ..tabular import TableError

    names = [one.name for one in list_datasets()]
    if name not in names:
        near = get_close_matches(name, names, n=1)
        remedy = f"did you mean {near[0]!r}?" if near else "kernelwise data list shows all names."
        raise TableError(f"there is no data set {name!r}; {remedy}")


def _frame(name: str) -> Any:
    from ..datasets import load_dataset

    return load_dataset(name).to_frame()
