"""Machines of pairs of classes without some rows, and their errors on those rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..._typing import Array, Codes, Index
from ...qp import SMO, StoredGram
from ..base.multiclass import vote
from ..paths.cost_path import CostMachine, CostPath, cost_path
from ..paths.rows import TrainingRows

# The columns of a tally, which has one row per C: the weight of rows that are decided wrongly,
# steps, solves and machines that did not converge.
WRONG, STEPS, SOLVES, FAILURES = range(4)


@dataclass(frozen=True)
class PairMachine:
    """The machine of two classes on the training rows of a fold."""

    # (m,), the rows of its problem: those of the two classes, and all that are held out
    rows: Index
    y: Array  # (m,), their codes; 0 for those held out
    cost_factor: Array  # (m,), the factor of C of each

    @classmethod
    def of(cls, codes: Codes, cost_factor: Array, train: Index, held: Index) -> PairMachine:
        """Keep the training rows of a column of codes."""
        y = np.zeros(len(codes))
        y[train] = codes[train]
        inside = y != 0
        inside[held] = True
        rows = np.flatnonzero(inside)
        return cls(rows, y[rows], cost_factor[rows])

    @cached_property
    def only_side(self) -> float:
        """The only code there is; 0 where there are both, so that there is something to solve."""
        lowest, highest = self.y.min(initial=0), self.y.max(initial=0)
        return float(lowest + highest)

    def path(self, K: Array, costs: Sequence[float], solver: SMO, start: Any) -> CostPath:
        """Solve for ascending C."""
        gram = StoredGram(K)
        machine = CostMachine.of(self.y, self.cost_factor, costs)
        return cost_path(lambda C: gram, machine, solver, start=start, stretch=True)


class Fold:
    """Rows that are held out together, and the machines of the others.

    ``rows``: all rows. ``held`` (h,): those held out, ascending. ``train`` (m,): those that the
    machines are fitted to; None is all others.
    """

    def __init__(self, rows: TrainingRows, held: Index, train: Index | None = None) -> None:
        self.rows, self.held = rows, held
        everything = np.arange(len(rows)) if train is None else train
        self.train = np.setdiff1d(everything, held)
        self.machines = [
            PairMachine.of(codes, rows.cost_factor, self.train, held) for codes in rows.Y.T
        ]

    def tally(
        self,
        gram: Callable[[int, Index], Array],
        costs: Sequence[float],
        solver: SMO,
        n_classes: int,
        starts: Sequence[Any] | None = None,
    ) -> tuple[Array, list[Any]]:
        """Solve all machines for ascending C.

        ``gram``: ``gram(machine, rows)`` is a machine's kernel matrix of its rows. ``costs``: the
        values of C, ascending. ``starts``: where each machine starts, as this function returned it
        for another kernel. Returns ``tally`` (n_costs, 4), counts; the columns have names;
        ``starts``, where the machines of the next kernel may start.
        """
        tally = np.zeros((len(costs), 4))
        firsts: list[Any] = []
        decisions = np.zeros((len(costs), len(self.held), len(self.machines)))
        for j, machine in enumerate(self.machines):
            if machine.only_side != 0 or len(machine.rows) == len(self.held):
                decisions[:, :, j] = machine.only_side
                firsts.append(None)
                continue
            start = None if starts is None else starts[j]
            path = machine.path(gram(j, machine.rows), costs, solver, start)
            for c, step in enumerate(path.steps):
                decisions[c, :, j] = path.decisions(c)[machine.y == 0]
                if step.solved:
                    tally[c, STEPS] += step.solution.n_iter
                    tally[c, SOLVES] += 1
                tally[c, FAILURES] += not step.solution.converged
            firsts.append(path[0].solution.beta)
        own, weight = self.rows.classes[self.held], self.rows.sample_weight[self.held]
        for c, values in enumerate(decisions):
            tally[c, WRONG] = weight @ (vote(values, n_classes) != own)
        return tally, firsts
