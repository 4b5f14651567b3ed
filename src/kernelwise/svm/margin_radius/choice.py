"""The cost C by held-out rows: in each fold along a path of costs, from the weights before."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..._threads import run
from ..._typing import Array, Index
from ..base.held_out import held_out_loss, lowest
from ..base.left_out import N_FOLDS, deal_task
from ..base.task import FitTask
from .problem import CentredColumns, Problem
from .solver import learn

COSTS = tuple(10.0**power for power in range(-2, 4))
_TOL = 1e-3  # relative duality gap that is enough for a choice
_ENOUGH = 1000  # held-out rows from which on no further fold is solved


@dataclass(frozen=True)
class CostChoice:
    """The chosen cost, and the losses of all."""

    C: float
    path: dict[str, Array]


def choose_cost(
    task: FitTask, Z: Array, columns: CentredColumns, *, p: float, tol: float, max_iter: int
) -> CostChoice:
    """Choose the cost of the lowest loss on held-out rows, the smallest of equal ones.

    ``Z`` (n, k): the scaled columns of the training rows. ``p``: the norm of the weights' ball.
    ``tol``: the relative duality gap of the fit itself. ``max_iter``: most steps per machine.
    """
    held: list[Index] = []
    for fold in deal_task(task, N_FOLDS):
        held.append(fold)
        if sum(map(len, held)) >= _ENOUGH:
            break
    if not held:  # no class has a second row
        return CostChoice(1.0, {"C": np.array(COSTS), "loss": np.full(len(COSTS), np.nan)})
    solve = partial(_decisions, task, Z, columns, p=p, tol=max(tol, _TOL), max_iter=max_iter)
    jobs = [(fold, j) for fold in held for j in range(task.n_machines)]
    found = run(lambda job: solve(*job), jobs, task.threads)
    rows, k = np.concatenate(held), task.n_machines
    # (n_costs, n_rows, n_machines): machines of a fold side by side, folds one below another
    by_fold = [np.stack(found[k * f : k * (f + 1)], axis=-1) for f in range(len(held))]
    decisions = np.concatenate(by_fold, axis=1)
    losses = [held_out_loss(task.Y[rows], each, task.sample_weight[rows]) for each in decisions]
    path = {"C": np.array(COSTS), "loss": np.array(losses)}
    return CostChoice(COSTS[lowest(losses)], path)


def _decisions(
    task: FitTask,
    Z: Array,
    columns: CentredColumns,
    fold: Index,
    j: int,
    **how: Any,
) -> Array:
    """Return the decisions on a fold by a machine of the other rows, one line for each cost."""
    kept = np.setdiff1d(np.arange(len(Z)), fold)
    y, cost = task.Y[kept, j].astype(np.float64), task.cost_factor[kept]
    if abs(y.sum()) == len(y):  # one class is left
        return np.full((len(COSTS), len(fold)), y[0])
    start, decisions = None, np.empty((len(COSTS), len(fold)))
    for c, C in enumerate(COSTS):
        point = learn(Problem(Z[kept], columns.ridge(C), y, cost), start=start, **how).point
        decisions[c] = Z[fold] @ point.coef + point.intercept
        start = point.weights
    return decisions
