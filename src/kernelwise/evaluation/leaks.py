"""Columns that predict the target by themselves, which often means that they leak it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._checks import check_kind
from .._typing import Array, Index
from ..tabular import Column, Target
from ..tabular.errors import require_columns
from ..tabular.profile import read_column

_MIN_AREA = 0.99  # area under the ROC curve from which a column alone is suspicious
_MAX_ROWS = 5000  # rows that are looked at
_MIN_CLASS_ROWS = 5  # rows of the smallest class, below which a column separates it by chance
_N_FOLDS = 5
_MAX_BINS = 64  # bins of the values of a number
_MIN_BIN_ROWS = 3  # rows per bin


class Leak(NamedTuple):
    """A column that predicts the target by itself.

    Parameters
    ----------
    column : str
        The column.
    area : float
        Its cross-validated area under the ROC curve; with several classes the mean over the
        classes, each against the rest.
    """

    column: str
    area: float

    @property
    def note(self) -> str:
        """The warning for a reader."""
        return (
            f"{self.column} predicts the target by itself (cross-validated AUC {self.area:.3f}); "
            f"if it is not known before the target is, leave it out: --drop {self.column!r}"
        )


def leaking_columns(
    frame: Any, classes: Target, columns: Sequence[Column], *, seed: int = 0
) -> list[Leak]:
    """Find columns that predict the classes almost perfectly, each by itself.

    Rows are scored by the shares of the classes in the leaf of a tree on the one column, or among
    the rows with the same word, which other rows have given. A column is reported if the area under
    the ROC curve is at least 0.99.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table.
    classes : Target
        Its classes, by `check_target`.
    columns : sequence of Column
        Its columns, by `describe_columns`; only those that are used are looked at.
    seed : int, default=0
        Picks the folds, and 5000 rows of larger tables.

    Returns
    -------
    leaks : list of Leak
        The suspicious columns, the worst first.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from kernelwise.evaluation import leaking_columns
    >>> from kernelwise.tabular import check_target, describe_columns
    >>> rng = np.random.default_rng(0)
    >>> frame = pd.DataFrame({"ill": rng.choice(["no", "yes"], 100), "age": rng.normal(size=100)})
    >>> frame["ward"] = np.where(frame["ill"] == "yes", "intensive", rng.choice(["a", "b"], 100))
    >>> found = leaking_columns(frame, check_target(frame, "ill"), describe_columns(frame, "ill"))
    >>> [leak.column for leak in found]
    ['ward']
    """
    check_kind(classes, "classes", Target)
    for column in columns:
        check_kind(column, "columns", Column)
    require_columns(frame, [classes.name], "target")
    if classes.smallest < _MIN_CLASS_ROWS:
        return []
    rng = np.random.default_rng(seed)
    # Copies of a row would give its class away in the folds.
    different = np.flatnonzero(~frame.iloc[classes.rows].duplicated().to_numpy())
    some = np.sort(rng.permutation(different)[:_MAX_ROWS])
    labels, y = np.unique(classes.y[some], return_inverse=True)
    if len(labels) < 2:
        return []
    fold = rng.permutation(len(y)) % _N_FOLDS
    rows = frame.iloc[classes.rows[some]]
    found = []
    for column in columns:
        if not column.used:
            continue
        kind = "category" if column.kind in ("boolean", "text") else column.kind
        values = read_column(rows[column.name], kind, format=column.format)
        codes = _codes(values)
        counts = _counts(codes, y, len(labels))
        if _mean_area(counts, counts) < _MIN_AREA:  # not even the rows that gave the shares
            continue
        area = _held_out_area(values, codes, y, len(labels), fold)
        if area >= _MIN_AREA:
            found.append(Leak(column.name, area))
    return sorted(found, key=lambda leak: -leak.area)


def _codes(values: Any) -> Index:
    """Return the bin of each value; gaps have a bin of their own."""
    if values.dtype.kind != "f":
        return np.unique(values.astype(str), return_inverse=True)[1]
    known = ~np.isnan(values)
    n_bins = int(np.clip(known.sum() // _MIN_BIN_ROWS, 2, _MAX_BINS))
    edges = np.unique(values[known])
    if len(edges) > n_bins:
        edges = np.unique(np.quantile(values[known], np.arange(1, n_bins) / n_bins))
    return np.where(known, np.searchsorted(edges, values, side="left"), len(edges) + 1)


def _counts(codes: Index, y: Index, n_classes: int) -> Array:
    """Return the number of rows by bin and class."""
    table = np.bincount(codes * n_classes + y, minlength=(int(codes.max()) + 1) * n_classes)
    return table.reshape(-1, n_classes).astype(np.float64)


def _held_out_area(values: Any, codes: Index, y: Index, n_classes: int, fold: Index) -> float:
    """Return the area, averaged over folds that are scored by the other rows."""
    from sklearn.tree import DecisionTreeClassifier

    areas = []
    for number in range(_N_FOLDS):
        own = fold == number
        if values.dtype.kind == "f":
            tree = DecisionTreeClassifier(max_leaf_nodes=_MAX_BINS, random_state=0)
            codes = tree.fit(values[~own, None], y[~own]).apply(values[:, None])
        whole, held_out = _counts(codes, y, n_classes), np.zeros((codes.max() + 1, n_classes))
        part = _counts(codes[own], y[own], n_classes)
        held_out[: len(part)] = part
        areas.append(_mean_area(whole - held_out, held_out))
    return float(np.nanmean(areas))


def _mean_area(learned: Array, judged: Array) -> float:
    """Return the area under the ROC curve of bins, averaged over the classes.

    ``learned`` has the counts that score a bin, smoothed by one row of the mean shares, and
    ``judged`` the counts of the rows that are scored.
    """
    prior = learned.sum(axis=0) / learned.sum()
    scores = (learned + prior) / (learned.sum(axis=1, keepdims=True) + 1)
    areas = []
    for score, own in zip(scores.T, judged.T, strict=True):
        rest = judged.sum(axis=1) - own
        if own.sum() and rest.sum():
            level = np.unique(score, return_inverse=True)[1]
            positive, negative = np.bincount(level, own), np.bincount(level, rest)
            below = np.cumsum(negative) - negative / 2  # half of the ties
            areas.append(float(positive @ below / (own.sum() * rest.sum())))
    return float(np.mean(areas)) if areas else float("nan")
