"""The loop that solves the machines of a fit."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from ..._threads import run
from ..._typing import Array, Codes, Index
from ...kernels import Kernel
from ...qp import SMO, Progress, Solution, StoredGram
from ...qp.pairs import PairSolutions, PairSolver, pairs_of
from .grams import Grams
from .progress import FitProgress


def solve_machines(
    kernels: Kernel | Sequence[Kernel],
    grams: Grams,
    Y: Codes | Array,
    costs: Array,
    solver: Any,
    *,
    members: Sequence[Index] | None = None,
    start: Sequence[Any] | None = None,
    bias: bool = True,
    progress: FitProgress | None = None,
) -> list[Solution]:
    """Solve a C-SVC for each column of codes.

    Parameters
    ----------
    kernels : Kernel or sequence of Kernel
        The kernel of all machines, or one per machine.
    grams : Grams
        The kernel matrices of the rows.
    Y : ndarray of shape (n, n_machines)
        Codes -1, 0 (row not in the machine) and +1.
    costs : ndarray of shape (n,)
        C of each row.
    solver : SMO, Adatron or callable
        The solver; ``solver(j)`` where each machine has its own.
    members : sequence of ndarray, default=None
        The rows of each machine's problem; None is all rows.
    start : sequence, default=None
        Where each machine starts; None is a cold start.
    bias : bool, default=True
        Whether the machines have an intercept.
    progress : FitProgress, default=None
        Told of each machine.

    Returns
    -------
    solutions : list of Solution
        One per machine.
    """
    everything, bound = np.arange(len(Y)), float(costs.max())
    for kernel in [kernels] if isinstance(kernels, Kernel) else kernels:
        grams.prepare(kernel, bound)

    def solve_one(j: int) -> Solution:
        kernel = kernels if isinstance(kernels, Kernel) else kernels[j]
        rows = everything if members is None else members[j]
        qp = grams.c_svc(kernel, rows, Y[:, j], costs, bias=bias)
        own_solver = solver(j) if callable(solver) else solver
        with nullcontext() if progress is None else progress.task("machine"):
            solution: Solution = own_solver.solve(qp, start=None if start is None else start[j])
        if progress is not None and progress.prints:
            progress.line(_summary(j, solution))
        return solution

    return run(solve_one, range(Y.shape[1]), grams.threads)


def solve_pairs(
    kernel: Kernel,
    grams: Grams,
    classes: Index,
    costs: Array,
    solver: SMO,
    *,
    start: Sequence[Any] | None = None,
    progress: FitProgress,
) -> PairSolutions:
    """Solve a C-SVC for each pair of three or more classes, on one kernel matrix in memory.

    Parameters
    ----------
    kernel : Kernel
        The kernel of all machines.
    grams : Grams
        The kernel matrix of the rows, which it stores.
    classes : ndarray of shape (n,)
        The number of each row's class, ascending.
    costs : ndarray of shape (n,)
        C of each row.
    solver : SMO
        The solver.
    start : sequence, default=None
        Where each machine starts; None is a cold start.
    progress : FitProgress
        Told of each machine.

    Returns
    -------
    solutions : PairSolutions
        One solution per machine.
    """
    n_classes = int(classes[-1]) + 1
    n_machines = n_classes * (n_classes - 1) // 2

    def tell(machine: int, solution: Solution) -> None:
        with progress.task("machine"):
            progress.line(_summary(machine, solution))
            listener = progress.of_machine(machine, n_machines)
            if listener is not None:
                listener(
                    Progress(
                        solution.n_iter, solution.violation, solution.objective, len(solution.beta)
                    )
                )

    pairs = PairSolver(
        solver,
        threads=grams.threads,
        listener_of=lambda machine: progress.of_machine(machine, n_machines),
        done=tell if progress.listens else None,
    )
    starts = np.searchsorted(classes, np.arange(n_classes + 1))
    with grams.lent(kernel, float(costs.max())) as K:
        return pairs.solve(StoredGram(K, kernel.is_psd), starts, costs, start)


def pair_sizes(classes: Index) -> list[int]:
    """Return the number of rows of each pair of classes."""
    counts = np.bincount(classes)
    first, second = pairs_of(len(counts))
    sizes: list[int] = (counts[first] + counts[second]).tolist()
    return sizes


def _summary(machine: int, solution: Solution) -> str:
    return (
        f"machine {machine + 1}: {solution.status}, {solution.n_iter} steps, "
        f"KKT violation {solution.violation:.2g}"
    )
