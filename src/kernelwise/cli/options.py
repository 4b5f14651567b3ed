"""Options that several commands take."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from .session import Session
from .tables import cost_text

_SMALL = 1000  # rows that never take long
_FOLDS_UP_TO = 3000  # rows; beyond, one part is held out
_HELD_OUT = 0.25
_CV = 5
_CLASSES = 6  # of the target that are shown one by one


def _known_method(name: str) -> str:
    from ..tabular import methods

    known = [each.name for each in methods().values() if each.learns]
    if name not in known:
        raise typer.BadParameter(f"{name!r} is not known; take one of {', '.join(known)}.")
    return name


def _known_format(name: str | None) -> str | None:
    from ..tabular.reading import FORMATS

    if name is not None and name not in FORMATS:
        raise typer.BadParameter(f"{name!r} is not known; take one of {', '.join(FORMATS)}.")
    return name


Data = Annotated[str, typer.Argument(help="The table; - is the standard input.")]
Model = Annotated[Path, typer.Argument(help="A model file, written by fit.")]
TargetName = Annotated[str, typer.Option("--target", "-t", help="The column of the classes.")]
MethodName = Annotated[
    str,
    typer.Option(
        "--method",
        callback=_known_method,
        help="relevance, svc, grid-search, dual-objective, adaptive-kernel, margin-radius, "
        "feature-discrimination or generalized-bias.",
    ),
]
Drop = Annotated[list[str] | None, typer.Option(help="A column that is not wanted; repeatable.")]
Keep = Annotated[
    list[str] | None,
    typer.Option(help="A column that is wanted although it looks like an id; repeatable."),
]
Positive = Annotated[
    str | None, typer.Option(help="The class that a yes is, of two; the rarer one by itself.")
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
        "--cv", min=2, help=f"Folds to judge by; {_CV}, up to {_FOLDS_UP_TO} rows, by itself."
    ),
]
TestSize = Annotated[
    float | None,
    typer.Option(
        min=0.01,
        max=0.99,
        help=f"Part of the rows to hold out instead; {_HELD_OUT} beyond {_FOLDS_UP_TO} rows.",
    ),
]
Format = Annotated[
    str | None,
    typer.Option(callback=_known_format, help="csv, tsv, parquet, arff or libsvm."),
]
Seed = Annotated[int, typer.Option(min=0, help="All random numbers come from it.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON in place of tables.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite files that are there.")]


def protocol(n_rows: int, cv: int | None, test_size: float | None) -> dict[str, Any]:
    """Return how to hold out rows: as wanted, or by the number of rows."""
    if cv is None and test_size is None and n_rows > _FOLDS_UP_TO:
        test_size = _HELD_OUT
    return {"cv": cv or _CV, "test_size": test_size}


def forbid_both(cv: int | None, test_size: float | None) -> None:
    """Refuse two ways to hold out rows at once."""
    if cv is not None and test_size is not None:
        raise typer.BadParameter("--cv and --test-size are two ways to hold out rows; choose one.")


def tell_target(session: Session, classes: Any, balanced: bool) -> None:
    """Say how many rows each class has, and what helps where one is rare."""
    counts = sorted(zip(classes.counts, classes.classes, strict=True), key=lambda pair: -pair[0])
    shown = ", ".join(f"{count} rows of {label}" for count, label in counts[:_CLASSES])
    rest = f" and {len(counts) - _CLASSES} more classes" if len(counts) > _CLASSES else ""
    session.say(f"target {classes.name}: {shown}{rest}")
    for note in classes.notes:
        session.say(f"note: {note}")
    if classes.skewed and not balanced:
        session.say(
            "note: the classes differ much in size, so the balanced accuracy counts; where a rare "
            "class is to be found, --balanced lets all classes count alike"
        )


def tell_notes(session: Session, evaluation: Any) -> None:
    """Say what went wrong on the way; what `tell_target` has said is not said again."""
    failures = [score.failure for score in evaluation.scores if score.failure]
    for note in (*failures, *evaluation.notes):
        if note not in evaluation.target.notes:
            session.say(f"note: {note}")


def tell_cost(
    session: Session,
    frame: Any,
    classes: Any,
    names: Sequence[str],
    how: dict[str, Any],
    extra_fits: int = 0,
    **options: Any,
) -> None:
    """Say what the fits are going to take, where that may be long."""
    from ..tabular import forecast_cost

    n_rows = len(classes.y)
    if session.quiet or n_rows <= _SMALL:
        return
    folds = 1 if how["test_size"] is not None else how["cv"] * how.get("repeats", 1)
    part = 1 - (how["test_size"] or 1 / how["cv"])
    with session.busy("timing small fits"):
        cost = forecast_cost(frame, classes, names, n_fits=folds, part=part, **options)
    n_fits, seconds = folds * len(names), cost.seconds
    if extra_fits:  # of the first method, to all rows
        seconds += extra_fits * cost.each[names[0]] / part**2
        n_fits += extra_fits
    session.say(cost_text(seconds, cost.memory, n_fits))
