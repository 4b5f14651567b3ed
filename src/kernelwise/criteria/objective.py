"""A criterion as a function of kernel parameters: what the outer optimisers minimise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .._threads import single_blas
from .._typing import Array, Matrix
from ..kernels import Kernel, LazyGram
from ..qp.active_rows import WARM_WHOLE
from .base import Criterion, Evaluation, Labels, precision, shared, with_tol


class Objective:
    """Value and gradient of a criterion by one vector of parameters, warm from call to call.

    Parameters
    ----------
    criterion : Criterion
        The criterion.
    kernel : Kernel
        The kernel; parameters not named stay as they are in it.
    names : str or sequence of str
        Parameters as ``kernel.get_params`` names them, and "C" for the criterion's own. The vector
        holds them one after the other.
    X : {ndarray, sparse matrix} of shape (n, d)
        The rows.
    Y : array-like of shape (n, m) or (n,)
        The codes.
    weights : array-like of shape (n,), default=None
        What multiplies C of each row.
    log : bool, default=False
        Whether to take the logarithm of the value.

    Attributes
    ----------
    best : Evaluation or None
        The evaluation of the lowest value so far.
    n_solves : int
        Kernel matrices evaluated so far.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.criteria import DualObjective
    >>> from kernelwise.kernels import RBF
    >>> X = np.array([[0.0, 3.0], [1.0, 0.0], [0.2, 1.0], [1.1, 2.0]])
    >>> y = np.array([-1, 1, -1, 1])
    >>> objective = DualObjective().of(RBF(weights=np.ones(2)), "weights", X, y)
    >>> value, gradient = objective(np.ones(2))
    >>> round(value, 3), gradient.round(3)
    (2.432, array([-0.389, -0.325]))
    """

    def __init__(
        self,
        criterion: Criterion,
        kernel: Kernel,
        names: str | Sequence[str],
        X: Matrix,
        Y: Any,
        *,
        weights: Any = None,
        log: bool = False,
    ) -> None:
        self.criterion, self.kernel, self.X = criterion, kernel, X
        self.labels = Labels(Y, weights)
        self.names = (names,) if isinstance(names, str) else tuple(names)
        self.log = log
        self._shapes = self._check_names()
        self._carry: Any = None
        self.best: Evaluation | None = None
        self._best_value, self._tol = np.inf, criterion.solver.tol
        self.n_solves = self.n_iter = 0

    def _check_names(self) -> dict[str, int | None]:
        """Return how many numbers each parameter takes; None is a plain number."""
        params = self.kernel.get_params()
        shapes: dict[str, int | None] = {}
        if len(set(self.names)) < len(self.names):
            raise ValueError(f"names must differ; got {self.names}.")
        for name in self.names:
            if name == "C":
                shapes[name] = None
            elif name not in params:
                raise ValueError(f"{self.kernel!r} has no parameter {name!r}.")
            elif params[name] is None and name.split("__")[-1] == "weights":
                shapes[name] = self.X.shape[1]
            else:
                shapes[name] = np.size(params[name]) if np.ndim(params[name]) else None
        return shapes

    def at(self, theta: Any) -> tuple[Kernel, Criterion]:
        """Return the kernel and the criterion with these parameters.

        Parameters
        ----------
        theta : array-like of shape (n_parameters,)
            The parameters, one after the other.

        Returns
        -------
        kernel : Kernel
            The kernel.
        criterion : Criterion
            The criterion, with its C.
        """
        theta = np.asarray(theta, dtype=np.float64)
        expected = sum(size or 1 for size in self._shapes.values())
        if theta.shape != (expected,):
            raise ValueError(f"theta must hold {expected} numbers; got {len(theta)}.")
        own: dict[str, Any] = {}
        place = 0
        for name, size in self._shapes.items():
            part = theta[place : place + (size or 1)]
            own[name] = float(part[0]) if size is None else part
            place += size or 1
        criterion = replace(self.criterion, C=own.pop("C")) if "C" in own else self.criterion
        return self.kernel.with_params(**own), criterion

    def __call__(self, theta: Any, tol: float | None = None) -> tuple[float, Array]:
        """Evaluate value and gradient.

        Parameters
        ----------
        theta : array-like of shape (n_parameters,)
            The parameters.
        tol : float, default=None
            The tolerance of the machines; None is the criterion's own. Values at different
            tolerances are not compared: `best` starts anew when it changes.

        Returns
        -------
        value : float
            The criterion.
        gradient : ndarray of shape (n_parameters,)
            Its gradient.
        """
        kernel, criterion = self.at(theta)
        tol = self.criterion.solver.tol if tol is None else tol
        if tol != self._tol:
            self._tol, self._best_value = tol, np.inf
        if tol != criterion.solver.tol:
            criterion = with_tol(criterion, tol)
        with single_blas():
            labels, gram = self.labels, LazyGram(kernel, self.X, criterion.threads)
            # Of so few rows a machine takes all from a warm start, and the gradient reads them too.
            n_readers = labels.n_machines + (gram.shape[0] <= WARM_WHOLE)
            K = shared(gram, n_readers, criterion)
            evaluation = criterion.evaluate(K, labels, weights=labels.weights, start=self._carry)
            assert evaluation.cotangent is not None
            dtype = precision(criterion.solver, K.shape[0])
            stored = K if isinstance(K, np.ndarray) else None
            by_name = kernel.vjp(self.X, evaluation.cotangent, dtype=dtype, K=stored)
            if "C" in self.names:
                by_name["C"] = evaluation.by_C
        parts = [np.atleast_1d(by_name[name]) for name in self.names]
        gradient, value = np.concatenate(parts).astype(np.float64), evaluation.value
        self._remember(evaluation)
        if self.log:
            return float(np.log(value)), gradient / value
        return value, gradient

    def _remember(self, evaluation: Evaluation) -> None:
        self._carry = evaluation.carry
        self.n_solves += 1
        self.n_iter = sum(machine.n_iter for machine in evaluation.machines)
        if evaluation.value < self._best_value:
            self._best_value, self.best = evaluation.value, evaluation
