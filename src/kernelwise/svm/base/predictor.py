"""The result of a fit as one prediction formula, read by prediction and by every export.

f(x) = k(z, rows) @ coef + phi(x) @ linear + intercept

with z the rows after the steps in `before`, phi(x) the features that the steps in `features` make.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from ..._sklearn import safe_indexing
from ..._threads import run, single_blas
from ..._typing import Array, Index, Matrix
from ...calibration.scores import Calibration
from ...kernels import Kernel, Precomputed
from ...qp import Solution
from ...qp.pairs import PairSolutions
from .multiclass import pairs_of_layout
from .steps import RowStep, apply_all

if TYPE_CHECKING:
    from .task import FitTask

_BLOCK_ENTRIES = 1_000_000  # kernel values per block of new rows


def take(X: Any, rows: Index) -> Any:
    """Return some rows of an array, a sparse matrix, or whatever a user's kernel reads."""
    if isinstance(X, np.ndarray):
        # The method is the faster one, but copies the whole of an array that lies column by column.
        return X.take(rows, axis=0) if X.flags.c_contiguous else X[rows]
    if sp.issparse(X):
        return X[rows]
    return safe_indexing(X, rows)


@dataclass(frozen=True)
class SupportVectors:
    """The training rows that have a coefficient in some machine, class by class."""

    support: Index  # (n_support,)
    rows: Matrix  # (n_support, d), the rows themselves; without columns for a precomputed kernel
    coef: Array  # (n_support, n_machines)

    @classmethod
    def of(
        cls,
        X: Matrix,
        solutions: Sequence[Solution],
        members: Sequence[Index],
        classes: Index,
        *,
        store_rows: bool = True,
    ) -> SupportVectors:
        """Gather the support vectors of solved machines.

        Shapes: ``X`` (n, d). ``solutions``: one per machine. ``members``: the training rows of each
        machine's problem. ``classes`` (n,): the class of each training row. ``store_rows``: whether
        prediction needs the rows; a precomputed kernel needs their numbers only.
        """
        beta = np.zeros((X.shape[0], len(solutions)))
        for column, (solution, rows) in enumerate(zip(solutions, members, strict=True)):
            beta[rows, column] = solution.beta
        support = np.flatnonzero(beta.any(axis=1) if len(solutions) > 1 else beta[:, 0])
        support = support[np.argsort(classes[support], kind="stable")]
        return cls(support, take(X, support) if store_rows else np.empty((0, 0)), beta[support])

    @classmethod
    def of_pairs(
        cls, X: Matrix, solutions: PairSolutions, *, store_rows: bool = True
    ) -> SupportVectors:
        """Gather the support vectors of one-vs-one machines on rows sorted by class.

        Shapes: ``X`` (n, d). ``solutions``: the solutions of all machines. ``store_rows``: whether
        prediction needs the rows.
        """
        support = np.flatnonzero(solutions.dual.any(axis=0))
        classes = np.searchsorted(solutions.starts, support, side="right") - 1
        coef = pairs_of_layout(solutions.dual[:, support], classes, solutions.n_classes)
        return cls(support, take(X, support) if store_rows else np.empty((0, 0)), coef)


@dataclass(frozen=True)
class Predictor:
    """Fitted machines in the form in which they predict.

    Parameters
    ----------
    vectors : SupportVectors
        The support vectors, as the kernels read them.
    intercept : ndarray of shape (n_machines,)
        The intercepts.
    kernels : tuple of Kernel
        One kernel per machine, the same object where machines share it; empty for machines
        without a kernel part.
    before : tuple of RowStep, default=()
        Steps from the rows a user gives to the rows that the kernels read.
    features : tuple of RowStep, default=()
        Steps from the rows a user gives to the features of the linear part.
    linear : ndarray of shape (n_linear_features, n_machines) or None, default=None
        Coefficients of the linear part.
    multiclass : {"ovr", "ovo", "none"}, default="ovr"
        How machines decide between several classes; "none" where there are no classes.
    loss : {"hinge", "squared"}, default="hinge"
        The loss that the machines minimise.
    calibration : Calibration or None, default=None
        Turns decision values into probabilities.
    """

    vectors: SupportVectors
    intercept: Array
    kernels: tuple[Kernel, ...]
    before: tuple[RowStep, ...] = ()
    features: tuple[RowStep, ...] = ()
    linear: Array | None = None
    multiclass: str = "ovr"
    loss: str = "hinge"
    calibration: Calibration | None = None

    @classmethod
    def of(
        cls,
        task: FitTask,
        solutions: Sequence[Solution],
        *,
        kernels: Sequence[Kernel] | None = None,
        members: Sequence[Index] | None = None,
        rows: Matrix | None = None,
    ) -> Predictor:
        """Return solved machines on the rows of a task.

        Parameters
        ----------
        task : FitTask
            The task.
        solutions : sequence of Solution
            One per machine.
        kernels : sequence of Kernel, default=None
            One per machine; None for the task's kernel in all of them.
        members : sequence of ndarray, default=None
            The rows of each machine's problem; None for those of the task.
        rows : {ndarray, sparse matrix} of shape (n, d), default=None
            The rows as the kernels read them; None for those of the task.

        Returns
        -------
        predictor : Predictor
            The machines.
        """
        kernels = (task.kernel,) * len(solutions) if kernels is None else tuple(kernels)
        X, store_rows = task.X if rows is None else rows, not isinstance(kernels[0], Precomputed)
        if isinstance(solutions, PairSolutions):
            vectors = SupportVectors.of_pairs(X, solutions, store_rows=store_rows)
            return cls(vectors, solutions.certificates[:, 0].copy(), kernels)
        members = task.members if members is None else members
        vectors = SupportVectors.of(X, solutions, members, task.classes, store_rows=store_rows)
        intercept = np.array([s.nu[0] if len(s.nu) else 0.0 for s in solutions])
        return cls(vectors, intercept, kernels)

    def of_rows(self, rows: Index, multiclass: str) -> Predictor:
        """Renumber the support vectors as in the table that the user gave.

        Parameters
        ----------
        rows : ndarray of shape (n,)
            The row of that table for each row of the fit.
        multiclass : {"ovr", "ovo", "none"}
            How machines decide between several classes; "none" where there are no classes.

        Returns
        -------
        predictor : Predictor
            The same machines.
        """
        vectors = replace(self.vectors, support=rows[self.vectors.support])
        return replace(self, vectors=vectors, multiclass=multiclass)

    @property
    def n_machines(self) -> int:
        """The number of machines."""
        return len(self.intercept)

    @property
    def shared_kernel(self) -> Kernel | None:
        """The kernel that all machines share; None where they have several or none."""
        groups = kernel_groups(self.kernels)
        return groups[0][0] if len(groups) == 1 else None

    def decision_values(self, X: Any, threads: int = 1) -> Array:
        """Evaluate all machines.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n, d)
            New rows; kernel values against all training rows for a precomputed kernel.
        threads : int, default=1
            Threads over blocks of rows.

        Returns
        -------
        decisions : ndarray of shape (n, n_machines)
            The decision values.
        """
        with single_blas():
            out = self._kernel_values(apply_all(self.before, X), threads)
            if self.linear is not None:
                out += apply_all(self.features, X) @ self.linear
        out += self.intercept
        return out

    def _kernel_values(self, Z: Any, threads: int) -> Array:
        """Evaluate the kernel part, by blocks of rows."""
        vectors, groups = self.vectors, kernel_groups(self.kernels)
        if groups and isinstance(groups[0][0], Precomputed):
            values: Array = Z[:, vectors.support] @ vectors.coef
            return values
        out = np.zeros((Z.shape[0], self.n_machines))
        height = max(1, _BLOCK_ENTRIES // max(1, len(vectors.support)))

        def evaluate(start: int) -> None:
            block = slice(start, start + height)
            for kernel, machines in groups:
                every = len(machines) == self.n_machines
                columns = slice(None) if every else machines
                out[block, columns] = kernel(Z[block], vectors.rows) @ vectors.coef[:, columns]

        if groups and len(vectors.support):
            run(evaluate, range(0, Z.shape[0], height), threads)
        return out


def kernel_groups(kernels: Sequence[Kernel]) -> list[tuple[Kernel, list[int]]]:
    """Return each kernel once, with the machines that use it."""
    found: dict[int, tuple[Kernel, list[int]]] = {}
    for machine, kernel in enumerate(kernels):
        found.setdefault(id(kernel), (kernel, []))[1].append(machine)
    return list(found.values())


def predictor_of(model: Any) -> Predictor:
    """Return the predictor of a fitted kernel machine."""
    check_is_fitted(model)
    predictor: Predictor = model._predictor_
    return predictor
