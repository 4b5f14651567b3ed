"""The additive part: a ridge logistic regression on steps of numbers and levels of categories.

    f(x) = constant + sum_j g_j(x_j)

A number enters standardised and cut off at +-4, and by steps at the inner cuts of its 16 quantile
bins, so that g_j is a line and a staircase; a category enters by one 0/1 column per level. Tables
of very many columns have fewer bins, and the rarest of very many levels share a column. Columns
may have different prior variances v: then Z below has its columns multiplied by sqrt(v). The
ridge is the one of least leave-one-out log loss in a model around the base rate p, whose W = p (1 -
p) is the same for all rows: with one eigendecomposition Z_c' C Z_c = V diag(s) V' of the centred
columns, U = Z_c V, and the price c of the rows,

    f_i = f_0 + sum_k u_ik (U' C (t - p))_k / (W s_k + ridge),
    h_i = c_i W (1 / (W sum c) + sum_k u_ik^2 / (W s_k + ridge))

serve every ridge and every class. Newton steps follow, from there.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import scipy.linalg

from ...._records import dataclass
from ...._typing import Array, Index
from ....scale.bins import ColumnBins
from ...base.ties import at_lowest
from ..members import energy_relevance
from .design import Design, Steps
from .logistic import (
    LeftOut,
    Target,
    fit_logistic,
    judged_rows,
    log_losses,
    quadratic_left_out,
    targets_of,
)
from .rows import PartRows

RIDGES = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
_N_BINS = 16  # quantile bins of a number
PLACES = 1000  # bins of all numbers, and levels of all categories, about: more are merged
_LEAST_EXCESS = 0.1  # excess of the energy distance over chance below which features are alike
_SINGLE_ABOVE = 1500  # columns above which ridges are compared in single precision, twice as fast
LARGEST = 4.0  # deviations from the mean at which numbers are cut off
_NEWTON_STEPS = 2  # after the one around the base rate


@dataclass(frozen=True)
class AdditiveColumns:
    """Turns encoded columns into those of the regression.

    Parameters
    ----------
    bins : ColumnBins
        The bins of numbers and the levels of categories.
    numbers : ndarray of shape (n_numbers,)
        The columns that are numbers.
    means : ndarray of shape (n_numbers,)
        Their means.
    deviations : ndarray of shape (n_numbers,)
        Their standard deviations; infinite for a constant column.
    """

    bins: ColumnBins
    numbers: Index
    means: Array
    deviations: Array

    @classmethod
    def of(cls, rows: PartRows, places: int = PLACES, levels: int | None = None) -> AdditiveColumns:
        """Find bins, means and deviations of training rows, with so many places and levels."""
        is_category = np.asarray(rows.layout.is_category)
        most = min(places, len(rows) // 2)
        n_bins = min(_N_BINS, max(1, most // len(rows.used)))
        most_levels = most if levels is None else min(levels, most)
        max_levels = _most_levels(rows.X[:, is_category], most_levels)
        bins = ColumnBins.of(rows.X, is_category, rows.count, n_bins, max_levels)
        numbers = np.flatnonzero(~is_category)
        X, share = rows.X[:, numbers], rows.count / rows.count.sum()
        means = share @ X
        deviations = np.sqrt(share @ (X - means) ** 2)
        is_flat = np.ptp(X, axis=0) == 0
        return cls(bins, numbers, means, np.where(is_flat, np.inf, deviations))

    @property
    def steps(self) -> Steps:
        """The columns that are made of places."""
        return Steps(self.bins.starts, self.bins.is_category)

    @property
    def _with_columns(self) -> Index:
        """The features whose places make columns; one bin makes none."""
        return np.flatnonzero(np.diff(self.bins.starts) > 1)

    def design(self, X: Array) -> Design:
        """Return the columns of the regression for encoded rows."""
        dense = np.ones((len(X), 1 + len(self.numbers)), dtype=np.float32)
        dense[:, 1:] = self.cut_off(X)
        places = self.bins.places(X).take(self._with_columns, axis=1)
        return Design(dense, places, self.steps)

    def decisions(self, X: Array, coefficients: Array, n_columns: int | None = None) -> Array:
        """Return the decisions of coefficients of shape (p, k) on encoded rows, in float64.

        With ``n_columns``, categories behind these columns are left out.
        """
        q = 1 + len(self.numbers)
        out = self.cut_off(X) @ coefficients[1:q] + coefficients[0]
        heights = self.steps.at_places(coefficients[q:])
        for column in self.bins.places(X).T[:n_columns]:
            out += heights[column]
        return out

    def cut_off(self, X: Array) -> Array:
        """Return the numbers of encoded rows, standardised and cut off."""
        scaled = (X[:, self.numbers] - self.means) / self.deviations
        return np.clip(scaled, -LARGEST, LARGEST)

    def of_features(self, values: Array) -> Array:
        """Return for each column of the regression but the constant the value of its own column."""
        return np.concatenate([values[self.numbers], np.repeat(values, self.steps.widths)])

    def effects(self, design: Design, coefficients: Array) -> Array:
        """Return what each encoded column adds to one column of decisions, of shape (n, d)."""
        q = 1 + len(self.numbers)
        out = np.zeros((len(design.dense), len(self.bins.is_category)))
        out[:, self._with_columns] = design.steps.at_places(coefficients[q:])[design.places]
        out[:, self.numbers] += design.dense[:, 1:q] * coefficients[1:q]
        return out


def _most_levels(codes: Array, most: int) -> int:
    """Return the number of levels that every category may have, so that all have at most so many.

    Categories with fewer levels leave their room to the others.
    """
    sizes = codes.max(axis=0) + 1 if codes.size else np.zeros(0)
    candidates = np.arange(_N_BINS, max(_N_BINS, int(sizes.max(initial=0))) + 1)
    totals = np.minimum(sizes, candidates[:, None]).sum(axis=1)
    fitting = int(np.searchsorted(totals, most, side="right"))
    return int(candidates[max(0, fitting - 1)])


@dataclass(frozen=True)
class AdditivePart:
    """A fitted additive part.

    Parameters
    ----------
    columns : AdditiveColumns
        The columns of the regression.
    coefficients : ndarray of shape (p, k)
        Its coefficients, the constant first.
    ridge : float
        The chosen ridge.
    left_out : ndarray of shape (m, k)
        Decisions on the training rows without each of them.
    importances : ndarray of shape (d,)
        The share of each encoded column in the spread of the decisions.
    """

    columns: AdditiveColumns
    coefficients: Array
    ridge: float
    left_out: Array
    importances: Array
    name: ClassVar[str] = "additive"

    def decision_values(self, X: Array) -> Array:
        """Return the decisions on encoded rows."""
        return self.columns.decisions(X, self.coefficients)

    def additive_values(self, X: Array) -> Array:
        """Return the decisions: all of them is additive."""
        return self.decision_values(X)


def energy_relevance_of(rows: PartRows) -> Array:
    """Return the relevance of each encoded column, of mean one, by the energy distance."""
    out = np.ones(rows.X.shape[1])
    group = rows.layout.group[rows.used]
    out[rows.used] = energy_relevance(rows.energy_ratio, _LEAST_EXCESS, group)
    return out


def fit_additive(
    rows: PartRows,
    relevance: Array | None = None,
    places: int = PLACES,
    levels: int | None = None,
) -> AdditivePart:
    """Fit the additive part.

    Parameters
    ----------
    rows : PartRows
        The training rows.
    relevance : ndarray of shape (d,), default=None
        The prior variance of the effect of each encoded column, relative to the others; None is
        one each.
    places : int, default=1000
        Bins of all numbers, and levels of all categories, about: more are merged.
    levels : int, default=None
        Levels of all categories, about: more are merged. None is what `places` allows.

    Returns
    -------
    part : AdditivePart
        The part.
    """
    columns = AdditiveColumns.of(rows, places, levels)
    design = columns.design(rows.X)
    targets = targets_of(rows)
    each = np.ones(rows.X.shape[1]) if relevance is None else relevance
    factors = columns.of_features(each)
    ridge, starts = choose_ridge(design, targets, rows, factors)
    penalty = np.append(0.0, ridge / factors)
    fits = [
        fit_logistic(design, target, penalty, start, _NEWTON_STEPS, rows)
        for target, start in zip(targets, starts, strict=True)
    ]
    coefficients = np.column_stack([fit.coefficients for fit in fits])
    return AdditivePart(
        columns,
        coefficients,
        ridge,
        np.column_stack([fit.left_out for fit in fits]),
        _importances(columns, design, coefficients, rows.count),
    )


def choose_ridge(
    design: Design, targets: list[Target], rows: PartRows, factors: Array
) -> tuple[float, list[Array]]:
    """Return the ridge of least leave-one-out log loss, and the coefficients around the base rate.

    Parameters
    ----------
    design : Design
        The columns.
    targets : list of Target
        One class against the others each.
    rows : PartRows
        The rows, which say what is left out together.
    factors : ndarray of shape (p - 1,)
        The prior variance of each coefficient but the constant, relative to the others.

    Returns
    -------
    ridge : float
        The best of `RIDGES`, summed over the classes.
    coefficients : list of ndarray of shape (p,)
        Those of that ridge, one per class.
    """
    price = rows.price
    G = design.gram(price)
    total, mean = G[0, 0], G[0, 1:] / G[0, 0]
    roots = np.sqrt(factors)
    centred = roots[:, None] * (G[1:, 1:] - total * np.outer(mean, mean)) * roots
    if len(centred) > _SINGLE_ABOVE:
        centred = centred.astype(np.float32)
    sizes, V = scipy.linalg.eigh(centred, driver="evd", check_finite=False)
    V *= roots[:, None]
    rotation = np.vstack([-mean @ V, V])
    judged = judged_rows(rows)
    some, U = rows.part(judged), design.part(judged).product(rotation)
    losses, found = np.zeros(len(RIDGES)), []
    for target in targets:
        p = target.base_rate
        variance = p * (1 - p)
        gradient = design.adjoint(price * (target.positive - p)) @ rotation
        scales = 1 / (variance * np.maximum(sizes, 0)[:, None] + np.array(RIDGES))
        coefficients = scales * gradient[:, None]
        own = target.part(judged)
        base = LeftOut(
            np.full(len(some), np.log(p / (1 - p))),
            own.positive - p,
            np.full(len(some), variance),
            own.price,
        )
        left_out = quadratic_left_out(U, base, coefficients, scales, some, 1 / (variance * total))
        losses += log_losses(left_out, own)
        found.append(coefficients)
    best = int(np.flatnonzero(at_lowest(losses))[-1])  # the largest ridge of equal ones
    starts = []
    for target, coefficients in zip(targets, found, strict=True):
        b = rotation @ coefficients[:, best]
        b[0] += np.log(target.base_rate / (1 - target.base_rate))
        starts.append(b)
    return RIDGES[best], starts


def _importances(
    columns: AdditiveColumns, design: Design, coefficients: Array, count: Array
) -> Array:
    """Return the deviation of each column's effect, summed over the classes, of sum one."""
    share = count / count.sum()
    spreads = np.zeros(len(columns.bins.is_category))
    for own in coefficients.T:
        effects = columns.effects(design, own)
        spreads += np.sqrt(share @ (effects - share @ effects) ** 2)
    total = spreads.sum()
    return spreads / total if total > 0 else spreads
