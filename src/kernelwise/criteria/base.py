"""The base of all criteria: a value for a kernel matrix and codes, and its cotangent.

criterion:  K  ->  value, dK              (this layer)
kernel:     dK ->  {parameter: gradient}  (`Kernel.vjp`)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np

from .._parameters import as_matrix, as_real, check_cost, check_count, check_kind, check_method
from .._threads import MOST_THREADS, run, single_blas
from .._typing import Array, Gram, Matrix
from ..kernels import Cotangent, Kernel, LazyGram
from ..qp import SMO, Solution
from ..qp.active_rows import WARM_WHOLE
from ..qp.gram import SMALL, StoredGram, dtype_for
from .labels import CodedLabels


@dataclass(frozen=True)
class CriterionValue:
    """A criterion at one kernel matrix.

    Parameters
    ----------
    value : float
        The value to minimise, summed over the machines.
    cotangent : Cotangent or None
        The derivative by each entry of the kernel matrix; None where it was not asked for.
    cost_slope : callable
        Computes `by_C`, which is not always needed.
    machines : tuple of Solution
        The solved machine of each column of the codes; empty where no machine of all rows was
        solved.
    carry : Any
        The ``start`` of the next evaluation, at a similar kernel.
    """

    value: float
    cotangent: Cotangent | None
    cost_slope: Callable[[], float] = float
    machines: tuple[Solution, ...] = ()
    carry: Any = None

    @property
    def by_C(self) -> float:
        """The derivative by C; zero where the criterion does not depend on C."""
        return self.cost_slope()


@dataclass(frozen=True)
class Criterion(ABC):
    """Base of the criteria: immutable and stateless; warm starts go in and come out.

    Parameters
    ----------
    C : float, default=1.0
        The cost of slack; infinite for a hard margin.
    solver : SMO, default=SMO(budget=0)
        The solver of the machines.
    threads : int, default=1
        Threads over the machines.
    """

    C: float = 1.0
    # Between two steps of an outer loop nobody needs the last digits.
    solver: SMO = field(default_factory=lambda: SMO(budget=0))
    threads: int = 1

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_cost(self.C)
        check_method(self.solver, "solver", "solve")
        check_count(self.threads, "threads", least=1, most=MOST_THREADS)

    #: The loss of the machine: "hinge", or "squared" for the L2-SVM.
    slack = "hinge"

    @property
    def reads_all_rows(self) -> bool:
        """Whether evaluating reads most of the kernel matrix, so that it should be stored."""
        return True

    @abstractmethod
    def evaluate(
        self,
        K: Array | Gram,
        Y: Any,
        *,
        weights: Any = None,
        start: Any = None,
        gradient: bool = True,
    ) -> CriterionValue:
        """Evaluate the criterion, summed over the columns of Y.

        Parameters
        ----------
        K : ndarray of shape (n, n) or Gram
            The kernel matrix.
        Y : array-like of shape (n, m) or (n,)
            Codes -1, 0 (row not in the machine) and +1, one column per machine.
        weights : array-like of shape (n,), default=None
            The cost factor of each row.
        start : Any, default=None
            The ``carry`` of an evaluation at a similar kernel.
        gradient : bool, default=True
            Whether to compute the cotangent.

        Returns
        -------
        evaluation : CriterionValue
            The value, its cotangent and the start of the next evaluation.
        """

    def of(
        self,
        kernel: Kernel,
        names: str | Sequence[str],
        X: Matrix,
        Y: Any,
        *,
        weights: Any = None,
        log: bool = False,
    ) -> Objective:
        """Make the criterion a function of some parameters of a kernel.

        Parameters
        ----------
        kernel : Kernel
            The kernel; parameters that are not named keep their values.
        names : str or sequence of str
            Parameters as ``kernel.get_params`` names them, and "C" for the criterion's own.
        X : {ndarray, sparse matrix} of shape (n, d)
            The rows.
        Y : array-like of shape (n, m) or (n,)
            The codes.
        weights : array-like of shape (n,), default=None
            The cost factor of each row.
        log : bool, default=False
            Whether to take the logarithm of the value, which must be positive.

        Returns
        -------
        objective : Objective
            A function of one vector that returns value and gradient; each call starts from the
            solution of the call before.
        """
        return Objective(self, kernel, names, X, Y, weights=weights, log=log)

    def dtype(self, gram: Gram, largest_weight: float = 1.0) -> Any:
        """Choose the precision of a kernel matrix that the machines of the criterion read.

        Parameters
        ----------
        gram : Gram
            The kernel matrix.
        largest_weight : float, default=1.0
            The largest cost factor of a row.

        Returns
        -------
        dtype : dtype
            Single precision where that suffices, otherwise double.
        """
        if self.solver.polishes and gram.shape[0] <= SMALL:
            return np.dtype(np.float64)
        bound = self.C * largest_weight if self.slack == "hinge" and isfinite(self.C) else 0.0
        return dtype_for(self.solver.tol, gram.size, bound)

    def dense(self, K: Array | Gram, largest_weight: float = 1.0) -> Array:
        """Return the whole kernel matrix, where the memory that the solver may use has room.

        Parameters
        ----------
        K : ndarray of shape (n, n) or Gram
            The kernel matrix; an array is returned as it is.
        largest_weight : float, default=1.0
            The largest cost factor of a row, which bounds the coefficients.

        Returns
        -------
        K : ndarray of shape (n, n)
            The matrix, in the precision that the machines need.
        """
        if isinstance(K, np.ndarray) or not hasattr(K, "matvec"):
            return np.asarray(as_matrix(K))
        if not self._has_room_for(K):
            n = K.shape[0]
            raise ValueError(
                f"not enough memory: the kernel matrix of {n} rows needs {4e-6 * n**2:.0f} MB, but "
                f"only {1e-6 * self.solver.memory:.0f} MB may be used, and this criterion reads "
                "all of it; raise cache_size, use criterion='dual', or fit on fewer rows."
            )
        return K.dense(self.dtype(K, largest_weight))

    def _has_room_for(self, K: Gram) -> bool:
        return 4.0 * K.shape[0] ** 2 <= self.solver.memory  # bytes in float32

    def prepared(self, kernel: Kernel, X: Matrix, labels: CodedLabels) -> Any:
        """Prepare rows for evaluations at many parameters of a kernel.

        Parameters
        ----------
        kernel : Kernel
            The kernel.
        X : {ndarray, sparse matrix} of shape (n, d)
            The rows.
        labels : CodedLabels
            Their codes.

        Returns
        -------
        prepared : Any
            An object whose ``evaluate(kernel, criterion, start)`` returns the criterion and its
            derivatives, or None where only the general way leads; None if there is no such object.
        """
        return None

    def machines(
        self, kernel: Kernel, X: Matrix, Y: Any, *, weights: Any, solver: SMO, start: Sequence[Any]
    ) -> list[Solution]:
        """Solve the machines that the criterion evaluates.

        Parameters
        ----------
        kernel : Kernel
            The kernel.
        X : {ndarray, sparse matrix} of shape (n, d)
            The rows.
        Y : array-like of shape (n, m) or (n,)
            The codes.
        weights : array-like of shape (n,)
            The cost factor of each row.
        solver : SMO
            The solver.
        start : sequence
            Where each machine starts; empty for a cold start.

        Returns
        -------
        solutions : list of Solution
            One per machine.
        """
        from .dual import DualObjective

        labels, gram = CodedLabels(Y, weights), LazyGram(kernel, X, self.threads)
        own = replace(self, solver=solver)
        K = own._shared(gram, labels.largest_weight, labels.n_machines)
        dual = DualObjective(self.C, solver, self.threads, slack=self.slack)
        return list(dual.evaluate(K, labels, start=start or None, gradient=False).machines)

    def _shared(self, gram: Gram, largest_weight: float, n_readers: int) -> Array | Gram:
        """Store the matrix where the criterion reads all of it, or several read it and it fits."""
        if self.reads_all_rows or (n_readers > 1 and self._has_room_for(gram)):
            return self.dense(gram, largest_weight)
        return gram

    def _solve_all(self, solve: Callable[[int], Any], machines: Iterable[int]) -> list[Any]:
        with single_blas():
            return run(solve, machines, self.threads)


class Objective:
    """Value and gradient of a criterion by one vector of parameters, warm from call to call.

    Parameters
    ----------
    criterion : Criterion
        The criterion.
    kernel : Kernel
        The kernel; parameters that are not named keep their values.
    names : str or sequence of str
        Parameters as ``kernel.get_params`` names them, and "C" for the criterion's own. The vector
        holds them one after the other.
    X : {ndarray, sparse matrix} of shape (n, d)
        The rows.
    Y : array-like of shape (n, m) or (n,)
        The codes.
    weights : array-like of shape (n,), default=None
        The cost factor of each row.
    log : bool, default=False
        Whether to take the logarithm of the value.

    Attributes
    ----------
    best : CriterionValue or None
        The evaluation of the lowest value so far.
    n_solves : int
        Kernel matrices evaluated so far.
    n_iter : int
        Steps of the solver in the last evaluation.

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
        check_kind(criterion, "criterion", Criterion)
        check_kind(kernel, "kernel", Kernel)
        self.criterion, self.kernel, self.X = criterion, kernel, X
        self.labels = CodedLabels(Y, weights)
        self.names = (names,) if isinstance(names, str) else tuple(names)
        self.log = log
        self._shapes = self._check_names()
        self._carry: Any = None
        self.best: CriterionValue | None = None
        self.n_solves = self.n_iter = 0

    def _check_names(self) -> dict[str, int | None]:
        """Return the length of each parameter; None for a number."""
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
        theta = as_real(theta, "theta")
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

    def __call__(self, theta: Any) -> tuple[float, Array]:
        """Evaluate value and gradient.

        Shapes: ``theta`` (n_parameters,). Returns ``value``, the value of the criterion;
        ``gradient`` (n_parameters,).
        """
        kernel, criterion = self.at(theta)
        with single_blas():
            evaluation, by_name = self._evaluate(kernel, criterion)
        self._remember(evaluation)
        parts = [np.atleast_1d(by_name[name]) for name in self.names]
        gradient, value = np.concatenate(parts).astype(np.float64), evaluation.value
        if self.log:
            return float(np.log(value)), gradient / value
        return value, gradient

    def _evaluate(
        self, kernel: Kernel, criterion: Criterion
    ) -> tuple[CriterionValue, dict[str, Any]]:
        """Evaluate the criterion, and its derivative by each parameter."""
        prepared = self._prepared
        known = None if prepared is None else prepared.evaluate(kernel, criterion, self._carry)
        evaluation, by_name = self._in_general(kernel, criterion) if known is None else known
        if "C" in self.names:
            by_name["C"] = evaluation.by_C
        return evaluation, by_name

    @cached_property
    def _prepared(self) -> Any:
        return self.criterion.prepared(self.kernel, self.X, self.labels)

    def _in_general(
        self, kernel: Kernel, criterion: Criterion
    ) -> tuple[CriterionValue, dict[str, Any]]:
        """Evaluate any criterion of any kernel."""
        labels, gram = self.labels, LazyGram(kernel, self.X, criterion.threads)
        # Up to this many rows a warm machine reads the whole matrix, and the gradient does as well.
        n_readers = labels.n_machines + (gram.shape[0] <= WARM_WHOLE)
        K = criterion._shared(gram, labels.largest_weight, n_readers)
        stored = K if isinstance(K, np.ndarray) else None
        # As a Gram, so that its entries are not checked: the solver refuses NaN.
        read = K if stored is None else StoredGram(stored)
        evaluation = criterion.evaluate(read, labels, weights=labels.weights, start=self._carry)
        assert evaluation.cotangent is not None
        dtype = criterion.dtype(gram, labels.largest_weight) if stored is None else stored.dtype
        return evaluation, kernel.vjp(self.X, evaluation.cotangent, dtype=dtype, K=stored)

    def _remember(self, evaluation: CriterionValue) -> None:
        self._carry = evaluation.carry
        self.n_solves += 1
        self.n_iter = sum(machine.n_iter for machine in evaluation.machines)
        if self.best is None or evaluation.value < self.best.value:
            self.best = evaluation
