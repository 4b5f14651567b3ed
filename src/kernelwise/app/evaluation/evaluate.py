"""Evaluate a method by name on unseen rows of a table, beside others."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

from sklearn.pipeline import Pipeline

from ..._typing import Index
from ..tabular import (
    Column,
    TableError,
    Target,
    check_target,
    describe_columns,
)
from ..tabular.columns import notes_on
from ..tabular.targets import MIN_CLASS
from .cross_validation import ProgressCallback, SplitRuns
from .fitting import ColumnChoice, encode_split
from .methods import Method, method_named, methods, yardsticks
from .results import METRICS, Evaluation, value_text
from .splits import Splits, find_duplicate_rows, make_splits


def evaluate(
    frame: Any,
    target: str | Target,
    method: str = "relevance",
    *,
    against: str | Collection[str] | None = None,
    cv: int = 5,
    repeats: int = 1,
    test_size: float | None = None,
    task: str = "auto",
    positive: Any = None,
    min_class: int = MIN_CLASS,
    metric: str | None = None,
    balanced: bool = False,
    drop: Collection[str] = (),
    keep: Collection[str] = (),
    category: Collection[str] = (),
    columns: Sequence[Column] | None = None,
    copies: str = "together",
    seed: int = 0,
    progress: ProgressCallback | None = None,
    fitted: Callable[[Any, Index], Any] | None = None,
) -> Evaluation:
    """Score a method on unseen rows, beside other methods on the same rows.

    Rows that are copies of each other are held out together, unless chance explains them or
    ``copies`` is "apart".

    Parameters
    ----------
    frame : pandas.DataFrame
        The table.
    target : str or Target
        The column of the target, or what `check_target` returned for it.
    method : str, default="relevance"
        The method under evaluation, a key of `methods`.
    against : str or collection of str, default=None
        The methods to compare it with; "all" is every key of `methods`. None is guessing, a forest
        up to 200,000 rows, and a plain SVC up to 50,000 rows or, for numbers, ridge regression.
    cv : int, default=5
        Number of stratified folds; fewer where a class has fewer rows.
    repeats : int, default=1
        How often the rows are dealt out to folds.
    test_size : float, default=None
        Share of the rows to hold out once, instead of folds.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether the target is classes or a number, where ``target`` is a name.
    positive : int or str, default=None
        The positive one of two classes, where ``target`` is a name; None is the rarer one.
    min_class : int, default=5
        Classes of fewer rows are set aside, where ``target`` is a name.
    metric : str, default=None
        The metric by which methods are compared. None is the log loss for classes, or the balanced
        accuracy if they are balanced, and the root mean squared error "rmse" for numbers.
    balanced : bool, default=False
        Whether all classes count alike in the fits, for the methods that can do that.
    drop : collection of str, default=()
        Columns to leave out.
    keep : collection of str, default=()
        Columns to use although they look like an id.
    category : collection of str, default=()
        Columns that are categories although they hold numbers, such as codes.
    columns : sequence of Column, default=None
        What `describe_columns` returned for the same columns; None describes them.
    copies : {"together", "apart"}, default="together"
        Whether rows that are copies of each other are held out together. A note says what the
        method would score if they were not.
    seed : int, default=0
        Seed of the splits and of the methods.
    progress : callable, default=None
        Called with the number of finished fits, their total, and the label of the next method.
    fitted : callable, default=None
        Called with each fitted pipeline of the method, and the numbers of the rows that were held
        out from it, among those of ``target.rows``.

    Returns
    -------
    evaluation : Evaluation
        Scores with their spread, differences with their test, and times.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from kernelwise.app.evaluation import evaluate
    >>> size = np.random.default_rng(0).normal(size=60)
    >>> frame = pd.DataFrame({"size": size, "kind": np.where(size > 0, "large", "small")})
    >>> result = evaluate(frame, "kind", "svc", against=["guessing"], cv=3)
    >>> result.best.mean("accuracy") > 0.9
    True
    """
    if not isinstance(target, Target):
        target = check_target(frame, target, task=task, positive=positive, min_class=min_class)
    choice = ColumnChoice.checked(frame, drop, keep, category)
    names = compared_methods(method, target, against)
    contenders = [method_named(name, target.task) for name in names]
    columns = _described(frame, target, choice, contenders[0], columns)
    if copies not in ("together", "apart"):
        raise TableError(f'copies={copies!r} is not known; give "together" or "apart".')
    rows = target.rows_of(frame)
    first = find_duplicate_rows(rows[[column.name for column in columns if column.used]], seed)
    how = target, cv, repeats, test_size, seed
    splits = make_splits(*how, first, copies == "together")

    def scored(splits: Splits, methods: Sequence[Method], watch: Any = None) -> SplitRuns:
        steps: list[tuple[str, Any]] = []

        def inputs(train: Index, test: Index) -> list[tuple[Any, Any]]:
            kinds = {not method.reads_categories for method in methods}
            encoded = {k: encode_split(choice, rows, train, test, one_hot=k) for k in kinds}
            steps[:] = encoded[not methods[0].reads_categories][0]
            return [encoded[not method.reads_categories][1:] for method in methods]

        run = SplitRuns(target, splits, methods, inputs, seed, progress, balanced, proba=True)
        if watch is not None:
            run.watch = lambda model, test: watch(Pipeline([*steps, ("model", model)]), test)
        run.run()
        return run

    run = scored(splits, contenders, fitted)
    if method in run.failures:
        raise TableError(run.failures[method])
    evaluation = run.evaluation(columns, metric)
    notes = [*evaluation.notes, *notes_on(columns)]
    if splits.together:
        notes += _apart_note(evaluation, scored(make_splits(*how), contenders[:1]))
    return replace(evaluation, notes=tuple(notes))


def _described(
    frame: Any,
    target: Target,
    choice: ColumnChoice,
    method: Method,
    columns: Sequence[Column] | None,
) -> Sequence[Column]:
    """Return the columns as a method reads them, unless they are known."""
    if columns is None:
        one_hot = not method.reads_categories
        return describe_columns(frame, target.name, **choice._asdict(), one_hot=one_hot)
    if not all(isinstance(column, Column) for column in columns):
        raise TypeError("columns must be those of describe_columns, or None.")
    return columns


def _apart_note(together: Evaluation, apart: SplitRuns) -> list[str]:
    """Return a note on the score where copies may be on both sides of a split."""
    metric, best = together.metric, together.best
    if apart.failures:
        return []
    value = apart.evaluation((), metric).best.mean(metric)
    return [
        f"with copies held apart, the {METRICS[metric]} of {best.label} would be "
        f"{value_text(metric, value)} instead of {value_text(metric, best.mean(metric))}"
    ]


def compared_methods(
    method: str, target: Target, against: str | Collection[str] | None = None
) -> list[str]:
    """Return the names of the method under evaluation and of the others, each once."""
    if against is None:
        against = yardsticks(target.task, len(target.y))
    if isinstance(against, str):
        against = tuple(methods(target.task)) if against == "all" else (against,)
    return [method, *(name for name in against if name != method)]
