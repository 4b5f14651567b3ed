"""Fit several methods to the training rows of each split, and score them on the test rows."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from .._typing import Array, Index
from ..tabular import Column, Target
from .guessing import guessing_note
from .methods import Method
from .results import Evaluation, HeldOut, Score
from .scores import score_predictions
from .splits import Splits
from .statistics import compare_scores

ProgressCallback = Callable[[int, int, str], Any]
_FIT_ERRORS = (ValueError, MemoryError, np.linalg.LinAlgError)


class _FoldResult(NamedTuple):
    """Predictions of one method for the test rows of one split."""

    test: Index
    predicted: Any
    decision: Array | None
    proba: Array | None
    seconds: float


@dataclass
class SplitRuns:
    """Run several methods on the same splits.

    ``inputs(train, test)`` returns a pair (X_train, X_test) for each method, in their order. The
    first method is the one under evaluation, the others are for comparison.
    """

    classes: Target
    splits: Splits
    methods: Sequence[Method]
    inputs: Callable[[Index, Index], Iterable[tuple[Any, Any]]]
    seed: int
    progress: ProgressCallback | None
    balanced: bool = False
    failures: dict[str, str] = field(init=False, default_factory=dict)
    _results: dict[str, list[_FoldResult]] = field(
        init=False, default_factory=lambda: defaultdict(list)
    )
    _warnings: list[str] = field(init=False, default_factory=list)

    def run(self) -> None:
        """Fit all methods to all splits; a method that fails once is not tried again."""
        done = 0
        for train, test in self.splits.rows:
            for method, (X, X_test) in zip(self.methods, self.inputs(train, test), strict=True):
                self._report(done, method.label)
                if method.name not in self.failures:
                    self._fit(method, X, X_test, train, test)
                done += 1
            self._report(done, "")

    def evaluation(self, columns: Iterable[Column]) -> Evaluation:
        """Return the scores and their comparison; the first method must not have failed."""
        classes, splits = self.classes, self.splits
        metric = "balanced_accuracy" if classes.skewed or self.balanced else "accuracy"
        scores = tuple(self._score(method) for method in self.methods)
        held_out = self._held_out()
        guessing = guessing_note(held_out, classes.classes)
        return Evaluation(
            target=classes,
            columns=tuple(columns),
            metric=metric,
            protocol=splits.protocol + ", classes balanced" * bool(self.balanced),
            n_splits=len(splits.rows),
            seed=self.seed,
            scores=scores,
            differences=tuple(compare_scores(scores, metric, splits.test_ratio)),
            held_out=held_out,
            notes=(*classes.notes, *splits.notes, *self._warnings, *[guessing][: bool(guessing)]),
            test_ratio=splits.test_ratio,
            guessing=guessing,
        )

    def _report(self, done: int, label: str) -> None:
        if self.progress is not None:
            self.progress(done, len(self.splits.rows) * len(self.methods), label)

    def _fit(self, method: Method, X: Any, X_test: Any, train: Index, test: Index) -> None:
        y = self.classes.y[train]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                begin = perf_counter()
                model = method.estimator(self.seed, balanced=self.balanced).fit(X, y)
                seconds = perf_counter() - begin
                predicted, decision = model.predict(X_test), _decision_values(model, X_test)
                proba = self._probabilities(model, X_test)
            except _FIT_ERRORS as error:
                self.failures[method.name] = f"{method.label}: {error}"
                self._results[method.name] = []
                return
        for category in sorted({each.category.__name__ for each in caught}):
            note = f"{method.label}: a fit gave a {category}"
            self._warnings += [note] if note not in self._warnings else []
        self._results[method.name].append(_FoldResult(test, predicted, decision, proba, seconds))

    def _probabilities(self, model: Any, X: Any) -> Array | None:
        """Return the probabilities of all classes; None where the model gives none."""
        knows_all = np.array_equal(model.classes_, self.classes.classes)
        if not knows_all or not hasattr(model, "predict_proba"):
            return None
        return np.asarray(model.predict_proba(X))

    def _score(self, method: Method) -> Score:
        values: dict[str, list[float]] = {}
        errors: dict[str, float] = {}
        results = self._results[method.name]
        for test, predicted, decision, proba, _ in results:
            scores = score_predictions(
                self.classes.y[test], predicted, decision, proba, self.classes.classes
            )
            for metric, (value, error) in scores.items():
                values.setdefault(metric, []).append(value)
                errors[metric] = error
        arrays = {metric: np.array(numbers) for metric, numbers in values.items()}
        seconds = np.array([result.seconds for result in results])
        failure = self.failures.get(method.name, "")
        return Score(method.name, method.label, arrays, errors, seconds, failure)

    def _held_out(self) -> HeldOut:
        """Return the predictions of the first method in the first repeat of the splits."""
        results = self._results[self.methods[0].name][: self.splits.n_first]
        places = np.concatenate([result.test for result in results])
        decisions = [result.decision for result in results if result.decision is not None]
        probabilities = [result.proba for result in results if result.proba is not None]
        return HeldOut(
            self.classes.rows[places],
            self.classes.y[places],
            np.concatenate([result.predicted for result in results]),
            np.concatenate(decisions) if decisions else None,
            np.vstack(probabilities) if len(probabilities) == len(results) else None,
        )


def _decision_values(model: Any, X: Any) -> Array | None:
    """Return decision values or probabilities of the second of two classes, else None."""
    if len(model.classes_) != 2:
        return None
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(X))
    return np.asarray(model.predict_proba(X)[:, 1])
