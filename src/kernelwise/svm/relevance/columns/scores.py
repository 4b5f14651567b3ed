"""Encoded columns in the units in which rows are compared.

    z = Phi^-1(share of the rows below + half of the share of the equal ones),
        then mean 0 and deviation 1, divided by the mean absolute difference of two rows

Long tails and outliers no longer decide distances. New values lie on the straight line between
their neighbours among the training values; beyond the ends the score stays that of the end. The
codes of categories stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import ndtri

from ...._native import heights_on_lines
from ...._typing import Array, Index

_SIZED = 2000  # rows on which mean differences are taken, about
_MIN_SIZE = 0.01  # floor of the mean difference: one row in thousands has another value
_KNOTS = 512  # values per column whose scores are stored; scores between them lie on lines


@dataclass(frozen=True)
class Knots:
    """A monotone piecewise linear map of each column."""

    values: Array  # (n_knots,): ascending values, column by column, and what they become
    scores: Array
    stops: Index  # (n_columns + 1,): where the values of each column begin, and the end of the last

    @classmethod
    def of(cls, X: Array, count: Array) -> Knots:
        """Learn the normal scores of training values, which count as often as given."""
        m, d = X.shape
        order = np.argsort(X.T, axis=1, kind="stable")
        ordered, count = np.take_along_axis(X.T, order, axis=1), count[order]
        is_first = np.ones((d, m), dtype=bool)
        is_first[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
        starts = np.flatnonzero(is_first)
        weight = np.add.reduceat(count.ravel(), starts) / count[:1].sum()
        stops = np.append(0, np.cumsum(np.count_nonzero(is_first, axis=1)))
        column, through = np.repeat(np.arange(d), np.diff(stops)), np.cumsum(weight)
        share = through - 0.5 * weight - np.append(0.0, through)[stops[:-1]][column]
        scores = ndtri(np.clip(share, 1e-12, 1 - 1e-12))
        scores -= np.bincount(column, weight * scores, minlength=d)[column]
        deviation = np.sqrt(np.bincount(column, weight * scores**2, minlength=d))
        scores /= np.where(np.diff(stops) > 1, deviation, 1.0)[column]
        return cls(ordered.take(starts), scores, stops)

    def thinned(self, most: int) -> Knots:
        """Return the map with at most some values per column, at about equal steps of the score."""
        kept = []
        for start, stop in pairwise(self.stops):
            own = self.scores[start:stop]
            kept.append(start + np.unique(np.searchsorted(own, np.linspace(own[0], own[-1], most))))
        chosen = np.concatenate([np.empty(0, dtype=np.intp), *kept])
        stops = np.cumsum([0, *map(len, kept)])
        return Knots(self.values[chosen], self.scores[chosen], stops)

    def part(self, columns: Index) -> Knots:
        """Return the maps of some columns."""
        slices = [slice(self.stops[j], self.stops[j + 1]) for j in columns]
        return Knots(
            np.concatenate([np.empty(0), *(self.values[own] for own in slices)]),
            np.concatenate([np.empty(0), *(self.scores[own] for own in slices)]),
            np.cumsum([0, *(own.stop - own.start for own in slices)]),
        )

    @property
    def is_flat(self) -> Any:
        """Whether all values of each column have one score."""
        return self.scores[self.stops[1:] - 1] == self.scores[self.stops[:-1]]


@dataclass(frozen=True)
class ColumnScores:
    """Turns encoded columns into columns that are compared."""

    knots: Knots  # the normal scores of the numbers
    # (n_numbers,): the mean absolute differences of these scores; infinite for a constant column
    sizes: Array
    is_category: Any  # (d,): whether a column is a category

    @classmethod
    def of(cls, E: Array, is_category: Any, weight: Array) -> ColumnScores:
        """Learn the scores of encoded training rows."""
        numbers = E[:, ~is_category]
        knots = Knots.of(numbers, weight).thinned(_KNOTS)
        plain = cls(knots, np.ones(numbers.shape[1]), np.zeros(numbers.shape[1], dtype=bool))
        some = slice(None, None, -(-len(E) // _SIZED))
        sizes = mean_differences(plain.apply(numbers[some]), weight[some])
        sizes = np.where(knots.is_flat, np.inf, np.maximum(sizes, _MIN_SIZE))
        return cls(knots, sizes, is_category)

    def apply(self, E: Array) -> Array:
        """Return the scores of numbers over their sizes, and codes, in float32."""
        numbers = ~self.is_category
        n_knots, sizes = np.zeros(len(numbers), dtype=np.int64), np.ones(len(numbers))
        n_knots[numbers], sizes[numbers] = np.diff(self.knots.stops), self.sizes
        out = np.empty((len(E), len(numbers)), dtype=np.float32)
        heights_on_lines(
            np.ascontiguousarray(E, dtype=np.float64),
            np.arange(len(numbers)),
            self.knots.values,
            self.knots.scores,
            np.cumsum([0, *n_knots]),
            sizes,
            out,
        )
        return out

    def part(self, columns: Index) -> ColumnScores:
        """Return the scores of some columns."""
        place = np.cumsum(~self.is_category) - 1  # of each number among the numbers
        numbers = place[columns[~self.is_category[columns]]]
        return ColumnScores(
            self.knots.part(numbers), self.sizes[numbers], self.is_category[columns]
        )


def mean_differences(X: Array, count: Array) -> Array:
    """Return the mean absolute difference of two rows, column by column.

    E|x - z| = 2 sum_i q_i x_i (F_i + F_i- - 1) for sorted values of shares q and F their sums.
    """
    order = np.argsort(X, axis=0, kind="stable")
    ordered, share = np.take_along_axis(X, order, axis=0), count[order] / count.sum()
    through = np.cumsum(share, axis=0)
    differences: Array = 2 * np.sum(share * ordered * (2 * through - share - 1), axis=0)
    return differences
