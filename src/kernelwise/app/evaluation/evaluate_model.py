"""Evaluate a fitted model on unseen rows, by refitting clones of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone, is_regressor
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from ..._models import final_estimator
from ..._sklearn import safe_indexing
from ..._typing import Index
from ..tabular import (
    Column,
    TableError,
    Target,
    check_target,
    column_weights,
    describe_columns,
)
from ..tabular.encoder import table_encoder
from .cross_validation import ProgressCallback, SplitRuns
from .fitting import ColumnChoice, encode_split
from .methods import Method, method_named, yardsticks
from .results import Evaluation
from .splits import find_duplicate_rows, make_splits


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
    progress: ProgressCallback | None = None,
) -> Evaluation:
    """Score clones of a fitted model on unseen rows, beside other estimators.

    Rows that are copies of each other are held out together, unless chance explains them.

    Parameters
    ----------
    model : estimator
        A fitted classifier or regressor, or a pipeline that ends with one. The evaluation has its
        weights.
    X : array-like or pandas.DataFrame of shape (n_samples, n_features)
        The rows. Any kind of table needs pandas.
    y : array-like of shape (n_samples,)
        Their classes or numbers; rows without one are left out.
    against : dict of str to estimator, default=None
        The estimators to compare it with, by the name to show. None compares it with guessing, a
        forest, and a plain SVC or ridge regression, each fitted to encoded and scaled columns.
    label : str, default=None
        The name of the model in tables; None is the name of its class.
    cv : int, default=5
        Number of stratified folds; fewer where a class has fewer rows.
    repeats : int, default=1
        How often the rows are dealt out to folds.
    test_size : float, default=None
        Share of the rows to hold out once, instead of folds.
    seed : int, default=0
        Seed of the splits and of the yardsticks.
    progress : callable, default=None
        Called with the number of finished fits, their total, and the label of the next one.

    Returns
    -------
    evaluation : Evaluation
        Scores with their spread, differences with their test, times, and the weights.

    See Also
    --------
    kernelwise.app.report.write_report : Writes the evaluation as a page.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from kernelwise import RelevanceSVC
    >>> from kernelwise.app.evaluation import evaluate_model
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = RelevanceSVC().fit(X, y)
    >>> evaluation = evaluate_model(model, X, y, cv=3)
    >>> evaluation.best.label, bool(evaluation.best.mean("accuracy") > 0.9)
    ('RelevanceSVC', True)
    """
    check_is_fitted(model)
    check_consistent_length(X, y)
    frame = _frame(X)
    name = str(getattr(y, "name", None) or "target")
    column = _pandas().DataFrame({name: np.asarray(y)})
    task = "regression" if is_regressor(model) else "classification"
    target = check_target(column, name, task=task, min_class=1)
    label = type(final_estimator(model)).__name__ if label is None else label
    frame, rows = frame.iloc[target.rows], safe_indexing(X, target.rows)
    contenders = _contenders(model, label, against, target)

    def inputs(train: Index, test: Index) -> Iterable[tuple[Any, Any]]:
        plain = safe_indexing(rows, train), safe_indexing(rows, test)
        others: Any = plain
        if against is None:
            with suppress(TableError):  # no column to encode: the yardsticks take the plain rows
                _, *others = encode_split(ColumnChoice(), frame, train, test, one_hot=True)
        return [plain, *[tuple(others)] * (len(contenders) - 1)]

    columns = _columns(frame, model)
    copies = find_duplicate_rows(frame[[column.name for column in columns if column.used]], seed)
    splits = make_splits(target, cv, repeats, test_size, seed, copies)
    run = SplitRuns(target, splits, contenders, inputs, seed, progress)
    run.run()
    if label in run.failures:
        raise ValueError(f"model cannot be fitted to a part of the rows: {run.failures[label]}")
    weights = column_weights(model, [str(name) for name in frame.columns])
    return replace(run.evaluation(columns), weights=tuple(weights))


def _contenders(
    model: Any, label: str, against: Mapping[str, Any] | None, target: Target
) -> list[Method]:
    """Return the model under the given label, then the others."""
    if against is None:
        names = yardsticks(target.task, len(target.y))
        return [_cloned(label, model), *(method_named(name, target.task) for name in names)]
    if label in against:
        raise ValueError(f"against has an entry {label!r}, the name of the model; give a label.")
    return [_cloned(name, each) for name, each in {label: model, **against}.items()]


def _cloned(name: str, estimator: Any) -> Method:
    return Method(name, name, lambda seed: clone(estimator))


def _frame(X: Any) -> Any:
    if sp.issparse(X):
        raise TypeError("X is sparse, but an evaluation describes each column; give a dense table.")
    pandas = _pandas()
    if hasattr(X, "to_pandas"):
        return X.to_pandas()
    if hasattr(X, "iloc"):
        return X
    rows = np.asarray(X)
    if rows.ndim != 2:
        raise ValueError(f"X must be a table of rows and columns; got {rows.ndim} dimensions.")
    return pandas.DataFrame(rows, columns=[f"x{k}" for k in range(rows.shape[1])])


def _columns(frame: Any, model: Any) -> list[Column]:
    """Describe the columns; only a model with a TableEncoder says how each of them is used."""
    encoder = table_encoder(model)
    if encoder is not None:
        return describe_columns(frame, **encoder.get_params())
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
