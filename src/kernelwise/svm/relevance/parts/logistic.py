"""Ridge logistic regression, and its decisions on rows that are left out.

    min  sum_i c_i log(1 + exp(-y_i f_i)) + 1/2 sum_k penalty_k b_k^2,   f = Z b

by Newton steps. With p the probability, W = p (1 - p) and H = Z' diag(c W) Z + diag(penalty), the
decision of row i without it is, up to third order,

    f_i - h_i / (1 - h_i) * (t_i - p_i) / W_i,     h_i = c_i W_i z_i' H^-1 z_i,   t_i = [y_i = 1]

and that of a group g of rows f_g - S (I - diag(c W) S)^-1 c (t - p) with S = Z_g H^-1 Z_g'. It is
exact for the quadratic model of the last step. The decisions of several classes are one-vs-rest.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.linalg
from scipy.special import expit

from ...._records import dataclass
from ...._typing import Array, Index
from .design import Design, matrix_product
from .rows import PartRows

_MIN_VARIANCE = 1e-6  # least p (1 - p) of a row
_MAX_LEVERAGE = 1 - 1e-6  # largest h of a row
_ROUNDING = 1e-9  # relative size of what is added to the diagonal of H
_JUDGED = 3000  # rows on which ridges are compared, about
_HALVINGS = 10  # halvings of a Newton step that does not lower the objective
LARGEST_DECISION = 12.0  # log-odds beyond which leave-one-out decisions are cut off


@dataclass(frozen=True)
class Target:
    """One class against the others.

    Parameters
    ----------
    positive : ndarray of shape (n,)
        One for rows of the class, else zero.
    price : ndarray of shape (n,)
        The weight of each row.
    """

    positive: Array
    price: Array

    def part(self, rows: Index) -> Target:
        """Return the target of some rows."""
        return Target(self.positive[rows], self.price[rows])

    def loss(self, decisions: Array) -> float:
        """Return the summed log loss of decisions."""
        sign = 2 * self.positive - 1
        return float(self.price @ np.logaddexp(0, -sign * decisions))

    @property
    def base_rate(self) -> float:
        """The weighted share of the class, away from zero and one."""
        total = float(self.price.sum())
        share, least = float(self.price @ self.positive) / total, 0.5 / (total + 1)
        return min(max(share, least), 1 - least)

    def residual(self, decisions: Array) -> tuple[Array, Array]:
        """Return t - p, and p (1 - p), which is not zero."""
        p = expit(decisions)
        return self.positive - p, np.maximum(p * (1 - p), _MIN_VARIANCE)


def targets_of(rows: PartRows) -> list[Target]:
    """Return the class against the others for each column of decisions."""
    return [Target((code > 0).astype(np.float64), rows.price) for code in rows.codes.T]


@dataclass(frozen=True)
class Regression:
    """A fitted ridge logistic regression.

    Parameters
    ----------
    coefficients : ndarray of shape (p,)
        b.
    decisions : ndarray of shape (n,)
        Z b.
    left_out : ndarray of shape (n,)
        The decision on each row without it.
    """

    coefficients: Array
    decisions: Array
    left_out: Array


def fit_logistic(
    design: Design, target: Target, penalty: Array, start: Array, n_steps: int, rows: PartRows
) -> Regression:
    """Take Newton steps from a start.

    Parameters
    ----------
    design : Design
        Z.
    target : Target
        The class, and the weights of the rows.
    penalty : ndarray of shape (p,)
        The factor of half of each squared coefficient; zero for the constant.
    start : ndarray of shape (p,), of float64
        The first coefficients.
    n_steps : int
        The number of steps.
    rows : PartRows
        The rows, which say what is left out together.

    Returns
    -------
    regression : Regression
        The coefficients and decisions.
    """
    b = start
    f: Array = design.product(b[:, None])[:, 0].astype(np.float64)
    for _ in range(n_steps):
        residual, variance = target.residual(f)
        factor = _factor(design, target.price * variance, penalty)
        gradient = design.adjoint(target.price * residual) - penalty * b
        step = scipy.linalg.cho_solve((factor, True), gradient, check_finite=False)
        b, f = _descend(design, target, penalty, b, f, step)
    # H of the last step, which is that of its end but for a small change.
    inverse = scipy.linalg.lapack.dpotri(factor, lower=True)[0]
    inverse += np.tril(inverse, -1).T
    left_out = leave_out(
        LeftOut(f, target.residual(f)[0], variance, target.price),
        rows,
        design.forms(inverse),
        partial(_dense_block, design, inverse),
    )
    return Regression(b, f, left_out)


def _factor(design: Design, weights: Array, penalty: Array) -> Array:
    """Return the Cholesky factor of H, lower triangular and zero above the diagonal."""
    H = design.gram(weights)
    H[np.diag_indices_from(H)] += penalty + _ROUNDING * (1 + np.diagonal(H))
    factor: Array = scipy.linalg.cholesky(H, lower=True, overwrite_a=True, check_finite=False)
    return factor


def _dense_block(design: Design, inverse: Array, members: Index) -> Array:
    Z = design.rows(members)
    block: Array = Z @ inverse @ Z.T
    return block


def _diagonal_block(U: Array, scales: Array, constant: float, members: Index) -> Array:
    block: Array = constant + (U[members] * scales) @ U[members].T
    return block


def _descend(
    design: Design, target: Target, penalty: Array, b: Array, f: Array, step: Array
) -> tuple[Array, Array]:
    """Go along a step, or a part of it, as far as the objective falls."""
    change = design.product(step[:, None])[:, 0].astype(np.float64)
    before = target.loss(f) + 0.5 * float(penalty @ b**2)
    for _ in range(_HALVINGS):
        after = target.loss(f + change) + 0.5 * float(penalty @ (b + step) ** 2)
        if after <= before:
            return b + step, f + change
        step, change = step / 2, change / 2
    return b, f


@dataclass(frozen=True)
class LeftOut:
    """Quantities from which the decisions on left-out rows are computed.

    Parameters
    ----------
    decisions : ndarray of shape (n,)
        f, with all rows.
    residual : ndarray of shape (n,)
        t - p.
    variance : ndarray of shape (n,)
        W.
    price : ndarray of shape (n,)
        c.
    """

    decisions: Array
    residual: Array
    variance: Array
    price: Array

    def part(self, rows: Index) -> LeftOut:
        """Return some of the rows."""
        return LeftOut(*(each[rows] for each in vars(self).values()))


def leave_out(
    fitted: LeftOut,
    rows: PartRows,
    forms: Array,
    block: Callable[[Index], Array],
) -> Array:
    """Return the decisions on rows that are left out, or on groups of rows; see the module.

    Parameters
    ----------
    fitted : LeftOut
        The decisions with all rows.
    rows : PartRows
        The rows, which say what is left out together.
    forms : ndarray of shape (n,)
        z_i' H^-1 z_i of each row.
    block : callable
        Returns Z_g H^-1 Z_g' of some rows.

    Returns
    -------
    left_out : ndarray of shape (n,)
        The decisions.
    """
    weight = fitted.price * fitted.variance
    if rows.groups is None:
        own = np.minimum(rows.left_out_share * weight * forms, _MAX_LEVERAGE)
        change: Array = own / (1 - own) * fitted.residual / fitted.variance
        return fitted.decisions - change
    out = fitted.decisions.copy()
    for members in group_members(rows.groups):
        S = block(members)
        held = np.eye(len(members)) - weight[members, None] * S
        pull = (fitted.price * fitted.residual)[members]
        out[members] -= S @ np.linalg.lstsq(held, pull, rcond=_ROUNDING)[0]
    return out


def quadratic_left_out(
    U: Array,
    at: LeftOut,
    coefficients: Array,
    scales: Array,
    rows: PartRows,
    constant: float = 0.0,
) -> Array:
    """Return leave-one-out decisions of quadratic models around known decisions.

    Parameters
    ----------
    U : ndarray of shape (n, p), of float32
        Columns in which H is diagonal.
    at : LeftOut
        The known decisions, with t - p and W there.
    coefficients : ndarray of shape (p, n_models)
        The coefficients of U that each model adds.
    scales : ndarray of shape (p, n_models)
        The diagonal of H^-1 of each model.
    rows : PartRows
        The rows, which say what is left out together.
    constant : float, default=0.0
        The part of a constant column in each entry of Z H^-1 Z'.

    Returns
    -------
    left_out : ndarray of shape (n, n_models)
        The decisions, which are exact for these models.
    """
    moves = matrix_product(U, coefficients.astype(U.dtype)).astype(np.float64)
    forms = constant + matrix_product(U * U, scales.astype(U.dtype)).astype(np.float64)
    out = np.empty(moves.shape)
    for r in range(moves.shape[1]):
        move = moves[:, r]
        moved = LeftOut(
            at.decisions + move, at.residual - at.variance * move, at.variance, at.price
        )
        block = partial(_diagonal_block, U, scales[:, r], constant)
        out[:, r] = leave_out(moved, rows, forms[:, r], block)
    return out


def judged_rows(rows: PartRows) -> Index:
    """Return the rows on which ridges are compared: all, or every few rows, by whole groups."""
    every = -(-len(rows) // _JUDGED)
    if rows.groups is None:
        return np.arange(0, len(rows), every)
    members = group_members(rows.groups)
    return np.sort(np.concatenate(members[:: min(every, len(members))]))


def group_members(groups: Index) -> list[Index]:
    """Return the rows of each group."""
    order = np.argsort(groups, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(groups[order])) + 1)


def log_losses(decisions: Array, target: Target) -> Array:
    """Return the summed log loss of each column of decisions, which are cut off when large."""
    cut = np.clip(decisions, -LARGEST_DECISION, LARGEST_DECISION)
    sign = (1 - 2 * target.positive)[:, None].astype(cut.dtype)
    losses: Any = target.price @ np.logaddexp(0, sign * cut)
    return np.asarray(losses, dtype=np.float64)
