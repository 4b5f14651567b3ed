"""The machines of a RelevanceSVC: width and C of a member, and its machines on all rows."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from ...kernels.pairwise import PairwiseKernel
from ...qp import SMO, Solution
from ..base.grams import Grams
from ..base.progress import FitProgress
from ..base.solve import solve_machines
from ..paths.folds import deal_groups
from ..paths.kernel_grid import KernelGrid
from ..paths.path import Path
from ..paths.rows import TrainingRows
from ..paths.selection import HeldOutCriterion, SelectionCriterion, SpanCriterion
from ..paths.solvers import PathSolvers
from ..paths.walk import walk
from .members import COSTS, FACTORS

_N_FOLDS = 5  # folds of groups that are held out together


def path_criterion(rows: TrainingRows, copy_weight: float, random_state: Any) -> SelectionCriterion:
    """Return what selects width and C: rows left out by their spans, or folds of whole groups.

    Rows count by their cost factors, so that class weights act on the choice as on the machines.
    """
    if rows.groups is None:
        weight = rows.cost_factor
        return SpanCriterion(rows, weight=weight, copy_weight=copy_weight, measures=False)
    folds = deal_groups(rows.classes, rows.groups, _N_FOLDS, random_state)
    return HeldOutCriterion(rows, folds, weight=rows.cost_factor)


def width_path(
    name: str,
    kernel: PairwiseKernel,
    criterion: SelectionCriterion,
    tol: float,
    threads: int,
    progress: FitProgress | None,
    point: tuple[float, float] | None = None,
) -> Path:
    """Choose the width and C of a member by its decisions on rows that are left out.

    Where a factor and C are given as ``point``, the machines are those of that point.
    """
    factors, costs = (FACTORS, COSTS) if point is None else (point[:1], point[1:])
    kernels = tuple(kernel.with_params(gamma=factor) for factor in factors)
    return walk(
        KernelGrid(kernels, "factor", np.array(factors)),
        costs,
        criterion.rows,
        criterion,
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
    progress: FitProgress | None,
) -> list[Solution]:
    """Solve the machines of the best point of a path on all rows, from those of the path."""
    n_machines, C = rows.Y.shape[1], path.best.C
    starts = np.zeros((n_machines, len(rows)))
    starts[:, rows.place[path_rows.first]] = path.coefficients(n_machines)
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
    with nullcontext() if progress is None else progress.task("machines"):
        if progress is not None:
            solver = replace(solver, callback=progress.shows_violation("machines"))
        return solve_machines(path.kernel, grams, rows.Y, costs, solver, start=list(starts))
