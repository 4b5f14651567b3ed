"""Explain single predictions: what each column adds, and the nearest training rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from .._parameters import checked_arguments
from .._sklearn import safe_indexing
from .._typing import Array, Index
from ..svm.relevance.explaining import KnownRows
from ._arguments import CALLBACK, CLASSES, OUTPUT, SEED, TABLE, count
from .row_pool import ModelReader, RowPool, leading_columns
from .shapley import ShapleyPlan

_BLOCK_ROWS = 256  # rows whose distances to training rows are computed at a time


@dataclass(frozen=True)
class RowExplanations:
    """What each column adds to the decisions on some rows, and the nearest training rows.

    Parameters
    ----------
    column_names : tuple of str
        The columns of the table.
    classes : ndarray of shape (n_classes,)
        The classes.
    output : {"decision", "probability"}
        What is explained.
    outputs : ndarray of shape (n_rows, n_outputs)
        The output f of each row: one decision value in favour of the second of two classes, or
        one output per class.
    base : ndarray of shape (n_outputs,)
        The mean of f over the background.
    values : ndarray of shape (n_rows, n_columns, n_outputs)
        The Shapley value of each column; zero for those in ``rest``.
    rest : ndarray of shape (n_rows, n_outputs)
        The value of all columns together that have none of their own.
    shown : ndarray of str of shape (n_rows, n_columns)
        The value that each column has in the row, as text.
    is_exact : bool
        Whether all subsets of the columns were evaluated, rather than random orders of them.
    background : str
        Where the rows of the background come from.
    neighbors : ndarray of int of shape (n_rows, n_classes, n_neighbors)
        The nearest training rows of each class, by their place in the training table; -1 where a
        class has too few.
    distances : ndarray of shape (n_rows, n_classes, n_neighbors)
        Their distances: the sum over the columns of the learned share times the difference, which
        has mean one between two training rows. NaN where there is no neighbour.
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
    background: str
    neighbors: Index
    distances: Array

    @property
    def predicted(self) -> Index:
        """The number of the class with the largest output, for each row."""
        if self.outputs.shape[1] == 1:
            return (self.outputs[:, 0] > 0).astype(np.intp)
        return np.argmax(self.outputs, axis=1)

    def towards(self, class_number: int | None = None) -> Array:
        """Return the contribution of each column in favour of a class.

        Parameters
        ----------
        class_number : int, default=None
            The class; None is the predicted class of each row.

        Returns
        -------
        values : ndarray of shape (n_rows, n_columns)
            Positive where a column speaks for the class.
        """
        n = len(self.values)
        own = self.predicted if class_number is None else np.full(n, class_number, dtype=np.intp)
        if self.outputs.shape[1] == 1:
            return self.values[:, :, 0] * np.where(own == 1, 1.0, -1.0)[:, None]
        return self.values[np.arange(n), :, own]

    def table(self, row: int = 0, class_number: int | None = None) -> dict[str, Any]:
        """Return the columns of one row, the largest contribution first, for ``pandas.DataFrame``.

        Parameters
        ----------
        row : int, default=0
            The row.
        class_number : int, default=None
            The class that is spoken for; None is the predicted one.

        Returns
        -------
        table : dict of ndarray
            "column", "value" and "contribution", for the columns that contribute.
        """
        values = self.towards(class_number)[row]
        order = np.argsort(-np.abs(values), kind="stable")
        order = order[values[order] != 0]
        return {
            "column": np.array(self.column_names, dtype=object)[order],
            "value": self.shown[row, order],
            "contribution": values[order],
        }


@checked_arguments(
    X=TABLE,
    X_train=[*TABLE, None],
    y_train=[*CLASSES, None],
    output=OUTPUT,
    n_background=count(1),
    max_columns=[*count(1), None],
    n_neighbors=count(0),
    random_state=SEED,
    callback=CALLBACK,
)
def explain_rows(
    model: Any,
    X: Any,
    *,
    X_train: Any = None,
    y_train: Any = None,
    output: str = "auto",
    n_background: int = 100,
    max_columns: int | None = 20,
    n_neighbors: int = 3,
    random_state: Any = 0,
    callback: Callable[[int, int], Any] | None = None,
) -> RowExplanations:
    """Explain predictions: Shapley values of the columns, and the nearest training rows.

    Parameters
    ----------
    model : estimator
        A fitted classifier, or a pipeline that ends with one; also one that was loaded from a file.
    X : data frame or array-like of shape (n_rows, n_columns)
        The rows, as the model reads them.
    X_train : data frame or array-like of shape (n_train, n_columns), default=None
        The training table, from which the background is drawn. None takes the 100 training rows
        that a `RelevanceSVC` keeps, also in its model file; other models need a table.
    y_train : array-like of shape (n_train,), default=None
        Its classes, for the nearest rows of each class. With ``X_train=None`` the candidates are
        the training rows that a model keeps: support vectors and background.
    output : {"auto", "decision", "probability"}, default="auto"
        What is explained; "auto" is the decision value where there is one: the log-odds of a
        `RelevanceSVC`, to which columns add more evenly than to probabilities.
    n_background : int, default=100
        Number of rows to draw from ``X_train``.
    max_columns : int, default=20
        Most columns that get a value of their own, those that change the outputs of the background
        most; the others get one value together. None is all.
    n_neighbors : int, default=3
        Number of nearest rows of each class.
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
    >>> from kernelwise.inspection import explain_rows
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = RelevanceSVC().fit(X, y)
    >>> found = explain_rows(model, X.iloc[:2])
    >>> total = found.values.sum(axis=1) + found.rest
    >>> bool(np.allclose(total, found.outputs - found.base))
    True
    >>> found.neighbors.shape  # of both rows: three neighbours of each class
    (2, 2, 3)
    """
    reader, random = ModelReader(model, output), check_random_state(random_state)
    tables, candidates, source = _training_rows(reader, X_train, y_train, n_background, random)
    pool = reader.pool(X, *tables)
    n = np.shape(X)[0]
    background = n + np.arange(_length(tables[0]))
    shares = reader.shares(pool.names)
    most = len(shares) if max_columns is None else max_columns
    leading = leading_columns(pool, background, shares, most, random)
    group = np.full(len(shares), len(leading))
    group[leading] = np.arange(len(leading))
    plan = ShapleyPlan(pool, background, group, random)
    found = []
    for row in range(n):
        found.append(plan.values(row))
        if callback is not None:
            callback(row + 1, n)
    by_group = np.array([values for values, _ in found]).reshape(n, plan.n_groups, -1)
    values = np.zeros((n, len(shares), by_group.shape[2]))
    values[:, leading] = by_group[:, : len(leading)]
    places = n + len(background) + np.arange(len(candidates.numbers))
    neighborhood = _Neighborhood(pool, shares, places, candidates)
    neighbors, distances = neighborhood.nearest(n, len(reader.classes), n_neighbors)
    return RowExplanations(
        column_names=pool.names,
        classes=reader.classes,
        output=reader.output,
        outputs=np.array([outputs for _, outputs in found]).reshape(n, -1),
        base=plan.base.mean(axis=0),
        values=values,
        rest=by_group[:, len(leading) :].sum(axis=1),
        shown=np.array([[each.text(row) for each in pool.values] for row in range(n)], object),
        is_exact=plan.is_exact,
        background=source,
        neighbors=neighbors,
        distances=distances,
    )


def _training_rows(
    reader: ModelReader, X_train: Any, y_train: Any, n_background: int, random: Any
) -> tuple[list[Any], KnownRows, str]:
    """Return the background and the candidates for neighbours, and where they come from."""
    nothing = KnownRows(np.empty((0, 0)), np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp))
    if X_train is None:
        kept, known = reader.background(), reader.known()
        if kept is None or known is None:
            raise ValueError(
                f"{type(reader.model).__name__} keeps no training rows to compare with; give "
                "X_train, and y_train for the nearest rows of each class."
            )
        return [kept, known], known, f"{len(kept.X)} training rows that the model keeps"
    n = np.shape(X_train)[0]
    chosen = np.sort(random.permutation(n)[:n_background])
    tables, source = [safe_indexing(X_train, chosen)], f"{len(chosen)} rows of X_train"
    if y_train is None:
        return tables, nothing, source
    classes = np.asarray(y_train)
    if len(classes) != n:
        raise ValueError(f"y_train has {len(classes)} entries for {n} rows of X_train.")
    unknown = set(classes.tolist()) - set(reader.classes.tolist())
    if unknown:
        raise ValueError(f"y_train has {unknown.pop()!r}, which is no class of the model.")
    codes = np.searchsorted(reader.classes, classes)
    return [*tables, X_train], KnownRows(nothing.X, codes, np.arange(n)), source


def _length(table: Any) -> int:
    return len(table.numbers) if isinstance(table, KnownRows) else int(np.shape(table)[0])


@dataclass(frozen=True)
class _Neighborhood:
    """Training rows of a pool, and the learned distance to them."""

    pool: RowPool
    shares: Array
    places: Index  # rows of the pool
    known: KnownRows

    def nearest(self, n_rows: int, n_classes: int, n_neighbors: int) -> tuple[Index, Array]:
        """Return the nearest rows of each class, and their distances."""
        numbers = np.full((n_rows, n_classes, n_neighbors), -1, dtype=np.intp)
        distances = np.full(numbers.shape, np.nan)
        for start in range(0, n_rows, _BLOCK_ROWS):
            rows = np.arange(start, min(start + _BLOCK_ROWS, n_rows))
            apart = self._distances(rows)
            for label in range(n_classes):
                own = np.flatnonzero(self.known.classes == label)
                order = np.argsort(apart[:, own], axis=1, kind="stable")[:, :n_neighbors]
                chosen, width = own[order], order.shape[1]
                numbers[rows, label, :width] = self.known.numbers[chosen]
                distances[rows, label, :width] = np.take_along_axis(apart, chosen, axis=1)
        return numbers, distances

    def _distances(self, rows: Index) -> Array:
        total = np.zeros((len(rows), len(self.places)))
        for share, column in zip(self.shares.tolist(), self.pool.values, strict=True):
            if share > 0:
                spread = column.spread(self.places)
                total += share * column.differences(rows, self.places, spread)
        return total
