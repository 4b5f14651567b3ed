"""The application: all commands and the manual."""

from __future__ import annotations

from typing import Annotated

import typer

from ..._version import __version__
from .compare import compare
from .console import PlainCommand
from .explain import explain
from .fit import fit
from .page import page
from .predict import predict
from .score import score

_MANUAL = """Predict classes and numbers from your own table, and learn which columns matter.

A table is a file with named columns: CSV, TSV, parquet, feather, Excel, JSON, ARFF or libsvm,
plain or compressed; - is the standard input. Separator, decimal sign and encoding are detected.
Columns may hold numbers, words, text, dates and gaps; fit shows how each column is used.

\b
  kernelwise fit patients.csv -t outcome --out model.kw
  kernelwise explain model.kw
  kernelwise predict model.kw new.csv > predictions.csv
  kernelwise score model.kw later.csv
  kernelwise page model.kw --out model.html

Results go to the standard output, messages to the standard error. --json prints results as JSON,
--quiet prints nothing but errors. The exit code is 0 on success, 1 for a table or file that cannot
be used, 2 for a wrong command, 3 where the report lacks a part and 130 after Ctrl-C.
KERNELWISE_DEBUG=1 shows the traceback of an error.
"""

app = typer.Typer(
    help=_MANUAL,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"kernelwise {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


for command in (fit, predict, score, explain, page, compare):
    app.command(cls=PlainCommand)(command)
