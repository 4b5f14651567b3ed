"""The fits of an evaluation: each split, each contender, and what came of them."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from .._typing import Array, Index
from .columns import Column
from .errors import TableError
from .labels import Target
from .registry import Method
from .results import Difference, Evaluation, HeldOut, Score

Progress = Callable[[int, int, str], Any]
_ROUNDING = 1e-9  # of differences that are equal, as part of them
_REFUSALS = (ValueError, MemoryError, np.linalg.LinAlgError)


class Splits(NamedTuple):
    """Training and test rows, how many splits test each row once, the protocol, and notes."""

    rows: list[tuple[Index, Index]]
    n_first: int
    protocol: str
    notes: list[str]


def make_splits(
    classes: Target, cv: int, repeats: int, test_size: float | None, seed: int
) -> Splits:
    """Deal out the rows: once by ``test_size``, else in stratified folds."""
    from sklearn.model_selection import RepeatedStratifiedKFold, train_test_split

    y = classes.y
    if test_size is not None:
        if not 0 < test_size < 1:
            raise TableError(f"test_size={test_size:g} must be between 0 and 1.")
        try:
            split = train_test_split(
                np.arange(len(y)), test_size=test_size, stratify=y, random_state=seed
            )
        except ValueError as error:
            raise TableError(f"test_size={test_size:g} does not do: {error}") from error
        return Splits([tuple(split)], 1, f"{len(split[1])} of {len(y)} rows held out", [])
    if cv < 2 or repeats < 1:
        raise TableError(f"cv={cv} and repeats={repeats}: at least 2 folds and 1 repeat.")
    n_folds, notes = min(cv, classes.smallest), []
    if n_folds < cv:
        notes.append(f"{n_folds} folds instead of {cv}: the smallest class has {n_folds} rows")
    folds = RepeatedStratifiedKFold(n_splits=n_folds, n_repeats=repeats, random_state=seed)
    often = f", {repeats} times" if repeats > 1 else ""
    protocol = f"{n_folds}-fold cross-validation{often}, {len(y)} rows"
    return Splits(list(folds.split(np.zeros(len(y)), y)), n_folds, protocol, notes)


@dataclass
class Rounds:
    """The fits of an evaluation.

    ``inputs(train, test)`` gives a pair (X, X_test) for each of the contenders, in their order; the
    first of them is the one in question.
    """

    classes: Target
    splits: Splits
    contenders: Sequence[Method]
    inputs: Callable[[Index, Index], Iterable[tuple[Any, Any]]]
    seed: int
    progress: Progress | None
    balanced: bool = False
    outcomes: dict[str, list[Any]] = field(init=False, default_factory=lambda: defaultdict(list))
    failures: dict[str, str] = field(init=False, default_factory=dict)
    warned: list[str] = field(init=False, default_factory=list)

    def run(self) -> None:
        """Fit all contenders to the training rows of each split, and ask them for the others."""
        done = 0
        for train, test in self.splits.rows:
            pairs = zip(self.contenders, self.inputs(train, test), strict=True)
            for contender, (X, X_test) in pairs:
                self._tell(done, contender.label)
                if contender.name not in self.failures:
                    self._fit(contender, X, X_test, train, test)
                done += 1
            self._tell(done, "")

    def evaluation(self, columns: Iterable[Column]) -> Evaluation:
        """Return what was found; the first contender must not have failed."""
        classes, splits, balanced = self.classes, self.splits, self.balanced
        metric = "balanced_accuracy" if classes.skewed or balanced else "accuracy"
        scores = tuple(self._score(each) for each in self.contenders)
        ratio = float(np.mean([len(test) / len(train) for train, test in splits.rows]))
        return Evaluation(
            classes,
            tuple(columns),
            metric,
            splits.protocol + ", classes balanced" * balanced,
            len(splits.rows),
            self.seed,
            scores,
            tuple(differences(scores, metric, ratio)),
            self._held_out(),
            (*classes.notes, *splits.notes, *self.warned),
            test_ratio=ratio,
        )

    def _tell(self, done: int, text: str) -> None:
        if self.progress is not None:
            self.progress(done, len(self.splits.rows) * len(self.contenders), text)

    def _fit(self, method: Method, X: Any, X_test: Any, train: Index, test: Index) -> None:
        y = self.classes.y[train]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                begin = perf_counter()
                model = method.made(self.seed, self.balanced, y).fit(X, y)
                seconds = perf_counter() - begin
                predicted, decision = model.predict(X_test), _decision(model, X_test)
            except _REFUSALS as error:
                self.failures[method.name] = f"{method.label}: {error}"
                self.outcomes[method.name] = []
                return
        for kind in sorted({each.category.__name__ for each in caught}):
            note = f"{method.label}: a fit gave a {kind}"
            self.warned += [note] if note not in self.warned else []
        self.outcomes[method.name].append((test, predicted, decision, seconds))

    def _score(self, method: Method) -> Score:
        values: dict[str, list[float]] = {}
        errors: dict[str, float] = {}
        for test, predicted, decision, _ in self.outcomes[method.name]:
            actual = self.classes.y[test]
            for metric, (value, error) in judge(actual, predicted, decision).items():
                values.setdefault(metric, []).append(value)
                errors[metric] = error
        seconds = np.array([outcome[3] for outcome in self.outcomes[method.name]])
        arrays = {metric: np.array(numbers) for metric, numbers in values.items()}
        failure = self.failures.get(method.name, "")
        return Score(method.name, method.label, arrays, errors, seconds, failure)

    def _held_out(self) -> HeldOut:
        """Return what the first contender said in the first splits."""
        outcomes = self.outcomes[self.contenders[0].name][: self.splits.n_first]
        tests, predicted, decisions, _ = zip(*outcomes, strict=True)
        places, said = np.concatenate(tests), np.concatenate(predicted)
        decision = None if decisions[0] is None else np.concatenate(decisions)
        return HeldOut(self.classes.rows[places], self.classes.y[places], said, decision)


def _decision(model: Any, X: Array) -> Array | None:
    """Return values in favour of the second class of two."""
    if len(model.classes_) != 2:
        return None
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(X))
    return np.asarray(model.predict_proba(X)[:, 1])


def judge(actual: Any, predicted: Any, decision: Array | None) -> dict[str, tuple[float, float]]:
    """Return each metric of some predictions, with its standard error."""
    from sklearn.metrics import roc_auc_score

    right = predicted == actual
    p = float(right.mean())
    labels, counts = np.unique(actual, return_counts=True)
    recalls = np.array([right[actual == label].mean() for label in labels])
    error = float(np.sqrt(np.sum(recalls * (1 - recalls) / counts)) / len(labels))
    found = {
        "accuracy": (p, float(np.sqrt(p * (1 - p) / len(right)))),
        "balanced_accuracy": (float(recalls.mean()), error),
    }
    if decision is not None and len(labels) == 2:
        area = float(roc_auc_score(actual == labels[1], decision))
        found["auc"] = area, _error_of_area(area, *counts)
    return found


def _error_of_area(area: float, n_no: int, n_yes: int) -> float:
    """Return the standard error of an area under the curve, by Hanley and McNeil."""
    q1, q2 = area / (2 - area), 2 * area**2 / (1 + area)
    variance = area * (1 - area) + (n_yes - 1) * (q1 - area**2) + (n_no - 1) * (q2 - area**2)
    return float(np.sqrt(max(variance, 0.0) / (n_yes * n_no)))


def corrected(gains: Array, test_ratio: float) -> tuple[float, float, float]:
    """Return a mean over splits that share rows, its error, and half of its 95 % interval.

    The last two are NaN where all splits gain the same, and not 0: equal gains, which few splits
    and few rows have by chance, do not tell how far their mean may be off.
    """
    from scipy import stats

    n, mean = len(gains), float(gains.mean())
    if mean and np.ptp(gains) <= _ROUNDING * abs(mean):
        return mean, float("nan"), float("nan")
    error = float(np.sqrt((1 / n + test_ratio) * gains.var(ddof=1)))
    return mean, error, float(stats.t.ppf(0.975, n - 1)) * error


def differences(scores: Sequence[Score], metric: str, test_ratio: float) -> Iterable[Difference]:
    """Yield the first score's lead over each other; the ratio is that of `Evaluation`."""
    from scipy import stats

    first, *others = scores
    for other in others:
        if other.failure or len(first.values[metric]) < 2:
            continue
        gains = first.values[metric] - other.values[metric]
        mean, error, reach = corrected(gains, test_ratio)
        t = abs(mean) / error if error else 0.0  # no error: no split has a difference
        p_value = float(2 * stats.t.sf(t, len(gains) - 1))
        yield Difference(first.method, other.method, mean, mean - reach, mean + reach, p_value)
