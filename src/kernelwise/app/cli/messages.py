"""Messages of `fit` and `compare` about a table, before and after the work."""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote
from typing import TYPE_CHECKING, Any

from .console import Session

if TYPE_CHECKING:
    from ..evaluation import Evaluation
    from ..tabular import Target

_MAX_LEAKS = 5  # columns that get a note each
_MAX_CLASSES = 6  # classes of the target that are listed


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
