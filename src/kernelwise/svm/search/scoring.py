"""Rows, parameters and scores of one fold, as scikit-learn's searches take them.

scikit-learn has the same functions under private names, which may change with any version.
"""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import dataclass
from numbers import Number
from traceback import format_exc
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import logger
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import accuracy_score, check_scoring, make_scorer
from sklearn.utils import get_tags
from sklearn.utils.validation import indexable

from ..._sklearn import safe_indexing
from ..._typing import Index

Scorer = type(make_scorer(accuracy_score))
MultimetricScorer = type(check_scoring(DummyClassifier(), scoring=["accuracy"]))


def split_rows(model: Any, X: Any, y: Any, rows: Index, columns: Index | None) -> tuple[Any, Any]:
    """Return rows of X and y; of a kernel matrix only ``columns``, by default those of the rows."""
    if not get_tags(model).input_tags.pairwise:
        return safe_indexing(X, rows), safe_indexing(y, rows)
    if not hasattr(X, "shape"):
        raise ValueError("A precomputed kernel must be an array or a sparse matrix.")
    if X.shape[0] != X.shape[1]:
        raise ValueError("X should be a square kernel matrix")
    block = X[np.ix_(rows, rows if columns is None else columns)]
    return block, safe_indexing(y, rows)


def params_of_rows(X: Any, params: dict[str, Any], rows: Index | None = None) -> dict[str, Any]:
    """Return parameters of `fit` or of a scorer; those with one entry per row only for ``rows``."""
    n = _length(X)
    taken = {}
    for name, value in params.items():
        is_per_row = not isinstance(value, str | dict) and _length(value) == n
        taken[name] = safe_indexing(*indexable(value), rows) if is_per_row else value
    return taken


def _length(values: Any) -> int | None:
    """Return the number of rows of an array, sparse matrix, data frame or list; else None."""
    if sp.issparse(values) or len(getattr(values, "shape", ())):
        return int(values.shape[0])
    return len(values) if hasattr(values, "__len__") and np.ndim(values) else None


def score(model: Any, X: Any, y: Any, scorer: Any, params: dict[str, Any], fallback: Any) -> Any:
    """Return the score of a model, or a dict of several; ``fallback`` replaces one that fails.

    A ``fallback`` of "raise" raises the error instead.
    """
    is_multiple = isinstance(scorer, MultimetricScorer)
    try:
        scores = scorer(model, X, y, **params)
    except Exception:
        if is_multiple or fallback == "raise":
            raise
        _warn_of(format_exc(), fallback)
        scores = fallback
    if not isinstance(scores, dict):
        return _number(scores, scorer)
    for name, value in scores.items():
        if is_multiple and isinstance(value, str):  # the traceback of a score that failed
            _warn_of(value, fallback)
            scores[name] = fallback
    return {name: _number(value, name) for name, value in scores.items()}


def _warn_of(details: str, fallback: Any) -> None:
    warnings.warn(
        "Scoring failed. The score on this train-test partition for these parameters will be set "
        f"to {fallback}. Details: \n{details}",
        UserWarning,
        stacklevel=2,
    )


def _number(value: Any, scorer: Any) -> Any:
    """Return a score as a plain number; raise where it is none."""
    if np.ndim(value) == 0 and hasattr(value, "item"):
        value = value.item()
    if not isinstance(value, Number):
        raise ValueError(
            f"scoring must return a number, got {value} ({type(value)}) instead. (scorer={scorer})"
        )
    return value


def accuracy_sign(scoring: Any, scorer: Any) -> float:
    """Return the sign with which a scorer takes the plain accuracy; 0 for any other score.

    A scorer that does not show its function, as all do now, is scored like any other.
    """
    if scoring is None or (isinstance(scoring, str) and scoring == "accuracy"):
        return 1.0
    is_plain = isinstance(scorer, Scorer) and not getattr(scorer, "_kwargs", True)
    if not is_plain or getattr(scorer, "_score_func", None) is not accuracy_score:
        return 0.0
    return float(getattr(scorer, "_sign", 0.0))


@dataclass(frozen=True)
class Settings:
    """Settings of a search: how to score, what to do with errors, what to print."""

    scorer: Any
    accuracy_sign: float  # 0 where the score is not the accuracy
    error_score: Any
    return_train_score: bool
    verbose: int
    fit_params: dict[str, Any]
    score_params: dict[str, Any]
    n_splits: int
    params: list[dict[str, Any]]


def failed(settings: Settings, text: str, n_test: int) -> dict[str, Any]:
    """Return the result of a fit that failed."""
    score: Any = settings.error_score
    if not isinstance(score, Number):
        raise ValueError("error_score must be 'raise' or a number.")
    if isinstance(settings.scorer, MultimetricScorer):
        score = dict.fromkeys(settings.scorer._scorers, score)
    result = {"fit_error": text, "fit_time": 0.0, "score_time": 0.0, "n_test_samples": n_test}
    result["test_scores"] = score
    if settings.return_train_score:
        result["train_scores"] = dict(score) if isinstance(score, dict) else score
    return result


def fill_failed_scores(results: list[dict[str, Any]], error_score: Any) -> None:
    """Give failed fits one score per metric where a user's scorer returns several."""
    found = [each["test_scores"] for each in results if each["fit_error"] is None]
    if not found or not isinstance(found[0], dict):
        return
    for result in results:
        if result["fit_error"] is not None:
            for part in {"test_scores", "train_scores"} & set(result):
                result[part] = dict.fromkeys(found[0], error_score)


def raise_or_warn_of_failures(results: list[dict[str, Any]], error_score: Any) -> None:
    """Raise where all fits failed, and warn where some did, with their errors."""
    errors = Counter(each["fit_error"] for each in results if each["fit_error"] is not None)
    if not errors:
        return
    line = "-" * 80
    details = "\n".join(
        f"{line}\n{count} fits failed with the following error:\n{error}"
        for error, count in errors.items()
    )
    if errors.total() == len(results):
        raise ValueError(
            f"\nAll the {len(results)} fits failed.\nIt is very likely that your model is "
            "misconfigured.\nYou can try to debug the error by setting error_score='raise'.\n\n"
            f"Below are more details about the failures:\n{details}"
        )
    warnings.warn(
        f"\n{errors.total()} fits failed out of a total of {len(results)}.\nThe score on these "
        f"train-test partitions for these parameters will be set to {error_score}.\nIf these "
        "failures are not expected, you can try to debug them by setting error_score='raise'.\n\n"
        f"Below are more details about the failures:\n{details}",
        FitFailedWarning,
        stacklevel=4,
    )


def progress_line(settings: Settings, fold: int, number: int, result: dict[str, Any]) -> str:
    """Return the line that scikit-learn prints for a fit."""
    progress = f" {fold + 1}/{settings.n_splits}" if settings.verbose > 2 else ""
    if settings.verbose > 9:
        progress += f"; {number + 1}/{len(settings.params)}"
    params = settings.params[number]
    text = ", ".join(f"{name}={params[name]}" for name in sorted(params)) + ";"
    if settings.verbose > 2:
        text += _score_text(result)
    seconds = result["fit_time"] + result["score_time"]
    text += f" total time={logger.short_format_time(seconds)}"
    begin = f"[CV{progress}] END "
    return begin + "." * (80 - len(begin) - len(text)) + text


def _score_text(result: dict[str, Any]) -> str:
    test, train = result["test_scores"], result.get("train_scores")
    if isinstance(test, dict):
        parts = []
        for name in sorted(test):
            before = "" if train is None else f"train={train[name]:.3f}, "
            parts.append(f" {name}: ({before}test={test[name]:.3f})")
        return "".join(parts)
    if train is None:
        return f", score={test:.3f}"
    return f", score=(train={train:.3f}, test={test:.3f})"
