"""How far learned weights are drawn towards equal ones, by held-out rows.

Weights that minimise a criterion on few rows may follow their noise. In each fold weights are
learned without its rows, and its rows judge the machines at (1 - s) learned + s equal weights.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ..._typing import Array, Codes, Index
from ...qp import SMO
from ..base.held_out import held_out_loss, lowest
from ..base.left_out import N_FOLDS, deal_task
from ..base.task import FitTask
from .weight_learning import LearnedWeights, WeightProblem

SHARES = (1.0, 0.5, 0.0)  # shares of equal weights; of equal losses the first, the simplest, wins
_ENOUGH = 1000  # held-out rows from which on no further fold is learned


def choose_share(
    task: FitTask,
    problem: WeightProblem,
    groups: Sequence[Codes],
    learn: Callable[[WeightProblem], LearnedWeights],
    solver: SMO,
) -> float:
    """Return the share of equal weights with the lowest loss on held-out rows.

    ``groups``: the codes of machines that share their weights. ``learn``: minimises the criterion
    of a problem. ``solver``: solves the machines at the weights.
    """
    losses, n_held = np.zeros(len(SHARES)), 0
    for fold in deal_task(task, N_FOLDS):
        parts = [_decisions(problem, codes, fold, learn, solver) for codes in groups]
        weight = task.sample_weight[fold]
        for number, decisions in enumerate(np.concatenate(parts, axis=2)):
            losses[number] += weight.sum() * held_out_loss(task.Y[fold], decisions, weight)
        n_held += len(fold)
        if n_held >= _ENOUGH:
            break
    return SHARES[lowest(losses)] if n_held else 0.0


def _decisions(
    problem: WeightProblem,
    codes: Codes,
    fold: Index,
    learn: Callable[[WeightProblem], LearnedWeights],
    solver: SMO,
) -> Array:
    """Return the decisions on a fold at each share, (n_shares, n_fold, n_machines)."""
    without = codes.copy()
    without[fold] = 0
    learned = learn(replace(problem, Y=without))
    found = []
    for share in SHARES:
        solutions = learned.shrunk(share).solve(solver)
        # The code of a held-out row is zero, so that its gradient is its decision without the bias.
        found.append([solution.gradient[fold] + solution.nu[0] for solution in solutions])
    return np.array(found).transpose(0, 2, 1)
