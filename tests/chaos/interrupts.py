"""Ctrl-C at random moments of a second fit: the estimator has the old model or the new, whole."""

from __future__ import annotations

import signal
import time
import warnings
from typing import Any

import numpy as np
from sklearn.base import clone, is_regressor

import kernelwise
from tests.io.models import CLASSIFIERS, DETECTORS, REGRESSORS, TRANSFORMERS, table

from .tally import Tally

_LEAST = 1e-4  # CPU seconds until the earliest interrupt
_LONGEST_ANSWER = 1.0  # CPU seconds within which Ctrl-C must end a fit
_LONG = 2.0  # CPU seconds until the last interrupt of a long fit
# Fits of these depend on more than their data: the state of a generator, or an earlier fit.
_STATEFUL = {"SVC-balanced"}
KNOWN = CLASSIFIERS | REGRESSORS | DETECTORS | TRANSFORMERS
ESTIMATORS = {name: model for name, model in KNOWN.items() if name not in _STATEFUL}

# Estimators with rows, columns and classes of a table that takes them seconds, most of which they
# spend in one kind of compiled call.
LONG_FITS: dict[str, tuple[Any, int, int, int]] = {
    "one machine": (kernelwise.SVC(C=1e4), 4000, 10, 2),
    "pairs": (kernelwise.SVC(C=1e4), 3000, 10, 10),
    "many small pairs": (kernelwise.SVC(C=1e6, kernel="linear"), 1000, 10, 50),
    "working set": (kernelwise.SVC(C=100.0), 20000, 10, 2),
    "rows beyond memory": (kernelwise.SVC(C=100.0, cache_size=10), 9000, 10, 3),
    "cells": (kernelwise.RelevanceSVC(), 30000, 10, 2),
    "search": (kernelwise.SVCSearchCV(kernelwise.SVC(), {"C": [1.0, 1e3]}, cv=3), 3000, 10, 4),
    "SVR": (kernelwise.SVR(C=100.0), 4000, 10, 3),
    "SVRSearchCV": (kernelwise.SVRSearchCV(kernelwise.SVR(), {"C": [1.0, 1e2]}, cv=3), 2000, 10, 4),
    "NuSVR": (kernelwise.NuSVR(), 3000, 10, 3),
    "NuSVC": (kernelwise.NuSVC(nu=0.3), 3000, 10, 3),
    "RelevanceSVC": (kernelwise.RelevanceSVC(), 4000, 10, 3),
    "RelevanceSVR": (kernelwise.RelevanceSVR(), 4000, 10, 3),
    "AdaptiveKernelSVC": (kernelwise.AdaptiveKernelSVC(), 1500, 10, 3),
    "DualObjectiveSVC": (kernelwise.DualObjectiveSVC(), 1500, 10, 3),
    "FeatureDiscriminationSVC": (kernelwise.FeatureDiscriminationSVC(eta="cv"), 1500, 10, 3),
    "GeneralizedBiasSVC": (kernelwise.GeneralizedBiasSVC([0]), 2000, 10, 3),
    "MarginRadiusSVC": (kernelwise.MarginRadiusSVC(), 3000, 40, 3),
    "RelevanceSelector": (kernelwise.RelevanceSelector(), 4000, 10, 3),
    "EmpiricalKernelMap": (kernelwise.EmpiricalKernelMap(), 3000, 10, 2),
}


def interrupted_fits(per_estimator: int, seed: int, names: list[str] | None = None) -> Tally:
    """Interrupt fits of every estimator at random moments."""
    tally, rng = Tally("fits ended by Ctrl-C"), np.random.default_rng(seed)
    for name in names or ESTIMATORS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _interrupt(name, ESTIMATORS[name], per_estimator, rng, tally)
    return tally


def interrupted_long_fits(per_kind: int, seed: int, names: list[str] | None = None) -> Tally:
    """Interrupt fits in the middle of compiled code; measure how long the answer takes."""
    tally, rng = Tally("long fits ended by Ctrl-C"), np.random.default_rng(seed)
    small, classes = np.abs(table()[0]), table()[1]
    for name in names or LONG_FITS:
        given, n, n_columns, n_classes = LONG_FITS[name]
        X = np.abs(rng.normal(size=(n, n_columns)))
        y = rng.integers(n_classes, size=n)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for trial in range(per_kind):
                model = clone(given).fit(small, _target(given, classes))
                old = _answers(model, small)
                ended = _fit_until(model, X, y, _LEAST + rng.random() * _LONG, tally)
                is_new = model.n_features_in_ == n_columns  # the interrupt came behind the fit
                found = _answers(model, X[:100] if is_new else small)
                is_whole = is_new or np.array_equal(found, old)
                _judge(ended, is_whole, f"{name}, trial {trial}", tally)
    return tally


def _interrupt(name: str, given: Any, n: int, rng: Any, tally: Tally) -> None:
    X, y = table()
    X = np.abs(X[:, 1:] if is_regressor(given) else X)  # as their widths expect
    y = _target(given, y)
    other = np.roll(y, 7)
    estimator = clone(given)
    if "warm_start" in estimator.get_params():
        estimator.set_params(warm_start=False)
    old = _answers(clone(estimator).fit(X, y), X)
    begin = time.process_time()
    new = _answers(clone(estimator).fit(X, other), X)
    seconds = time.process_time() - begin
    for trial in range(n):
        model = clone(estimator).fit(X, y)
        ended = _fit_until(model, X, other, _LEAST + rng.random() * seconds, tally)
        found = _answers(model, X)
        is_whole = np.array_equal(found, new) or (ended and np.array_equal(found, old))
        _judge(ended, is_whole, f"{name}, trial {trial}", tally)
        if ended and not np.array_equal(_answers(model.fit(X, other), X), new):
            tally.broke(f"{name}, trial {trial}: the fit after an interrupt differs")


def _target(model: Any, classes: Any) -> Any:
    return np.unique(classes, return_inverse=True)[1] if is_regressor(model) else classes


def _judge(ended: bool, is_whole: bool, what: str, tally: Tally) -> None:
    if not is_whole:
        tally.broke(f"{what}: a mixture of two models")
    else:
        tally.held("interrupted, one whole model" if ended else "ended before the interrupt")


def _fit_until(model: Any, X: Any, y: Any, seconds: float, tally: Tally) -> bool:
    """Fit, and interrupt after some CPU seconds; return whether the interrupt came in time."""
    previous = signal.signal(signal.SIGPROF, signal.default_int_handler)
    due = time.process_time() + seconds
    try:
        signal.setitimer(signal.ITIMER_PROF, seconds)
        model.fit(X, y)
        signal.setitimer(signal.ITIMER_PROF, 0)
    except KeyboardInterrupt:
        _note_answer(time.process_time() - due, type(model).__name__, tally)
        return True
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous)
    return False


def _note_answer(seconds: float, what: str, tally: Tally) -> None:
    """Keep the longest time between Ctrl-C and the end of a fit."""
    key = "longest answer to Ctrl-C, CPU milliseconds"
    tally.facts[key] = max(tally.facts.get(key, 0.0), 1000 * seconds)
    if seconds > _LONGEST_ANSWER:
        tally.broke(f"{what}: Ctrl-C was answered after {seconds:.1f} s")


def _answers(model: Any, X: Any) -> Any:
    for name in ("decision_function", "transform", "predict"):
        if hasattr(model, name):
            return np.asarray(getattr(model, name)(X))
    raise TypeError(f"{model} has no answers")
