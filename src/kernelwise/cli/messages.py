"""Messages of `fit` and `compare` about a table, before and after the work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .console import Session
from .tables import cost_text

_MIN_ROWS = 1000  # rows up to which the fits are too short for an estimate of their time
_MAX_LEAKS = 5  # columns that get a note each
_MAX_CLASSES = 6  # classes of the target that are listed


def show_target(session: Session, classes: Any, balanced: bool) -> None:
    """Show the number of rows of each class, and a hint where one class is rare."""
    counts = sorted(zip(classes.counts, classes.classes, strict=True), key=lambda pair: -pair[0])
    shown = ", ".join(f"{count} rows of {label}" for count, label in counts[:_MAX_CLASSES])
    rest = f" and {len(counts) - _MAX_CLASSES} more classes" if len(counts) > _MAX_CLASSES else ""
    session.say(f"target {classes.name}: {shown}{rest}")
    for note in classes.notes:
        session.note(note)
    if classes.skewed and not balanced:
        session.note(
            "the classes differ much in size, so methods are judged by balanced accuracy; to "
            "find a rare class, use --balanced, which lets all classes count alike"
        )


def show_leaks(
    session: Session, frame: Any, classes: Any, columns: Sequence[Any], seed: int
) -> list[str]:
    """Show the columns that predict the target by themselves, and return these notes."""
    from ..evaluation import leaking_columns

    notes = [leak.note for leak in leaking_columns(frame, classes, columns, seed=seed)]
    for note in notes[:_MAX_LEAKS]:
        session.note(note)
    if len(notes) > _MAX_LEAKS:
        session.note(f"{len(notes) - _MAX_LEAKS} more columns predict the target by themselves")
    return notes


def show_notes(session: Session, evaluation: Any) -> None:
    """Show failures and notes that were not shown before."""
    failures = [score.failure for score in evaluation.scores if score.failure]
    for note in (*failures, *evaluation.notes):
        session.note(note)


def show_rows_used(session: Session, final: Any) -> None:
    """Show how many rows each step of the fit used, where that is not all of them."""
    used = getattr(final, "rows_used_", {})
    if used and min(used.values()) < max(used.values()):
        steps = ", ".join(f"{count} for {step}" for step, count in used.items())
        session.say(f"rows used by the fit: {steps}")


def show_cost(
    session: Session,
    frame: Any,
    classes: Any,
    names: Sequence[str],
    how: dict[str, Any],
    extra_fits: int = 0,
    **options: Any,
) -> None:
    """Show an estimate of time and memory where the fits may take long.

    ``extra_fits`` is the number of fits of the first method to all rows.
    """
    from ..evaluation import forecast_cost

    if session.quiet or len(classes.y) <= _MIN_ROWS:
        return
    n_splits = 1 if how["test_size"] is not None else how["cv"] * how.get("repeats", 1)
    part = 1 - (how["test_size"] or 1 / how["cv"])
    with session.progress() as progress:
        progress(0, 1, "timing small fits")
        cost = forecast_cost(frame, classes, names, n_fits=n_splits, part=part, **options)
    seconds = cost.seconds + extra_fits * cost.each[names[0]] / part**2
    session.say(cost_text(seconds, cost.memory, n_splits * len(names) + extra_fits))
