"""The fits of an evaluation: each split, each contender, and what came of them."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np

from .._typing import Array, Index
from ..tabular import Column, Target
from .methods import Method
from .results import Evaluation, HeldOut, Score
from .scores import judge
from .splits import Splits
from .statistics import differences

Progress = Callable[[int, int, str], Any]
_REFUSALS = (ValueError, MemoryError, np.linalg.LinAlgError)


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
