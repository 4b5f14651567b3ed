"""``kernelwise page``: a model as an HTML page that predicts in the browser."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from . import options
from .console import Session, check_outputs, guarded, require_model_file
from .inputs import read

_WithRows = Annotated[
    str | None,
    typer.Option(
        "--with-rows",
        metavar="TABLE",
        help="Show the rows of TABLE, such as the training table, that are nearest to each "
        "prediction. The page then holds these rows (default: none).",
    ),
]
_Title = Annotated[str | None, typer.Option(metavar="TEXT", help="The heading of the page.")]


@guarded
def page(
    model: options.Model,
    out: options.PageOut,
    with_rows: _WithRows = None,
    title: _Title = None,
    format: options.Format = None,
    quiet: options.Quiet = False,
    force: options.Force = False,
) -> None:
    """Write a page that predicts in the browser.

    The page is one HTML file, which needs no network and no Python. It has a form with a field per
    column that the model reads. It shows the probability of each class, or the number with its
    interval, what each column contributes, and how the prediction changes along each column. It
    predicts tables that are pasted or dropped, too. What it holds of the training table, it says.
    """
    from ..io import describe, load
    from ..page import write_model_page

    session = Session(quiet)
    require_model_file(model)
    check_outputs([out], force, inputs=[model, *([] if with_rows is None else [with_rows])])
    summary, rows = describe(model)["summary"], None
    if with_rows is not None:
        rows = read(session, with_rows, format)
    target: Any = summary.get("target")
    with session.showing_warnings():
        path = write_model_page(load(model), out, target=target, title=title, rows=rows)
    size = path.stat().st_size
    session.say(f"the model as a page, of {max(size / 1e6, 0.1):.1f} MB: {path}")
