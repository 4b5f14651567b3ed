"""Ridge machines on a kernel matrix, balanced over the classes, with exact leave-one-out decisions.

    min  b'Kb + C sum_i p_i (y_i - f_i)^2,     f = K b + nu

    (K + diag(1 / (C p))) b + nu = y,   sum b = 0,     p_i = c_i n / (n_classes n_class(i))

Every class has the same total price, so that a rare class still ranks; the sigmoid that follows
knows the shares. With A the bordered matrix of the equations, a_i = (A^-1)_ii, e_i = 1 / (C p_i)
and u_i the share of row i's weight that is left out (1: all its copies), the decision without it is

    F_i = y_i - e_i b_i / (1 - u_i + u_i a_i e_i),     F_g = y_g - (A^-1)_gg^-1 b_g   for a group g
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.linalg.lapack import dpotrf

from ...._records import dataclass
from ...._typing import Array, Index
from ....criteria.free_system import invert_triangle
from ....kernels import Kernel
from ....kernels.gram import LazyGram
from ...base.sigmoids import fit_sigmoid
from ...base.ties import at_lowest
from ..members import energy_weights, equal_weights
from .normal_scores import NormalScores
from .rows import PartRows

COSTS = (0.1, 1.0, 10.0)
CHOICE_ROWS = 500  # most rows on which C is chosen: each C takes a factorisation
_MIN_NOISE = 1e-8  # floor on 1 / (C p), where a row of enormous weight would make it singular


@dataclass(frozen=True)
class RidgeSolution:
    """The machines of one C.

    Parameters
    ----------
    coef : ndarray of shape (m, k)
        The coefficients b.
    intercept : ndarray of shape (k,)
        The intercepts.
    left_out : ndarray of shape (m, k)
        The leave-one-out decisions.
    """

    coef: Array
    intercept: Array
    left_out: Array


def balanced_price(rows: PartRows) -> Array:
    """Return the price of each row: its count, scaled to the same total in each class."""
    total = np.bincount(rows.classes, rows.count, minlength=rows.n_classes)
    price: Array = rows.count * (rows.count.sum() / (rows.n_classes * total[rows.classes]))
    return price


def solve_ridge(K: Array, rows: PartRows, price: Array, C: float) -> RidgeSolution:
    """Solve the machines of all classes with one factorisation.

    Parameters
    ----------
    K : ndarray of shape (m, m)
        The kernel matrix, in float64.
    rows : PartRows
        The rows.
    price : ndarray of shape (m,)
        The prices p.
    C : float
        The cost.

    Returns
    -------
    solution : RidgeSolution
        Coefficients, intercepts and leave-one-out decisions.
    """
    noise, Y = np.maximum(1 / (C * price), _MIN_NOISE), rows.codes
    B = np.array(K, order="C").T  # LAPACK's order, as K is symmetric
    np.einsum("ii->i", B)[...] += noise
    factor, failed = dpotrf(B, lower=1, clean=1, overwrite_a=1)
    if failed:
        raise ValueError("The kernel matrix of a ridge machine is not positive semi-definite.")
    inverse = invert_triangle(factor)
    ones = inverse.T @ inverse.sum(axis=1)
    total = float(ones.sum())
    intercept = (ones @ Y) / total
    coef = inverse.T @ (inverse @ (Y - intercept))
    diagonal = np.einsum("ij,ij->j", inverse, inverse) - ones**2 / total
    share = rows.left_out_share
    left_out = Y - (noise / (1 - share + share * diagonal * noise))[:, None] * coef
    for group in several_rows(rows.groups):
        own = inverse[:, group]
        block = own.T @ own - np.outer(ones[group], ones[group]) / total
        left_out[group] = Y[group] - np.linalg.solve(block, coef[group])
    return RidgeSolution(coef, intercept, left_out)


def several_rows(groups: Index | None) -> list[Index]:
    """Return the rows of each group that has more than one."""
    if groups is None:
        return []
    order = np.argsort(groups, kind="stable")
    ends = np.flatnonzero(np.diff(groups[order])) + 1
    return [rows for rows in np.split(order, ends) if len(rows) > 1]


def least_log_loss(candidates: Sequence[Array], rows: PartRows) -> int:
    """Return which leave-one-out decisions have the least log loss, each after a sigmoid.

    Parameters
    ----------
    candidates : sequence of ndarray of shape (m, k)
        Leave-one-out decisions.
    rows : PartRows
        The rows; the loss counts them by their prices.

    Returns
    -------
    best : int
        The first of the best, which are equal but for rounding.
    """
    if len(candidates) == 1:
        return 0
    Y: Any = np.tile(rows.codes, len(candidates))
    decisions = np.hstack(candidates)
    log_odds = fit_sigmoid(decisions, Y > 0, rows.price).log_odds(decisions)
    losses = rows.price @ np.logaddexp(0.0, -Y * log_odds)
    return int(np.argmax(at_lowest(losses.reshape(len(candidates), -1).sum(axis=1))))


def choose_ridge(
    K: Array, rows: PartRows, costs: Sequence[float], random_state: Any
) -> tuple[float, RidgeSolution]:
    """Choose C by the least leave-one-out log loss, on at most 500 rows, and solve on all rows.

    Parameters
    ----------
    K : ndarray of shape (m, m)
        The kernel matrix.
    rows : PartRows
        The rows.
    costs : sequence of float
        The values of C to choose from.
    random_state : RandomState
        Picks the rows of the choice where there are more.

    Returns
    -------
    C : float
        The cost.
    solution : RidgeSolution
        Its machines on all rows.
    """
    price = balanced_price(rows)
    if len(costs) > 1 and len(rows) > CHOICE_ROWS:
        some = rows.sample(CHOICE_ROWS, random_state)
        C, _ = choose_ridge(K[np.ix_(some, some)], rows.part(some), costs, random_state)
        return C, solve_ridge(K, rows, price, C)
    solutions = [solve_ridge(K, rows, price, C) for C in costs]
    best = least_log_loss([solution.left_out for solution in solutions], rows)
    return costs[best], solutions[best]


@dataclass(frozen=True)
class RidgePart:
    """Ridge machines on the normal scores of the columns.

    Parameters
    ----------
    columns : ndarray of shape (q,)
        The columns that vary.
    scores : NormalScores
        Their normal scores.
    kernel : Kernel
        The kernel of the scores.
    rows : ndarray of shape (m, q)
        The scores of the training rows.
    coef : ndarray of shape (m, k)
        Their coefficients.
    intercept : ndarray of shape (k,)
        The intercepts.
    C : float
        The chosen cost.
    left_out : ndarray of shape (m, k)
        Leave-one-out decisions of the training rows.
    importances : ndarray of shape (d,)
        Share of each column in a distance.
    """

    columns: Index
    scores: NormalScores
    kernel: Kernel
    rows: Array
    coef: Array
    intercept: Array
    C: float
    left_out: Array
    importances: Array

    @property
    def name(self) -> str:
        """The kind of part."""
        return "kernel"

    def decision_values(self, X: Array) -> Array:
        """Return the decisions on new encoded rows."""
        Z = self.scores.apply(X[:, self.columns])
        values: Array = self.kernel(Z, self.rows) @ self.coef
        return values + self.intercept

    def additive_values(self, X: Array) -> None:
        """Return None: nothing is additive."""


def fit_ridge(
    rows: PartRows,
    kernel: str,
    factor: float,
    random_state: Any,
    *,
    costs: Sequence[float] = COSTS,
    threads: int = 1,
) -> RidgePart:
    """Fit ridge machines to normal scores, weighted by the energy distance of the classes.

    Parameters
    ----------
    rows : PartRows
        The rows.
    kernel : {"laplacian", "rbf"}
        The kernel.
    factor : float
        Its inverse width, in units of the typical distance.
    random_state : RandomState
        Picks rows for a typical distance and for the choice of C.
    costs : sequence of float, default=(0.1, 1.0, 10.0)
        The values of C to choose from.
    threads : int, default=1
        Threads that compute the kernel.

    Returns
    -------
    part : RidgePart
        The machines.
    """
    columns, Z = rows.used, rows.scored
    equal = equal_weights(kernel, Z, random_state)
    weighted: Any = energy_weights(equal, rows.energy_ratio, rows.layout.group[columns])
    weighted = weighted.with_params(gamma=factor)
    K = LazyGram(weighted, Z, threads).dense(np.float64)
    C, solution = choose_ridge(K, rows, costs, random_state)
    importances = np.zeros(rows.X.shape[1])
    importances[columns] = weighted.weights / weighted.weights.sum()
    return RidgePart(
        columns=columns,
        scores=rows.scores,
        kernel=weighted,
        rows=Z,
        coef=solution.coef,
        intercept=solution.intercept,
        C=C,
        left_out=solution.left_out,
        importances=importances,
    )
