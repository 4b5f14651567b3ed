"""One machine for ascending C, each solution the start of the next: the engine of all paths.

    min 1/2 b'Kb - y'b   s.t.   sum b = 0,   0 <= y_i b_i <= C cost_factor_i

A row with y_i = 0 is held out: its bounds are zero, and its entry of K b + nu is its decision
value. Once no coefficient is at its bound, the machine is that of every larger C.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np

from ..._typing import Array, Gram
from ...qp import SMO, DualQP, Solution, Terms

_INSIDE = 1 - 1e-10  # coefficient over its bound, below which it is free
_FEW_FREE = 0.5  # share of free support vectors below which the solution grows with C


@dataclass(frozen=True)
class CostMachine:
    """One machine for ascending C, whatever its kernel."""

    costs: Sequence[float]  # the values of C, ascending; infinite is a hard margin
    terms: tuple[Terms, ...]  # the codes and bounds, one per C
    # (n,), the coefficient of each row, for C = 1, that counts as bounded; infinite for rows held
    # out
    limit: Array

    @classmethod
    def of(
        cls, y: Array, cost_factor: Array, costs: Sequence[float], *, bias: bool = True
    ) -> CostMachine:
        """Build the machine of codes -1, 0 (held out) and +1, with the factor of C of each row."""
        unit = Terms.c_svc(y, cost_factor, bias=bias)
        limit = np.where(unit.p == 0, np.inf, _INSIDE * cost_factor)
        return cls(costs, tuple(unit.scaled(C) for C in costs), limit)

    @classmethod
    def of_numbers(
        cls, y: Array, cost_factor: Array, epsilon: float, costs: Sequence[float]
    ) -> CostMachine:
        """Build the machine of targets, with the deviation that costs nothing."""
        unit = Terms.epsilon_svr(y, cost_factor, epsilon)
        return cls(costs, tuple(unit.scaled(C) for C in costs), _INSIDE * cost_factor)

    def is_inside(self, beta: Array, C: float) -> bool:
        """Return whether no coefficient is at its bound."""
        return not (np.abs(beta) >= C * self.limit).any()


@dataclass(frozen=True)
class CostStep:
    """The machine of one C."""

    C: float
    solution: Solution
    # the codes and bounds; without the kernel matrix, which a path need not keep alive
    terms: Terms
    # whether no coefficient is at its bound, so that the solution is that of every larger C
    is_inside_bounds: bool
    solved: bool = True  # False where the solution of a smaller C was known to stay
    seconds: float = 0.0  # the duration of the solve

    def carried_to(self, C: float) -> CostStep:
        """Return the same machine for a larger C, for which nothing has to be solved."""
        return replace(self, C=C, solved=False, seconds=0.0)

    def start_for(self, C: float, *, stretch: bool) -> tuple[Array, Array]:
        """Return where to start for a larger C, and K times that.

        Where most support vectors are at their bounds, a stretched start is the solution times the
        growth of C; else it is the solution itself.
        """
        beta, product = self.solution.beta, self.solution.gradient + self.terms.p
        if not stretch or np.isinf(C):
            return beta, product
        size = np.abs(beta)
        n_free = np.count_nonzero((size > 0) & (size < np.maximum(self.terms.hi, -self.terms.lo)))
        if n_free >= _FEW_FREE * np.count_nonzero(size):
            return beta, product
        ratio = C / self.C
        return ratio * beta, ratio * product


@dataclass(frozen=True)
class CostPath:
    """The machines of all C."""

    steps: tuple[CostStep, ...]  # one per C, ascending

    def __getitem__(self, number: int) -> CostStep:
        return self.steps[number]

    @property
    def n_solves(self) -> int:
        """Number of machines that had to be solved."""
        return sum(step.solved for step in self.steps)

    @property
    def n_iter(self) -> int:
        """Steps of the solver, over all C."""
        return sum(step.solution.n_iter for step in self.steps if step.solved)

    def decisions(self, number: int) -> Array:
        """Return the decision values of all rows, those held out included, for one C."""
        step = self.steps[number]
        return decision_values(step.solution, step.terms.p)


def decision_values(solution: Solution, y: Array) -> Array:
    """Return a machine's decision values on the rows of its problem, which has the codes y."""
    values = solution.gradient + y
    return values + solution.nu[0] if len(solution.nu) else values


def cost_path(
    gram: Callable[[float], Gram],
    machine: CostMachine,
    solver: Any,
    *,
    start: Any = None,
    warm: bool = True,
    stretch: bool = False,
) -> CostPath:
    """Solve one machine for ascending C, each solution the start of the next.

    ``gram``: ``gram(C)`` is the kernel matrix in the precision that C needs. ``solver``: the
    solver; ``solver(C)`` where each C has its own. ``start`` (n,): where the first solve starts.
    ``warm``: whether a solve starts from the one before, and is left out where nothing can change.
    An indefinite kernel has many stationary points, of which the start chooses one. ``stretch``:
    whether starts are stretched where C grows: see `CostStep.start_for`.
    """
    steps: list[CostStep] = []
    last: Gram | None = None
    for C, terms in zip(machine.costs, machine.terms, strict=True):
        if steps and (C == steps[-1].C or (warm and steps[-1].is_inside_bounds)):
            steps.append(steps[-1].carried_to(C))
            continue
        begin, own = perf_counter(), solver(C) if callable(solver) else solver
        K = gram(C)
        how: dict[str, Any] = {"start": None if steps else start}
        if steps and warm:
            how["start"], product = steps[-1].start_for(C, stretch=stretch)
            if K is last and isinstance(own, SMO):
                how["product"] = product
        solution, last = own.solve(DualQP(K, terms), **how), K
        inside = solution.converged and machine.is_inside(solution.beta, C)
        steps.append(CostStep(C, solution, terms, inside, seconds=perf_counter() - begin))
    return CostPath(tuple(steps))
