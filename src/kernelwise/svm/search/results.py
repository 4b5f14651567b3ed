"""The results of candidates as scikit-learn has them, and the lines that it prints."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import dataclass
from numbers import Number
from typing import Any

from joblib import logger
from sklearn.exceptions import FitFailedWarning

from .scoring import MultimetricScorer


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
