"""Whether a model predicts better than guessing by the shares of the classes."""

from __future__ import annotations

import numpy as np

from .results import HeldOut
from .scores import guess_losses, row_losses, score_predictions


def guessing_note(held_out: HeldOut, classes: tuple[object, ...]) -> str:
    """Return a sentence where held-out rows show no gain over guessing; else "".

    The log loss must be below that of the shares of the classes, their entropy, by one standard
    error of the difference. Without probabilities, the balanced accuracy must be above that of
    guessing by one standard error.
    """
    n = len(held_out.actual)
    if n < 2:
        return ""
    if held_out.proba is None:
        scores = score_predictions(held_out.actual, held_out.predicted, None)
        value, error = scores["balanced_accuracy"]
        guess = 1 / len(np.unique(held_out.actual))
        is_better, name = value > guess + error, "balanced accuracy"
        side = "above"
    else:
        losses = row_losses(held_out.actual, held_out.proba, classes)["log_loss"]
        guesses = guess_losses(held_out.actual, classes)["log_loss"]
        value, guess = float(losses.mean()), float(guesses.mean())
        error = float((losses - guesses).std(ddof=1) / np.sqrt(n))
        is_better, name, side = value < guess - error, "log loss", "below"
    if is_better:
        return ""
    return (
        f"the model is no better than guessing: its {name} on held-out rows, {value:.3f}, is not "
        f"{side} that of guessing by the shares of the classes, {guess:.3f}, by one standard error "
        f"({error:.3f}); do not rely on its predictions or on the weights of the columns"
    )
