"""How well a method does on rows that it has not seen, beside others."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from .._typing import Array, Index
from ..tabular import TableEncoder, TableError, check_target, describe_columns
from ..tabular.columns import notes_on
from .cross_validation import Progress, Rounds
from .methods import method_named, methods
from .results import Evaluation
from .splits import make_splits

YARDSTICKS = ("majority", "svc", "forest")


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
    >>> from kernelwise.evaluation import evaluate
    >>> size = np.random.default_rng(0).normal(size=60)
    >>> frame = pd.DataFrame({"size": size, "kind": np.where(size > 0, "large", "small")})
    >>> result = evaluate(frame, "kind", "svc", against=["majority"], cv=3)
    >>> result.best.mean("accuracy") > 0.9
    True
    """
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    classes = check_target(frame, target, positive=positive)
    columns = describe_columns(frame, target, drop=drop, keep=keep)
    contenders = [method_named(method), *(method_named(each) for each in against if each != method)]
    splits = make_splits(classes, cv, repeats, test_size, seed)
    rows = frame.iloc[classes.rows].drop(columns=target)

    def inputs(train: Index, test: Index) -> list[tuple[Array, Array]]:
        steps = make_pipeline(TableEncoder(drop=tuple(drop), keep=tuple(keep)), StandardScaler())
        X = steps.fit_transform(rows.iloc[train])
        return [(X, steps.transform(rows.iloc[test]))] * len(contenders)

    rounds = Rounds(classes, splits, contenders, inputs, seed, progress, balanced)
    rounds.run()
    if method in rounds.failures:
        raise TableError(rounds.failures[method])
    found = rounds.evaluation(columns)
    return replace(found, notes=(*found.notes, *notes_on(columns)))


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
