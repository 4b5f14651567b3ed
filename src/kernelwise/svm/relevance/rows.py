"""The columns of a table as the model compares and adds them, and rows of these.

    Z       one column per encoded column: numbers as normal scores over their mean difference,
            categories as codes that differ or not
    A       additive columns: the constant, a line and the score of each number, steps at the
            cuts of its bins, and a height for each level of a category
    R       what the Gaussian kernel reads: the lines of numbers, and levels as 0 or 1 / sqrt(2)

The Laplacian compares ranks, the Gaussian kernel values: smooth functions of a column are smooth in
its values, and scores in place of lines there cost 3 % of RMSE and 1.5 % of log loss.

A and R are made when they are read, for the columns that are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..._native import exp_of_minus_rows, limited_distances
from ..._typing import Array, Index
from ...kernels import Laplacian
from .columns.bins import ColumnBins
from .columns.encoding import ColumnEncoding
from .columns.scores import ColumnScores
from .settings import Settings

SCORE = np.float32(0.886)  # mean absolute difference of normal scores is 2 / sqrt(pi) = 1 / 0.886
CUT = 4.0  # deviations from the mean at which lines end
TRACE = 1e-4  # weights below this share of the largest are left out of distances


@dataclass(frozen=True)
class ModelColumns:
    """How a user's columns become those of the model."""

    encoding: ColumnEncoding  # from the user's columns to numbers and codes
    scores: ColumnScores  # from these to Z
    bins: ColumnBins  # the bins of numbers and the levels of categories
    # (d,): of the numbers, for their lines; zero and infinite for categories and constant columns
    means: Array
    deviations: Array
    # (d,): the number of the group of each encoded column, from zero; a group has one weight
    group: Index
    # the levels of each encoded column that the Gaussian kernel tells apart; none of numbers
    tops: tuple[Array, ...]

    @classmethod
    def of(
        cls, encoding: ColumnEncoding, E: Array, weight: Array, settings: Settings
    ) -> ModelColumns:
        """Learn scores, bins and levels from encoded training rows."""
        is_category = np.asarray(encoding.layout.is_category)
        n_varying = max(1, int(np.count_nonzero(np.ptp(E, axis=0) > 0)))
        n_places = min(settings.n_places, len(E) // 2)
        n_bins = min(settings.n_bins, max(1, n_places // n_varying))
        n_levels = _levels_each(E[:, is_category], min(settings.n_levels, n_places))
        share = weight / weight.sum()
        means = np.where(is_category, 0.0, share @ E)
        unit = np.maximum(np.abs(E).max(axis=0), np.finfo(np.float64).tiny)  # squares stay finite
        deviations = unit * np.sqrt(share @ (E / unit - means / unit) ** 2)
        deviations[is_category | (np.ptp(E, axis=0) == 0)] = np.inf
        return cls(
            encoding=encoding,
            scores=ColumnScores.of(E, is_category, weight),
            bins=ColumnBins.of(E, is_category, weight, n_bins, n_levels),
            means=means,
            deviations=deviations,
            group=np.unique(encoding.layout.group, return_inverse=True)[1],
            tops=tuple(
                _most_frequent(E[:, j], settings.n_indicators) if category else np.zeros(0)
                for j, category in enumerate(is_category)
            ),
        )

    @property
    def is_category(self) -> Any:
        """Whether each encoded column is a category."""
        return self.bins.is_category

    @property
    def n_groups(self) -> int:
        """The number of groups of columns."""
        return int(self.group.max(initial=-1)) + 1

    @cached_property
    def group_size(self) -> Index:
        """The number of encoded columns of each group."""
        return np.bincount(self.group, minlength=self.n_groups)

    @cached_property
    def limits(self) -> Array:
        """The largest distance along each column of Z: one for a category."""
        return np.where(self.is_category, 1, np.inf).astype(np.float32)

    def binned(self, kept: Any, *, steps: bool) -> Index:
        """Return the columns of kept groups with levels or, if asked for, steps."""
        kept_column = np.asarray(kept)[self.group] & (np.diff(self.bins.starts) > 1)
        out: Index = np.flatnonzero(kept_column & (steps | self.is_category))
        return out

    def rows(self, E: Array, weight: Array | None = None) -> Rows:
        """Return encoded rows as the model reads them."""
        with np.errstate(over="ignore"):  # beyond the cut
            lines = np.clip((E - self.means) / self.deviations, -CUT, CUT).astype(np.float32)
        count = np.ones(len(E)) if weight is None else weight
        places = (self.bins.places(E) - self.bins.starts[:-1]).astype(np.uint16)
        return Rows(self, self.scores.apply(E), lines, places, count)

    def part(self, columns: Index, encoding: ColumnEncoding) -> ModelColumns:
        """Return some encoded columns, whose user's columns the encoding then reads alone."""
        return ModelColumns(
            encoding,
            self.scores.part(columns),
            self.bins.part(columns),
            self.means[columns],
            self.deviations[columns],
            np.unique(self.group[columns], return_inverse=True)[1],
            tuple(self.tops[j] for j in columns),
        )


def _levels_each(codes: Array, most: int) -> int:
    """Return how many levels every category may have so that all together have at most so many."""
    sizes = codes.max(axis=0) + 1 if codes.size else np.zeros(0)
    each = np.arange(16, max(16, int(sizes.max(initial=0))) + 1)
    totals = np.minimum(sizes, each[:, None]).sum(axis=1)
    return int(each[max(0, int(np.searchsorted(totals, most, side="right")) - 1)])


def step_size(n_bins: Any) -> Any:
    """Return the height of the steps of a number with so many bins."""
    return 2 / np.sqrt(np.maximum(n_bins - 1, 1))


def step_matrix(n_bins: int) -> Array:
    """Return the values of the steps in each bin, of shape (n_bins, n_bins - 1)."""
    above = np.arange(n_bins)[:, None] > np.arange(n_bins - 1)
    out: Array = above * step_size(n_bins)
    return out


def _most_frequent(codes: Array, most: int) -> Array:
    found, counts = np.unique(codes, return_counts=True)
    return found[np.argsort(-counts, kind="stable")][:most].astype(np.float32)


@dataclass(frozen=True)
class Additive:
    """Additive columns of rows, for the kept groups."""

    A: Array  # (n, q): the columns, the constant first
    group: Index  # (q,): their groups; -1 for the constant
    is_step: Any  # (q,): whether a column is a step of a number


@dataclass(frozen=True)
class Rows:
    """Rows as the model reads them."""

    columns: ModelColumns  # what their columns are
    Z: Array  # (n, d): scores and codes; standardised numbers, cut off
    lines: Array
    places: Any  # (n, d): the bin or level of each value, among those of its column
    weight: Array  # (n,): the sample weight of each row

    def __len__(self) -> int:
        return len(self.Z)

    @classmethod
    def joined(cls, blocks: Sequence[Rows]) -> Rows:
        """Return blocks of rows as one."""
        arrays = (
            np.concatenate([getattr(block, name) for block in blocks])
            for name in ("Z", "lines", "places", "weight")
        )
        Z, lines, places, weight = arrays
        return cls(blocks[0].columns, Z, lines, places, weight)

    def part(self, rows: Any) -> Rows:
        """Return some of the rows."""
        own = self.Z[rows], self.lines[rows], self.places[rows], self.weight[rows]
        return Rows(self.columns, *own)

    def only(self, columns: Index, model_columns: ModelColumns) -> Rows:
        """Return some of the columns, which are those of a smaller model."""
        Z, lines, places = (
            np.ascontiguousarray(own[:, columns]) for own in (self.Z, self.lines, self.places)
        )
        return Rows(model_columns, Z, lines, places, self.weight)

    def bare(self, *, gaussian: bool = True) -> Rows:
        """Return the rows as kernels read them, or the Laplacian alone."""
        lines = self.lines if gaussian else self.lines[:, :0]
        return replace(self, lines=lines, places=self.places[:, :0])

    def linear_columns(self, kept: Any) -> tuple[Array, Index]:
        """Return the constant and the lines and scores of kept numbers, and their groups."""
        columns, n = self.columns, len(self)
        numbers = np.flatnonzero(np.asarray(kept)[columns.group] & ~columns.is_category)
        blocks = [np.ones((n, 1), np.float32), self.lines[:, numbers]]
        blocks.append(self.Z[:, numbers] * SCORE)
        group = columns.group[numbers]
        return np.hstack(blocks), np.concatenate([[-1], group, group])

    def additive(self, kept: Any, *, steps: bool = True) -> Additive:
        """Return the additive columns of the groups that a mask keeps."""
        columns = self.columns
        A, group = self.linear_columns(kept)
        blocks, groups, is_step = [A], [group], [np.zeros(len(group), dtype=bool)]
        for j in columns.binned(kept, steps=steps):
            category, size = bool(columns.is_category[j]), int(np.diff(columns.bins.starts)[j])
            table = np.eye(size) if category else step_matrix(size)
            blocks.append(table.astype(np.float32)[self.places[:, j]])
            groups.append(np.full(table.shape[1], columns.group[j]))
            is_step.append(np.full(table.shape[1], not category))
        A = np.asfortranarray(np.hstack(blocks))
        return Additive(A, np.concatenate(groups), np.concatenate(is_step))

    def gaussian(self, kept: Any) -> tuple[Array, Index]:
        """Return the columns that the Gaussian kernel reads, and their groups."""
        columns = self.columns
        own = np.asarray(kept)[columns.group]
        numbers = np.flatnonzero(own & ~columns.is_category)
        blocks, source = [self.lines[:, numbers] * SCORE], [numbers]
        for j in np.flatnonzero(own & columns.is_category):
            hits = self.Z[:, j, None] == columns.tops[j]
            blocks.append(hits.astype(np.float32) * np.float32(np.sqrt(0.5)))
            source.append(np.full(hits.shape[1], j))
        return np.hstack(blocks), columns.group[np.concatenate(source)]

    def distances(self, other: Rows, w: Array) -> Array:
        """Return sum_j w_j d_j between rows."""
        each = w[self.columns.group]
        kept = np.flatnonzero(each > TRACE * each.max(initial=0.0))
        out = np.zeros((len(self), len(other)), dtype=np.float32)
        if len(kept):
            left, right = (np.ascontiguousarray(own.Z[:, kept]) for own in (self, other))
            limits = self.columns.limits[kept]
            right = np.ascontiguousarray(right.T)
            limited_distances(left, right, each[kept].astype(np.float32), limits, out)
        return out

    def laplacian(self, other: Rows, w: Array) -> Array:
        """Return exp(-sum_j w_j d_j) between rows."""
        out = self.distances(other, w)
        exp_of_minus_rows(out)
        return out

    def exact_laplacian(self, other: Rows, w: Array) -> Array:
        """Return exp(-sum_j w_j d_j) between rows, in float64."""
        each = w[self.columns.group]
        kept = np.flatnonzero(each > TRACE * each.max(initial=0.0))
        if not len(kept):
            return np.ones((len(self), len(other)))
        kernel = Laplacian(weights=each[kept], categorical=self.columns.is_category[kept])
        out: Array = kernel(*(own.Z[:, kept].astype(np.float64) for own in (self, other)))
        return out

    def squares(self, other: Rows, w: Array) -> Array:
        """Return sum_j (w_j d_j)^2 between rows, in float64: the squares of rows cancel."""
        kept = w > TRACE * w.max(initial=0.0)
        (A, group), (B, _) = self.gaussian(kept), other.gaussian(kept)
        A, B = A * w[group], B * w[group]
        out = A @ (-2 * B.T)
        out += np.einsum("ij,ij->i", A, A)[:, None]
        out += np.einsum("ij,ij->i", B, B)
        found: Array = np.maximum(out, 0, out=out)
        return found

    def typical(self, w: Array, measure: Callable[..., Any], rng: Any, size: int = 300) -> float:
        """Return a measure (mean, median) of the distances of random pairs of rows."""
        a, b = (self.part(rng.permutation(len(self))[:size]) for _ in range(2))
        return float(measure(a.distances(b, w)))
