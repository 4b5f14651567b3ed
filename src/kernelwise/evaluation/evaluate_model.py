"""How well a model that somebody has fitted does on rows that it has not seen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from .._models import final_estimator
from .._typing import Index
from ..tabular import Column, TableEncoder, check_target, column_weights, describe_columns
from ..tabular.pipeline import table_encoder
from .cross_validation import Progress, Rounds
from .evaluate import YARDSTICKS
from .methods import Method, method_named
from .results import Evaluation
from .splits import make_splits

_TIMES = "the seconds of largest class, SVC() and forest include the encoding of the columns"


def evaluate_model(
    model: Any,
    X: Any,
    y: Any,
    *,
    against: Mapping[str, Any] | None = None,
    label: str | None = None,
    cv: int = 5,
    repeats: int = 1,
    test_size: float | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Evaluation:
    """Score clones of a fitted model on rows that they have not seen, beside others.

    Parameters
    ----------
    model : estimator
        A fitted classifier, or a pipeline that ends with one. Its weights are those of the page.
    X : array-like or pandas.DataFrame of shape (n_samples, n_features)
        The rows; needs pandas in any case.
    y : array-like of shape (n_samples,)
        Their classes; rows without one are left out.
    against : dict of str to estimator, default=None
        What to put beside it, by the name to show. None is the largest class, a plain SVC and a
        forest, each after encoding and scaling of the columns.
    label : str, default=None
        What to call the model; None is the name of its class.
    cv : int, default=5
        Stratified folds; fewer where a class has fewer rows.
    repeats : int, default=1
        How often the folds are dealt out anew.
    test_size : float, default=None
        The part of the rows that is held out once, instead of folds.
    seed : int, default=0
        Deals out the rows, and seeds the yardsticks.
    progress : callable, default=None
        Called with the number of fits done, their total, and the name of the next.

    Returns
    -------
    evaluation : Evaluation
        Scores with their spread, differences with their test, times, and the weights.

    See Also
    --------
    write_report : Writes it as a page.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from kernelwise import RelevanceSVC
    >>> from kernelwise.evaluation import evaluate_model
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = RelevanceSVC(ensemble=False).fit(X, y)
    >>> evaluation = evaluate_model(model, X, y, cv=3)
    >>> evaluation.best.label, bool(evaluation.best.mean("accuracy") > 0.9)
    ('RelevanceSVC', True)
    """
    check_is_fitted(model)
    check_consistent_length(X, y)
    frame = _frame(X)
    target = str(getattr(y, "name", None) or "class")
    classes = check_target(_pandas().DataFrame({target: np.asarray(y)}), target)
    label = type(final_estimator(model)).__name__ if label is None else label
    frame = frame.iloc[classes.rows]
    rows = _safe_indexing(X, classes.rows)
    contenders = _contenders(model, label, against)
    splits = make_splits(classes, cv, repeats, test_size, seed)
    others = frame if against is None else rows  # yardsticks encode the columns of the frame
    tables = [rows, *[others] * (len(contenders) - 1)]

    def inputs(train: Index, test: Index) -> Iterable[tuple[Any, Any]]:
        return ((_safe_indexing(table, train), _safe_indexing(table, test)) for table in tables)

    rounds = Rounds(classes, splits, contenders, inputs, seed, progress)
    rounds.run()
    if label in rounds.failures:
        raise ValueError(f"model cannot be fitted to a part of the rows: {rounds.failures[label]}")
    found = rounds.evaluation(_columns(frame, model))
    return replace(
        found,
        notes=found.notes + (_TIMES,) * (against is None),
        weights=tuple(column_weights(model, [str(name) for name in frame.columns])),
    )


def _contenders(model: Any, label: str, against: Mapping[str, Any] | None) -> list[Method]:
    contenders = [Method(label, label, partial(_cloned, model))]
    if against is None:
        yardsticks = map(method_named, YARDSTICKS)
        return contenders + [replace(each, make=partial(_encoded, each)) for each in yardsticks]
    for name, estimator in against.items():
        if name == label:
            raise ValueError(f"against names {name!r}, which the model is called; give a label.")
        contenders.append(Method(name, name, partial(_cloned, estimator)))
    return contenders


def _cloned(estimator: Any, seed: int) -> Any:
    return clone(estimator)


def _encoded(method: Method, seed: int) -> Any:
    return make_pipeline(TableEncoder(), StandardScaler(), method.make(seed))


def _frame(X: Any) -> Any:
    if sp.issparse(X):
        raise TypeError("X is sparse, and the report tells of columns one by one; give a table.")
    pandas = _pandas()
    if hasattr(X, "to_pandas"):
        return X.to_pandas()
    if hasattr(X, "iloc"):
        return X
    rows = np.asarray(X)
    return pandas.DataFrame(rows, columns=[f"x{k}" for k in range(rows.shape[1])])


def _columns(frame: Any, model: Any) -> list[Column]:
    """Tell what the columns are; what becomes of them only where the model's encoder says it."""
    encoder = table_encoder(model)
    if encoder is not None:
        return describe_columns(frame, drop=encoder.drop, keep=encoder.keep)
    why = "given to the model as it is"
    return [replace(column, used=True, why=why) for column in describe_columns(frame)]


def _pandas() -> Any:
    try:
        import pandas
    except ImportError as error:
        raise ImportError(
            "evaluate_model needs pandas; install it with: pip install 'kernelwise[report]'"
        ) from error
    return pandas
