"""Columns that predict the target by themselves, which often means that they leak it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..._parameters import check_kind
from ..._typing import Array, Index
from ..tabular import ClassTarget, Column, Target
from ..tabular.errors import require_columns
from ..tabular.profile import read_column

_MIN_SCORE = 0.99  # area under the ROC curve, or R², from which a column alone is suspicious
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
    score : float
        Its cross-validated area under the ROC curve, with several classes the mean over the
        classes, each against the rest; for a number R² of its ranks.
    name : str, default="AUC"
        The name of the score.
    """

    column: str
    score: float
    name: str = "AUC"

    @property
    def note(self) -> str:
        """The warning for a reader."""
        return (
            f"{self.column} predicts the target by itself (cross-validated {self.name} "
            f"{self.score:.3f}); if it is not known before the target is, leave it out: "
            f"--drop {self.column!r}"
        )


def leaking_columns(
    frame: Any, target: Target, columns: Sequence[Column], *, seed: int = 0
) -> list[Leak]:
    """Find columns that predict the target almost perfectly, each by itself.

    Rows are scored by the shares of the classes, or the mean of the numbers, in the leaf of a tree
    on the one column, or among the rows with the same word, which other rows have given. A column
    is reported if the area under the ROC curve, or R², is at least 0.99.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table.
    target : Target
        Its target, by `check_target`.
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
    >>> from kernelwise.app.evaluation import leaking_columns
    >>> from kernelwise.app.tabular import check_target, describe_columns
    >>> rng = np.random.default_rng(0)
    >>> frame = pd.DataFrame({"ill": rng.choice(["no", "yes"], 100), "age": rng.normal(size=100)})
    >>> frame["ward"] = np.where(frame["ill"] == "yes", "intensive", rng.choice(["a", "b"], 100))
    >>> found = leaking_columns(frame, check_target(frame, "ill"), describe_columns(frame, "ill"))
    >>> [leak.column for leak in found]
    ['ward']
    """
    check_kind(target, "target", Target)
    for column in columns:
        check_kind(column, "columns", Column)
    require_columns(frame, [target.name], "target")
    is_number = not isinstance(target, ClassTarget)
    if isinstance(target, ClassTarget) and target.smallest < _MIN_CLASS_ROWS:
        return []
    rng = np.random.default_rng(seed)
    # Copies of a row would give its class away in the folds.
    different = np.flatnonzero(~frame.iloc[target.rows].duplicated().to_numpy())
    some = np.sort(rng.permutation(different)[:_MAX_ROWS])
    y: Any = target.y[some] if is_number else np.unique(target.y[some], return_inverse=True)[1]
    if np.ptp(y) == 0 or len(y) < _N_FOLDS:
        return []
    fold = rng.permutation(len(y)) % _N_FOLDS
    rows = frame.iloc[target.rows[some]]
    test, name = (_held_out_r2, "R²") if is_number else (_area, "AUC")
    found = []
    for column in columns:
        if not column.used:
            continue
        kind = "category" if column.kind == "boolean" else column.kind
        score = test(read_column(rows[column.name], kind, format=column.format), y, fold)
        if score >= _MIN_SCORE:
            found.append(Leak(column.name, score, name))
    return sorted(found, key=lambda leak: -leak.score)


def _held_out_r2(values: Any, y: Array, fold: Index) -> float:
    """Return R² of the ranks of held-out rows, by the mean of other rows in their leaf or word."""
    from scipy.stats import rankdata
    from sklearn.tree import DecisionTreeRegressor

    y, codes = rankdata(y), _codes(values)
    predicted = np.empty(len(y))
    for number in range(_N_FOLDS):
        own = fold == number
        if values.dtype.kind == "f":
            tree = DecisionTreeRegressor(min_samples_leaf=_MIN_BIN_ROWS, random_state=0)
            codes = tree.fit(values[~own, None], y[~own]).apply(values[:, None])
        size = int(codes.max()) + 1
        count = np.bincount(codes[~own], minlength=size)
        total = np.bincount(codes[~own], y[~own], minlength=size)
        means = np.where(count > 0, total / np.maximum(count, 1), y[~own].mean())
        predicted[own] = means[codes[own]]
    return 1 - float(np.mean((y - predicted) ** 2) / np.var(y))


def _area(values: Any, y: Index, fold: Index) -> float:
    """Return the area on held-out rows; fewer steps where not even the training rows give one."""
    n_classes, codes = int(y.max()) + 1, _codes(values)
    counts = _counts(codes, y, n_classes)
    if _mean_area(counts, counts) < _MIN_SCORE:
        return 0.0
    return _held_out_area(values, codes, y, n_classes, fold)


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
