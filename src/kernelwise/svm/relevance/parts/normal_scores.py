"""Normal scores of columns: each column as if it came from a normal distribution.

    z = Phi^-1(share of the rows below + half of the share of the equal ones),
        then mean 0 and deviation 1

Long tails and outliers no longer decide distances. New values lie on the straight line between
their neighbours among the training values; beyond the ends the score stays that of the end.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtri

from ...._native import heights_on_lines
from ...._records import dataclass
from ...._typing import Array, Index


@dataclass(frozen=True)
class NormalScores:
    """A monotone map of each column, by its values in training.

    Parameters
    ----------
    values : ndarray of shape (n_knots,)
        The different values of each column, ascending, column by column.
    scores : ndarray of shape (n_knots,)
        The score of each of these values.
    stops : ndarray of shape (n_columns + 1,)
        Where the values of each column begin, and the end of the last.
    """

    values: Array
    scores: Array
    stops: Index

    @classmethod
    def of(cls, X: Array, count: Array) -> NormalScores:
        """Rank the values of each column; see `of_rows`."""
        if not (count == count[0]).all():
            return cls.of_rows(X, count)[0]
        counts = np.broadcast_to(count, X.T.shape)  # in any order
        return cls._of_ordered(np.sort(X.T, axis=1), counts, float(count.sum()))[0]

    @classmethod
    def of_rows(cls, X: Array, count: Array) -> tuple[NormalScores, Array]:
        """Rank the values of each column, and return the scores of the rows, too.

        Parameters
        ----------
        X : ndarray of shape (m, n_columns)
            The training rows.
        count : ndarray of shape (m,)
            How often each row counts.

        Returns
        -------
        scores : NormalScores
            The map; a constant column has the score zero.
        Z : ndarray of shape (m, n_columns)
            The scores of the rows.
        """
        m, d = X.shape
        columns = np.ascontiguousarray(X.T)
        # Sums of equal weights do not depend on the order of equal values.
        is_even = bool((count == count[:1]).all())
        order = np.argsort(columns, axis=1, kind="quicksort" if is_even else "stable")
        place = order + m * np.arange(d)[:, None]
        found, is_first = cls._of_ordered(columns.take(place), count[order], float(count.sum()))
        Z = np.empty(d * m)
        Z[place.ravel()] = found.scores.take(np.cumsum(is_first.ravel()) - 1)
        return found, np.ascontiguousarray(Z.reshape(d, m).T)

    @classmethod
    def _of_ordered(cls, ordered: Array, count: Array, total: float) -> tuple[NormalScores, Any]:
        """Rank ascending values, one row per column, and tell which are the first of equal ones."""
        d, m = ordered.shape
        is_first = np.ones((d, m), dtype=bool)
        is_first[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
        starts = np.flatnonzero(is_first)
        weight = np.add.reduceat(count.ravel(), starts)  # of each different value
        stops = np.append(0, np.cumsum(np.count_nonzero(is_first, axis=1)))
        through = np.cumsum(weight)
        before = np.append(0.0, through)[stops[:-1]]  # the weight of the columns before
        column = np.repeat(np.arange(d), np.diff(stops))
        share = (through - 0.5 * weight - before[column]) / total
        scores = ndtri(np.clip(share, 1e-12, 1 - 1e-12))
        weight /= total
        scores -= np.bincount(column, weight * scores, minlength=d)[column]
        deviation = np.sqrt(np.bincount(column, weight * scores**2, minlength=d))
        scores /= np.where(np.diff(stops) > 1, deviation, 1.0)[column]
        return cls(ordered.take(starts), scores, stops), is_first

    def apply(self, X: Array) -> Array:
        """Return the scores of rows.

        Parameters
        ----------
        X : ndarray of shape (n, n_columns)
            The rows.

        Returns
        -------
        Z : ndarray of shape (n, n_columns)
            Their scores.
        """
        columns = np.arange(X.shape[1])
        lines = self.values, self.scores, self.stops, np.ones(len(columns))
        Z = np.empty(X.shape)
        heights_on_lines(np.ascontiguousarray(X, dtype=np.float64), columns, *lines, Z)
        return Z
