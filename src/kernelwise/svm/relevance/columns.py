"""Columns of a table as RelevanceSVC reads them: numbers, categories and groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._typing import Array, Index


@dataclass(frozen=True)
class ColumnLayout:
    """What each encoded column is, and which of the user's columns it comes from.

    Parameters
    ----------
    is_category : ndarray of shape (d,)
        Whether an encoded column holds the codes of a category: two codes differ or they do not,
        and their order means nothing.
    source : ndarray of shape (d,)
        The user's column that each encoded column comes from. An indicator of missing values has
        the source of the column whose gaps it marks.
    group : ndarray of shape (d,)
        Encoded columns with the same group share one weight.
    n_source : int
        The number of the user's columns.
    """

    is_category: Any
    source: Index
    group: Index
    n_source: int

    @classmethod
    def plain(cls, d: int) -> ColumnLayout:
        """Return the layout of d numbers, each with a weight of its own."""
        return cls(np.zeros(d, dtype=bool), np.arange(d), np.arange(d), d)

    @property
    def has_categories(self) -> bool:
        """Whether any column is a category."""
        return bool(np.any(self.is_category))

    def to_source(self, values: Array) -> Array:
        """Sum values of the encoded columns, along the last axis, for each of the user's columns.

        Parameters
        ----------
        values : ndarray of shape (..., d)
            One value per encoded column.

        Returns
        -------
        sums : ndarray of shape (..., n_source)
            One value per column of the user; zero where no encoded column comes from it.
        """
        values = np.asarray(values, dtype=np.float64)
        chosen = self.source[:, None] == np.arange(self.n_source)
        return values @ chosen.astype(np.float64)
