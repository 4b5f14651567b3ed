"""The options of the commands, and the checks of what they are given."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

_FOLDS_UP_TO = 3000  # rows; beyond, one part is held out
_HELD_OUT = 0.25
_CV = 5
_BACKENDS = ("loky", "threading", "dask")


def _one_of(name: str, known: Sequence[str]) -> str:
    if name not in known:
        raise typer.BadParameter(f"{name!r} is not known; take one of {', '.join(known)}.")
    return name


def _known_method(name: str) -> str:
    from ..evaluation import methods

    return _one_of(name, [each.name for each in methods().values() if each.learns])


def _known_format(name: str | None) -> str | None:
    from ..tabular.reading import FORMATS

    return None if name is None else _one_of(name, FORMATS)


def _known_backend(name: str | None) -> str | None:
    return None if name is None else _one_of(name, _BACKENDS)


def _some_jobs(jobs: int) -> int:
    if jobs == 0:
        raise typer.BadParameter("0 processes do nothing; -1 is all cores.")
    return jobs


def _several_resamples(number: int) -> int:
    if number == 1:
        raise typer.BadParameter("one resample tells nothing; give 0, or 2 and more.")
    return number


# A table, and how to learn from it
Data = Annotated[str, typer.Argument(metavar="DATA", help="The table; - is the standard input.")]
TargetName = Annotated[
    str, typer.Option("--target", "-t", metavar="COL", help="The column of the classes.")
]
MethodName = Annotated[
    str,
    typer.Option(
        "--method",
        metavar="NAME",
        callback=_known_method,
        help="""\b
relevance, dual-objective,
margin-radius, adaptive-kernel,
feature-discrimination,
generalized-bias, grid-search or
svc.""",  # \b: a line is not broken anew, for that would break names at their hyphens
    ),
]
Drop = Annotated[
    list[str] | None, typer.Option(metavar="COL", help="A column that is not wanted; repeatable.")
]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COL", help="A column that is wanted although it looks like an id; repeatable."
    ),
]
Positive = Annotated[
    str | None,
    typer.Option(metavar="LABEL", help="The class that a yes is, of two; the rarer one by itself."),
]
Balanced = Annotated[
    bool,
    typer.Option(
        "--balanced",
        help="Let all classes count alike, however few rows they have, so that a rare class is "
        "found; costs some accuracy.",
    ),
]
Folds = Annotated[
    int | None,
    typer.Option(
        "--cv",
        metavar="N",
        min=2,
        help=f"Folds to judge by; {_CV}, up to {_FOLDS_UP_TO} rows, by itself.",
    ),
]
Repeats = Annotated[
    int, typer.Option(metavar="N", min=1, help="How often folds are dealt out anew.")
]
TestSize = Annotated[
    float | None,
    typer.Option(
        metavar="F",
        min=0.01,
        max=0.99,
        help=f"Part of the rows to hold out instead; {_HELD_OUT} beyond {_FOLDS_UP_TO} rows.",
    ),
]
Format = Annotated[
    str | None,
    typer.Option(metavar="NAME", callback=_known_format, help="csv, tsv, parquet, arff or libsvm."),
]
ModelOut = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", help="The model file to write.")
]
ReportOut = Annotated[
    Path | None, typer.Option("--report", metavar="FILE", help="The HTML page to write.")
]
Stability = Annotated[
    int,
    typer.Option(
        metavar="N",
        min=0,
        callback=_several_resamples,
        help="Resamples that the report judges the weights by; 0 for none.",
    ),
]
Calibrate = Annotated[
    bool, typer.Option("--proba", help="Make the model give probabilities; takes longer.")
]

# A model, and predictions
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A model file, written by fit.")]
Proba = Annotated[bool, typer.Option("--proba", help="Add the probability of each class.")]
Copied = Annotated[
    list[str] | None,
    typer.Option("--keep", metavar="COL", help="A column to copy from the table; repeatable."),
]
CsvOut = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="FILE", help="The CSV file to write, in place of the standard output."
    ),
]
SetName = Annotated[str, typer.Argument(metavar="NAME", help="A name of the list.")]

# The papers' experiments
Experiments = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="NAME",
        help="Experiments, or papers (dual-objective is all of it). None is all.",
    ),
]
ListAll = Annotated[
    bool, typer.Option("--list", help="List the experiments with the CPU time they take.")
]
Quick = Annotated[bool, typer.Option("--quick", help="A few minutes instead of the paper's size.")]
Splits = Annotated[
    int | None,
    typer.Option(
        "--repeats", metavar="N", min=1, help="Random splits, in place of the paper's number."
    ),
]
Only = Annotated[
    list[str] | None, typer.Option(metavar="DATASET", help="Only this data set; repeatable.")
]
Jobs = Annotated[
    int,
    typer.Option(
        metavar="N", callback=_some_jobs, help="Processes, one thread each; -1 is all cores."
    ),
]
Backend = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        callback=_known_backend,
        help="loky, threading or dask (DASK_SCHEDULER_ADDRESS, or a local cluster).",
    ),
]
ResultsDir = Annotated[Path, typer.Option(metavar="DIR", help="Folder of the result files.")]
DataDir = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Folder of the data sets, in place of KERNELWISE_DATA."),
]
Fresh = Annotated[
    bool, typer.Option("--fresh", help="Throw away earlier results of these experiments.")
]
Render = Annotated[
    bool, typer.Option("--render", help="Run nothing: show what the result files have.")
]
HtmlOut = Annotated[
    Path | None, typer.Option("--html", metavar="FILE", help="Write one self-contained page.")
]
MarkdownOut = Annotated[
    Path | None,
    typer.Option("--markdown", metavar="FILE", help="Write a page, pictures beside it."),
]

# All commands
Seed = Annotated[int, typer.Option(metavar="N", min=0, help="All random numbers come from it.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON in place of tables.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite files that are there.")]


def protocol(n_rows: int, cv: int | None, test_size: float | None) -> dict[str, Any]:
    """Return how to hold out rows: as wanted, or by the number of rows."""
    if cv is None and test_size is None and n_rows > _FOLDS_UP_TO:
        test_size = _HELD_OUT
    return {"cv": cv or _CV, "test_size": test_size}


def wishes(
    drop: Sequence[str] | None, keep: Sequence[str] | None, balanced: bool, seed: int
) -> dict[str, Any]:
    """Return what both judging and fitting take."""
    return {
        "drop": tuple(drop or ()),
        "keep": tuple(keep or ()),
        "balanced": balanced,
        "seed": seed,
    }


def forbid_both(cv: int | None, test_size: float | None) -> None:
    """Refuse two ways to hold out rows at once."""
    if cv is not None and test_size is not None:
        raise typer.BadParameter("--cv and --test-size are two ways to hold out rows; choose one.")
