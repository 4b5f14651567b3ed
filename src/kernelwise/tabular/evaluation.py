"""How well a method does on rows that it has not seen, beside others."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterable, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from .._typing import Array, Index
from .columns import describe_columns
from .encoder import TableEncoder
from .errors import TableError
from .registry import Method, method_named, methods
from .results import Difference, Evaluation, HeldOut, Score
from .target import Target, check_target

Progress = Callable[[int, int, str], Any]
YARDSTICKS = ("majority", "svc", "forest")
_REFUSALS = (ValueError, MemoryError, np.linalg.LinAlgError)


def evaluate(
    frame: Any,
    target: str,
    method: str = "relevance",
    *,
    against: Collection[str] = YARDSTICKS,
    cv: int = 5,
    repeats: int = 1,
    test_size: float | None = None,
    positive: Any = None,
    balanced: bool = False,
    drop: Collection[str] = (),
    keep: Collection[str] = (),
    seed: int = 0,
    progress: Progress | None = None,
) -> Evaluation:
    """Score a method on rows that it has not seen, beside yardsticks on the same rows.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table.
    target : str
        The column of the classes.
    method : str, default="relevance"
        The method in question, a key of `methods`.
    against : collection of str, default=("majority", "svc", "forest")
        The methods to put beside it.
    cv : int, default=5
        Stratified folds; fewer where a class has fewer rows.
    repeats : int, default=1
        How often the folds are dealt out anew.
    test_size : float, default=None
        The part of the rows that is held out once, instead of folds.
    positive : int or str, default=None
        The class that a yes is, of two; None is the rarer one.
    balanced : bool, default=False
        Whether all classes count alike while fitting, in all methods that can do that.
    drop : collection of str, default=()
        Columns that are not wanted.
    keep : collection of str, default=()
        Columns that are wanted although they look like an id.
    seed : int, default=0
        Deals out the rows, and seeds the methods.
    progress : callable, default=None
        Called with the number of fits done, their total, and the name of the next.

    Returns
    -------
    evaluation : Evaluation
        Scores with their spread, differences with their test, times.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from kernelwise.tabular import evaluate
    >>> size = np.random.default_rng(0).normal(size=60)
    >>> frame = pd.DataFrame({"size": size, "kind": np.where(size > 0, "large", "small")})
    >>> result = evaluate(frame, "kind", "svc", against=["majority"], cv=3)
    >>> result.best.mean("accuracy") > 0.9
    True
    """
    classes = check_target(frame, target, positive=positive)
    columns = describe_columns(frame, target, drop=drop, keep=keep)
    contenders = [method_named(method), *(method_named(each) for each in against if each != method)]
    splits, protocol, notes = make_splits(classes, cv, repeats, test_size, seed)
    rows = frame.iloc[classes.rows].drop(columns=target)
    encoder = TableEncoder(drop=tuple(drop), keep=tuple(keep))
    run = _Run(rows, classes, encoder, contenders, seed, progress, balanced)
    for split in splits:
        run.split(*split, total=len(splits) * len(contenders))
    if not run.outcomes[method]:
        raise TableError(run.failures[method])
    metric = "balanced_accuracy" if classes.skewed or balanced else "accuracy"
    scores = tuple(run.score(each) for each in contenders)
    n_test = np.mean([len(test) / len(train) for train, test in splits])
    return Evaluation(
        classes,
        tuple(columns),
        metric,
        protocol + ", classes balanced" * balanced,
        len(splits),
        seed,
        scores,
        tuple(differences(scores, metric, float(n_test))),
        run.held_out(len(splits) // repeats or 1),
        (*classes.notes, *notes, *run.warned),
    )


def compare(
    frame: Any,
    target: str,
    method: str = "relevance",
    *,
    cv: int = 5,
    repeats: int = 2,
    test_size: float | None = None,
    positive: Any = None,
    balanced: bool = False,
    drop: Collection[str] = (),
    keep: Collection[str] = (),
    seed: int = 0,
    progress: Progress | None = None,
) -> Evaluation:
    """Score all methods of this library, a grid search, a forest and boosting on the same rows.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table.
    target : str
        The column of the classes.
    method : str, default="relevance"
        The method that the others are tested against.
    cv : int, default=5
        Stratified folds; fewer where a class has fewer rows.
    repeats : int, default=2
        How often the folds are dealt out anew.
    test_size : float, default=None
        The part of the rows that is held out once, instead of folds.
    positive : int or str, default=None
        The class that a yes is, of two; None is the rarer one.
    balanced : bool, default=False
        Whether all classes count alike while fitting, in all methods that can do that.
    drop : collection of str, default=()
        Columns that are not wanted.
    keep : collection of str, default=()
        Columns that are wanted although they look like an id.
    seed : int, default=0
        Deals out the rows, and seeds the methods.
    progress : callable, default=None
        Called with the number of fits done, their total, and the name of the next.

    Returns
    -------
    evaluation : Evaluation
        Scores, differences to the first method with their test, times.

    See Also
    --------
    evaluate : One method beside a few yardsticks.
    """
    return evaluate(
        frame,
        target,
        method,
        against=tuple(methods()),
        cv=cv,
        repeats=repeats,
        test_size=test_size,
        positive=positive,
        balanced=balanced,
        drop=drop,
        keep=keep,
        seed=seed,
        progress=progress,
    )


def make_splits(
    classes: Target, cv: int, repeats: int, test_size: float | None, seed: int
) -> tuple[list[tuple[Index, Index]], str, list[str]]:
    """Return training and test rows of each split, the protocol in words, and notes."""
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
        return [tuple(split)], f"{len(split[1])} of {len(y)} rows held out", []
    if cv < 2 or repeats < 1:
        raise TableError(f"cv={cv} and repeats={repeats}: at least 2 folds and 1 repeat.")
    n_folds, notes = min(cv, classes.smallest), []
    if n_folds < cv:
        notes.append(f"{n_folds} folds instead of {cv}: the smallest class has {n_folds} rows")
    folds = RepeatedStratifiedKFold(n_splits=n_folds, n_repeats=repeats, random_state=seed)
    often = f", {repeats} times" if repeats > 1 else ""
    protocol = f"{n_folds}-fold cross-validation{often}, {len(y)} rows"
    return list(folds.split(np.zeros(len(y)), y)), protocol, notes


class _Run:
    """The fits of an evaluation, and what came of them."""

    def __init__(
        self,
        rows: Any,
        classes: Target,
        encoder: TableEncoder,
        contenders: Sequence[Method],
        seed: int,
        progress: Progress | None,
        balanced: bool = False,
    ) -> None:
        self.rows, self.classes, self.encoder = rows, classes, encoder
        self.contenders, self.seed, self.progress = contenders, seed, progress
        self.balanced = balanced
        self.outcomes: dict[str, list[Any]] = {each.name: [] for each in contenders}
        self.failures: dict[str, str] = {}
        self.warned: list[str] = []
        self._done = 0

    def split(self, train: Index, test: Index, total: int) -> None:
        """Fit all contenders to the training rows, and ask them for the others."""
        from sklearn.base import clone
        from sklearn.preprocessing import StandardScaler

        encoder, scaler = clone(self.encoder), StandardScaler()
        X = scaler.fit_transform(encoder.fit_transform(self.rows.iloc[train]))
        X_test = scaler.transform(encoder.transform(self.rows.iloc[test]))
        for contender in self.contenders:
            self._tell(total, contender.label)
            if contender.name not in self.failures:
                self._fit(contender, X, X_test, train, test)
            self._done += 1
        self._tell(total, "")

    def _tell(self, total: int, text: str) -> None:
        if self.progress is not None:
            self.progress(self._done, total, text)

    def _fit(self, method: Method, X: Array, X_test: Array, train: Index, test: Index) -> None:
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

    def score(self, method: Method) -> Score:
        """Return the scores of a contender."""
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

    def held_out(self, n_splits: int) -> HeldOut:
        """Return what the first contender said in the first splits."""
        outcomes = self.outcomes[self.contenders[0].name][:n_splits]
        places = np.concatenate([outcome[0] for outcome in outcomes])
        predicted = np.concatenate([outcome[1] for outcome in outcomes])
        decisions = [outcome[2] for outcome in outcomes if outcome[2] is not None]
        decision = np.concatenate(decisions) if decisions else None
        return HeldOut(self.classes.rows[places], self.classes.y[places], predicted, decision)


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
    recalls, errors = [], []
    for label in np.unique(actual):
        own = right[actual == label]
        recalls.append(own.mean())
        errors.append(own.mean() * (1 - own.mean()) / len(own))
    found = {
        "accuracy": (p, float(np.sqrt(p * (1 - p) / len(right)))),
        "balanced_accuracy": (
            float(np.mean(recalls)),
            float(np.sqrt(np.sum(errors)) / len(errors)),
        ),
    }
    labels, counts = np.unique(actual, return_counts=True)
    if decision is not None and len(labels) == 2:
        area = float(roc_auc_score(actual == labels[1], decision))
        found["auc"] = area, _error_of_area(area, *counts)
    return found


def _error_of_area(area: float, n_no: int, n_yes: int) -> float:
    """Return the standard error of an area under the curve, by Hanley and McNeil."""
    q1, q2 = area / (2 - area), 2 * area**2 / (1 + area)
    variance = area * (1 - area) + (n_yes - 1) * (q1 - area**2) + (n_no - 1) * (q2 - area**2)
    return float(np.sqrt(max(variance, 0.0) / (n_yes * n_no)))


def differences(scores: Sequence[Score], metric: str, n_test: float) -> Iterable[Difference]:
    """Yield the first score's lead over each other; ``n_test`` in units of the training rows."""
    from scipy import stats

    first, *others = scores
    for other in others:
        if other.failure or len(first.values[metric]) < 2:
            continue
        gain = first.values[metric] - other.values[metric]
        mean, n = float(gain.mean()), len(gain)
        error = float(np.sqrt((1 / n + n_test) * gain.var(ddof=1)))
        reach = float(stats.t.ppf(0.975, n - 1)) * error
        equal = 1.0 if mean == 0 else 0.0  # where all splits have the same difference
        p_value = float(2 * stats.t.sf(abs(mean) / error, n - 1)) if error else equal
        yield Difference(first.method, other.method, mean, mean - reach, mean + reach, p_value)
