"""Columns in the units in which rows are compared, and rows that stand for the others.

Numbers become normal scores, divided by the mean absolute difference of two rows; categories stay
codes, which differ or do not. The distance of two rows is sum_j w_j d_j, and the kernel exp(-sum).
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from ...._native import exp_of_minus_rows, heights_on_lines, limited_distances
from ...._records import dataclass
from ...._typing import Array, Index
from .normal_scores import NormalScores
from .rows import PartRows

_SIZED = 2000  # rows on which mean differences are taken, about
_MIN_SIZE = 0.01  # least mean difference: one row in thousands has another value
_KNOTS = 512  # values per column whose scores are stored; scores between them lie on lines


@dataclass(frozen=True)
class MetricColumns:
    """Turns encoded columns into columns that are compared.

    Parameters
    ----------
    scores : NormalScores
        The scores of the numbers.
    sizes : ndarray of shape (n_numbers,)
        Their mean absolute differences; infinite for a constant column.
    is_category : ndarray of shape (d,)
        Whether a column is a category.
    """

    scores: NormalScores
    sizes: Array
    is_category: Any

    @classmethod
    def of(cls, rows: PartRows) -> MetricColumns:
        """Find the scores and sizes of training rows."""
        is_category = np.asarray(rows.layout.is_category)
        numbers = rows.X[:, ~is_category]
        scores = thinned(NormalScores.of(numbers, rows.count))
        some = slice(None, None, -(-len(rows) // _SIZED))
        sizes = mean_differences(scores.apply(numbers[some]), rows.count[some])
        is_flat = scores.scores[scores.stops[1:] - 1] == scores.scores[scores.stops[:-1]]
        return cls(scores, np.where(is_flat, np.inf, np.maximum(sizes, _MIN_SIZE)), is_category)

    def apply(self, X: Array, columns: Index | None = None) -> Array:
        """Return rows in these units, in float32.

        Parameters
        ----------
        X : ndarray of shape (n, d), of float64
            The rows.
        columns : ndarray, default=None
            The columns of X that are meant; None is all of them.

        Returns
        -------
        Z : ndarray of shape (n, n_columns)
            Their numbers as scores, divided by the sizes, and the codes of their categories.
        """
        numbers = ~self.is_category
        n_knots, sizes = np.zeros(len(numbers), dtype=np.int64), np.ones(len(numbers))
        n_knots[numbers], sizes[numbers] = np.diff(self.scores.stops), self.sizes
        out = np.empty((len(X), len(numbers)), dtype=np.float32)
        heights_on_lines(
            np.ascontiguousarray(X, dtype=np.float64),
            np.arange(len(numbers)) if columns is None else columns,
            self.scores.values,
            self.scores.scores,
            np.cumsum([0, *n_knots]),
            sizes,
            out,
        )
        return out


def thinned(scores: NormalScores, most: int = _KNOTS) -> NormalScores:
    """Return scores with at most some values per column, at about equal steps of the score."""
    kept = []
    for start, stop in pairwise(scores.stops):
        own = scores.scores[start:stop]
        kept.append(start + np.unique(np.searchsorted(own, np.linspace(own[0], own[-1], most))))
    chosen = np.concatenate([np.empty(0, dtype=np.intp), *kept])
    stops = np.cumsum([0, *map(len, kept)])
    return NormalScores(scores.values[chosen], scores.scores[chosen], stops)


def mean_differences(X: Array, count: Array) -> Array:
    """Return the mean absolute difference of two rows, column by column.

    E|x - z| = 2 sum_i q_i x_i (F_i + F_i- - 1) for sorted values of shares q and F their sums.
    """
    order = np.argsort(X, axis=0, kind="stable")
    ordered, share = np.take_along_axis(X, order, axis=0), count[order] / count.sum()
    through = np.cumsum(share, axis=0)
    differences: Array = 2 * np.sum(share * ordered * (2 * through - share - 1), axis=0)
    return differences


@dataclass(frozen=True)
class Landmarks:
    """Rows that the others are compared with.

    Parameters
    ----------
    rows : ndarray of shape (m, d), of float32
        The landmarks, in the units of `MetricColumns`.
    limits : ndarray of shape (d,), of float32
        The largest distance along a column: one for a category, infinite for a number.
    """

    rows: Array
    limits: Array

    @classmethod
    def of(cls, rows: Array, is_category: Any) -> Landmarks:
        """Return landmarks with the limits of their columns."""
        return cls(rows, np.where(is_category, 1, np.inf).astype(np.float32))

    def distances(self, X: Array, weights: Array, out: Array | None = None) -> Array:
        """Return sum_j w_j d_j between rows and landmarks, of shape (n, m), in float32."""
        kept = weights > 0
        left, right, limits = X, self.rows, self.limits
        if not kept.all():
            left, right, limits = X[:, kept], right[:, kept], limits[kept]
        out = np.empty((len(X), len(right)), dtype=np.float32) if out is None else out
        limited_distances(
            np.ascontiguousarray(left),
            np.ascontiguousarray(right.T),
            weights[kept].astype(np.float32),
            np.ascontiguousarray(limits),
            out,
        )
        return out

    def kernel(self, X: Array, weights: Array, out: Array | None = None) -> Array:
        """Return exp(-sum_j w_j d_j) between rows and landmarks."""
        out = self.distances(X, weights, out)
        exp_of_minus_rows(out)
        return out


def balanced_sample(classes: Index, size: int, random_state: Any) -> Index:
    """Return random rows, the classes as equal in number as they can be; small ones come whole.

    Parameters
    ----------
    classes : ndarray of shape (n,)
        The class of each row.
    size : int
        The number of rows; all rows where there are no more.
    random_state : RandomState
        The source of the choice.

    Returns
    -------
    rows : ndarray of shape (min(n, size),)
        The rows, ascending.
    """
    if len(classes) <= size:
        return np.arange(len(classes))
    members = [np.flatnonzero(classes == label) for label in np.unique(classes)]
    members.sort(key=len)
    chosen, left = [], size
    for number, own in enumerate(members):
        quota = min(len(own), left // (len(members) - number))
        chosen.append(random_state.permutation(own)[:quota])
        left -= quota
    return np.sort(np.concatenate(chosen))
