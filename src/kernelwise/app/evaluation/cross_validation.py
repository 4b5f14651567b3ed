"""Fit several methods to the training rows of each split, and score them on the test rows."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

import numpy as np

from ..._typing import Index
from ..tabular import Column, Target
from .methods import Method
from .results import Evaluation, HeldOut, Score, compare_scores
from .scoring import Scoring, deciding_metric, guessing_note, scoring_of
from .splits import Splits

ProgressCallback = Callable[[int, int, str], Any]
_FIT_ERRORS = (ValueError, MemoryError, np.linalg.LinAlgError)


@dataclass
class SplitRuns:
    """Run several methods on the same splits.

    ``inputs(train, test)`` returns a pair (X_train, X_test) for each method, in their order. The
    first method is the one under evaluation, the others are for comparison.
    """

    target: Target
    splits: Splits
    methods: Sequence[Method]
    inputs: Callable[[Index, Index], Iterable[tuple[Any, Any]]]
    seed: int
    progress: ProgressCallback | None
    balanced: bool = False
    proba: bool = False
    watch: Callable[[Any, Index], Any] | None = None  # given each model of the first method
    failures: dict[str, str] = field(init=False, default_factory=dict)
    _scoring: Scoring = field(init=False)
    _seconds: dict[str, list[float]] = field(init=False, default_factory=lambda: defaultdict(list))
    _results: dict[str, list[HeldOut]] = field(
        init=False, default_factory=lambda: defaultdict(list)
    )
    _warnings: list[str] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self._scoring = scoring_of(self.target)

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

    def evaluation(self, columns: Iterable[Column], metric: str | None = None) -> Evaluation:
        """Return the scores and their comparison; the first method must not have failed."""
        target, splits = self.target, self.splits
        scores = tuple(self._score(method) for method in self.methods)
        metric = deciding_metric(self._scoring, metric, scores[0].values, self.balanced)
        held_out = HeldOut.joined(self._results[self.methods[0].name][: splits.n_first])
        guessing = guessing_note(self._scoring, held_out)
        return Evaluation(
            target=target,
            columns=tuple(columns),
            metric=metric,
            protocol=splits.protocol + ", classes balanced" * bool(self.balanced),
            n_splits=len(splits.rows),
            seed=self.seed,
            scores=scores,
            differences=tuple(compare_scores(scores, metric, splits.test_ratio)),
            held_out=replace(held_out, rows=target.rows[held_out.rows]),
            notes=(*target.notes, *splits.notes, *self._warnings, *[guessing][: bool(guessing)]),
            test_ratio=splits.test_ratio,
            guessing=guessing,
        )

    def _report(self, done: int, label: str) -> None:
        if self.progress is not None:
            self.progress(done, len(self.splits.rows) * len(self.methods), label)

    def _fit(self, method: Method, X: Any, X_test: Any, train: Index, test: Index) -> None:
        y = self.target.y
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                begin = perf_counter()
                model = method.estimator(self.seed, balanced=self.balanced, proba=self.proba)
                model = model.fit(X, y[train])
                seconds = perf_counter() - begin
                found = self._scoring.predict(model, X_test, test, y[test])
            except _FIT_ERRORS as error:
                self.failures[method.name] = f"{method.label}: {error}"
                self._results[method.name] = []
                return
        for category in sorted({each.category.__name__ for each in caught}):
            note = f"{method.label}: a fit gave a {category}"
            self._warnings += [note] if note not in self._warnings else []
        self._results[method.name].append(found)
        self._seconds[method.name].append(seconds)
        if self.watch is not None and method is self.methods[0]:
            self.watch(model, test)

    def _score(self, method: Method) -> Score:
        values: dict[str, list[float]] = {}
        errors: dict[str, float] = {}
        for held_out in self._results[method.name]:
            for metric, (value, error) in self._scoring.scores(held_out).items():
                values.setdefault(metric, []).append(value)
                errors[metric] = error
        arrays = {metric: np.array(numbers) for metric, numbers in values.items()}
        seconds = np.array(self._seconds[method.name])
        failure = self.failures.get(method.name, "")
        return Score(method.name, method.label, arrays, errors, seconds, failure)
