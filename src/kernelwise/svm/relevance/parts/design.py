"""Columns of a regression: dense ones, and steps and levels that are stored as places.

    Z = [ D , B T ]

D has a constant column first and then numbers. B is one-hot: one place per feature and row. T makes
columns of the places: for a category the levels themselves, for the bins of a number the steps

    2 / sqrt(number of steps) * [ bin > t ]

All products take n g^2 or n g q operations for g features and q dense columns, however many levels
there are, and Z itself is never formed. Z has the constant in column 0.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ...._native import one_hot_forms, one_hot_gram, one_hot_product, one_hot_sums
from ...._records import dataclass
from ...._typing import Array, Index


@dataclass(frozen=True)
class Steps:
    """The columns that are made of places.

    Parameters
    ----------
    starts : ndarray of shape (g + 1,)
        The first place of each feature, and the number of places.
    is_category : ndarray of shape (g,)
        Whether the places of a feature are levels; else they are bins, of which steps are made.
    """

    starts: Index
    is_category: Any

    @cached_property
    def widths(self) -> Index:
        """The number of columns of each feature: its levels, or its steps."""
        sizes = np.diff(self.starts)
        return np.where(self.is_category, sizes, sizes - 1)

    @property
    def n_columns(self) -> int:
        """The number of columns of Z that are made of places."""
        return int(self.widths.sum())

    @cached_property
    def _levels(self) -> list[tuple[slice, slice]]:
        """The places and the columns of each category."""
        ends = np.cumsum(self.widths)
        return [
            (slice(self.starts[j], self.starts[j + 1]), slice(ends[j] - self.widths[j], ends[j]))
            for j in np.flatnonzero(self.is_category)
        ]

    @cached_property
    def _batches(self) -> list[tuple[Index, Index, Array]]:
        """Places and columns, a row per feature, and T of the numbers with equally many bins."""
        first, widths = np.cumsum(self.widths) - self.widths, self.widths
        batches = []
        for width in np.unique(widths[~np.asarray(self.is_category) & (widths > 0)]).tolist():
            own = np.flatnonzero((widths == width) & ~np.asarray(self.is_category))
            places = self.starts[own, None] + np.arange(width + 1)
            batches.append((places, first[own, None] + np.arange(width), step_matrix(width + 1)))
        return batches

    def at_places(self, coefficients: Array) -> Array:
        """Return T c: what the columns add up to at each place; c has one row per column."""
        out = np.zeros((int(self.starts[-1]), *coefficients.shape[1:]), dtype=coefficients.dtype)
        for own, levels in self._levels:
            out[own] = coefficients[levels]
        for places, columns, T in self._batches:
            out[places] = _of_each(T.astype(out.dtype), coefficients[columns])
        return out

    def of_columns(self, sums: Array) -> Array:
        """Return T' s: sums over the rows of each place become sums for each column."""
        out = np.empty((self.n_columns, *sums.shape[1:]))
        for own, levels in self._levels:
            out[levels] = sums[own]
        for places, columns, T in self._batches:
            out[columns] = _of_each(T.T, sums[places])
        return out


def matrix_product(A: Array, B: Array) -> Array:
    """Return A B, without reports of invalid values that are none.

    Where A has five columns of float32, OpenBLAS's product for AVX-512 also multiplies what it
    finds on the stack: the product is right, but a signalling NaN there is reported.
    """
    with np.errstate(invalid="ignore"):
        found: Array = np.matmul(A, B)
    return found


def _of_each(T: Array, values: Array) -> Array:
    """Multiply the values of each feature by T; they have two axes, or a third of columns."""
    return matrix_product(values, T.T) if values.ndim == 2 else matrix_product(T, values)


def step_matrix(n_bins: int) -> Array:
    """Return the values of the steps in each bin, of shape (n_bins, n_bins - 1)."""
    above = np.arange(n_bins)[:, None] > np.arange(n_bins - 1)
    return above * (2 / np.sqrt(max(n_bins - 1, 1)))


@dataclass(frozen=True)
class Design:
    """Z, by its dense columns and its places.

    Parameters
    ----------
    dense : ndarray of shape (n, q), of float32
        The constant and the numbers.
    places : ndarray of shape (n, g), of int32
        The places, ascending in each row.
    steps : Steps
        The columns that are made of them.
    """

    dense: Array
    places: Any
    steps: Steps

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of Z."""
        return len(self.dense), self.dense.shape[1] + self.steps.n_columns

    def part(self, rows: Index) -> Design:
        """Return some rows of Z."""
        return Design(self.dense[rows], self.places[rows], self.steps)

    def gram(self, weights: Array) -> Array:
        """Return Z' diag(weights) Z in float64; the weights are not negative."""
        q = self.dense.shape[1]
        n_places, p = int(self.steps.starts[-1]), self.shape[1]
        out = np.empty((p, p))
        scaled = self.dense * np.sqrt(weights).astype(np.float32)[:, None]
        out[:q, :q] = scaled.T @ scaled
        sums = np.zeros((n_places, q))
        one_hot_sums(self.places, weights, self.dense, sums)
        out[q:, :q] = self.steps.of_columns(sums)
        out[:q, q:] = out[q:, :q].T
        counts = np.zeros((n_places, n_places))
        one_hot_gram(self.places, weights, counts)
        counts += np.triu(counts, 1).T
        out[q:, q:] = self.steps.of_columns(self.steps.of_columns(counts).T)
        return out

    def product(self, coefficients: Array) -> Array:
        """Return Z c, of shape (n, k), in float32, for c of shape (p, k)."""
        c = coefficients.astype(np.float32)
        q = self.dense.shape[1]
        out = matrix_product(self.dense, c[:q])
        one_hot_product(self.places, self.steps.at_places(c[q:]), out)
        return out

    def adjoint(self, values: Array) -> Array:
        """Return Z' v for a vector v."""
        sums = np.zeros((int(self.steps.starts[-1]), 1))
        one_hot_sums(self.places, values, np.ones((len(values), 1), dtype=np.float32), sums)
        dense = values.astype(np.float32) @ self.dense
        return np.concatenate([dense, self.steps.of_columns(sums[:, 0])])

    def rows(self, members: Index) -> Array:
        """Return some rows of Z as an array."""
        ones = np.zeros((int(self.steps.starts[-1]), len(members)))
        ones[self.places[members].T, np.arange(len(members))] = 1
        return np.hstack([self.dense[members], self.steps.of_columns(ones).T])

    def forms(self, Q: Array) -> Array:
        """Return z'Qz of each row z of Z, for a symmetric Q."""
        q = self.dense.shape[1]
        at_dense = self.steps.at_places(Q[q:, :q])
        at_places = self.steps.at_places(self.steps.at_places(Q[q:, q:]).T)
        out = np.empty(len(self.dense))
        one_hot_forms(self.places, np.ascontiguousarray(at_places), out)
        mixed = matrix_product(self.dense, Q[:q, :q].astype(np.float32))
        one_hot_product(self.places, (2 * at_dense).astype(np.float32), mixed)
        return out + np.einsum("ij,ij->i", mixed, self.dense)
