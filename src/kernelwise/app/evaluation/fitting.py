"""Fit one method to all rows of a table."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ..._checks import check_kind
from ..tabular import Target
from .encoding import ColumnChoice
from .methods import method_named


def fit_table(
    frame: Any,
    target: Target,
    method: str = "relevance",
    *,
    balanced: bool = False,
    drop: Collection[str] = (),
    keep: Collection[str] = (),
    category: Collection[str] = (),
    seed: int = 0,
) -> Any:
    """Fit a method to all rows of a table that have a target.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table.
    target : Target
        Its target, by `check_target`.
    method : str, default="relevance"
        A key of `methods` that learns.
    balanced : bool, default=False
        Whether all classes count alike in the fit. Probabilities keep the shares of the classes in
        the table, so that the model may predict a class that is not the most probable one.
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
        categories; it predicts from tables as they are read. Classifiers give probabilities.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernelwise.app.evaluation import fit_table
    >>> from kernelwise.app.tabular import check_target, column_weights
    >>> frame = pd.DataFrame({"size": [1, 2, 8, 9] * 5, "noise": [3, 1, 2, 0, 3] * 4})
    >>> frame["kind"] = ["small", "small", "large", "large"] * 5
    >>> model = fit_table(frame, check_target(frame, "kind"))
    >>> model.predict(pd.DataFrame({"size": ["7.5"], "noise": [None]})).tolist()
    ['large']
    >>> column_weights(model)[0].column
    'size'
    """
    from sklearn.pipeline import Pipeline

    check_kind(target, "target", Target)
    own = method_named(method, target.task, learns=True)
    estimator = own.estimator(seed, balanced=balanced, proba=True)
    steps = ColumnChoice.checked(frame, drop, keep, category).steps(
        one_hot=not own.reads_categories
    )
    return Pipeline([*steps, ("model", estimator)]).fit(target.rows_of(frame), target.y)
