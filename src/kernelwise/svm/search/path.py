"""The machines of one kernel on one fold, solved for C ascending, each from the solution before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np

from ..._typing import Array, Index
from ...qp import SMO, DualQP, Solution, c_svc
from ..base.grams import square_block
from ..base.progress import FitProgress
from .fold_model import FoldProblem

_BLOCK_ENTRIES = 4_000_000  # of a kernel block in float64
# How to start a solve: whatever these are, the solution is the same.
_FEW_FREE = 0.5  # part of the support that may be off its bounds for the rest to move with them
_WORTH_A_LOOK = 512  # rows of a machine from which on the first start is chosen with care
_SOME_ROWS = 32  # that tell whether C is small
_MOST = 0.9  # of them

Gram = Callable[[Any], Array]  # of a dtype


@dataclass
class CostPath:
    """Solutions of the machines of a fold for C ascending.

    Parameters
    ----------
    problem : FoldProblem
        The machines.
    costs : sequence of float
        The values of C, ascending.
    precise : sequence of bool
        For which of them float32 is too coarse.
    gram : callable
        ``gram(dtype)`` is the kernel matrix of all rows.
    """

    problem: FoldProblem
    costs: Sequence[float]
    precise: Sequence[bool]
    gram: Gram
    solutions: list[list[Solution]] = field(init=False)
    n_solves: int = field(init=False, default=0)
    failures: list[float] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        """Solve machine by machine: the kernel of its rows is gathered once for all C."""
        self.seconds = np.zeros(len(self.costs))
        self.solutions = [[] for _ in self.costs]
        for j, members in enumerate(self.problem.members):
            machine = _Machine(self.problem, j, members, self.gram)
            for c, (C, precise) in enumerate(zip(self.costs, self.precise, strict=True)):
                begin = perf_counter()
                self.solutions[c].append(machine.solve(C, precise))
                self.seconds[c] += perf_counter() - begin
            self.n_solves += machine.n_solves
            self.failures += machine.failures

    def decisions(self, rows: Index) -> list[Array]:
        """Return the decision values of all machines on some rows, for each C."""
        out: list[Array] = []
        for precise in (False, True):
            own = [c for c, each in enumerate(self.precise) if each is precise]
            if own:
                out += self._decisions(rows, own, self.gram(_dtype(precise)))
        return out

    def _decisions(self, rows: Index, own: list[int], K: Array) -> list[Array]:
        n_machines = self.problem.codes.shape[1]
        beta: Any = np.zeros((len(self.problem.rows), len(own), n_machines))
        for place, c in enumerate(own):
            for j, members in enumerate(self.problem.members):
                beta[members, place, j] = self.solutions[c][j].beta
        beta = beta.reshape(len(beta), -1)
        support = np.flatnonzero(beta.any(axis=1))
        columns, beta = self.problem.rows[support], beta[support]
        values: Any = np.empty((len(rows), beta.shape[1]))
        height = max(1, _BLOCK_ENTRIES // max(1, len(columns)))
        for start in range(0, len(rows), height):
            some = slice(start, start + height)
            block = np.take(K[rows[some]], columns, axis=1)
            values[some] = block.astype(np.float64, copy=False) @ beta
        values = values.reshape(len(rows), len(own), n_machines)
        intercepts = np.array([[s.nu[0] for s in self.solutions[c]] for c in own])
        return list(np.moveaxis(values + intercepts, 1, 0))


class _Machine:
    """One machine, and where its last solve ended."""

    def __init__(self, problem: FoldProblem, j: int, members: Index, gram: Gram) -> None:
        model = problem.model
        self._rows, self._gram = problem.rows[members], gram
        self._y, self._cost = problem.codes[members, j], problem.cost[members]
        self._unit: DualQP | None = None  # the problem for C = 1
        self._dtype: Any = None  # that was asked for; a kernel too large for it comes in another
        self._is_psd = problem.kernel.is_psd
        report = FitProgress.of(model).of_machine(j, problem.codes.shape[1])
        self._solver = SMO(tol=model.tol, max_iter=model.max_iter, exact=False, callback=report)
        self._last: Solution | None = None
        self._C = 0.0
        self._same_kernel = False  # as in the last solve
        self._n_bounded = 0
        self.n_solves = 0
        self.failures: list[float] = []

    def solve(self, C: float, precise: bool) -> Solution:
        """Solve for a C that is not smaller than the last one."""
        if self._last is not None and (C == self._C or self._is_free()):
            return self._last
        unit = self._of_unit_cost(_dtype(precise))
        qp = DualQP(unit.gram, unit.terms.scaled(C))
        # An indefinite kernel has many stationary points: the start decides for one.
        start, product = self._start(qp, C) if self._is_psd else (None, None)
        self._last, self._C = self._solver.solve(qp, start=start, product=product), C
        self._n_bounded = int(np.count_nonzero(np.abs(self._last.beta) >= C * self._cost))
        self.n_solves += 1
        if not self._last.converged:
            self.failures.append(self._last.violation)
        return self._last

    def _is_free(self) -> bool:
        """Tell whether no bound holds the last solution: it is the one for all larger C."""
        assert self._last is not None
        return self._is_psd and self._n_bounded == 0 and self._last.converged

    def _of_unit_cost(self, dtype: Any) -> DualQP:
        self._same_kernel = self._unit is not None and self._dtype == dtype
        if self._unit is None or not self._same_kernel:
            block = square_block(self._gram(dtype), self._rows)
            self._unit = c_svc(block, self._y, self._cost, is_psd=self._is_psd)
            self._dtype = dtype
        return self._unit

    def _start(self, qp: DualQP, C: float) -> tuple[Array | None, Array | None]:
        """Return where to start, and K times it where that is known.

        That is the last solution, stretched where most of it is bounded.
        """
        if self._last is None:
            return _all_bounded(qp), None
        beta, ratio = self._last.beta, C / self._C
        n_support = np.count_nonzero(beta)
        stretched = n_support - self._n_bounded < _FEW_FREE * n_support and np.isfinite(ratio)
        product = self._last.gradient + qp.p if self._same_kernel else None
        if stretched:
            return ratio * beta, None if product is None else ratio * product
        return beta, product


def _all_bounded(qp: DualQP) -> Array | None:
    """Return the solution for a small C, at which every row is short of its margin; else None."""
    up, down = float(qp.hi.sum()), -float(qp.lo.sum())
    total = min(up, down)
    if qp.n < _WORTH_A_LOOK or not np.isfinite(total):
        return None
    beta = qp.hi * (total / up) + qp.lo * (total / down)
    some = np.linspace(0, qp.n - 1, _SOME_ROWS).astype(int)
    short = np.abs(qp.gram.block(some, np.arange(qp.n)) @ beta) < 1
    return beta if short.mean() >= _MOST else None


def _dtype(precise: bool) -> Any:
    return np.float64 if precise else np.float32
