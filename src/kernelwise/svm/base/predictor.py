"""What every fit ends in: machines on the support rows, with one prediction formula.

f(x) = k(x, X_support) @ coef + intercept
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import Bunch

from ..._sklearn import safe_indexing
from ..._threads import run, single_blas
from ..._typing import Array, Index, Matrix
from ...kernels import Kernel, Precomputed
from ...qp import Solution


def take(X: Any, rows: Index) -> Any:
    """Return some rows of an array, a sparse matrix, or whatever else a user's kernel is of."""
    if isinstance(X, np.ndarray):
        return X.take(rows, axis=0)
    if sp.issparse(X):
        return X[rows]
    return safe_indexing(X, rows)


_BLOCK_ENTRIES = 1_000_000  # of the kernel between new rows and support rows


@dataclass(frozen=True)
class Machines:
    """Fitted machines that share a kernel and their support rows.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    support : ndarray of shape (n_support,)
        Training rows with a coefficient in some machine.
    rows : {ndarray, sparse matrix} of shape (n_support, d)
        Those rows; of no columns for a precomputed kernel.
    coef : ndarray of shape (n_support, n_machines)
        The signed dual coefficients.
    intercept : ndarray of shape (n_machines,)
        The intercepts.
    certificate : Bunch
        Arrays ``gap``, ``violation``, ``objective``, ``n_iter`` and ``status``, one entry a
        machine.
    own_kernels : tuple of Kernel, default=None
        One kernel a machine, where they do not share one.
    """

    kernel: Kernel
    support: Index
    rows: Matrix
    coef: Array
    intercept: Array
    certificate: Bunch
    own_kernels: tuple[Kernel, ...] | None = None

    @classmethod
    def of(
        cls,
        kernel: Kernel,
        X: Matrix,
        solutions: Sequence[Solution],
        members: Sequence[Index],
        groups: Index,
    ) -> Machines:
        """Gather solved problems.

        Parameters
        ----------
        kernel : Kernel
            The kernel.
        X : {ndarray, sparse matrix} of shape (n, d)
            The training rows.
        solutions : sequence of Solution
            One a machine.
        members : sequence of ndarray
            The training rows of each machine's problem.
        groups : ndarray of shape (n,)
            The class of each training row; support rows stand class by class.

        Returns
        -------
        machines : Machines
            The machines, on their support rows only.
        """
        beta = np.zeros((X.shape[0], len(solutions)))
        for column, (solution, rows) in enumerate(zip(solutions, members, strict=True)):
            beta[rows, column] = solution.beta
        support = np.flatnonzero(beta.any(axis=1) if len(solutions) > 1 else beta)
        support = support[np.argsort(groups[support], kind="stable")]
        precomputed = isinstance(kernel, Precomputed)
        certificate = Bunch(
            gap=np.array([s.gap for s in solutions]),
            violation=np.array([s.violation for s in solutions]),
            objective=np.array([s.objective for s in solutions]),
            n_iter=np.array([s.n_iter for s in solutions], dtype=np.int32),
            status=np.array([s.status for s in solutions]),
        )
        return cls(
            kernel=kernel,
            support=support,
            rows=np.empty((0, 0)) if precomputed else take(X, support),
            coef=beta[support],
            intercept=np.array([s.nu[0] if len(s.nu) else 0.0 for s in solutions]),
            certificate=certificate,
        )

    def decision_values(self, X: Matrix, threads: int = 1) -> Array:
        """Evaluate all machines, by blocks of rows.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n, d)
            New rows; kernel values against all training rows for a precomputed kernel.
        threads : int, default=1
            Threads over the blocks.

        Returns
        -------
        decisions : ndarray of shape (n, n_machines)
            The decision values.
        """
        if isinstance(self.kernel, Precomputed):
            return X[:, self.support] @ self.coef + self.intercept
        out = np.empty((X.shape[0], len(self.intercept)))
        height = max(1, _BLOCK_ENTRIES // max(1, len(self.support)))

        groups = [] if self.own_kernels is None else columns_of(self.own_kernels)

        def part(start: int) -> None:
            block = slice(start, start + height)
            if self.own_kernels is None:
                out[block] = self.kernel(X[block], self.rows) @ self.coef
                return
            for kernel, columns in groups:
                out[block, columns] = kernel(X[block], self.rows) @ self.coef[:, columns]

        if len(self.support):
            with single_blas():
                run(part, range(0, X.shape[0], height), threads)
        else:
            out[:] = 0
        out += self.intercept
        return out


def columns_of(kernels: Sequence[Kernel]) -> list[tuple[Kernel, list[int]]]:
    """Return each kernel once, with the machines that have it."""
    found: dict[int, tuple[Kernel, list[int]]] = {}
    for column, kernel in enumerate(kernels):
        found.setdefault(id(kernel), (kernel, []))[1].append(column)
    return list(found.values())
