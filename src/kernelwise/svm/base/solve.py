"""The loop that solves the machines of a fit."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from ..._threads import run
from ..._typing import Array, Codes, Index
from ...kernels import Kernel
from ...qp import Solution
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
        if progress is not None:
            progress.line(
                f"machine {j + 1}: {solution.status}, {solution.n_iter} steps, "
                f"KKT violation {solution.violation:.2g}"
            )
        return solution

    return run(solve_one, range(Y.shape[1]), grams.threads)
