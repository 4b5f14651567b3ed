"""How a search evaluates its candidates: one task a kernel and fold, scores as scikit-learn's."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from numbers import Number
from traceback import format_exc
from typing import Any

import numpy as np
from joblib import logger
from sklearn.base import clone
from sklearn.metrics import accuracy_score

from ..._memory import allowance
from ..._sklearn import MultimetricScorer, Scorer, check_method_params, safe_split, score
from ..._typing import Index
from ...kernels import Precomputed
from ..base.kernel_spec import KernelSpec
from ..svc import SVC
from .fold_model import FoldProblem, FoldSVC, as_fold_model
from .grams import SharedGrams, has_a_ridge, largest_coarse_bound
from .path import CostPath
from .plan import Group


@dataclass(frozen=True)
class Settings:
    """What the user asked for: how to score, what to do with errors, what to print."""

    scorer: Any
    error_score: Any
    return_train_score: bool
    verbose: int
    fit_params: dict[str, Any]
    score_params: dict[str, Any]
    n_splits: int
    params: list[dict[str, Any]]


@dataclass
class Task:
    """The candidates of one kernel on one fold."""

    group: Group
    fold: int
    train: Index
    test: Index
    problem: FoldProblem | None = None
    has_one_solution: bool = False  # wherever its solves start
    precise: list[bool] = field(default_factory=list)
    error: tuple[Exception, str] | None = None


@dataclass
class Outcome:
    """What came of a task: a result a candidate, and how its solves went."""

    results: dict[tuple[int, int], dict[str, Any]] = field(default_factory=dict)
    n_solves: int = 0
    failures: list[float] = field(default_factory=list)


@dataclass
class Evaluator:
    """Evaluates tasks on some rows.

    Parameters
    ----------
    X, y : object
        The rows and classes, as the user gave them.
    settings : Settings
        What the user asked for.
    threads : int
        Threads that run tasks.
    """

    X: Any
    y: Any
    settings: Settings
    threads: int

    def prepare(self, groups: list[Group], folds: list[tuple[Index, Index]]) -> list[Task]:
        """Set the tasks up, in the order in which they share kernels."""
        tasks = [
            Task(group, fold, np.asarray(train), np.asarray(test))
            for group in groups
            for fold, (train, test) in enumerate(folds)
        ]
        self._order = _by_class_and_fold(self.y, folds)
        self._place = np.argsort(self._order)
        checked: dict[Any, Any] = {}
        for task in tasks:
            self._prepare(task, checked)
        found = [(task, task.problem) for task in tasks if task.problem is not None]
        uses = [(problem.kernel, problem.X, any(task.precise)) for task, problem in found]
        self._grams = SharedGrams(uses, self.threads)
        return tasks

    def _prepare(self, task: Task, checked: dict[Any, Any]) -> None:
        model = task.group.model
        if (
            type(model) is not SVC
            or model.probability != "deprecated"
            or KernelSpec.of(model).is_function
        ):
            return
        try:
            spec = KernelSpec.of(model)
            key = (spec.accepts_sparse, spec.is_precomputed)
            if key not in checked:
                X, y = model._check_input(self.X, self.y)
                checked[key] = model._take(X, self._order), y[self._order], _names(model)
            X, y, names = checked[key]
            model.__dict__.update(names)
            weight = self._fit_params(task).get("sample_weight")
            problem = FoldProblem.of(model, X, y, self._place[task.train], weight)
            task.has_one_solution = problem.kernel.is_psd
            limit = largest_coarse_bound(problem.kernel, X, model.tol)
            costs = [C * problem.cost.max() for C, _ in task.group.costs]
            task.precise = [bool(bound > limit) for bound in costs]
            if self._fits(problem, any(task.precise)) and not has_a_ridge(problem.kernel, X):
                task.problem = problem
        except Exception as error:
            task.error = (error, format_exc())

    def _fits(self, problem: FoldProblem, precise: bool) -> bool:
        """Tell whether kernel matrices of all rows fit into memory."""
        if isinstance(problem.kernel, Precomputed):
            return True
        n, size = problem.X.shape[0], 8 if precise else 4
        # What all kernels share, and for each thread a kernel and a machine's block of it.
        return size * n**2 * (1 + 2 * self.threads) <= allowance(problem.model.cache_size)

    def _fit_params(self, task: Task) -> dict[str, Any]:
        params: dict[str, Any] = check_method_params(
            self.X, params=self.settings.fit_params, indices=task.train
        )
        return params

    def run(self, task: Task) -> Outcome:
        """Evaluate the candidates of a task."""
        outcome = Outcome()
        if task.error is None:
            try:
                self._evaluate(task, outcome)
            except _FitError as failure:
                if self.settings.error_score == "raise":
                    raise failure.error from None
                task.error = (failure.error, failure.text)
            finally:
                if task.problem is not None:
                    self._grams.release(task.problem.kernel)
        if task.error is not None:
            for _, number in task.group.costs:
                if (number, task.fold) not in outcome.results:
                    result = failed(self.settings, task.error[1], len(task.test))
                    self._keep(outcome, task, number, result)
        return outcome

    def _evaluate(self, task: Task, outcome: Outcome) -> None:
        if task.problem is None:
            self._fit_each(task, outcome)
            return
        problem, begin = task.problem, time.perf_counter()
        try:
            path = CostPath(
                problem,
                [C for C, _ in task.group.costs],
                task.precise,
                lambda dtype: self._grams.take(problem.kernel, dtype),
            )
            arrays = self._arrays(task)
            known = [path.decisions(self._place[rows]) for _, _, rows, _ in arrays]
        except Exception as error:
            raise _FitError(error, format_exc()) from error
        outcome.n_solves, outcome.failures = path.n_solves, path.failures
        # What all C share is charged to them alike.
        shared = (time.perf_counter() - begin - path.seconds.sum()) / len(path.costs)
        for c, (C, number) in enumerate(task.group.costs):
            pairs = [(X, values[c]) for (X, *_), values in zip(arrays, known, strict=True)]
            model = problem.fitted(C, path.solutions[c], pairs)
            result = self._scored(model, arrays)
            result["fit_time"] = shared + path.seconds[c]
            self._keep(outcome, task, number, result)

    def _fit_each(self, task: Task, outcome: Outcome) -> None:
        """Fit candidate by candidate, from one C to the next where that is sure to be the same."""
        arrays = self._arrays(task, with_train=True)
        X, y, *_ = arrays[1]
        fit_params, model = self._fit_params(task), task.group.model
        ours = type(model) is SVC and model.probability == "deprecated"
        if ours:
            model = as_fold_model(model).set_params(warm_start=task.has_one_solution)
            if model.cache_size is None:
                model.set_params(cache_size=allowance(None, self.threads) / 1e6)
        for C, number in task.group.costs:
            model = model.set_params(C=C) if ours else clone(model).set_params(C=C)
            begin = time.perf_counter()
            try:
                model.fit(X, y, **fit_params)
            except Exception as error:
                raise _FitError(error, format_exc()) from error
            seconds = time.perf_counter() - begin
            if ours:
                status, violation = model.certificate_.status, model.certificate_.violation
                outcome.n_solves += len(status)
                outcome.failures += violation[status != "converged"].tolist()
            result = self._scored(model, arrays[: 1 + self.settings.return_train_score])
            result["fit_time"] = seconds
            self._keep(outcome, task, number, result)

    def _arrays(self, task: Task, with_train: bool = False) -> list[Any]:
        """Return X, y, their rows and the scorer's parameters for the test part, then the other."""
        model, train, test = task.group.model, task.train, task.test
        parts: list[tuple[Index, Index | None]] = [(test, train)]
        if with_train or self.settings.return_train_score:
            parts.append((train, None))
        out = []
        for rows, columns in parts:
            X, y = safe_split(model, self.X, self.y, rows, columns)
            params = check_method_params(self.X, self.settings.score_params, indices=rows)
            out.append((X, y, rows, params))
        return out

    def _scored(self, model: SVC, arrays: list[Any]) -> dict[str, Any]:
        """Score a fitted model on the test part, and on the training part where it is wanted."""
        settings = self.settings
        result: dict[str, Any] = {"fit_error": None}
        scorer = _quick(settings.scorer) if isinstance(model, FoldSVC) else settings.scorer
        for name, (X, y, _, params) in zip(("test", "train"), arrays, strict=False):
            begin = time.perf_counter()
            scores = score(model, X, y, scorer, params, settings.error_score)
            result[f"{name}_scores"] = scores
            result.setdefault("score_time", time.perf_counter() - begin)
        result["n_test_samples"] = arrays[0][2].shape[0]
        return result

    def _keep(self, outcome: Outcome, task: Task, number: int, result: dict[str, Any]) -> None:
        outcome.results[number, task.fold] = result
        if self.settings.verbose > 1:
            print(_line(self.settings, task.fold, number, result))


class _FitError(Exception):
    """An error in a fit, as opposed to one in a score."""

    def __init__(self, error: Exception, text: str) -> None:
        super().__init__(text)
        self.error, self.text = error, text


def _by_class_and_fold(y: Any, folds: list[tuple[Index, Index]]) -> Index:
    """Return an order of the rows in which the training rows of two classes are four runs.

    So they are where folds are disjoint: parts of a kernel matrix are then copied by slices.
    """
    labels = np.asarray(y).reshape(len(y), -1)[:, 0]
    try:
        classes = np.unique(labels, return_inverse=True)[1]
    except TypeError:  # mixed types, which a fit refuses
        classes = np.zeros(len(labels), dtype=np.intp)
    fold_of = np.full(len(labels), len(folds))
    for fold, (_, test) in enumerate(folds):
        fold_of[test] = fold
    return np.lexsort((fold_of, classes))


def _names(model: SVC) -> dict[str, Any]:
    """Return what a check of X has told the model."""
    known = ("n_features_in_", "feature_names_in_")
    return {name: value for name, value in vars(model).items() if name in known}


def _quick(scorer: Any) -> Any:
    """Return the same scorer by a shorter way: accuracy is what the model's own score is."""
    if isinstance(scorer, Scorer) and scorer._score_func is accuracy_score and not scorer._kwargs:
        return lambda model, X, y, **params: scorer._sign * model.score(X, y, **params)
    return scorer


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


def _line(settings: Settings, fold: int, number: int, result: dict[str, Any]) -> str:
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
