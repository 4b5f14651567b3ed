"""The additive part: a ridge logistic regression on steps of numbers and levels of categories.

    f(x) = constant + sum_j g_j(x_j)

A number enters standardised and cut off at +-4, and by steps at the inner cuts of its 16 quantile
bins, so that g_j is a line and a staircase; a category enters by one 0/1 column per level. Tables
of very many columns have fewer bins, and the rarest of very many levels share a column. The
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
_PLACES = 1000  # bins of all numbers, and levels of all categories, about: more are merged
_LARGEST = 4.0  # deviations from the mean at which numbers are cut off
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
    def of(cls, rows: PartRows) -> AdditiveColumns:
        """Find bins, means and deviations of training rows."""
        is_category = np.asarray(rows.layout.is_category)
        n_bins = min(_N_BINS, max(1, _PLACES // len(is_category)))
        max_levels = max(_N_BINS, _PLACES // max(1, int(is_category.sum())))
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

    def design(self, X: Array) -> Design:
        """Return the columns of the regression for encoded rows."""
        dense = np.ones((len(X), 1 + len(self.numbers)), dtype=np.float32)
        scaled = (X[:, self.numbers] - self.means) / self.deviations
        dense[:, 1:] = np.clip(scaled, -_LARGEST, _LARGEST)
        return Design(dense, self.bins.places(X), self.steps)

    def effects(self, design: Design, coefficients: Array) -> Array:
        """Return what each encoded column adds to one column of decisions, of shape (n, d)."""
        q = 1 + len(self.numbers)
        out: Array = self.steps.at_places(coefficients[q:])[design.places]
        out[:, self.numbers] += design.dense[:, 1:q] * coefficients[1:q]
        return out


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
        return self.columns.design(X).product(self.coefficients).astype(np.float64)


def fit_additive(rows: PartRows) -> AdditivePart:
    """Fit the additive part.

    Parameters
    ----------
    rows : PartRows
        The training rows.

    Returns
    -------
    part : AdditivePart
        The part.
    """
    columns = AdditiveColumns.of(rows)
    design = columns.design(rows.X)
    targets = targets_of(rows)
    ridge, starts = choose_ridge(design, targets, rows)
    penalty = np.full(design.shape[1], ridge)
    penalty[0] = 0
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
    design: Design, targets: list[Target], rows: PartRows
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
    sizes, V = scipy.linalg.eigh(
        G[1:, 1:] - total * np.outer(mean, mean), driver="evd", check_finite=False
    )
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
    best = int(np.argmin(losses))
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
