"""What `fit` and `compare` say of a table before and after the work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .console import Session
from .tables import cost_text

_SMALL = 1000  # rows that never take long
_CLASSES = 6  # of the target that are shown one by one


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
    from ..evaluation import forecast_cost

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
