"""Large tables, which are encoded block by block, never whole."""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..._records import dataclass
from ..._typing import Array, Index
from ...scale.sampling import sample_rows
from ..base.predictor import take
from ..base.task import Labels
from .column_options import ColumnOptions
from .columns import CategoryCodes, ColumnEncoding
from .raw_columns import columns_of

ENCODING_ROWS = 50_000  # rows from which medians and gaps are learned
ENCODING_SEED = 0  # picks these rows


@dataclass(frozen=True)
class EncodedTable:
    """Rows of a user's table, which are encoded when they are read.

    Parameters
    ----------
    given : data frame or ndarray of shape (n_given, n_source)
        The table, of whatever type; a memory map stays on its disk.
    rows : ndarray of shape (n,)
        The rows of it that count, ascending.
    encoding : ColumnEncoding
        How its columns become numbers and codes.
    """

    given: Any
    rows: Index
    encoding: ColumnEncoding

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows that count, and of encoded columns."""
        return len(self.rows), len(self.encoding.layout.source)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, rows: Any) -> Array:
        """Return some encoded rows, given by numbers, a mask or a slice."""
        whole = len(self.rows) == self.given.shape[0] and isinstance(rows, slice)
        own = self.given[rows] if whole else take(self.given, self.rows[rows])
        encoded = self.encoding.apply(own)
        release_pages(self.given)
        return encoded


def release_pages(X: Any) -> None:
    """Give back the pages of a memory map that were read, which else stay in memory until it lacks.

    Parameters
    ----------
    X : object
        A table. Nothing happens unless it is a `numpy.memmap`, or a view of one, that shares its
        pages with the file: those of a private map have what the user wrote.
    """
    while X is not None and not isinstance(X, np.memmap):
        X = getattr(X, "base", None)
    if X is not None and X.mode in ("r", "r+", "w+") and hasattr(mmap, "MADV_DONTNEED"):
        pages: Any = getattr(X, "_mmap", None)
        if pages is not None:
            pages.madvise(mmap.MADV_DONTNEED)


def learn_encoding(
    X: Any, names: Sequence[str], labels: Labels, options: ColumnOptions
) -> ColumnEncoding:
    """Learn how the columns of a large table become numbers and codes.

    Parameters
    ----------
    X : data frame or ndarray of shape (n, n_source)
        The table.
    names : sequence of str
        The names of its columns.
    labels : Labels
        The rows that count, and how often.
    options : ColumnOptions
        Which columns are categories, which share a weight, and whether gaps are filled.

    Returns
    -------
    encoding : ColumnEncoding
        Medians and marks of gaps by some of the rows; levels of categories by all of them.
    """
    some = np.sort(sample_rows(labels.rows, ENCODING_ROWS, ENCODING_SEED))
    few = take(X, labels.rows[some])
    release_pages(X)
    encoding = ColumnEncoding.of(few, names, labels.sample_weight[some], options)
    if not encoding.categories or len(some) == len(labels.rows):
        return encoding
    counts = labels.sample_weight / min(1.0, labels.sample_weight.mean())
    table = X if len(labels.rows) == X.shape[0] else take(X, labels.rows)
    raws = columns_of(table, names)
    levels = [CategoryCodes.of(own.column, raws[own.column], counts) for own in encoding.categories]
    return replace(encoding, categories=tuple(levels))
