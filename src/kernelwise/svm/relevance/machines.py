"""The machines of a RelevanceSVC: width and C of a member, and its machines on all rows."""

from __future__ import annotations

import numpy as np

from ...kernels.pairwise import PairwiseKernel
from ...qp import SMO, Solution
from ..base.grams import Grams
from ..base.progress import FitProgress
from ..base.solve import solve_machines
from ..paths.kernel_grid import KernelGrid
from ..paths.path import Path
from ..paths.rows import TrainingRows
from ..paths.selection import SpanCriterion
from ..paths.solvers import PathSolvers
from ..paths.walk import walk
from .members import COSTS, FACTORS


def width_path(
    name: str,
    kernel: PairwiseKernel,
    rows: TrainingRows,
    tol: float,
    threads: int,
    progress: FitProgress,
) -> Path:
    """Choose the width and C of a member by the span estimate of the leave-one-out error."""
    kernels = tuple(kernel.with_params(gamma=factor) for factor in FACTORS)
    return walk(
        KernelGrid(kernels, "factor", np.array(FACTORS)),
        COSTS,
        rows,
        SpanCriterion(rows),
        PathSolvers(tol=tol),
        single=True,
        prune=True,
        threads=threads,
        name=f"{name}: width",
        progress=progress,
    )


def solve_everywhere(
    path: Path,
    path_rows: TrainingRows,
    rows: TrainingRows,
    solver: SMO,
    threads: int,
    progress: FitProgress,
) -> list[Solution]:
    """Solve the machines of the best point of a path on all rows, from those of the path."""
    n_machines, C = rows.Y.shape[1], path.best.C
    starts = np.zeros((n_machines, len(rows)))
    starts[:, rows.place[path_rows.first]] = [machine.beta for machine in path.solutions]
    grams = Grams(
        rows.X,
        tol=solver.tol,
        memory=solver.memory,
        threads=threads,
        n_machines=n_machines,
        share=n_machines > 1,
        small=0,  # the machines are not polished
    )
    costs = C * rows.cost_factor
    with progress.task("machines"):
        return solve_machines(path.kernel, grams, rows.Y, costs, solver, start=list(starts))
