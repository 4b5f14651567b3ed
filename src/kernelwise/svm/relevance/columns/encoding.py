"""Columns of a table as RelevanceSVC reads them: numbers, categories and groups.

    numbers      NaN becomes the median of the training rows, and a column with enough gaps gets a
                 second column that marks them
    categories   codes: 0 for unseen levels, then the levels in order, however few rows they have,
                 then the missing values, which are a level of their own

A category has one weight whatever the number of its levels.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...._typing import Array, Index
from ....values.reading import AS_IS, ID, Reading
from .options import ColumnOptions
from .raw import Level, RawColumn, columns_of, is_frame

MAX_LEVELS = 20_000  # levels of a category with a code each, the most frequent ones
_REPEATED = 2  # rows of a level that says something of other rows
MIN_GAP_ROWS = 10  # rows without a number from which a column marks its gaps; fewer teach nothing
GAP = 2.0  # value that marks a missing number; zero marks a known one
OTHER = 0  # code of unseen levels, and of all levels where each has one row


@dataclass(frozen=True)
class ColumnLayout:
    """What each encoded column is, and which of the user's columns it comes from."""

    # (d,): whether an encoded column holds the codes of a category: two codes differ or they do
    # not, and their order means nothing
    is_category: Any
    # (d,): the user's column that each encoded column comes from. An indicator of missing values
    # has the source of the column whose gaps it marks
    source: Index
    group: Index  # (d,): encoded columns with the same group share one weight
    n_source: int  # the number of the user's columns

    @classmethod
    def plain(cls, d: int) -> ColumnLayout:
        """Return the layout of d numbers, each with a weight of its own."""
        return cls(np.zeros(d, dtype=bool), np.arange(d), np.arange(d), d)

    def to_source(self, values: Array) -> Array:
        """Sum values of encoded columns, along the last axis, for each of the user's columns."""
        values = np.asarray(values, dtype=np.float64)
        order = np.argsort(self.source, kind="stable")
        found, starts = np.unique(self.source[order], return_index=True)
        out = np.zeros((*values.shape[:-1], self.n_source))
        out[..., found] = np.add.reduceat(values[..., order], starts, axis=-1)
        return out


@dataclass(frozen=True)
class CategoryCodes:
    """The codes of a column's levels."""

    column: int
    # the levels with codes of their own, 1, 2, ..., in order: numbers, then words
    levels: tuple[Level, ...]
    # whether missing values have the code after the last level; else that of other levels
    knows_missing: bool

    @classmethod
    def of(cls, column: int, raw: RawColumn, counts: Array) -> CategoryCodes:
        """Learn the levels; ``counts`` says how many rows each row stands for."""
        return cls.of_counts(column, count_levels(raw, counts))

    @classmethod
    def of_counts(cls, column: int, total: Mapping[Level | None, float]) -> CategoryCodes:
        """Take the levels, whose numbers of rows may be sums over parts of a table.

        Where no level has two rows, none says anything of another row, and none gets a code.
        """
        if max(total.values(), default=0.0) < _REPEATED:
            return cls(column, (), knows_missing=False)
        levels = sorted((level for level in total if level is not None), key=_in_order)
        levels.sort(key=lambda level: -total[level])  # stable: equal ones stay in order
        return cls(column, tuple(sorted(levels[:MAX_LEVELS], key=_in_order)), None in total)

    @property
    def n_codes(self) -> int:
        """Number of codes, that of other levels included."""
        return 1 + len(self.levels) + self.knows_missing

    def codes(self, raw: RawColumn) -> Array:
        """Return the code of each value."""
        places, found = raw.levels()
        code = {level: 1.0 + k for k, level in enumerate(self.levels)}
        missing = float(len(self.levels) + 1 if self.knows_missing else OTHER)
        of_place = [missing if level is None else code.get(level, OTHER) for level in found]
        return np.array(of_place, dtype=np.float64)[places]


def _in_order(level: Level) -> tuple[bool, Level]:
    """Return what levels are sorted by: numbers come first, then words."""
    return isinstance(level, str), level


def count_levels(raw: RawColumn, counts: Array) -> dict[Level | None, float]:
    """Return how many rows each level of a column stands for; None is a missing value."""
    places, found = raw.levels()
    rows = np.bincount(places, weights=counts, minlength=len(found))
    total: dict[Level | None, float] = {}
    for level, number in zip(found, rows.tolist(), strict=True):
        total[level] = total.get(level, 0.0) + number
    return total


@dataclass(frozen=True)
class ColumnEncoding:
    """A step from the user's columns to encoded ones.

    Columns are read first: each becomes itself, or the parts of a date, the numbers of a text, or
    nothing. All columns that are read come in order, then the marks of gaps.
    """

    names: tuple[str, ...]  # the names of the user's columns
    medians: Array  # (n_read,): what replaces missing numbers; NaN for categories
    # (n_marked,): the columns whose gaps are marked, by a column each behind all others
    marked: Index
    categories: tuple[CategoryCodes, ...]  # the codes of each category
    layout: ColumnLayout  # what each encoded column is
    readings: tuple[Reading, ...] = ()  # how each column is read; none if all are as they are
    unused: tuple[str, ...] = ()  # columns that name rows

    @classmethod
    def of(
        cls, X: Any, names: Sequence[str], counts: Array, options: ColumnOptions
    ) -> ColumnEncoding:
        """Learn how columns are read, medians, gaps and levels from training rows."""
        counts = counts / min(1.0, counts.mean())
        raws = [] if _is_plain(X) and options.finds_no_category else columns_of(X, names)
        readings = options.readings(raws, names)
        own = readings or (Reading(),) * len(names)
        source = np.repeat(np.arange(len(names)), [reading.n_parts for reading in own])
        is_read = np.array([reading.kind != AS_IS for reading in own])
        is_category = options.categories(raws, names, is_read)[source]
        columns = [each for raw, how in zip(raws, own, strict=False) for each in raw.read(how)]
        learned = [
            CategoryCodes.of(j, columns[j], counts) for j in np.flatnonzero(is_category).tolist()
        ]
        numbers = np.flatnonzero(~is_category)
        found = [columns[j].numbers() for j in numbers] if raws else X.T[numbers]
        values = np.array(found, dtype=np.float64).reshape(len(numbers), len(counts))
        medians = np.full(len(source), np.nan)
        medians[numbers] = _weighted_medians(values, counts)
        marked = numbers[np.isnan(values) @ counts >= MIN_GAP_ROWS]
        group = _groups(options.groups(names), own, source)
        layout = ColumnLayout(
            is_category=np.append(is_category, np.zeros(len(marked), dtype=bool)),
            source=np.append(source, source[marked]),
            group=np.append(group, len(source) + group[marked]),
            n_source=len(names),
        )
        unused = tuple(name for name, each in zip(names, own, strict=True) if each.kind == ID)
        if unused:
            warnings.warn(
                f"columns {list(unused)} name the rows and are not used. To use a column of whole "
                "numbers all the same, make it float; one of words, name it in "
                "categorical_features.",
                UserWarning,
                stacklevel=2,
            )
        return cls(tuple(names), medians, marked, tuple(learned), layout, readings, unused)

    def apply(self, X: Any) -> Array:
        """Return the encoded columns; an array of finite numbers stays what it is."""
        numbers = self.numbers(X)
        if not len(self.marked) and np.isfinite(numbers).all():
            return numbers
        self._refuse_infinity(numbers)
        missing = np.isnan(numbers)
        if missing.any():
            numbers = np.where(missing, self.medians, numbers)
        if not len(self.marked):
            return numbers
        return np.hstack([numbers, np.where(missing[:, self.marked], GAP, 0.0)])

    def part(self, sources: Index) -> ColumnEncoding:
        """Return the encoding of some of the user's columns, which then are all there are."""
        new = np.full(self.layout.n_source, -1)
        new[sources] = np.arange(len(sources))
        own = self.columns_of(sources)
        read = own[own < len(self.medians)]
        place = np.full(len(self.medians), -1)
        place[read] = np.arange(len(read))
        layout = ColumnLayout(
            np.asarray(self.layout.is_category)[own],
            new[self.layout.source[own]],
            self.layout.group[own],
            len(sources),
        )
        readings = tuple(self.readings[j] for j in sources) if self.readings else ()
        return ColumnEncoding(
            tuple(self.names[j] for j in sources),
            self.medians[read],
            place[self.marked[place[self.marked] >= 0]],
            tuple(
                replace(each, column=int(place[each.column]))
                for each in self.categories
                if place[each.column] >= 0
            ),
            layout,
            () if all(each.kind == AS_IS for each in readings) else readings,
            self.unused,
        )

    def table(self) -> dict[str, list[str]]:
        """Return what each column is read as, for ``pandas.DataFrame``.

        Returns
        -------
        table : dict of list of str
            "column" and "read_as": the columns that the model reads, then those that name rows.
        """
        of_category = {self.layout.source[own.column]: own for own in self.categories}
        kinds = []
        for j in range(len(self.names)):
            kind = str(self.readings[j]) if self.readings else AS_IS
            if kind == AS_IS:
                own = of_category.get(j)
                kind = "number" if own is None else f"category of {len(own.levels)} levels"
            kinds.append(kind)
        n_unused = len(self.unused)
        return {
            "column": [*self.names, *self.unused],
            "read_as": [*kinds, *[str(Reading(ID))] * n_unused],
        }

    def with_categories(self, categories: tuple[CategoryCodes, ...]) -> ColumnEncoding:
        """Return the encoding with other levels of the same categories."""
        return replace(self, categories=categories)

    def columns_of(self, sources: Index) -> Index:
        """Return the encoded columns that come from some of the user's columns."""
        return np.flatnonzero(np.isin(self.layout.source, sources))

    def category_columns(self, X: Any) -> list[RawColumn]:
        """Return the user's columns that are categories."""
        raws = columns_of(X, self.names)
        return [raws[self.layout.source[own.column]] for own in self.categories]

    def numbers(self, X: Any) -> Array:
        """Return numbers, with gaps, and codes, one column per column that is read."""
        if _is_plain(X) and not self.categories and not self.readings:
            return np.ascontiguousarray(X, dtype=np.float64)
        raws = columns_of(X, self.names)
        own = self.readings or (Reading(),) * len(raws)
        columns = [each for raw, how in zip(raws, own, strict=True) for each in raw.read(how)]
        out = np.empty((X.shape[0], len(columns)))
        codes = {each.column: each for each in self.categories}
        for j, column in enumerate(columns):
            out[:, j] = codes[j].codes(column) if j in codes else column.numbers()
        return out

    def _refuse_infinity(self, numbers: Array) -> None:
        """Raise an error that names the first column with infinite numbers."""
        infinite = np.isinf(numbers).any(axis=0)
        if infinite.any():
            name = self.names[self.layout.source[int(np.argmax(infinite))]]
            raise ValueError(
                f"Input X contains infinity: column {name!r} has infinite values. Replace them "
                "by NaN, which counts as missing, or by the largest value that makes sense."
            )


def _is_plain(X: Any) -> bool:
    return not is_frame(X) and X.dtype.kind in "biuf"


def _groups(of_source: Index, readings: Sequence[Reading], source: Index) -> Index:
    """Return the group of each column that is read: the first column of the group.

    The parts of a date are groups of their own, unless the user puts the date into a group.
    """
    n_members = np.bincount(of_source, minlength=len(of_source))
    shares = np.array([reading.shares_weight for reading in readings], dtype=bool)
    alone = ~shares[source] & (n_members[of_source[source]] == 1)
    label = np.where(alone, len(of_source) + np.arange(len(source)), of_source[source])
    _, first, group = np.unique(label, return_index=True, return_inverse=True)
    out: Index = first[group]
    return out


def _weighted_medians(values: Array, counts: Array) -> Array:
    """Return the median of each row of values, without its NaN; zero where nothing else is."""
    lower, upper = _middles(values, counts)
    differ = lower != upper
    lower[differ] = (lower[differ] + upper[differ]) / 2
    return np.where(np.isnan(lower), 0.0, lower)


def _middles(values: Array, counts: Array) -> tuple[Array, Array]:
    """Return the two values in the middle of each row of values, which may be one."""
    if (counts == counts[0]).all():
        if not np.isnan(values).any():  # takes a quarter of the time of the sort below
            places = (len(counts) - 1) // 2, len(counts) // 2
            ordered = np.partition(values, places, axis=1)
            return ordered[:, places[0]].copy(), ordered[:, places[1]]
        ordered, weight = np.sort(values, axis=1), counts  # NaN comes last
    else:
        order = np.argsort(values, axis=1, kind="stable")
        ordered, weight = np.take_along_axis(values, order, axis=1), counts[order]
    below = np.cumsum(np.where(np.isnan(ordered), 0.0, weight), axis=1)
    half = below[:, -1:] / 2
    last = np.maximum(0, np.count_nonzero(~np.isnan(ordered), axis=1) - 1)
    lower, upper = (
        ordered[np.arange(len(ordered)), np.minimum(np.count_nonzero(short, axis=1), last)]
        for short in (below < half, below <= half)
    )
    return lower, upper
