"""What an evaluation asks about classes and about numbers: predictions, metrics and guessing."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Protocol

from ..._typing import Array, Index
from ..tabular import ClassTarget, TableError, Target
from ..tabular.errors import quoted
from .intervals import ConfidenceInterval
from .results import METRICS, HeldOut


@dataclass(frozen=True)
class Metric:
    """A metric with its 95 % confidence interval.

    Parameters
    ----------
    name : str
        A key of the metrics, such as "accuracy", "log_loss" or "rmse".
    value, low, high : float
        The metric and its interval.
    guess : float
        What guessing by the distribution of the target in this table gets.
    """

    name: str
    value: float
    low: float
    high: float
    guess: float

    @property
    def label(self) -> str:
        """Name of the metric in tables."""
        return METRICS[self.name]


def with_interval(name: str, interval: ConfidenceInterval, guess: float) -> Metric:
    """Return a metric from its interval."""
    return Metric(name, interval.value, interval.low, interval.high, float(guess))


class Scoring(Protocol):
    """How predictions of one kind of target are made and scored."""

    def predict(self, model: Any, X: Any, rows: Index, actual: Any) -> HeldOut:
        """Return all that a fitted model predicts for some rows."""
        ...

    def scores(self, held_out: HeldOut) -> dict[str, tuple[float, float]]:
        """Return each metric with its standard error."""
        ...

    def default_metric(self, measured: Collection[str], balanced: bool) -> str:
        """Return the metric to go by, of those that were measured."""
        ...

    def losses(self, held_out: HeldOut) -> tuple[str, Array, Array] | None:
        """Return the name of the loss, that of each row, and that of guessing; None without one."""
        ...


def scoring_of(target: Target) -> Scoring:
    """Return how the predictions of a target are scored."""
    if isinstance(target, ClassTarget):
        from .class_scores import ClassScoring

        return ClassScoring(target)
    from .number_scores import NumberScoring

    return NumberScoring()


def deciding_metric(
    scoring: Scoring, wanted: str | None, measured: Collection[str], balanced: bool
) -> str:
    """Return the metric by which methods are compared; raise where it was not measured."""
    if wanted is None:
        return scoring.default_metric(measured, balanced)
    if wanted not in measured:
        raise TableError(
            f"metric={wanted!r} is not measured for this target and method; choose one of "
            f"{quoted(measured, 20)}."
        )
    return wanted


def guessing_note(scoring: Scoring, held_out: HeldOut) -> str:
    """Return a sentence where held-out rows show no gain over guessing; else "".

    The loss must be below that of guessing by one standard error of the difference.
    """
    found = scoring.losses(held_out)
    if found is None or len(held_out.actual) < 2:
        return ""
    name, losses, guesses = found
    value, guess = float(losses.mean()), float(guesses.mean())
    error = float((losses - guesses).std(ddof=1) / len(losses) ** 0.5)
    if value < guess - error:
        return ""
    return (
        f"the model is no better than guessing: its {name} on held-out rows, {value:.4g}, is not "
        f"below that of guessing, {guess:.4g}, by one standard error ({error:.3g}); do not rely on "
        "its predictions or on the weights of the columns"
    )
