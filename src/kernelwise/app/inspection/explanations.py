"""Explain single predictions: what each column adds to the output of the model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import factorial
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ..._parameters import Options, checked_arguments
from ..._sklearn import safe_indexing
from ..._typing import Array, Index
from ._arguments import CALLBACK, SEED, TABLE, count
from .row_pool import OUTPUTS, ModelReader, RowPool, stacked

MAX_EXACT = 6  # groups up to which all their subsets are evaluated


class ShapleyPlan:
    """The recombined rows from which the values of every row are computed.

    ``background``: the rows of the pool that rows are compared with. ``group`` (n_columns,): the
    group of each column, from zero. ``random_state``: draws the orders.
    """

    def __init__(self, pool: RowPool, background: Index, group: Index, random_state: Any) -> None:
        self._pool, self._background, self._group = pool, background, group
        self.n_groups = int(group.max()) + 1
        self.base: Array = pool.outputs(background)
        self.is_exact = self.n_groups <= MAX_EXACT
        if self.is_exact:
            numbers = np.arange(2**self.n_groups)
            self._subsets = (numbers[:, None] >> np.arange(self.n_groups)) & 1 == 1
            return
        order = np.array([random_state.permutation(self.n_groups) for _ in background])
        self._rank = np.stack([order, self.n_groups - 1 - order], axis=1)

    def values(self, row: int) -> tuple[Array, Array]:
        """Explain one row of the pool.

        Returns ``values`` (n_groups, n_outputs); ``outputs`` (n_outputs,), f of the row.
        """
        return self._exact(row) if self.is_exact else self._sampled(row)

    def _exact(self, row: int) -> tuple[Array, Array]:
        n = self.n_groups
        mask = np.repeat(self._subsets[:, None], len(self._background), axis=1)
        mean = self._outputs(row, mask).mean(axis=1)  # v(S), by the number of S
        size = self._subsets.sum(axis=1)
        weight = np.array([factorial(s) * factorial(n - s - 1) for s in range(n)]) / factorial(n)
        values = np.empty((n, mean.shape[1]))
        for group in range(n):
            without = np.flatnonzero(~self._subsets[:, group])
            gain = mean[without + 2**group] - mean[without]
            values[group] = weight[size[without]] @ gain
        return values, mean[-1]

    def _sampled(self, row: int) -> tuple[Array, Array]:
        steps = np.arange(1, self.n_groups)
        mask = self._rank[:, :, None, :] < steps[:, None]
        between = self._outputs(row, mask.reshape(len(mask), -1, self.n_groups), by_column=False)
        between = between.reshape(*mask.shape[:3], -1)
        end = self._pool.outputs(np.array([row]))[0]
        shape = (*mask.shape[:2], 1, len(end))
        begin = np.broadcast_to(self.base[:, None, None, :], shape)
        walk = np.concatenate([begin, between, np.broadcast_to(end, shape)], axis=2)
        gains = np.take_along_axis(np.diff(walk, axis=2), self._rank[..., None], axis=2)
        return gains.mean(axis=(0, 1)), end

    def _outputs(self, row: int, mask: Any, by_column: bool = True) -> Array:
        """Return f with the row's values where ``mask`` says so.

        The background is the second axis of the mask, or else the first.
        """
        own = self._background if by_column else self._background[:, None]
        rows = np.broadcast_to(own, mask.shape[:2]).ravel()
        exchanged = mask[..., self._group].reshape(len(rows), -1)
        outputs = self._pool.outputs(rows, exchanged, np.full(len(rows), row))
        return outputs.reshape(*mask.shape[:2], -1)


@dataclass(frozen=True)
class RowExplanations:
    """What each column adds to the outputs of some rows.

    Parameters
    ----------
    column_names : tuple of str
        The columns of the table.
    classes : ndarray of shape (n_classes,) or None
        The classes; None for a regressor.
    output : {"decision", "probability", "prediction"}
        What is explained.
    outputs : ndarray of shape (n_rows, n_outputs)
        The output f of each row: one decision value in favour of the second of two classes, one
        output per class, or one prediction per target.
    base : ndarray of shape (n_outputs,)
        The mean of f over the background.
    values : ndarray of shape (n_rows, n_columns, n_outputs)
        The Shapley value of each column; zero for those in ``rest``.
    rest : ndarray of shape (n_rows, n_outputs)
        The value of all columns together that have none of their own.
    shown : ndarray of str of shape (n_rows, n_columns)
        The value that each column has in the row, as text; "" for those in ``rest``.
    is_exact : bool
        Whether all subsets of the columns were evaluated, rather than random orders of them.
    """

    column_names: tuple[str, ...]
    classes: Any
    output: str
    outputs: Array
    base: Array
    values: Array
    rest: Array
    shown: Any
    is_exact: bool

    @property
    def predicted(self) -> Index:
        """The number of the class with the largest output, for each row; zero for a regressor."""
        if self.classes is None:
            return np.zeros(len(self.outputs), dtype=np.intp)
        if self.outputs.shape[1] == 1:
            return (self.outputs[:, 0] > 0).astype(np.intp)
        return np.argmax(self.outputs, axis=1)

    def towards(self, number: int | None = None) -> Array:
        """Return the contribution of each column in favour of a class, or to a target.

        Parameters
        ----------
        number : int, default=None
            The class or target; None is the predicted class of each row, or the first target.

        Returns
        -------
        values : ndarray of shape (n_rows, n_columns)
            Positive where a column speaks for the class, or raises the prediction.
        """
        n = len(self.values)
        own = self.predicted if number is None else np.full(n, number, dtype=np.intp)
        if self.classes is not None and self.outputs.shape[1] == 1:
            return self.values[:, :, 0] * np.where(own == 1, 1.0, -1.0)[:, None]
        return self.values[np.arange(n), :, own]

    def table(self, row: int = 0, number: int | None = None) -> dict[str, Any]:
        """Return the columns of one row, the largest contribution first, for ``pandas.DataFrame``.

        Parameters
        ----------
        row : int, default=0
            The row.
        number : int, default=None
            The class or target; None is the predicted class, or the first target.

        Returns
        -------
        table : dict of ndarray
            "column", "value" and "contribution", for the columns that contribute.
        """
        values = self.towards(number)[row]
        order = np.argsort(-np.abs(values), kind="stable")
        order = order[values[order] != 0]
        return {
            "column": np.array(self.column_names, dtype=object)[order],
            "value": self.shown[row, order],
            "contribution": values[order],
        }


@checked_arguments(
    X=TABLE,
    X_train=TABLE,
    output=[Options(set(OUTPUTS))],
    n_background=count(1),
    max_columns=[*count(1), None],
    random_state=SEED,
    callback=CALLBACK,
)
def explain_rows(
    model: Any,
    X: Any,
    X_train: Any,
    *,
    output: str = "auto",
    n_background: int = 100,
    max_columns: int | None = 20,
    random_state: Any = 0,
    callback: Callable[[int, int], Any] | None = None,
) -> RowExplanations:
    """Explain predictions by Shapley values of the columns.

    Parameters
    ----------
    model : estimator
        A fitted classifier or regressor, or a pipeline that ends with one.
    X : data frame or array-like of shape (n_rows, n_columns)
        The rows, as the model reads them.
    X_train : data frame or array-like of shape (n_train, n_columns)
        The table that they are compared with, such as the training rows.
    output : {"auto", "decision", "probability", "prediction"}, default="auto"
        What is explained; "auto" is the prediction of a regressor, and the decision value of a
        classifier where it has one: log-odds, to which columns add more evenly than to
        probabilities.
    n_background : int, default=100
        Number of rows to draw from ``X_train``.
    max_columns : int, default=20
        Most columns that get a value of their own, those that change the outputs of the background
        most; the others get one value together. None is all.
    random_state : int, RandomState instance or None, default=0
        Draws the background and the orders of the columns. An explanation does not depend on the
        other rows of X.
    callback : callable, default=None
        Called with the number of explained rows and their total.

    Returns
    -------
    explanations : RowExplanations
        Values that sum to the output of each row minus the mean output of the background.

    Notes
    -----
    The values are interventional: columns outside a subset take the values of a background row, so
    a column that the model does not use has the value zero. Up to six columns they are exact;
    beyond, orders of the columns are sampled in antithetic pairs, one pair per row of the
    background, and only the sum is exact.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from kernelwise import RelevanceSVC
    >>> from kernelwise.app.inspection import explain_rows
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = RelevanceSVC().fit(X, y)
    >>> found = explain_rows(model, X.iloc[:2], X)
    >>> total = found.values.sum(axis=1) + found.rest
    >>> bool(np.allclose(total, found.outputs - found.base))
    True
    """
    reader = ModelReader(model, output, order=("decision", "probability"))
    random, n = check_random_state(random_state), np.shape(X)[0]
    chosen = np.sort(random.permutation(np.shape(X_train)[0])[:n_background])
    pool = RowPool(reader, stacked(X, safe_indexing(X_train, chosen)))
    background, d = n + np.arange(len(chosen)), len(pool.names)
    leading = pool.leading(background, d if max_columns is None else max_columns, random)
    group = np.full(d, len(leading))
    group[leading] = np.arange(len(leading))
    plan = ShapleyPlan(pool, background, group, random)
    found = []
    for row in range(n):
        found.append(plan.values(row))
        if callback is not None:
            callback(row + 1, n)
    by_group = np.array([values for values, _ in found]).reshape(n, plan.n_groups, -1)
    values = np.zeros((n, d, by_group.shape[2]))
    values[:, leading] = by_group[:, : len(leading)]
    shown = np.full((n, d), "", dtype=object)
    for column in leading.tolist():
        shown[:, column] = [pool.values(column).text(row) for row in range(n)]
    return RowExplanations(
        column_names=pool.names,
        classes=reader.classes,
        output=reader.output,
        outputs=np.array([outputs for _, outputs in found]).reshape(n, -1),
        base=plan.base.mean(axis=0),
        values=values,
        rest=by_group[:, len(leading) :].sum(axis=1),
        shown=shown,
        is_exact=plan.is_exact,
    )
