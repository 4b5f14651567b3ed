"""Messages of `fit` and `compare` about a table, before and after the work."""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote
from typing import TYPE_CHECKING, Any

from .console import Session
from .tables import cost_text

if TYPE_CHECKING:
    from ..evaluation import Evaluation
    from ..tabular import Target

_MIN_ROWS = 1000  # rows up to which the fits are too short for an estimate of their time
_MAX_LEAKS = 5  # columns that get a note each
_MAX_CLASSES = 6  # classes of the target that are listed
_REPORT_FITS = 5  # fits that the checks of a report take, besides resamples of half of the rows


def show_target(session: Session, target: Target) -> None:
    """Show the number of rows of each class, or the range of a number, with the notes on them."""
    from ..tabular import ClassTarget

    if isinstance(target, ClassTarget):
        pairs = sorted(zip(target.counts, target.classes, strict=True), key=lambda pair: -pair[0])
        shown = ", ".join(f"{count} rows of {label}" for count, label in pairs[:_MAX_CLASSES])
        rest = len(pairs) - _MAX_CLASSES
        shown += f" and {rest} more class{'es' * (rest > 1)}" if rest > 0 else ""
    else:
        y = target.y
        shown = f"{len(y)} numbers from {y.min():.6g} to {y.max():.6g}, mean {y.mean():.4g}"
    session.say(f"target {target.name}: {shown}")
    for note in target.notes:
        session.note(note)


def show_rarity(session: Session, target: Target, metric: str | None, balanced: bool) -> None:
    """Show how to find a rare class."""
    from ..tabular import ClassTarget

    if isinstance(target, ClassTarget) and target.skewed and not balanced and metric is None:
        session.note(
            "the classes differ much in size; to find a rare class, use --balanced, which lets "
            "all classes count alike"
        )


def show_leaks(
    session: Session, frame: Any, target: Target, columns: Sequence[Any], seed: int
) -> list[str]:
    """Show the columns that predict the target by themselves, and return these notes."""
    from ..evaluation import leaking_columns

    notes = [leak.note for leak in leaking_columns(frame, target, columns, seed=seed)]
    for note in notes[:_MAX_LEAKS]:
        session.note(note)
    if len(notes) > _MAX_LEAKS:
        session.note(f"{len(notes) - _MAX_LEAKS} more columns predict the target by themselves")
    return notes


def show_notes(session: Session, evaluation: Evaluation) -> None:
    """Show failures and notes that were not shown before."""
    failures = [score.failure for score in evaluation.scores if score.failure]
    for note in (*failures, *evaluation.notes):
        session.note(note)


def show_outcome(session: Session, evaluation: Evaluation) -> None:
    """Show in a sentence how good the method is beside guessing."""
    from ..evaluation.results import METRICS, value_text

    best = evaluation.best
    guess = next((s for s in evaluation.scores if s.method == "guessing"), None)
    shown = ("log_loss", "accuracy") if evaluation.target.task == "classification" else (
        "rmse", "r2", "coverage",
    )  # fmt: skip
    names = [evaluation.metric, *(m for m in shown if m != evaluation.metric)]
    facts = []
    for name in (each for each in names if each in best.values):
        text = f"{METRICS[name]} {value_text(name, best.mean(name))}"
        if guess is not None and name in guess.values:
            text += f" (guessing: {value_text(name, guess.mean(name))})"
        facts.append(text)
    session.say(f"{best.label} on held-out rows: {', '.join(facts)}")


def show_next(session: Session, out: Any, data: str) -> None:
    """Show the commands that use a model that was saved."""
    model = quote(str(out))
    for command in (f"explain {model}", f"predict {model} NEW", f"score {model} LATER"):
        session.say(f"  kernelwise {command}")


def show_cost(
    session: Session,
    frame: Any,
    target: Target,
    names: Sequence[str],
    how: dict[str, Any],
    extra_fits: float = 0,
    **options: Any,
) -> None:
    """Show an estimate of time and memory where the fits may take long.

    ``extra_fits`` is the number of fits of the first method to all rows.
    """
    from ..evaluation import forecast_cost
    from ..evaluation.splits import n_folds_of

    if session.quiet or len(target.y) <= _MIN_ROWS:
        return
    n_folds = 1 if how["test_size"] is not None else n_folds_of(target, how["cv"])
    n_splits = n_folds if n_folds == 1 else n_folds * how.get("repeats", 1)
    part = 1 - (how["test_size"] or 1 / n_folds)
    with session.progress() as progress:
        progress(0, 1, "timing small fits")
        cost = forecast_cost(frame, target, names, n_fits=n_splits, part=part, **options)
    seconds = cost.seconds + extra_fits * cost.each[names[0]] / part
    session.say(cost_text(seconds, cost.memory, n_splits * len(names) + round(extra_fits)))


def report_fits(stability: int) -> float:
    """Return the number of fits to all rows that a report takes."""
    return _REPORT_FITS + stability / 2
