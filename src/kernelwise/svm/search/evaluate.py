"""How a search evaluates candidates: one task per kernel and fold, scores as in scikit-learn."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from traceback import format_exc
from typing import Any

import numpy as np
from sklearn.base import clone, is_regressor

from ..._memory import allowance
from ..._typing import Array, Index
from ...kernels import Kernel, Precomputed
from ...kernels.pairwise import PairwiseKernel
from ..base.grams import Grams, kernel_key
from ..base.kernel_spec import KernelSpec
from ..base.multiclass import vote
from .fold_model import FoldProblem, as_fold_model, can_share
from .plan import Group
from .scoring import Settings, failed, params_of_rows, progress_line, score, split_rows


@dataclass
class Task:
    """The candidates of one kernel on one fold."""

    group: Group
    fold: int
    train: Index
    test: Index
    problem: FoldProblem | None = None
    has_one_solution: bool = False  # wherever its solves start
    kernel_seconds: float = 0.0  # its part of the time for the kernel matrix
    error: tuple[Exception, str] | None = None

    @property
    def costs(self) -> list[float]:
        """The values of C, ascending."""
        return [C for C, _ in self.group.costs]


@dataclass
class TaskOutcome:
    """The results of a task's candidates, and how its solves went."""

    results: dict[tuple[int, int], dict[str, Any]] = field(default_factory=dict)
    n_solves: int = 0
    failures: list[float] = field(default_factory=list)


@dataclass
class Evaluator:
    """Evaluates tasks on some rows."""

    X: Any  # the rows and classes, as the user gave them
    y: Any
    settings: Settings  # the wishes of the user
    threads: int  # threads that run tasks

    def prepare(self, groups: list[Group], folds: list[tuple[Index, Index]]) -> list[Task]:
        """Set the tasks up, in the order in which they share kernels."""
        tasks = [
            Task(group, fold, np.asarray(train), np.asarray(test))
            for group in groups
            for fold, (train, test) in enumerate(folds)
        ]
        is_number = len(groups) > 0 and is_regressor(groups[0].model)
        classes = np.zeros(len(self.y)) if is_number else self.y
        self._order = _by_class_and_fold(classes, folds)
        self._place = np.argsort(self._order)
        checked: dict[Any, Any] = {}
        for task in tasks:
            self._prepare(task, checked)
        self._grams = self._make_grams([task for task in tasks if task.problem is not None])
        return tasks

    def _prepare(self, task: Task, checked: dict[Any, Any]) -> None:
        model = task.group.model
        if not can_share(model) or model.calibration is not None:
            return
        spec = KernelSpec.of(model)
        if spec.is_function:
            return
        try:
            key = (spec.accepts_sparse, spec.is_precomputed)
            if key not in checked:
                reader = model._reader()
                X, y = reader.check(self.X, self.y)
                checked[key] = reader.take(X, self._order), y[self._order], _names(model)
            X, y, names = checked[key]
            model.__dict__.update(names)
            weight = self._fit_params(task).get("sample_weight")
            problem = FoldProblem.of(model, X, y, self._place[task.train], weight)
            task.has_one_solution = problem.kernel.is_psd
            if self._fits(problem, task.costs[-1]) and not _has_a_ridge(problem.kernel, X):
                task.problem = problem
        except Exception as error:
            task.error = (error, format_exc())

    def _fits(self, problem: FoldProblem, C: float) -> bool:
        """Return whether kernel matrices of all rows fit into memory."""
        if isinstance(problem.kernel, Precomputed):
            return True
        dtype = Grams(problem.X, tol=problem.model.tol).dtype(problem.kernel, problem.bound(C))
        # The distances that kernels share, and for each thread a kernel and a machine's block.
        size = dtype.itemsize * problem.X.shape[0] ** 2 * (1 + 2 * self.threads)
        return bool(size <= allowance(problem.model.cache_size))

    def _make_grams(self, tasks: list[Task]) -> dict[Any, Grams]:
        """Return the kernel matrices of tasks with the same rows and tolerance."""
        alike: dict[Any, list[tuple[FoldProblem, float]]] = {}
        for task in tasks:
            assert task.problem is not None
            bound = task.problem.bound(task.costs[-1])
            alike.setdefault(_key(task.problem), []).append((task.problem, bound))
        return {
            key: Grams(
                found[0][0].X,
                tol=found[0][0].model.tol,
                threads=self.threads,
                kernels=[problem.kernel for problem, _ in found],
                largest_bound=max(bound for _, bound in found),
            )
            for key, found in alike.items()
        }

    def batches(self, tasks: list[Task]) -> Iterator[list[Task]]:
        """Yield tasks with their kernel matrices, as many kernels at a time as there are threads.

        Matrices are computed here, on all threads, so that tasks share them without a lock.
        """
        batch: list[Task] = []
        kernels: dict[Any, list[Task]] = {}
        for task in tasks:
            key = None
            if task.problem is not None:
                key = _key(task.problem), kernel_key(task.problem.kernel)
                if key not in kernels and len(kernels) == self.threads:
                    yield self._ready(batch, kernels)
                    self._forget(kernels)
                    batch, kernels = [], {}
                kernels.setdefault(key, []).append(task)
            batch.append(task)
        yield self._ready(batch, kernels)
        self._forget(kernels)

    def _ready(self, batch: list[Task], kernels: dict[Any, list[Task]]) -> list[Task]:
        """Compute the kernel matrices of a batch."""
        for sharing in kernels.values():
            begin = time.perf_counter()
            for task in sharing:
                problem = task.problem
                assert problem is not None
                try:
                    for C in task.costs:
                        self._grams[_key(problem)].stored(problem.kernel, problem.bound(C))
                except Exception as error:
                    if self.settings.error_score == "raise":
                        raise
                    task.error = (error, format_exc())
            for task in sharing:
                task.kernel_seconds = (time.perf_counter() - begin) / len(sharing)
        return batch

    def _forget(self, kernels: dict[Any, list[Task]]) -> None:
        for (key, _), sharing in kernels.items():
            assert sharing[0].problem is not None
            self._grams[key].forget(sharing[0].problem.kernel)

    def _fit_params(self, task: Task) -> dict[str, Any]:
        return params_of_rows(self.X, self.settings.fit_params, task.train)

    def run(self, task: Task) -> TaskOutcome:
        """Evaluate the candidates of a task."""
        outcome = TaskOutcome()
        if task.error is None:
            try:
                if task.problem is None:
                    self._fit_each(task, outcome)
                else:
                    self._solve(task, task.problem, outcome)
            except _FitError as failure:
                if self.settings.error_score == "raise":
                    raise failure.error from None
                task.error = (failure.error, failure.text)
        if task.error is not None:
            for _, number in task.group.costs:
                if (number, task.fold) not in outcome.results:
                    result = failed(self.settings, task.error[1], len(task.test))
                    self._keep(outcome, task, number, result)
        return outcome

    def _solve(self, task: Task, problem: FoldProblem, outcome: TaskOutcome) -> None:
        """Solve all C of a fold at once, and score each."""
        begin, grams = time.perf_counter(), self._grams[_key(problem)]
        try:
            paths = problem.paths(task.costs, grams)
            arrays = self._arrays(task)
            known = [problem.decisions(paths, self._place[rows], grams) for _, _, rows, _ in arrays]
        except Exception as error:
            raise _FitError(error, format_exc()) from error
        steps = [step for path in paths for step in path.steps if step.solved]
        outcome.n_solves = len(steps)
        violations = [step.solution.violation for step in steps if not step.solution.converged]
        outcome.failures = violations
        seconds = [sum(path[c].seconds for path in paths) for c in range(len(task.costs))]
        # The time that all C share is charged to them alike.
        shared = task.kernel_seconds + time.perf_counter() - begin - sum(seconds)
        for c, (C, number) in enumerate(task.group.costs):
            pairs = [(X, values[c]) for (X, *_), values in zip(arrays, known, strict=True)]
            result = self._accuracies(problem, arrays, [values for _, values in pairs])
            if result is None:
                solutions = [path[c].solution for path in paths]
                result = self._scored(problem.fitted(C, solutions, pairs), arrays)
            result["fit_time"] = shared / len(task.costs) + seconds[c]
            self._keep(outcome, task, number, result)

    def _accuracies(
        self, problem: FoldProblem, arrays: list[Any], known: list[Array]
    ) -> dict[str, Any] | None:
        """Return the accuracies that decision values give; None where another score is wanted."""
        sign, model = self.settings.accuracy_sign, problem.model
        labels = [np.asarray(y) for _, y, *_ in arrays]
        plain = all(each.ndim == 1 and each.dtype.kind in "biuSU" for each in labels)
        if sign == 0 or model.break_ties or not plain:
            return None
        result: dict[str, Any] = {"fit_error": None, "n_test_samples": len(labels[0])}
        parts = zip(("test", "train"), labels, known, arrays, strict=False)
        for name, own, values, (*_, params) in parts:
            begin = time.perf_counter()
            right = model.classes_[vote(values, len(model.classes_))] == own
            accuracy = np.average(right, weights=params.get("sample_weight"))
            result[f"{name}_scores"] = sign * float(accuracy)
            result.setdefault("score_time", time.perf_counter() - begin)
        return result

    def _fit_each(self, task: Task, outcome: TaskOutcome) -> None:
        """Fit candidate by candidate, from one C to the next where that is sure to be the same."""
        arrays = self._arrays(task, with_train=True)
        X, y, *_ = arrays[1]
        fit_params, model = self._fit_params(task), task.group.model
        ours = can_share(model)
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
            X, y = split_rows(model, self.X, self.y, rows, columns)
            params = params_of_rows(self.X, self.settings.score_params, rows)
            out.append((X, y, rows, params))
        return out

    def _scored(self, model: Any, arrays: list[Any]) -> dict[str, Any]:
        """Score a fitted model on the test part, and on the training part where it is wanted."""
        settings = self.settings
        result: dict[str, Any] = {"fit_error": None}
        for name, (X, y, _, params) in zip(("test", "train"), arrays, strict=False):
            begin = time.perf_counter()
            scores = score(model, X, y, settings.scorer, params, settings.error_score)
            result[f"{name}_scores"] = scores
            result.setdefault("score_time", time.perf_counter() - begin)
        result["n_test_samples"] = arrays[0][2].shape[0]
        return result

    def _keep(self, outcome: TaskOutcome, task: Task, number: int, result: dict[str, Any]) -> None:
        outcome.results[number, task.fold] = result
        if self.settings.verbose > 1:
            print(progress_line(self.settings, task.fold, number, result))


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


def _names(model: Any) -> dict[str, Any]:
    """Return the attributes that a check of X has set."""
    known = ("n_features_in_", "feature_names_in_")
    return {name: value for name, value in vars(model).items() if name in known}


def _key(problem: FoldProblem) -> Any:
    """Return the key of the kernel matrices that a problem reads."""
    return id(problem.X), problem.model.tol


def _has_a_ridge(kernel: Kernel, X: Any) -> bool:
    """Return whether K(X) is more than K(X, Z) at Z = X, so that it holds no kernel of new rows."""
    if isinstance(kernel, PairwiseKernel | Precomputed):
        return False
    one = X[:1]
    return not np.allclose(kernel.diag(one), kernel(one, one.copy())[0])
