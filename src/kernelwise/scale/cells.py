"""Exact machines on the rows of one cell.

    squared hinge:  min 1/2 ||v||^2 + 1/2 sum_i c_i max(0, 1 - y_i f_i)^2
    hinge:          min 1/2 ||v||^2 +     sum_i c_i max(0, 1 - y_i f_i)

with f = v'phi(x) + b and c_i = C times the price of a row, one machine per column of codes. A
machine whose codes are all equal is that constant. A price of two equals two copies of a row.

Rows are left out by folds: the kernel matrix is there already, and a few more machines on it cost
less than the inverse that a leave-one-out formula needs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np

from .._native import project_rows
from .._typing import Array, Index
from ..kernels.base import Kernel
from ..qp import SMO, Solution, StoredGram, c_svc, hard_margin
from ..qp.ridge_machine import solve_ridge_machine

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
    converged : bool
        Whether all machines reached the tolerance.
    left_out : ndarray of shape (m, k) or None
        Decisions on the rows without each of them, where they were asked for; NaN for rows that
        are never left out.
    """

    coef: Array
    intercept: Array
    converged: bool
    left_out: Array | None = None


@dataclass(frozen=True)
class HeldOut:
    """Which rows are left out together, and how much of them.

    Parameters
    ----------
    fold : ndarray of shape (m,)
        The number of each row's fold; negative for rows that are never left out.
    share : ndarray of shape (m,)
        The share of each row's price that is left out with it: all, or that of one copy.
    """

    fold: Index
    share: Array

    @property
    def rows(self) -> Index:
        """The rows that are left out."""
        return np.flatnonzero(self.fold >= 0)

    def part(self, rows: Any) -> HeldOut:
        """Return that of some rows."""
        return HeldOut(self.fold.take(rows), self.share.take(rows))


@dataclass(frozen=True)
class KeptCell:
    """What is kept of the machines of a cell, of which a table has thousands.

    Parameters
    ----------
    rows : ndarray of shape (n_vectors,), of int32
        The support vectors, as places in the table.
    coef : ndarray of shape (n_vectors, k)
        Their coefficients, of the type of the rows.
    intercept : ndarray of shape (k,)
        The intercepts.
    converged : bool
        Whether all machines reached the tolerance.
    left_out_rows : ndarray of shape (n_left_out,)
        The rows that were left out, as places in the table.
    left_out : ndarray of shape (n_left_out, k)
        The decisions on them.
    """

    rows: Any
    coef: Array
    intercept: Array
    converged: bool
    left_out_rows: Index
    left_out: Array

    @classmethod
    def of(
        cls, own: Index, machines: CellMachines, held_out: HeldOut | None, dtype: Any
    ) -> KeptCell:
        """Keep what is used of the machines of some rows of a table."""
        used = np.flatnonzero(machines.coef.any(axis=1))
        some, left_out = np.zeros(0, dtype=np.intp), machines.coef[:0]
        if held_out is not None:
            assert machines.left_out is not None
            rows = held_out.rows
            some, left_out = own[rows], machines.left_out[rows]
        return cls(
            own[used].astype(np.int32),
            machines.coef[used].astype(dtype),
            machines.intercept,
            machines.converged,
            some,
            left_out,
        )


def fit_cell(
    X: Array,
    codes: Array,
    price: Array,
    settings: CellSettings,
    held_out: HeldOut | None = None,
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
    held_out : HeldOut, default=None
        The folds of the left-out decisions; None makes none.

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
    coef = np.zeros(codes.shape)
    intercept = codes[0].astype(np.float64)
    left_out = None if held_out is None else np.broadcast_to(intercept, codes.shape).copy()
    mixed = np.flatnonzero((codes != codes[0]).any(axis=0))
    if len(mixed) == 0:
        return CellMachines(coef, intercept, True, left_out)
    converged = True
    cell = _Cell(settings, settings.kernel(X), settings.kernel.diag(X))
    for j in mixed:
        solution = cell.solve(codes[:, j], settings.C * price)
        coef[:, j], intercept[j] = solution.beta, solution.nu
        converged = converged and solution.converged
        if left_out is not None and held_out is not None:
            left_out[:, j] = cell.left_out(codes[:, j], price, held_out, solution.beta)
    return CellMachines(coef, intercept, converged, left_out)


@lru_cache(maxsize=16)
def _solver(tol: float) -> SMO:
    """Return the solver of all machines of a tolerance, which is checked once."""
    return SMO(tol=tol)


class _Solved(NamedTuple):
    """The coefficients and the intercept of one machine, and whether it reached the tolerance."""

    beta: Array
    nu: float
    converged: bool

    @classmethod
    def of(cls, solution: Solution) -> _Solved:
        return cls(solution.beta, float(solution.nu[0]), solution.converged)


@dataclass(frozen=True)
class _Cell:
    """Solves machines of one kernel matrix, whose diagonal takes the ridge of each of them."""

    settings: CellSettings
    K: Array
    diag: Array

    def solve(self, y: Array, cost: Array, start: Array | None = None) -> _Solved:
        """Solve one machine; a code of zero leaves a row out."""
        solver, y = _solver(self.settings.tol), np.ascontiguousarray(y)
        if self.settings.loss == "hinge":
            return _Solved.of(solver.solve(c_svc(StoredGram(self.K), y, cost), start=start))
        found = solve_ridge_machine(solver, self.K, self.diag, y, cost, start)
        if found is not None:
            return _Solved(*found, True)
        np.fill_diagonal(self.K, self.diag + 1 / cost)
        return _Solved.of(solver.solve(hard_margin(StoredGram(self.K), y), start=start))

    def left_out(self, y: Array, price: Array, held_out: HeldOut, beta: Array) -> Array:
        """Return the decision on each row of the machine without its fold."""
        out = np.full(len(y), np.nan)
        for number in np.flatnonzero(np.bincount(held_out.fold[held_out.rows])):
            own = np.flatnonzero(held_out.fold == number)
            kept_price = price.copy()
            kept_price[own] *= 1 - held_out.share[own]
            is_kept = kept_price > 0
            codes = np.where(is_kept, y, 0.0)
            if not ((codes > 0).any() and (codes < 0).any()):
                out[own] = codes.sum() / max(1.0, np.abs(codes).sum())
                continue
            cost = self.settings.C * np.where(is_kept, kept_price, 1.0)
            solution = self.solve(codes, cost, np.where(is_kept, beta, 0.0))
            decisions = np.empty(len(own))
            project_rows(self.K, own, solution.beta, decisions)
            out[own] = decisions + solution.nu
            if self.settings.loss != "hinge":  # which has no ridge on the diagonal
                out[own] -= solution.beta[own] / cost[own]
        return out
