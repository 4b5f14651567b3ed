"""Exact machines on the rows of one cell.

    squared hinge:  min 1/2 ||v||^2 + 1/2 sum_i c_i max(0, 1 - y_i f_i)^2
    hinge:          min 1/2 ||v||^2 +     sum_i c_i max(0, 1 - y_i f_i)

with f = v'phi(x) + b and c_i = C times the price of a row, one machine per column of codes. A
machine whose codes are all equal is that constant. A price of two equals two copies of a row.

Left-out decisions of the squared hinge. On the rows with positive slack, (K + D) beta + b = y with
D = diag(1 / c) and sum beta = 0. Let G be the diagonal of the inverse of that system. Where the
other rows keep their side of the margin, a row of which the share s is left out is decided by

    f_i = y_i - beta_i / ((1 - s_i) c_i + s_i G_i)

and all other rows as before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.linalg import lapack

from .._typing import Array
from ..kernels.base import Kernel
from ..qp import SMO, Solution, StoredGram, c_svc, hard_margin
from ..qp.builders import ridged

Loss = Literal["squared_hinge", "hinge"]


@dataclass(frozen=True)
class CellSettings:
    """What the machines of all cells share.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    C : float
        The cost of slack.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        The loss.
    tol : float, default=1e-3
        Tolerance of the solver, in units of the margin.
    """

    kernel: Kernel
    C: float
    loss: Loss = "squared_hinge"
    tol: float = 1e-3


@dataclass(frozen=True)
class CellMachines:
    """The machines of one cell.

    Parameters
    ----------
    coef : ndarray of shape (m, k)
        The signed coefficient of each row in each machine.
    intercept : ndarray of shape (k,)
        The intercepts.
    left_out : ndarray of shape (m, k) or None
        Decisions on the rows without each of them, where they were asked for.
    """

    coef: Array
    intercept: Array
    left_out: Array | None = None


def fit_cell(
    X: Array,
    codes: Array,
    price: Array,
    settings: CellSettings,
    left_out_share: Array | None = None,
) -> CellMachines:
    """Fit the machines of one cell.

    Parameters
    ----------
    X : ndarray of shape (m, d)
        The rows; float32 rows have a float32 kernel.
    codes : ndarray of shape (m, k)
        Codes -1 and +1, one column per machine.
    price : ndarray of shape (m,)
        The positive cost factor of each row.
    settings : CellSettings
        Kernel, C and loss.
    left_out_share : ndarray of shape (m,), default=None
        The share of each row that is left out for its left-out decisions; None makes none.

    Returns
    -------
    machines : CellMachines
        The machines.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.kernels import RBF
    >>> from kernelwise.scale.cells import CellSettings, fit_cell
    >>> X, codes = np.array([[0.0], [1.0]]), np.array([[-1.0], [1.0]])
    >>> cell = fit_cell(X, codes, np.ones(2), CellSettings(RBF(), C=1.0))
    >>> cell.coef.round(3).ravel().tolist()
    [-0.613, 0.613]
    """
    if left_out_share is not None and settings.loss != "squared_hinge":
        raise ValueError("Left-out decisions are those of the squared hinge.")
    coef = np.zeros(codes.shape)
    intercept = codes[0].astype(np.float64)
    left_out = None if left_out_share is None else np.tile(intercept, (len(codes), 1))
    mixed = np.flatnonzero((codes != codes[0]).any(axis=0))
    if len(mixed) == 0:
        return CellMachines(coef, intercept, left_out)
    cost = settings.C * price
    K = settings.kernel(X)
    if settings.loss == "squared_hinge":
        K = ridged(K, cost)
    gram = StoredGram(K)
    for j in mixed:
        solution = _solve(gram, codes[:, j], cost, settings)
        coef[:, j], intercept[j] = solution.beta, solution.nu[0]
        if left_out is not None and left_out_share is not None:
            left_out[:, j] = left_out_decisions(
                K, codes[:, j], cost, solution.beta, float(solution.nu[0]), left_out_share
            )
    return CellMachines(coef, intercept, left_out)


def _solve(gram: StoredGram, y: Array, cost: Array, settings: CellSettings) -> Solution:
    qp = hard_margin(gram, y) if settings.loss == "squared_hinge" else c_svc(gram, y, cost)
    return SMO(tol=settings.tol, memory=np.inf).solve(qp)


def left_out_decisions(
    K: Array, y: Array, cost: Array, beta: Array, intercept: float, share: Array
) -> Array:
    """Return the decision on each row by the machine without it, or without a share of it.

    Parameters
    ----------
    K : ndarray of shape (m, m)
        The kernel matrix plus 1 / cost on the diagonal.
    y : ndarray of shape (m,)
        Codes -1 and +1.
    cost : ndarray of shape (m,)
        The cost of each row's squared slack.
    beta : ndarray of shape (m,)
        The signed coefficients of the machine.
    intercept : float
        Its intercept.
    share : ndarray of shape (m,)
        The share of each row that is left out.

    Returns
    -------
    decisions : ndarray of shape (m,)
        The decisions, exact where the other rows keep their side of the margin.
    """
    decisions: Array = K @ beta - beta / cost + intercept
    own = np.flatnonzero(beta)
    inverse = _inverse_diagonal(K[np.ix_(own, own)].astype(np.float64))
    kept = (1 - share[own]) * cost[own]
    decisions[own] = y[own] - beta[own] / (kept + share[own] * inverse)
    return decisions


def _inverse_diagonal(A: Array) -> Array:
    """Return the first diagonal entries of the inverse of [[A, 1], [1', 0]], A positive definite.

    They are those of B - B 1 1' B / 1'B1 for B the inverse of A.
    """
    factor, failed = lapack.dpotrf(A, lower=True)
    inverse, _ = lapack.dpotri(factor, lower=True)
    if failed:
        raise np.linalg.LinAlgError("The kernel matrix of a cell is not positive definite.")
    diagonal = np.diagonal(inverse).copy()
    inverse = np.tril(inverse)
    sums = inverse.sum(axis=0) + inverse.sum(axis=1) - diagonal
    return diagonal - sums**2 / sums.sum()
