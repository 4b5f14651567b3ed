"""Evaluate a method by name on unseen rows of a table, beside others."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from .._typing import Index
from ..tabular import (
    Column,
    TableError,
    Target,
    check_target,
    describe_columns,
)
from ..tabular.columns import notes_on
from .copies import find_copies
from .cross_validation import ProgressCallback, SplitRuns
from .encoding import ColumnChoice, encode_split
from .methods import method_named, methods
from .results import Evaluation
from .splits import make_splits

YARDSTICKS = ("majority", "svc", "forest")


def evaluate(
    frame: Any,
    target: str | Target,
    method: str = "relevance",
    *,
    against: str | Collection[str] = YARDSTICKS,
    cv: int = 5,
    repeats: int = 1,
    test_size: float | None = None,
    positive: Any = None,
    balanced: bool = False,
    drop: Collection[str] = (),
    keep: Collection[str] = (),
    category: Collection[str] = (),
    columns: Sequence[Column] | None = None,
    seed: int = 0,
    progress: ProgressCallback | None = None,
) -> Evaluation:
    """Score a method on unseen rows, beside other methods on the same rows.

    Rows that are copies of each other are held out together, unless chance explains them.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table.
    target : str or Target
        The column of the classes, or what `check_target` returned for it.
    method : str, default="relevance"
        The method under evaluation, a key of `methods`.
    against : str or collection of str, default=("majority", "svc", "forest")
        The methods to compare it with; "all" is every key of `methods`.
    cv : int, default=5
        Number of stratified folds; fewer where a class has fewer rows.
    repeats : int, default=1
        How often the rows are dealt out to folds.
    test_size : float, default=None
        Share of the rows to hold out once, instead of folds.
    positive : int or str, default=None
        The positive one of two classes, where ``target`` is a name; None is the rarer one.
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
    seed : int, default=0
        Seed of the splits and of the methods.
    progress : callable, default=None
        Called with the number of finished fits, their total, and the label of the next method.

    Returns
    -------
    evaluation : Evaluation
        Scores with their spread, differences with their test, and times.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from kernelwise.evaluation import evaluate
    >>> size = np.random.default_rng(0).normal(size=60)
    >>> frame = pd.DataFrame({"size": size, "kind": np.where(size > 0, "large", "small")})
    >>> result = evaluate(frame, "kind", "svc", against=["majority"], cv=3)
    >>> result.best.mean("accuracy") > 0.9
    True
    """
    classes = (
        target if isinstance(target, Target) else check_target(frame, target, positive=positive)
    )
    choice = ColumnChoice.of(frame, drop, keep, category)
    contenders = [method_named(name) for name in compared_methods(method, against)]
    if columns is None:
        one_hot = not contenders[0].reads_categories
        columns = describe_columns(frame, classes.name, **choice._asdict(), one_hot=one_hot)
    elif not all(isinstance(column, Column) for column in columns):
        raise TypeError("columns must be those of describe_columns, or None.")
    rows = classes.rows_of(frame)
    copies = find_copies(rows[[column.name for column in columns if column.used]], seed)
    splits = make_splits(classes, cv, repeats, test_size, seed, copies)

    def inputs(train: Index, test: Index) -> list[tuple[Any, Any]]:
        kinds = {not method.reads_categories for method in contenders}
        encoded = {kind: encode_split(choice, rows, train, test, one_hot=kind) for kind in kinds}
        return [encoded[not method.reads_categories] for method in contenders]

    run = SplitRuns(classes, splits, contenders, inputs, seed, progress, balanced)
    run.run()
    if method in run.failures:
        raise TableError(run.failures[method])
    evaluation = run.evaluation(columns)
    return replace(evaluation, notes=(*evaluation.notes, *notes_on(columns)))


# The name in `kernelwise.tabular` for an evaluation of all methods in two repeats of the folds.
compare = partial(evaluate, against="all", repeats=2)


def compared_methods(method: str, against: str | Collection[str] = YARDSTICKS) -> list[str]:
    """Return the names of the method under evaluation and of the others, each once."""
    if isinstance(against, str):
        against = tuple(methods()) if against == "all" else (against,)
    return [method, *(name for name in against if name != method)]
