"""What every criterion is: a number for a kernel matrix and codes, and its cotangent.

    criterion:  K  ->  value, dK             (this layer)
    kernel:     dK ->  {parameter: gradient}  (`Kernel.vjp`)

So any criterion works with any kernel and any of its parameters.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from .._threads import run, single_blas
from .._typing import Array, Gram, Matrix
from ..kernels import Cotangent, Kernel, LazyGram
from ..qp import SMO, DualQP, Solution, Terms, c_svc, l2_svm
from ..qp.smo import SMALL, TIGHT

if TYPE_CHECKING:
    from .objective import Objective

T = TypeVar("T")


@dataclass(frozen=True)
class Evaluation:
    """A criterion at one kernel matrix.

    Parameters
    ----------
    value : float
        What is to be small, summed over the machines.
    cotangent : Cotangent or None
        The derivative by each entry of the kernel matrix; None where it was not asked for.
    cost_slope : callable
        Computes `by_C`, which is not always wanted.
    machines : tuple of Solution
        The solved machine of each column of the codes; empty where all rows together were not
        solved.
    carry : Any
        Give it as ``start`` to the next evaluation, at a kernel near by.
    """

    value: float
    cotangent: Cotangent | None
    cost_slope: Callable[[], float] = float
    machines: tuple[Solution, ...] = ()
    carry: Any = None

    @property
    def by_C(self) -> float:
        """The derivative by C; zero where the criterion does not know C."""
        return self.cost_slope()


def _patient_solver() -> SMO:
    # Between two steps of an outer loop nobody needs the last digits.
    return SMO(budget=0)


@dataclass(frozen=True)
class Criterion(ABC):
    """Base of the criteria: immutable and stateless; warm starts go in and come out.

    Parameters
    ----------
    C : float, default=1.0
        The cost of slack; infinite for a hard margin.
    solver : SMO, default=SMO(budget=0)
        What solves the machines.
    threads : int, default=1
        Threads over the machines.
    """

    C: float = 1.0
    solver: SMO = field(default_factory=_patient_solver)
    threads: int = 1

    def __post_init__(self) -> None:
        """Check the parameters."""
        if not self.C > 0:
            raise ValueError(f"C must be positive; got {self.C!r}.")

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
    ) -> Evaluation:
        """Evaluate the criterion, summed over the columns of Y.

        Parameters
        ----------
        K : ndarray of shape (n, n) or Gram
            The kernel matrix.
        Y : array-like of shape (n, m) or (n,)
            Codes -1, 0 (row not in the machine) and +1, one column a machine.
        weights : array-like of shape (n,), default=None
            What multiplies C of each row.
        start : Any, default=None
            The ``carry`` of an evaluation near by.
        gradient : bool, default=True
            Whether the cotangent is wanted.

        Returns
        -------
        evaluation : Evaluation
            The value, its cotangent and what to start from next.
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
            The kernel; parameters not named stay as they are in it.
        names : str or sequence of str
            Parameters as ``kernel.get_params`` names them, and "C" for the criterion's own.
        X : {ndarray, sparse matrix} of shape (n, d)
            The rows.
        Y : array-like of shape (n, m) or (n,)
            The codes.
        weights : array-like of shape (n,), default=None
            What multiplies C of each row.
        log : bool, default=False
            Whether to take the logarithm of the value, which must be positive.

        Returns
        -------
        objective : Objective
            A function of one vector that gives value and gradient, warm from call to call.
        """
        from .objective import Objective

        return Objective(self, kernel, names, X, Y, weights=weights, log=log)

    def problem(self, K: Array | Gram, y: Any, weights: Array) -> DualQP:
        """Build the machine that the criterion judges.

        Parameters
        ----------
        K : ndarray of shape (n, n) or Gram
            The kernel matrix.
        y : array-like of shape (n,)
            The codes.
        weights : ndarray of shape (n,)
            What multiplies C of each row.

        Returns
        -------
        qp : DualQP
            The C-SVC, unless the criterion is of squared slack.
        """
        if self.slack == "hinge":
            return c_svc(K, y, self.C * weights)
        return l2_svm(stored(K, self.solver), y, self.C * weights)

    def machines(
        self, kernel: Kernel, X: Matrix, Y: Any, *, weights: Any, solver: SMO, start: Sequence[Any]
    ) -> list[Solution]:
        """Solve the machines that the criterion judges.

        Parameters
        ----------
        kernel : Kernel
            The kernel.
        X : {ndarray, sparse matrix} of shape (n, d)
            The rows.
        Y : array-like of shape (n, m) or (n,)
            The codes.
        weights : array-like of shape (n,)
            What multiplies C of each row.
        solver : SMO
            What solves them.
        start : sequence
            Where each machine starts; empty for a cold start.

        Returns
        -------
        solutions : list of Solution
            One a machine.
        """
        Y = as_codes(Y)
        weights, begin = as_weights(weights, len(Y)), starts(start or None, Y.shape[1])
        K = shared(LazyGram(kernel, X, self.threads), Y.shape[1], replace(self, solver=solver))

        def solve(j: int) -> Solution:
            return solver.solve(self.problem(K, Y[:, j], weights), start=begin[j])

        return self._solve_all(solve, range(Y.shape[1]))

    def _solve_all(self, solve: Callable[[int], T], machines: Iterable[int]) -> list[T]:
        with single_blas():
            return run(solve, machines, self.threads)


class Labels:
    """Codes and weights of some rows, checked once for many evaluations.

    Parameters
    ----------
    Y : array-like of shape (n, m) or (n,)
        The codes, copied.
    weights : array-like of shape (n,), default=None
        The cost factor of each row, copied.
    """

    def __init__(self, Y: Any, weights: Any = None) -> None:
        self.codes = np.array(as_codes(Y))
        self.weights = np.array(as_weights(weights, len(self.codes)))

    @classmethod
    def of(cls, Y: Any, weights: Any) -> Labels:
        """Return labels as they are, or check codes and weights.

        Parameters
        ----------
        Y : Labels or array-like
            Labels, or codes.
        weights : array-like of shape (n,) or None
            The cost factors that go with codes.

        Returns
        -------
        labels : Labels
            The labels.
        """
        return Y if isinstance(Y, Labels) else cls(Y, weights)

    @property
    def n_machines(self) -> int:
        """Number of machines."""
        return int(self.codes.shape[1])

    @cached_property
    def unit_terms(self) -> list[Terms]:
        """The terms of each machine's C-SVC at C = 1."""
        return Terms.c_svcs(self.codes, self.weights)

    @cached_property
    def hard_terms(self) -> list[Terms]:
        """The terms of each machine with a hard margin."""
        return Terms.c_svcs(self.codes, np.inf)


def as_codes(Y: Any) -> Array:
    """Return codes as a float64 matrix, one column a machine."""
    if isinstance(Y, Labels):
        return Y.codes
    Y = np.asarray(Y, dtype=np.float64)
    Y = Y[:, None] if Y.ndim == 1 else Y
    if Y.ndim != 2 or not ((Y == 0) | (np.abs(Y) == 1)).all():
        raise ValueError("Y must hold codes -1, 0 and +1, one column a machine.")
    if not Y.any(axis=0).all():
        raise ValueError("Y has a column of zeros: a machine without rows.")
    return Y


def as_weights(weights: Any, n: int) -> Array:
    """Return what multiplies C of each row, ones by default."""
    if weights is None:
        return np.ones(n)
    weights = np.asarray(weights, dtype=np.float64)
    if weights.shape != (n,) or not (weights > 0).all():
        raise ValueError(f"weights must be {n} positive numbers, one a row.")
    return weights


def stored(K: Array | Gram, solver: SMO) -> Array:
    """Return the whole kernel matrix; refuse one without room."""
    if isinstance(K, np.ndarray):
        return K
    n = K.shape[0]
    if 4.0 * n**2 > solver.memory:
        raise ValueError(
            f"the kernel matrix of {n} rows takes {4e-6 * n**2:.0f} MB, more than the allowance of "
            f"{1e-6 * solver.memory:.0f} MB, and this criterion reads all of it; raise cache_size, "
            "use criterion='dual', or fit on fewer rows."
        )
    return K.dense(precision(solver, n))


def precision(solver: SMO, n: int) -> Any:
    """Return the type that n rows are worth at the solver's tolerance."""
    exact = solver.tol < TIGHT or (solver.polishes and n <= SMALL)
    return np.float64 if exact else np.float32


def shared(K: Gram, n_readers: int, criterion: Criterion) -> Array | Gram:
    """Return one stored matrix where several read it and it fits, else what was given."""
    fits = 4.0 * K.shape[0] ** 2 <= criterion.solver.memory
    if criterion.reads_all_rows or (n_readers > 1 and fits):
        return stored(K, criterion.solver)
    return K


def starts(start: Any, n_machines: int) -> Sequence[Any]:
    """Return where each machine starts."""
    if start is None:
        return [None] * n_machines
    if len(start) != n_machines:
        raise ValueError(f"start has {len(start)} solutions, but Y has {n_machines} columns.")
    return start


def with_tol(criterion: Criterion, tol: float) -> Criterion:
    """Return the criterion with its machines solved to another tolerance."""
    return replace(criterion, solver=replace(criterion.solver, tol=tol))
