"""Which columns are categories and which share a weight, as a user says it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...._typing import Index
from ....values.reading import AS_IS, ID, Reading
from .raw import CATEGORY, RawColumn


@dataclass(frozen=True)
class ColumnOptions:
    """What a user says about columns."""

    # which columns are categories: by their types, by a mask, by numbers, by names, or none
    categorical_features: Any = "from_dtype"
    feature_groups: Any = None  # lists of columns that share one weight, or one label per column
    columns: str = "as is"  # whether columns are read: "auto", or "as is"

    @classmethod
    def of(cls, estimator: Any) -> ColumnOptions:
        """Read the parameters of an estimator that learns from tables."""
        columns = getattr(estimator, "columns", "auto")
        return cls(estimator.categorical_features, estimator.feature_groups, columns)

    @property
    def by_type(self) -> bool:
        """Whether the types of the columns say which are categories."""
        own = self.categorical_features
        return isinstance(own, str) and own == "from_dtype"

    @property
    def finds_no_category(self) -> bool:
        """Whether no column of numbers can be a category."""
        return self.by_type or self.categorical_features is None

    def readings(self, raws: Sequence[RawColumn], names: Sequence[str]) -> tuple[Reading, ...]:
        """Learn how columns are read; none where all of them are as they are."""
        if self.columns == "as is" or not raws:
            return ()
        declared = self._declared(names)
        found = [
            Reading() if own else raw.reading() for raw, own in zip(raws, declared, strict=True)
        ]
        if all(reading.kind == ID for reading in found):
            found = [Reading() for _ in found]
        return () if all(reading.kind == AS_IS for reading in found) else tuple(found)

    def categories(self, raws: Sequence[RawColumn], names: Sequence[str], is_read: Any) -> Any:
        """Return which columns are categories; raw columns are not needed for plain numbers.

        ``is_read`` (d,): the columns that are read as numbers.
        """
        if self.by_type:
            out = np.zeros(len(names), dtype=bool)
            for j in np.flatnonzero(~is_read).tolist() if raws else ():
                out[j] = raws[j].kind == CATEGORY
            return out
        out = self._declared(names)
        for j in np.flatnonzero(~out & ~is_read).tolist():
            if raws and self.categorical_features is not None:
                raws[j].numbers()  # an error that names the column, where it is not of numbers
        return out

    def _declared(self, names: Sequence[str]) -> Any:
        """Return which columns the user declares as categories."""
        out = np.zeros(len(names), dtype=bool)
        if self.finds_no_category:
            return out
        given = np.asarray(self.categorical_features)
        if given.dtype == bool and given.shape != out.shape:
            raise ValueError(
                f"categorical_features is a mask of {given.size} columns, but X has {len(names)}."
            )
        chosen = np.flatnonzero(given) if given.dtype == bool else given.ravel()
        out[[_column(each, names, "categorical_features") for each in chosen.tolist()]] = True
        return out

    def groups(self, names: Sequence[str]) -> Index:
        """Return the group of each column: the number of the first column of the group."""
        out = np.arange(len(names))
        given = [] if self.feature_groups is None else list(self.feature_groups)
        if not given:
            return out
        if not any(_is_listing(each) for each in given):
            if len(given) != len(names):
                raise ValueError(
                    f"feature_groups has {len(given)} labels, but X has {len(names)} columns; give "
                    "one label per column, or lists of columns."
                )
            first = {label: j for j, label in reversed(list(enumerate(given)))}
            return np.array([first[label] for label in given], dtype=np.intp)
        taken: set[int] = set()
        for listed in given:
            own = [_column(each, names, "feature_groups") for each in listed]
            if taken & set(own):
                twice = names[min(taken & set(own))]
                raise ValueError(f"feature_groups has column {twice!r} in two groups.")
            taken |= set(own)
            out[own] = min(own, default=0)
        return out


def _column(given: Any, names: Sequence[str], parameter: str) -> int:
    """Return the number of a column that is given by number or name."""
    if isinstance(given, str):
        if given not in names:
            raise ValueError(f"{parameter} names the column {given!r}, which X does not have.")
        return list(names).index(given)
    if not isinstance(given, int | np.integer) or not -len(names) <= given < len(names):
        raise ValueError(
            f"{parameter} has {given!r}, which is no column: X has {len(names)} of them."
        )
    return int(given) % len(names)


def _is_listing(each: Any) -> bool:
    return isinstance(each, list | tuple | set | frozenset | range | np.ndarray)
