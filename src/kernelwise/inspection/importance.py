"""Importance of a table's columns on held-out rows, beside their learned shares."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length

from .._parameters import checked_arguments
from .._typing import Array, Index
from ..svm.relevance.limits import as_part
from ._arguments import CLASSES, ESTIMATOR, SEED, SHARE, TABLE, count
from .permutation import PermutationCheck
from .row_pool import ModelReader

_MAX_ROWS = 500  # held-out rows that are shuffled
_MIN_ROWS = 100  # held-out rows that are shuffled where there are many columns
_MAX_COLUMNS = 50  # columns that are shuffled, those of the largest shares
_MAX_DECIDED = 60_000  # shuffled rows that are decided, but for the fewest rows
_SMALLEST = 1e-15  # probability whose logarithm is still taken


@checked_arguments(
    model=ESTIMATOR,
    X=TABLE,
    y=CLASSES,
    test_size=SHARE,
    n_repeats=count(1),
    random_state=SEED,
)
def held_out_importance(
    model: Any,
    X: Any,
    y: Any,
    *,
    test_size: float = 0.3,
    n_repeats: int = 5,
    random_state: Any = 0,
) -> PermutationCheck:
    """Compare the learned shares of columns with their importance on held-out rows.

    Parameters
    ----------
    model : estimator
        A fitted classifier with ``feature_importances_``, or a pipeline that ends with one. A clone
        of it is fitted to a part of the rows.
    X : data frame or array-like of shape (n, n_columns)
        The table, as the model reads it.
    y : array-like of shape (n,)
        The classes.
    test_size : float, default=0.3
        Share of the rows to hold out, stratified by class; at most 500 of them are shuffled.
    n_repeats : int, default=5
        Number of shuffles of each column.
    random_state : int, RandomState instance or None, default=0
        Seed of the split and the shuffles.

    Returns
    -------
    check : PermutationCheck
        The shares of the clone, and how much the log loss grows, or the accuracy falls for a model
        without probabilities, when the values of a column are shuffled. Columns of the table are
        shuffled together with all their encoded columns. Beyond 50 columns, those with the smallest
        shares are not measured.

    See Also
    --------
    permutation_check : The same for features of any estimator, with shuffled labels.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise import RelevanceSVC
    >>> from kernelwise.inspection import held_out_importance
    >>> X = np.random.default_rng(0).normal(size=(200, 4))
    >>> y = X[:, 1] > 0
    >>> check = held_out_importance(RelevanceSVC().fit(X, y), X, y)
    >>> int(np.argmax(check.importances.mean(axis=1)))
    1
    """
    check_consistent_length(X, y)
    random = check_random_state(random_state)
    seed = int(random.randint(2**31 - 1))
    X_train, X_test, y_train, y_test = train_test_split(
        X, np.asarray(y), test_size=test_size, stratify=y, random_state=seed
    )
    with as_part(len(y_train) / (len(y_train) + len(y_test))):
        fitted = clone(model).fit(X_train, y_train)
    by_probability = hasattr(fitted, "predict_proba")
    reader = ModelReader(fitted, "probability" if by_probability else "decision")
    pool = reader.pool(X_test)
    shares = reader.shares(pool.names)
    d = len(shares)
    affordable = _MAX_DECIDED // (n_repeats * min(d, _MAX_COLUMNS))
    rows = random.permutation(len(y_test))[: min(_MAX_ROWS, max(_MIN_ROWS, affordable))]
    codes, n = np.searchsorted(reader.classes, y_test[rows]), len(rows)
    plain = _scores(pool.decisions_of(rows), codes, by_probability).mean()
    losses = np.full((d, n_repeats), np.nan)
    for column in np.argsort(-shares, kind="stable")[:_MAX_COLUMNS].tolist():
        take = np.tile(rows[:, None], (n_repeats, 1, d))
        take[:, :, column] = [random.permutation(rows) for _ in range(n_repeats)]
        outputs = pool.decisions(take.reshape(-1, d))
        scores = _scores(outputs, np.tile(codes, n_repeats), by_probability)
        losses[column] = plain - scores.reshape(n_repeats, n).mean(axis=1)
    return PermutationCheck(pool.names, shares / shares.sum(), losses, np.empty((0, d)))


def _scores(outputs: Array, codes: Index, by_probability: bool) -> Array:
    """Return the log of the probability of the right class, or whether the decision is right."""
    if by_probability:
        right = outputs[np.arange(len(codes)), codes]
        return np.log(np.maximum(right, _SMALLEST))
    if outputs.shape[1] == 1:
        return ((outputs[:, 0] > 0) == codes).astype(np.float64)
    return (np.argmax(outputs, axis=1) == codes).astype(np.float64)
