"""Shifts of the joint part's log-odds by the levels of a category, alone or with another column.

The answers of a person to one kind of question, the pupils of one town: where a category has many
levels, too few landmarks know a level, and an additive part has one effect per level whatever the
other columns say, and the rare ones of very many levels share theirs. Here every level of such a
category, or every pair of levels of two columns, is a cell. A cell may shift the decisions o of the
joint part without each row, by one Newton step of a ridge logistic regression on the cells, which
is the step to the mode of normal random effects of the variance 1 / ridge. With p = expit(o), W = p
(1 - p) and the price c of the rows, the shift of a cell and the one without row i are

    d = R / (V + ridge),     d_i = (R - c_i (t_i - p_i)) / (V - c_i W_i + ridge)

with the sums R of c (t - p) and V of c W over the rows of the cell. The category or pair and the
ridge of the least leave-one-out log loss come first; o becomes o + d_i, and the next follows, as
long as one pays. So each category has a variance of its own, and a level of one row moves as far as
levels of more rows show it should. Numbers are in a few bins. Pairs of numbers are left to the
kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from ...._records import dataclass
from ...._typing import Array, Index
from ....scale.bins import ColumnBins
from ...base.progress import FitProgress
from .joint import JointPart
from .logistic import Target, log_losses, targets_of
from .rows import PartRows

RIDGES = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
MOST_PAIRS = 5
_CANDIDATES = 400  # pairs that are looked at; of more, those of the columns that say most
_TRIED = 4  # candidates whose leave-one-out log loss is computed, before one of them is chosen
_N_BINS = 8  # bins of a number
_CELLS_PER_ROW = 4  # above which a pair has too few rows in its cells
_LEAST_GAIN = 4.0  # decrease of the summed log loss by which a pair pays, in units of rows


@dataclass(frozen=True)
class CrossedPart:
    """A joint part whose decisions are shifted in the cells of some pairs of columns.

    Parameters
    ----------
    joint : JointPart
        The part; it keeps no leave-one-out decisions.
    bins : ColumnBins
        The bins of the columns of the pairs, two columns per pair.
    columns : ndarray of shape (2 * n_pairs,)
        These columns; a category alone is there twice.
    starts : ndarray of shape (n_pairs + 1,)
        The first cell of each pair, and the number of all cells.
    shifts : ndarray of shape (n_cells, k)
        The shifts.
    left_out : ndarray of shape (n, k)
        Decisions on the training rows without each of them.
    importances : ndarray of shape (d,)
        The share of each encoded column in the spread of the decisions.
    """

    joint: JointPart
    bins: ColumnBins
    columns: Index
    starts: Index
    shifts: Array
    left_out: Array
    importances: Array
    name: ClassVar[str] = "pairs"

    def decision_values(self, X: Array) -> Array:
        """Return the decisions on encoded rows."""
        out: Array = self.joint.decision_values(X).astype(np.float64)
        return self._shifted(out, X, range(len(self.starts) - 1))

    def additive_values(self, X: Array) -> Array:
        """Return what single columns add to the decisions: a category alone shifts them, too."""
        alone = np.flatnonzero(self.columns[::2] == self.columns[1::2])
        return self._shifted(self.joint.additive_values(X), X, alone.tolist())

    def _shifted(self, out: Array, X: Array, pairs: Iterable[int]) -> Array:
        """Add the shifts of some pairs to decisions."""
        places = self.bins.places(X[:, self.columns]) - self.bins.starts[:-1]
        for q in pairs:
            first, second = places[:, 2 * q], places[:, 2 * q + 1]
            out += self.shifts[self.starts[q] + first * self.strides[q] + second]
        return out

    @property
    def strides(self) -> Index:
        """The cells from a place of the first column of each pair to the next one.

        The places of a category alone are its cells: they count once, as those of the second.
        """
        sizes = np.diff(self.bins.starts)[1::2]
        return np.where(self.columns[::2] == self.columns[1::2], 0, sizes)


@dataclass(frozen=True)
class _Cells:
    """The cells of a category, or of a pair of columns.

    Parameters
    ----------
    pair : tuple of int
        The columns; twice the same for a category alone.
    cell : ndarray of shape (n,)
        The cell of each row.
    size : int
        The number of cells.
    """

    pair: tuple[int, int]
    cell: Index
    size: int

    def sums(self, values: Array) -> Array:
        """Return the sum of some values over the rows of each cell."""
        sums: Any = np.bincount(self.cell, values, self.size)
        return np.asarray(sums, dtype=np.float64)


@dataclass(frozen=True)
class _Around:
    """Decisions, and the derivatives of the log loss there.

    Parameters
    ----------
    decisions : ndarray of shape (n, k)
        The decisions.
    targets : list of Target
        One class against the others each.
    pulls, curvatures : ndarray of shape (k, n)
        c (t - p) and c W.
    """

    decisions: Array
    targets: list[Target]
    pulls: Array
    curvatures: Array

    @classmethod
    def of(cls, decisions: Array, targets: list[Target]) -> _Around:
        """Return the derivatives at decisions."""
        found = [each.residual(own) for own, each in zip(decisions.T, targets, strict=True)]
        price = targets[0].price
        pulls = price * np.array([residual for residual, _ in found])
        return cls(decisions, targets, pulls, price * np.array([W for _, W in found]))


@dataclass(frozen=True)
class _Shift:
    """The shifts of the cells of one pair, and the loss with them.

    Parameters
    ----------
    cells : _Cells
        The pair.
    shifts : ndarray of shape (n_cells, k)
        The shifts.
    left_out : ndarray of shape (n, k)
        The shift of each row without it.
    loss : float
        The leave-one-out log loss.
    """

    cells: _Cells
    shifts: Array
    left_out: Array
    loss: float


def cross_columns(
    rows: PartRows, joint: JointPart, progress: FitProgress | None = None
) -> JointPart | CrossedPart:
    """Add shifts by levels and by pairs of columns to a joint part, where they pay.

    Parameters
    ----------
    rows : PartRows
        The training rows.
    joint : JointPart
        The joint part of these rows.
    progress : FitProgress, default=None
        Told how many there are.

    Returns
    -------
    part : JointPart or CrossedPart
        The joint part itself where none pays.
    """
    bins, candidates = _candidates(rows, joint)
    targets, decisions = targets_of(rows), joint.left_out
    loss = log_loss(decisions, targets)
    least = _LEAST_GAIN * float(rows.price @ rows.price) / float(rows.price.sum())
    found: list[_Shift] = []
    while candidates and len(found) < MOST_PAIRS:
        best = _best_shift(candidates, _Around.of(decisions, targets), rows)
        if loss - best.loss < least:
            break
        found.append(best)
        decisions, loss = decisions + best.left_out, best.loss
    if progress is not None:
        progress.line(f"{len(found)} categories or pairs of columns say more than the joint part")
    if not found:
        return joint
    columns = np.array([each.cells.pair for each in found]).ravel()
    return CrossedPart(
        replace(joint, left_out=joint.left_out[:0]),
        bins.part(columns),
        columns,
        np.cumsum([0, *(each.cells.size for each in found)]),
        np.vstack([each.shifts for each in found]),
        decisions,
        _importances(rows, joint, found),
    )


def _candidates(rows: PartRows, joint: JointPart) -> tuple[ColumnBins, list[_Cells]]:
    """Return the bins of all columns, categories with merged levels, and pairs with a category."""
    is_category = np.asarray(rows.layout.is_category)
    bins = ColumnBins.of(rows.X, is_category, rows.count, _N_BINS)
    places, sizes = bins.places(rows.X) - bins.starts[:-1], np.diff(bins.starts)
    source, found = rows.layout.source, []
    order = np.argsort(-joint.importances, kind="stable")
    varying = [j for j in order.tolist() if np.ptp(places[:, j]) > 0]
    merged = sizes > np.diff(joint.additive.bins.starts)
    for a in varying:
        if is_category[a] and merged[a]:
            found.append(_Cells((a, a), places[:, a].astype(np.intp), int(sizes[a])))
    for a, b in combinations(varying, 2):
        first, second = min(a, b), max(a, b)
        size = int(sizes[first] * sizes[second])
        crosses = (is_category[a] or is_category[b]) and source[a] != source[b]
        if crosses and size <= _CELLS_PER_ROW * len(rows):
            cell = places[:, first].astype(np.intp) * sizes[second] + places[:, second]
            found.append(_Cells((first, second), cell, size))
        if len(found) == _CANDIDATES:
            break
    return bins, found


def log_loss(decisions: Array, targets: list[Target]) -> float:
    """Return the log loss, summed over rows and classes."""
    columns = zip(decisions.T, targets, strict=True)
    return sum(float(log_losses(own[:, None], target)[0]) for own, target in columns)


def _best_shift(candidates: list[_Cells], around: _Around, rows: PartRows) -> _Shift:
    """Return the cells and the ridge of the least leave-one-out log loss."""
    promise = np.array([_promise(cells, around) for cells in candidates])
    tried = np.argsort(-promise, kind="stable")[:_TRIED].tolist()
    shifts = [shift(candidates[q], ridge, around, rows) for q in tried for ridge in RIDGES]
    return min(shifts, key=lambda each: each.loss)


def _promise(cells: _Cells, around: _Around) -> float:
    """Return about how much shifts may lower the log loss: the products of two different rows."""
    out = 0.0
    for pull, curvature in zip(around.pulls, around.curvatures, strict=True):
        products = cells.sums(pull) ** 2 - cells.sums(pull**2)
        total = cells.sums(curvature)
        out += max(float(np.sum(products / (total + ridge))) for ridge in (RIDGES[1], RIDGES[-2]))
    return out


def shift(cells: _Cells, ridge: float, around: _Around, rows: PartRows) -> _Shift:
    """Return the shifts of a pair at a ridge."""
    own = _left_out_of(cells, rows)
    k = len(around.targets)
    shifts, left_out = np.empty((cells.size, k)), np.empty(around.decisions.shape)
    for c, (pull, curvature) in enumerate(zip(around.pulls, around.curvatures, strict=True)):
        R, V = cells.sums(pull), cells.sums(curvature)
        shifts[:, c] = R / (V + ridge)
        rest = np.maximum(V[cells.cell] - own(curvature), 0)
        left_out[:, c] = (R[cells.cell] - own(pull)) / (rest + ridge)
    return _Shift(cells, shifts, left_out, log_loss(around.decisions + left_out, around.targets))


def _left_out_of(cells: _Cells, rows: PartRows) -> Callable[[Array], Array]:
    """Return what gives the part of a cell's sum that is left out with each of its rows."""
    if rows.groups is None:
        return lambda values: rows.left_out_share * values
    keys = np.column_stack([cells.cell, rows.groups])
    own = np.unique(keys, axis=0, return_inverse=True)[1].ravel()

    def of_groups(values: Array) -> Array:
        sums: Any = np.bincount(own, values)
        return np.asarray(sums[own], dtype=np.float64)

    return of_groups


def _importances(rows: PartRows, joint: JointPart, found: list[_Shift]) -> Array:
    """Add to the shares of the joint part those of the shifts; half of one to each column."""
    share = rows.count / rows.count.sum()

    def spread(values: Array) -> float:
        return float(np.sqrt(share @ (values - share @ values) ** 2).sum())

    out = spread(joint.left_out) * joint.importances
    for each in found:
        out[list(each.cells.pair)] += 0.5 * spread(each.shifts[each.cells.cell])
    total = out.sum()
    return out / total if total > 0 else out
