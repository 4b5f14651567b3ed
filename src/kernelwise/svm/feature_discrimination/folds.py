"""Machines without some rows, judged by those: C ascending, each from the solution before.

A row that is held out has the bounds zero, and its entry of K b is its decision value. Once no
coefficient stands at its bound, the machine is that of every larger C, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..._typing import Array, Codes, Index
from ...outer import Stop, path
from ...qp import SMO, DualQP, Solution, StoredGram, Terms
from ..base.multiclass import vote
from ..paths.selection import decisions_of

# The columns of a tally, a row of which is a C: what was decided wrongly, steps, solves, failures.
WRONG, STEPS, SOLVES, FAILURES = range(4)
_FEW_FREE = 0.5  # part of the support that may be off its bounds for the rest to move with them


@dataclass(frozen=True)
class Rows:
    """The rows from which parameters are chosen.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The rows.
    y : ndarray of shape (n,)
        Their labels.
    classes : ndarray of shape (n,)
        The numbers of their labels.
    Y : ndarray of shape (n, n_pairs)
        Codes of the pairs of classes.
    counts : ndarray of shape (n,)
        The sample weights.
    price : ndarray of shape (n,)
        What multiplies C: sample weight times class weight.
    n_classes : int
        The number of classes.
    """

    X: Array
    y: Any
    classes: Index
    Y: Codes
    counts: Array
    price: Array
    n_classes: int


@dataclass(frozen=True)
class PairMachine:
    """The machine of two classes on the training rows of a fold.

    Parameters
    ----------
    rows : ndarray of shape (m,)
        The rows of its problem: those of the two classes, and all that are held out.
    y : ndarray of shape (m,)
        Their codes; 0 for those held out.
    price : ndarray of shape (m,)
        What multiplies C.
    """

    rows: Index
    y: Array
    price: Array

    @classmethod
    def of(cls, codes: Codes, price: Array, train: Index, held: Index) -> PairMachine:
        """Keep the training rows of a column of codes."""
        y = np.zeros(len(codes))
        y[train] = codes[train]
        inside = y != 0
        inside[held] = True
        rows = np.flatnonzero(inside)
        return cls(rows, y[rows], price[rows])

    @cached_property
    def side(self) -> float:
        """The only code there is; 0 where there are both, so that there is something to solve."""
        lowest, highest = self.y.min(initial=0), self.y.max(initial=0)
        return float(lowest + highest)

    def walk(self, K: Array, costs: Sequence[float], solver: SMO, start: Any) -> list[Stop]:
        """Solve for C ascending."""
        gram, unit = StoredGram(K), Terms.c_svc(self.y, self.price)

        def solve(_: Any, C: float, before: Any) -> tuple[float, Solution]:
            qp = DualQP(gram, unit.scaled(C))
            if before is None or isinstance(before, np.ndarray):  # of another kernel, or nothing
                return C, solver.solve(qp, start=before)
            last, solution = before
            beta, product = self._stretched(last, solution, C)
            return C, solver.solve(qp, start=beta, product=product)

        return list(path(solve, (None,), costs, settled=self._has_settled, start=start))

    def _stretched(self, last: float, solution: Solution, C: float) -> tuple[Array, Array]:
        """Return where to start from the solution of a smaller C, and K times that.

        Where most of its support is bounded, that is the solution times what C grows by.
        """
        size = np.abs(solution.beta)
        n_free = np.count_nonzero((size > 0) & (size < last * self.price))
        ratio = C / last if n_free < _FEW_FREE * np.count_nonzero(size) else 1.0
        return ratio * solution.beta, ratio * (solution.gradient + self.y)

    def _has_settled(self, result: tuple[float, Solution], C: float) -> bool:
        solution = result[1]
        limit = (1 - 1e-10) * C * self.price
        inside = self.y != 0
        return solution.converged and bool((np.abs(solution.beta) < limit)[inside].all())

    def held_out(self, solution: Solution) -> Array:
        """Return the decision values of the rows that are held out."""
        return decisions_of(solution, self.y)[self.y == 0]


class Fold:
    """Rows that are held out together, and the machines of the others.

    Parameters
    ----------
    rows : Rows
        All rows.
    held : ndarray of shape (h,)
        Those held out, ascending.
    train : ndarray of shape (m,), default=None
        Those that the machines are fitted to; None is all others.
    """

    def __init__(self, rows: Rows, held: Index, train: Index | None = None) -> None:
        self.rows, self.held = rows, held
        everything = np.arange(len(rows.classes)) if train is None else train
        self.train = np.setdiff1d(everything, held)
        self.machines = [PairMachine.of(codes, rows.price, self.train, held) for codes in rows.Y.T]

    def walk(
        self,
        gram: Callable[[int, Index], Array],
        costs: Sequence[float],
        solver: SMO,
        starts: Sequence[Any] | None = None,
    ) -> tuple[Array, list[Any]]:
        """Solve all machines for C ascending.

        Parameters
        ----------
        gram : callable
            ``gram(machine, rows)`` is a machine's kernel matrix of its rows.
        costs : sequence of float
            The values of C, ascending.
        solver : SMO
            What solves them.
        starts : sequence, default=None
            Where each machine starts, as this function returned it for another kernel.

        Returns
        -------
        tally : ndarray of shape (n_costs, 4)
            What is counted: see the names of the columns.
        starts : list
            Where the machines of the next kernel may start.
        """
        tally = np.zeros((len(costs), 4))
        firsts: list[Any] = []
        decisions = np.zeros((len(costs), len(self.held), len(self.machines)))
        for j, machine in enumerate(self.machines):
            if machine.side != 0 or len(machine.rows) == len(self.held):
                decisions[:, :, j] = machine.side
                firsts.append(None)
                continue
            start = None if starts is None else starts[j]
            stops = machine.walk(gram(j, machine.rows), costs, solver, start)
            for c, stop in enumerate(stops):
                _, solution = stop.result
                decisions[c, :, j] = machine.held_out(solution)
                if stop.solved:
                    tally[c, STEPS] += solution.n_iter
                    tally[c, SOLVES] += 1
                tally[c, FAILURES] += not solution.converged
            firsts.append(stops[0].result[1].beta)
        own, counts = self.rows.classes[self.held], self.rows.counts[self.held]
        for c, values in enumerate(decisions):
            tally[c, WRONG] = counts @ (vote(values, self.rows.n_classes) != own)
        return tally, firsts
