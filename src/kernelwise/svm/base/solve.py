"""The loops that solve the machines of a fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from ..._threads import run
from ..._typing import Array, Codes, Index, Matrix
from ...kernels import Kernel
from ...qp import SMO, Progress, Solution, StoredGram
from ...qp.pairs import PairSolutions, PairSolver, pairs_of
from .grams import Grams
from .predictor import kernel_groups
from .progress import FitProgress
from .task import FitTask

Solved = TypeVar("Solved", bound=Solution)


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

    ``kernels``: the kernel of all machines, or one per machine. ``grams``: the kernel matrices of
    the rows. ``Y`` (n, n_machines): codes -1, 0 (row not in the machine) and +1. ``costs`` (n,): C
    of each row. ``solver``: the solver; ``solver(j)`` where each machine has its own. ``members``:
    the rows of each machine's problem; None is all rows. ``start``: where each machine starts; None
    is a cold start. ``bias``: whether the machines have an intercept. ``progress``: told of each
    machine. Returns ``solutions``, one per machine.
    """
    everything, bound = np.arange(len(Y)), float(costs.max())
    for kernel in [kernels] if isinstance(kernels, Kernel) else kernels:
        grams.prepare(kernel, bound)

    def solve(j: int) -> Solution:
        kernel = kernels if isinstance(kernels, Kernel) else kernels[j]
        rows = everything if members is None else members[j]
        qp = grams.c_svc(kernel, rows, Y[:, j], costs, bias=bias, bound=bound)
        own_solver = solver(j) if callable(solver) else solver
        solution: Solution = own_solver.solve(qp, start=None if start is None else start[j])
        return solution

    return solve_each(solve, Y.shape[1], progress, grams.threads)


def solve_each(
    solve: Callable[[int], Solved],
    n_machines: int,
    progress: FitProgress | None = None,
    threads: int = 1,
) -> list[Solved]:
    """Solve all machines, and tell of each: ``solve`` does so from the machine's number."""
    progress = progress if progress is not None and progress.listens else None

    def solve_one(j: int) -> Solved:
        with nullcontext() if progress is None else progress.task("machine"):
            solution = solve(j)
        if progress is not None:
            progress.line(_summary(j, solution))
        return solution

    return run(solve_one, range(n_machines), threads)


def solve_one_vs_one(
    task: FitTask,
    kernels: Kernel | Sequence[Kernel],
    X: Matrix,
    costs: Array,
    solver: SMO,
    *,
    start: Sequence[Any] | None = None,
) -> Sequence[Solution]:
    """Solve a C-SVC for each pair of classes.

    Several small machines that share a kernel are solved together, on one matrix in memory; others
    one by one.

    ``task``: the task, whose machines are pairs of classes. ``kernels``: the kernel of all
    machines, or one per machine. ``X`` (n, d): the rows as the kernels read them. ``costs`` (n,): C
    of each row. ``start``: where each machine starts; None is a cold start. Returns ``solutions``,
    one per machine.
    """
    progress, n_machines = task.progress, task.n_machines
    groups = kernel_groups([kernels] if isinstance(kernels, Kernel) else kernels)
    sizes = _pair_sizes(task.classes) if n_machines > 1 else [len(task.classes)]
    one_kernel = len(groups) == 1
    grams = Grams.of_members(X, sizes, solver, task.threads, one_kernel=one_kernel)
    if n_machines > 1 and one_kernel and grams.is_stored(groups[0][0], float(costs.max())):
        return _solve_together(groups[0][0], grams, task, costs, solver, start)

    def own_solver(machine: int) -> SMO:
        listener = progress.of_machine(machine, n_machines)
        return solver if listener is None else replace(solver, callback=listener)

    return solve_machines(
        kernels,
        grams,
        task.Y,
        costs,
        own_solver,
        members=task.members,
        start=start,
        progress=progress,
    )


def _solve_together(
    kernel: Kernel,
    grams: Grams,
    task: FitTask,
    costs: Array,
    solver: SMO,
    start: Sequence[Any] | None,
) -> PairSolutions:
    """Solve the machines of three or more classes, whose rows lie class by class."""
    progress, n_machines, n_classes = task.progress, task.n_machines, len(task.labels.names)

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
    starts = np.searchsorted(task.classes, np.arange(n_classes + 1))
    with grams.lent(kernel, float(costs.max())) as K:
        return pairs.solve(StoredGram(K, kernel.is_psd), starts, costs, start)


def _pair_sizes(classes: Index) -> list[int]:
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
