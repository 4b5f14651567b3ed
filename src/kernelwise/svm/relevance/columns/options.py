"""Which columns are categories and which share a weight, as a user says it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...._typing import Index
from .raw import CATEGORY, RawColumn


@dataclass(frozen=True)
class ColumnOptions:
    """What a user says about columns."""

    # which columns are categories: by their types, by a mask, by numbers, by names, or none
    categorical_features: Any = "from_dtype"
    feature_groups: Any = None  # lists of columns that share one weight, or one label per column

    @classmethod
    def of(cls, estimator: Any) -> ColumnOptions:
        """Read the parameters of an estimator that learns from tables."""
        return cls(estimator.categorical_features, estimator.feature_groups)

    @property
    def by_type(self) -> bool:
        """Whether the types of the columns say which are categories."""
        own = self.categorical_features
        return isinstance(own, str) and own == "from_dtype"

    @property
    def finds_no_category(self) -> bool:
        """Whether no column of numbers can be a category."""
        return self.by_type or self.categorical_features is None

    def categories(self, raws: Sequence[RawColumn], names: Sequence[str]) -> Any:
        """Return which columns are categories; raw columns are not needed for plain numbers."""
        if self.by_type:
            kinds = [raw.kind == CATEGORY for raw in raws]
            return np.array(kinds or [False] * len(names), dtype=bool)
        out = np.zeros(len(names), dtype=bool)
        if self.categorical_features is None:
            return out
        given = np.asarray(self.categorical_features)
        if given.dtype == bool and given.shape != out.shape:
            raise ValueError(
                f"categorical_features is a mask of {given.size} columns, but X has {len(names)}."
            )
        chosen = np.flatnonzero(given) if given.dtype == bool else given.ravel()
        out[[_column(each, names, "categorical_features") for each in chosen.tolist()]] = True
        for j in np.flatnonzero(~out).tolist():
            if raws:
                raws[j].numbers()  # an error that names the column, where it is not of numbers
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
