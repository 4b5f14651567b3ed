"""All one-vs-one machines of several classes in one compiled call.

    min 1/2 b'Kb - y'b   s.t.   sum b = 0,   0 <= y_i b_i <= C_i

for each pair of classes, on the rows of both. The matrix of a pair is four blocks of the matrix of
all rows, which are sorted by class. A machine that is hard for steps alone, or cheap to solve
exactly, goes on in `SMO`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, overload

import numpy as np

from .. import _native
from .._threads import run
from .._typing import Array, Index
from .active_set import DEAR
from .fast_path import SWEEP
from .gram import TIGHT, StoredGram
from .problem import Solution, SolverState, c_svc
from .progress import Progress
from .smo import SMO


@lru_cache(maxsize=16)
def pairs_of(n_classes: int) -> tuple[Index, Index]:
    """Return the first and the second class of each machine, in order.

    Returns ``first``, ``second`` (n_machines,): (0, 1), (0, 2), and so on.
    """
    first, second = np.triu_indices(n_classes, 1)
    first.flags.writeable = second.flags.writeable = False
    return first, second


@dataclass(frozen=True, eq=False)
class PairSolutions(Sequence[Solution]):
    """The solutions of all pairs of classes, as arrays; `Solution` objects are made when read."""

    starts: Index  # (n_classes + 1,), where the rows of each class start, and the last class ends
    # (n_classes - 1, n), the signed dual coefficients as LIBSVM arranges them: row r of a column
    # belongs to the machine against the r-th of the other classes
    dual: Array
    gradient: Array  # (n_classes - 1, n), the gradients, arranged in the same way
    # (n_machines, 4), the multiplier, objective, gap and violation of each machine
    certificates: Array
    n_iter: Index  # (n_machines,), number of steps
    n_support: Index  # (n_machines,), number of support vectors
    status: Any  # (n_machines,), how each solve ended

    def __len__(self) -> int:
        return len(self.n_iter)

    @overload
    def __getitem__(self, machine: int) -> Solution: ...
    @overload
    def __getitem__(self, machine: slice) -> list[Solution]: ...
    def __getitem__(self, machine: int | slice) -> Solution | list[Solution]:
        if isinstance(machine, slice):
            return [self[j] for j in range(len(self))[machine]]
        j = range(len(self))[machine]
        nu, objective, gap, violation = self.certificates[j].tolist()
        return Solution(
            beta=self._read(self.dual, j),
            nu=np.array([nu]),
            gradient=self._read(self.gradient, j),
            objective=objective,
            gap=gap,
            violation=violation,
            n_iter=int(self.n_iter[j]),
            status=str(self.status[j]),
        )

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.starts) - 1

    def sizes(self) -> Index:
        """Count the rows of each machine.

        Returns ``counts`` (n_machines,).
        """
        first, second = pairs_of(self.n_classes)
        own = np.diff(self.starts)
        return own[first] + own[second]

    def replace(self, machine: int, solution: Solution) -> None:
        """Store another solution of a machine."""
        self.write(self.dual, machine, solution.beta)
        self.write(self.gradient, machine, solution.gradient)
        certificate = solution.objective, solution.gap, solution.violation
        self.certificates[machine] = (solution.nu[0], *certificate)
        self.n_iter[machine] = solution.n_iter
        self.n_support[machine] = np.count_nonzero(solution.beta)
        self.status[machine] = solution.status

    def pieces(self, machine: int) -> list[tuple[int, slice]]:
        """Return where the arrays have the entries of a machine.

        Returns ``pieces``: the row of the array and the rows of the first class as its columns,
        then those of the second class.
        """
        first, second = (int(each[machine]) for each in pairs_of(self.n_classes))
        of = [slice(*self.starts[c : c + 2].tolist()) for c in (first, second)]
        return [(second - 1, of[0]), (first, of[1])]

    def _read(self, values: Array, machine: int) -> Array:
        return np.concatenate([values[row, columns] for row, columns in self.pieces(machine)])

    def write(self, values: Array, machine: int, own: Array) -> None:
        """Write the entries of a machine to `dual` or `gradient`.

        Shapes: ``values`` (n_classes - 1, n), ``own`` (m,).
        """
        (row, columns), (other_row, other_columns) = self.pieces(machine)
        size = columns.stop - columns.start
        values[row, columns], values[other_row, other_columns] = own[:size], own[size:]


@dataclass(frozen=True, eq=False)
class PairSolver:
    """Solves the machine of every pair of classes on one kernel matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.qp import SMO, StoredGram
    >>> from kernelwise.qp.pairs import PairSolver
    >>> X, starts = np.array([[0.0], [1.0], [3.0], [4.0], [9.0]]), np.array([0, 2, 4, 5])
    >>> found = PairSolver(SMO()).solve(StoredGram(X @ X.T), starts, np.full(5, 10.0))
    >>> found[0].beta.round(3)
    array([ 0. ,  0.5, -0.5,  0. ])
    """

    solver: SMO  # the solver, whose tolerance and limits hold for each machine
    threads: int = 1  # threads that solve machines
    # ``listener_of(machine)`` is called with the `Progress` of hard machines, or is None
    listener_of: Callable[[int], Callable[[Progress], Any] | None] | None = None
    # called as ``done(machine, solution)`` when a machine is solved
    done: Callable[[int, Solution], Any] | None = None

    def solve(
        self, gram: StoredGram, starts: Index, costs: Array, start: Sequence[Any] | None = None
    ) -> PairSolutions:
        """Solve all machines.

        ``gram``: the kernel matrix of all rows, sorted by class. ``starts`` (n_classes + 1,): where
        the rows of each class start, and the last class ends; no class is empty. ``costs`` (n,): C
        of each row. ``start``: coefficients that each machine starts from; None is a cold start.
        Returns ``solutions``, the solutions with their certificates.
        """
        solutions, warm = _unsolved(starts, start)
        K, max_iter = np.ascontiguousarray(gram.K), self.solver.max_iter
        limits = max_iter if max_iter >= 0 else np.iinfo(np.int64).max, SWEEP, SWEEP
        ends = np.zeros(len(solutions), dtype=np.int64)
        out = solutions.dual, solutions.gradient, solutions.certificates
        counts = solutions.n_iter, ends, solutions.n_support

        def solve_some(first: int) -> None:
            last = min(first + together, len(solutions))
            while first < last:  # one call is short, so that Ctrl-C is answered
                some = slice(first, last)
                first = _native.solve_pairs(
                    *(K, starts, costs, *out, *counts, warm, float(self.solver.tol)),
                    *(*limits, first, last),
                )
                self._finish(gram, costs, solutions, ends, range(some.start, first))

        together = max(1, len(solutions) if self.threads == 1 else len(solutions) // 20)
        run(solve_some, range(0, len(solutions), together), self.threads)
        return solutions

    def _finish(
        self, gram: StoredGram, costs: Array, solutions: PairSolutions, ends: Any, some: range
    ) -> None:
        """Go on with machines that are hard for steps alone, or cheap to solve exactly."""
        part = slice(some.start, some.stop)
        ended = ends[part]
        converged, goes_on = ended == _native.CONVERGED, ended == _native.UNFINISHED
        if not converged.all():
            if (ended == _native.NOT_A_NUMBER).any():
                raise ValueError("K must not hold NaN, nor values so large that products overflow.")
            solutions.status[part][ended == _native.OUT_OF_STEPS] = "max_iter"
        if not gram.is_psd:
            solutions.certificates[part, 2] = np.nan
        budget = self.solver.budget if self.solver.tol >= TIGHT else DEAR
        if gram.is_psd and self.solver.exact and budget > 0:
            entries = solutions.sizes()[part] * solutions.n_support[part]
            goes_on |= converged & (entries <= budget)
        for machine in (some.start + np.flatnonzero(goes_on)).tolist():
            status = "converged" if ends[machine] == _native.CONVERGED else ""
            solutions.replace(machine, self._go_on(gram, costs, solutions, machine, status))
        if self.done is not None:
            for machine in some:
                self.done(machine, solutions[machine])

    def _go_on(
        self, gram: StoredGram, costs: Array, solutions: PairSolutions, machine: int, status: str
    ) -> Solution:
        """Solve one machine from where it is."""
        (_, own), (_, other) = solutions.pieces(machine)
        rows = np.r_[own, other]
        y = np.where(np.arange(len(rows)) < own.stop - own.start, 1.0, -1.0)
        qp, so_far = c_svc(gram.part(rows), y, costs[rows]), solutions[machine]
        least, most = qp.terms.reach(so_far.beta, so_far.gradient)
        state = SolverState(so_far.beta, so_far.gradient, most - least, so_far.n_iter, status)
        listener = None if self.listener_of is None else self.listener_of(machine)
        return replace(self.solver, callback=listener).resume(qp, state)


def _unsolved(starts: Index, start: Sequence[Any] | None) -> tuple[PairSolutions, bool]:
    """Return solutions to be filled in, and whether they hold coefficients to start from."""
    n_classes, n = len(starts) - 1, int(starts[-1])
    n_machines = n_classes * (n_classes - 1) // 2
    solutions = PairSolutions(
        starts=starts,
        dual=np.zeros((n_classes - 1, n)),
        gradient=np.zeros((n_classes - 1, n)),
        certificates=np.zeros((n_machines, 4)),
        n_iter=np.zeros(n_machines, dtype=np.int64),
        n_support=np.zeros(n_machines, dtype=np.int64),
        status=np.full(n_machines, "converged", dtype="U10"),
    )
    given = [(j, beta) for j, beta in enumerate(start or ()) if beta is not None]
    for machine, beta in given:
        solutions.write(solutions.dual, machine, beta)
    return solutions, len(given) > 0
