"""What a column is worth: how much the loss on held-out rows grows when its values are shuffled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import (
    KFold,
    ShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
    check_cv,
)
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length

from ..._parameters import Options, checked_arguments
from ..._typing import Array, Index
from ._arguments import CALLBACK, ESTIMATOR, SEED, TABLE, TARGET, count
from .refit import refit
from .row_pool import ModelReader, RowPool

_FOLDS = 3
_MAX_FOLDED = 2_000  # rows above which one part is held out instead of folds
_HELD_OUT = 0.3  # share of that part
_MAX_COLUMNS = 50  # columns that are shuffled, those of the largest shares
_MAX_ROWS = 1_000  # held-out rows that are shuffled
_MIN_ROWS = 100  # the same where there are many columns
_MAX_DECIDED = 120_000  # shuffled rows that are decided, but for the fewest rows
_SMALLEST = 1e-15  # probability whose logarithm is still taken
_DEVIATES = 1.96  # standard errors on each side of a 95 % interval


@dataclass(frozen=True)
class ColumnImportance:
    """How much the loss on held-out rows grows when the values of a column are shuffled.

    Parameters
    ----------
    feature_names : tuple of str
        The columns of the table.
    loss : ndarray of shape (n_columns,)
        What shuffling costs, in units of ``metric``; NaN for columns that were not measured.
    low, high : ndarray of shape (n_columns,)
        The ends of its 95 % interval over the held-out rows.
    shares : ndarray of shape (n_columns,) or None
        The weights that the model has learned, of sum one; None for a model that learns none.
    metric : {"log loss", "root mean squared error", "error rate"}
        The loss: in nats, in units of the target, or a share of the rows.
    base : float
        The loss of the model as it is, on the same rows.
    n_rows : int
        The number of held-out rows.
    """

    feature_names: tuple[str, ...]
    loss: Array
    low: Array
    high: Array
    shares: Array | None
    metric: str
    base: float
    n_rows: int

    @property
    def matters(self) -> Any:
        """Whether shuffling a column costs more than chance explains, as a mask."""
        return self.low > 0

    @property
    def order(self) -> Index:
        """The columns, that of the largest cost first; those not measured come last."""
        return np.argsort(-np.nan_to_num(self.loss, nan=-np.inf), kind="stable")

    def table(self) -> dict[str, Any]:
        """Return one row per column, the largest cost first, for ``pandas.DataFrame``.

        Returns
        -------
        table : dict of ndarray
            "column", "loss", "low", "high" and, where the model learns weights, "share".
        """
        columns = {
            "column": np.array(self.feature_names, dtype=object),
            "loss": self.loss,
            "low": self.low,
            "high": self.high,
        }
        if self.shares is not None:
            columns["share"] = self.shares
        return {name: own[self.order] for name, own in columns.items()}


@checked_arguments(
    model=ESTIMATOR,
    X=TABLE,
    y=TARGET,
    cv=["cv_object", Options({"prefit"}), None],
    n_repeats=count(1),
    random_state=SEED,
    callback=CALLBACK,
)
def held_out_importance(
    model: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = None,
    n_repeats: int = 5,
    random_state: Any = 0,
    callback: Callable[[int, int], Any] | None = None,
) -> ColumnImportance:
    """Measure what shuffling each column costs on rows that a model has not learned from.

    Parameters
    ----------
    model : estimator
        A fitted classifier or regressor, or a pipeline that ends with one.
    X : data frame or array-like of shape (n, n_columns)
        The table, as the model reads it.
    y : array-like of shape (n,) or (n, n_targets)
        The classes or the target.
    cv : int, splitter, iterable, "prefit" or None, default=None
        The rows to hold out; clones of the model are fitted to the others. None is three folds up
        to 2,000 rows, else a random part of 30 %. With "prefit", X and y are rows that the model
        itself has not learned from.
    n_repeats : int, default=5
        Number of shuffles of each column.
    random_state : int, RandomState instance or None, default=0
        Seed of the splits and the shuffles.
    callback : callable, default=None
        Called with the number of finished splits and their total.

    Returns
    -------
    importance : ColumnImportance
        The increase of the log loss, of the root mean squared error in units of the target, or of
        the error rate of a classifier without probabilities, with its interval, beside the weights.
        At most 1,000 held-out rows are shuffled, and beyond 50 columns those with the largest
        weights.

    Notes
    -----
    A column of the table is shuffled with all that is made of it. The interval is over held-out
    rows: it does not cover that other training rows give another model. Of two columns that say
    the same, each can be shuffled at little cost.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise import RelevanceSVC
    >>> from kernelwise.app.inspection import held_out_importance
    >>> X = np.random.default_rng(0).normal(size=(200, 4))
    >>> y = X[:, 1] > 0
    >>> found = held_out_importance(RelevanceSVC().fit(X, y), X, y)
    >>> found.matters.tolist()
    [False, True, False, False]
    """
    check_consistent_length(X, y)
    y, random = np.asarray(y), check_random_state(random_state)
    splits = _splits(model, X, y, cv, random)
    costs = HeldOutCosts(X, y, len(splits), n_repeats, random)
    costs.choose_columns(model)
    for done, (train, test) in enumerate(splits, 1):
        costs.add(model if train is None else refit(model, X, y, train), test)
        if callback is not None:
            callback(done, len(splits))
    return costs.result(model)


class HeldOutCosts:
    """What columns cost, from models and the rows that each of them has not learned from."""

    def __init__(
        self, X: Any, y: Any, n_splits: int, n_repeats: int = 5, random_state: Any = 0
    ) -> None:
        self._X, self._y = X, np.asarray(y)
        self._n_splits, self._n_repeats = n_splits, n_repeats
        self._random = check_random_state(random_state)
        self._columns: Index | None = None
        self._found: list[tuple[Array, Array]] = []

    def choose_columns(self, model: Any) -> Index:
        """Choose the columns of the largest weights in a model, where there are many."""
        pool = RowPool(ModelReader(model), self._X)
        self._columns = np.sort(np.argsort(-pool.shares, kind="stable")[:_MAX_COLUMNS])
        return self._columns

    def add(self, model: Any, held_out: Index) -> None:
        """Shuffle columns in some of the rows that were held out from a model."""
        columns = self.choose_columns(model) if self._columns is None else self._columns
        affordable = _MAX_DECIDED // (self._n_repeats * len(columns))
        most = -(-min(_MAX_ROWS, max(_MIN_ROWS, affordable)) // self._n_splits)
        rows = np.sort(self._random.permutation(held_out)[:most])
        own = ModelReader(model), self._X, self._y, rows, columns
        self._found.append(_row_losses(*own, self._n_repeats, self._random))

    def result(self, model: Any) -> ColumnImportance:
        """Return the costs, beside the weights of a model."""
        if self._columns is None:
            raise ValueError("no model was added.")
        reader = ModelReader(model)
        names = RowPool(reader, self._X).names
        plain = np.concatenate([losses for losses, _ in self._found])
        growth = np.hstack([influence for _, influence in self._found])
        ends = np.full((3, len(names)), np.nan)
        base, ends[:, self._columns] = _costs(
            plain, growth, is_squared=reader.output == "prediction"
        )
        shares, (loss, low, high) = reader.shares(names), ends
        metric = _metric(reader)
        return ColumnImportance(names, loss, low, high, shares, metric, base, len(plain))


def _costs(plain: Array, growth: Array, *, is_squared: bool) -> tuple[float, Array]:
    """Return the loss as it is, and the cost of each column with its interval, of shape (3, d).

    ``plain`` (n,) has the loss of each row and ``growth`` (d, n) its influence on the cost of a
    column. Of squared errors the roots of the means are compared, by the delta method.
    """
    n, base, cost = len(plain), plain.mean(), growth.mean(axis=1)
    if is_squared:
        level, base = np.sqrt(np.maximum(base + cost, 0)), np.sqrt(base)
        slope, base_slope = 0.5 / np.maximum([level, np.full_like(level, base)], _SMALLEST)
        growth = slope[:, None] * growth + (slope - base_slope)[:, None] * plain
        cost = level - base
    half = _DEVIATES * growth.std(axis=1) / np.sqrt(max(n - 1, 1))
    return float(base), np.array([cost, cost - half, cost + half])


def _metric(reader: ModelReader) -> str:
    names = {"prediction": "root mean squared error", "probability": "log loss"}
    return names.get(reader.output, "error rate")


def _splits(model: Any, X: Any, y: Any, cv: Any, random: Any) -> list[tuple[Index | None, Index]]:
    """Return the rows to fit and those to hold out; None for the former where nothing is fitted."""
    n, classifies = len(y), is_classifier(model)
    if isinstance(cv, str):
        return [(None, np.arange(n))]
    if cv is None:
        seed = int(random.randint(2**31 - 1))
        if n > _MAX_FOLDED:
            kind: Any = StratifiedShuffleSplit if classifies else ShuffleSplit
            cv = kind(1, test_size=_HELD_OUT, random_state=seed)
        else:
            kind = StratifiedKFold if classifies else KFold
            cv = kind(_FOLDS, shuffle=True, random_state=seed)
    return list(check_cv(cv, y, classifier=classifies).split(np.zeros(n), y))


def _row_losses(
    reader: ModelReader,
    X: Any,
    y: Any,
    rows: Index,
    columns: Index,
    n_repeats: int,
    random: Any,
) -> tuple[Array, Array]:
    """Return the loss of each row, and its influence on the cost of each column.

    The mean growth over exchanges of two rows depends on a row twice: as the one that is predicted,
    and as the donor of a value. Its influence is the sum of both means, less the mean of all.
    """
    pool, n = RowPool(reader, X), len(rows)
    plain = _losses(reader, pool.outputs(rows), y[rows])
    influence = np.empty((len(columns), n))
    tiled, known = np.tile(rows, n_repeats), np.concatenate([y[rows]] * n_repeats)
    for place, column in enumerate(columns.tolist()):
        donors = np.concatenate([random.permutation(n) for _ in range(n_repeats)])
        losses = _losses(reader, pool.outputs(tiled, [column], rows[donors]), known)
        growth = losses - np.tile(plain, n_repeats)
        as_row = growth.reshape(n_repeats, n).mean(axis=0)
        as_donor = np.bincount(donors, growth, minlength=n) / n_repeats
        influence[place] = as_row + as_donor - growth.mean()
    return plain, influence


def _losses(reader: ModelReader, outputs: Array, y: Any) -> Array:
    """Return the loss of each row: minus the log of its class, squared error, or wrong or not."""
    if reader.output == "prediction":
        errors: Array = np.mean((outputs - y.reshape(len(y), -1)) ** 2, axis=1)
        return errors
    if reader.output == "probability":
        right = np.max(outputs * (y[:, None] == reader.classes), axis=1)
        return -np.log(np.maximum(right, _SMALLEST))
    best = outputs[:, 0] > 0 if outputs.shape[1] == 1 else np.argmax(outputs, axis=1)
    return (reader.classes[best.astype(np.intp)] != y).astype(np.float64)
