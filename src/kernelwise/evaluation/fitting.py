"""Fit one method to all rows of a table."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ..tabular import TableError, Target
from .calibration import MIN_ROWS, balanced_by_threshold, calibrated
from .encoding import ColumnChoice
from .methods import method_named


def fit_table(
    frame: Any,
    classes: Target,
    method: str = "relevance",
    *,
    proba: bool = False,
    balanced: bool = False,
    drop: Collection[str] = (),
    keep: Collection[str] = (),
    category: Collection[str] = (),
    seed: int = 0,
) -> Any:
    """Fit a method to all rows of a table that have a class.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table.
    classes : Target
        Its classes, by `check_target`.
    method : str, default="relevance"
        A key of `methods` that learns.
    proba : bool, default=False
        Whether the model gives probabilities. They come from a cross-validation inside the fit,
        and the model then predicts the most probable class.
    balanced : bool, default=False
        Whether all classes count alike in the fit. Together with ``proba`` this needs two classes:
        a row is of the second class where that is more probable than its share of the rows.
    drop : collection of str, default=()
        Columns to leave out.
    keep : collection of str, default=()
        Columns to use although they look like an id.
    category : collection of str, default=()
        Columns that are categories although they hold numbers, such as codes.
    seed : int, default=0
        Seed of the method.

    Returns
    -------
    model : sklearn.pipeline.Pipeline
        With the steps "encode", "scale" and "model", without "scale" for a method that reads
        categories; it predicts from tables as they are read.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernelwise.evaluation import fit_table
    >>> from kernelwise.tabular import check_target, column_weights
    >>> frame = pd.DataFrame({"size": [1, 2, 8, 9] * 5, "noise": [3, 1, 2, 0, 3] * 4})
    >>> frame["kind"] = ["small", "small", "large", "large"] * 5
    >>> model = fit_table(frame, check_target(frame, "kind"))
    >>> model.predict(pd.DataFrame({"size": ["7.5"], "noise": [None]})).tolist()
    ['large']
    >>> column_weights(model)[0].column
    'size'
    """
    from sklearn.pipeline import Pipeline

    own = method_named(method, learns=True)
    estimator = own.estimator(seed, classes.y, balanced=balanced)
    if proba:
        check_probabilities(classes, balanced)
        if not hasattr(estimator, "threshold"):
            estimator = calibrated(estimator, classes.y, seed)
            estimator = balanced_by_threshold(estimator, classes.y) if balanced else estimator
    steps = ColumnChoice(drop, keep, category).steps(one_hot=not own.reads_categories)
    return Pipeline([*steps, ("model", estimator)]).fit(classes.rows_of(frame), classes.y)


def check_probabilities(classes: Target, balanced: bool) -> None:
    """Raise TableError, before any work, where a fit could not give probabilities."""
    if classes.smallest < MIN_ROWS:
        raise TableError(
            f"probabilities need at least {MIN_ROWS} rows of each class, and the smallest of "
            f"{classes.name!r} has {classes.smallest}; fit without probabilities, or merge classes."
        )
    if balanced and len(classes.classes) > 2:
        raise TableError(
            f"balanced probabilities need two classes, and {classes.name!r} has "
            f"{len(classes.classes)}; fit without probabilities, or without balancing."
        )
