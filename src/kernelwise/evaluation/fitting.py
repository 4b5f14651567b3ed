"""Fit one method to all rows of a table."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ..tabular import TableEncoder, TableError, Target
from .calibration import FEWEST, above_its_share, calibrated
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
        Whether the model is to give probabilities; they come from a cross-validation inside, and
        the class is then the most probable one.
    balanced : bool, default=False
        Whether all classes count alike while fitting. With ``proba`` this is for two classes: a
        row is of the second one where that is more probable than its share of the rows.
    drop : collection of str, default=()
        Columns that are not wanted.
    keep : collection of str, default=()
        Columns that are wanted although they look like an id.
    seed : int, default=0
        Seeds the method.

    Returns
    -------
    model : sklearn.pipeline.Pipeline
        Steps "encode", "scale" and "model"; it takes tables as they are read.

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
    from sklearn.preprocessing import StandardScaler

    chosen = method_named(method, learns=True)
    estimator = chosen.made(seed, balanced, classes.y)
    if proba:
        check_probabilities(classes, balanced)
    if proba and not hasattr(estimator, "threshold"):
        estimator = calibrated(estimator, classes.y, seed)
        estimator = above_its_share(estimator, classes.y) if balanced else estimator
    steps = [
        ("encode", TableEncoder(drop=tuple(drop), keep=tuple(keep))),
        ("scale", StandardScaler()),
        ("model", estimator),
    ]
    return Pipeline(steps).fit(frame.iloc[classes.rows].drop(columns=classes.name), classes.y)


def check_probabilities(classes: Target, balanced: bool) -> None:
    """Raise where there is no way to probabilities, before any work."""
    if classes.smallest < FEWEST:
        raise TableError(
            f"probabilities need at least {FEWEST} rows of each class, and the smallest of "
            f"{classes.name!r} has {classes.smallest}; do without them, or join classes."
        )
    if balanced and len(classes.classes) > 2:
        raise TableError(
            f"balanced probabilities need two classes, and {classes.name!r} has "
            f"{len(classes.classes)}; do without one of them."
        )
