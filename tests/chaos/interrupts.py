"""Ctrl-C at random moments of a second fit: the estimator has the old model or the new, whole."""

from __future__ import annotations

import signal
import time
import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from tests.io.models import CLASSIFIERS, TRANSFORMERS, table

from .tally import Tally

_LEAST = 1e-4  # seconds until the earliest interrupt
# Fits of these depend on more than their data: the state of a generator, or an earlier fit.
_STATEFUL = {"SVC-balanced"}
ESTIMATORS = {k: v for k, v in (CLASSIFIERS | TRANSFORMERS).items() if k not in _STATEFUL}


def interrupted_fits(per_estimator: int, seed: int, names: list[str] | None = None) -> Tally:
    """Interrupt fits of every estimator at random moments."""
    tally, rng = Tally("fits ended by Ctrl-C"), np.random.default_rng(seed)
    for name in names or ESTIMATORS:
        _interrupt(name, ESTIMATORS[name], per_estimator, rng, tally)
    return tally


def _interrupt(name: str, given: Any, n: int, rng: Any, tally: Tally) -> None:
    X, y = table()
    X = np.abs(X)
    other = np.roll(y, 7)
    estimator = clone(given)
    if "warm_start" in estimator.get_params():
        estimator.set_params(warm_start=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        old = _answers(clone(estimator).fit(X, y), X)
        begin = time.monotonic()
        new = _answers(clone(estimator).fit(X, other), X)
        seconds = time.monotonic() - begin
        for trial in range(n):
            model = clone(estimator).fit(X, y)
            ended = _fit_until(model, X, other, _LEAST + rng.random() * seconds)
            found = _answers(model, X)
            if not any(np.array_equal(found, answers) for answers in (old, new)):
                tally.broke(f"{name}, trial {trial}: a mixture of two models")
            elif ended:
                tally.held("interrupted, one whole model")
            else:
                tally.held("ended before the interrupt")


def _fit_until(model: Any, X: Any, y: Any, seconds: float) -> bool:
    """Fit, and interrupt after some seconds; return whether the interrupt came in time."""
    previous = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        model.fit(X, y)
        signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        return True
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    return False


def _answers(model: Any, X: Any) -> Any:
    answer = model.decision_function if hasattr(model, "decision_function") else model.transform
    return np.asarray(answer(X))
