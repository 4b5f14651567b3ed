"""A table in, a model of all its steps out."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from .encoder import TableEncoder
from .errors import TableError
from .labels import Target
from .probability import FEWEST, above_its_share, calibrated
from .registry import method_named
from .results import Weight


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
    >>> from kernelwise.tabular import check_target, column_weights, fit_table
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


def machine_of(model: Any) -> Any:
    """Return the support vector machine inside a pipeline, a calibration or a search.

    Parameters
    ----------
    model : estimator
        A fitted model.

    Returns
    -------
    machine : estimator
        What decides in it.
    """
    inner = model[-1] if hasattr(model, "steps") else model
    inner = getattr(inner, "estimator_", inner)  # below a threshold
    if hasattr(inner, "calibrated_classifiers_"):
        inner = inner.calibrated_classifiers_[0].estimator
    return getattr(inner, "best_estimator_", inner)


def column_weights(model: Any) -> list[Weight]:
    """Return how much each column of the table counts, the largest first.

    Parameters
    ----------
    model : sklearn.pipeline.Pipeline
        A model by `fit_table`.

    Returns
    -------
    weights : list of Weight
        One entry a column that is used; none where the method weighs all alike.
    """
    machine = machine_of(model)
    shares = getattr(machine, "feature_importances_", None)
    if shares is None:
        return []
    encoder = model[0]
    features: dict[str, dict[str, float]] = {}
    names = zip(encoder.sources_, encoder.outputs_, np.asarray(shares).tolist(), strict=True)
    for source, output, share in names:
        features.setdefault(source, {})[output] = share
    weights = [Weight(name, sum(own.values()), own) for name, own in features.items()]
    return sorted(weights, key=lambda weight: -weight.share)
