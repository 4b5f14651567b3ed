"""The walk over kernels and costs: each machine starts from a neighbour, each point is scored.

for each kernel, from narrow to wide:
for each C, ascending, until max alpha < C:      (a larger C changes nothing any more)
solve, from the solution before; score the machines by their own training rows
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from ..._threads import run
from ..._typing import Array
from ...qp import Solution, StoredGram
from ..base.grams import Grams
from ..base.progress import FitProgress
from .cost_path import CostMachine, CostPath, cost_path
from .kernel_grid import KernelGrid
from .path import Path, PathPoint, simplest_of_best, slack
from .rows import TrainingRows
from .selection import SelectionCriterion
from .solvers import PathSolvers

_MEASURED = ("bound", "margin", "functional_margin", "loo_error", "held_out_error")


def walk(
    grid: KernelGrid,
    costs: Sequence[float] | Array,
    rows: TrainingRows,
    criterion: SelectionCriterion,
    solvers: PathSolvers,
    *,
    start: Sequence[Any] | None = None,
    threads: int = 1,
    callback: Callable[[PathPoint], Any] | None = None,
    progress: FitProgress | None = None,
) -> Path:
    """Solve and score all points.

    ``costs``: the values of C, ascending. ``criterion``: the criterion, and the machines that it
    scores. ``start``: where the first machines start, one per column of the criterion's codes.
    ``threads``: threads over machines, and over the points of a kernel. ``callback``: called with
    each point; a true return value ends the walk after this kernel. ``progress``: told of each
    kernel. Returns ``path``: the points, the best of them and its machines.
    """
    costs = [float(C) for C in costs]
    scorer = _Scorer(grid, costs, criterion, threads)
    solver = _Solver.of(costs, rows, criterion, solvers, threads)
    grams = Grams(rows.X, tol=solvers.tol, threads=threads, kernels=grid.kernels, precise=True)
    points: list[PathPoint] = []
    n_solves, n_iter = 0, np.zeros(criterion.codes.shape[1], dtype=np.int64)
    leaders = _Leaders()
    for number in range(len(grid)):
        with nullcontext() if progress is None else progress.task("kernel"):
            found, paths = _solve_and_score(number, grams, solver, scorer, start)
        for c, point in enumerate(found):
            points.append(point)
            leaders.add(len(points) - 1, point, tuple(path[c].solution for path in paths))
        n_solves += sum(path.n_solves for path in paths)
        n_iter += [path.n_iter for path in paths]
        start = [path[0].solution for path in paths]
        if progress is not None:
            progress.line(f"kernel {_line(grid, number, found)}")
        if callback is not None and any([callback(point) for point in found]):
            break
    best, solutions = leaders.selected()
    return Path(grid, len(costs), tuple(points), best, solutions, n_solves, n_iter)


class _Leaders:
    """The points that may be selected yet, with their machines: the best ones but for rounding."""

    def __init__(self) -> None:
        self._all: list[tuple[int, PathPoint, tuple[Solution, ...]]] = []
        self.rank: tuple[bool, float] = (True, np.inf)  # rank of the best point

    def add(self, index: int, point: PathPoint, solutions: tuple[Solution, ...]) -> None:
        """Take in a point, and drop those that it beats."""
        self.rank = min(self.rank, point.rank)
        self._all.append((index, point, solutions))
        self._all = [each for each in self._all if _may_win(each[1].rank, self.rank)]

    def selected(self) -> tuple[int, tuple[Solution, ...]]:
        """Return the index of the selected point, and its machines."""
        index, _, solutions = self._all[simplest_of_best([point for _, point, _ in self._all])]
        return index, solutions


def _may_win(rank: tuple[bool, float], best: tuple[bool, float]) -> bool:
    """Return whether a point may be selected: it is no worse than the best one but for rounding."""
    return rank <= (best[0], best[1] + slack(best[1]))


def _solve_and_score(
    number: int,
    grams: Grams,
    solver: _Solver,
    scorer: _Scorer,
    start: Sequence[Any] | None,
) -> tuple[list[PathPoint], list[CostPath]]:
    """Solve and score all costs of a kernel."""
    begin, kernel = perf_counter(), scorer.grid.kernels[number]
    K = grams.stored(kernel)
    if number > 0:  # and not before: memory that is free for long is returned, and costs anew
        grams.forget(scorer.grid.kernels[number - 1])
    radius, seconds = scorer.criterion.radius(K), perf_counter() - begin
    paths = solver.paths(StoredGram(K, kernel.is_psd), start)
    points = scorer.score(number, K, paths, radius)
    points[0] = replace(points[0], seconds=points[0].seconds + seconds)
    return points, paths


@dataclass(frozen=True)
class _Solver:
    """Solves the machines of a kernel, with the solver of each C."""

    machines: list[CostMachine]
    solvers: dict[float, Any]
    threads: int

    @classmethod
    def of(
        cls,
        costs: Sequence[float],
        rows: TrainingRows,
        criterion: SelectionCriterion,
        solvers: PathSolvers,
        threads: int,
    ) -> _Solver:
        """Build the machines of a criterion, and their solvers."""
        factor, bias = rows.cost_factor, criterion.bias
        machines = [CostMachine.of(y, factor, costs, bias=bias) for y in criterion.codes.T]
        return cls(machines, {C: solvers.on_path(len(rows), C) for C in costs}, threads)

    def paths(self, gram: StoredGram, start: Sequence[Any] | None) -> list[CostPath]:
        """Solve all machines for all costs."""

        def solve_one(j: int) -> CostPath:
            own = None if start is None else start[j]
            return cost_path(lambda C: gram, self.machines[j], self.solvers.__getitem__, start=own)

        return run(solve_one, range(len(self.machines)), self.threads)


@dataclass(frozen=True)
class _Scorer:
    """Scores the points of a kernel, at all values of C."""

    grid: KernelGrid
    costs: Sequence[float]
    criterion: SelectionCriterion
    threads: int

    def score(
        self, number: int, K: Array, paths: Sequence[CostPath], radius: float
    ) -> list[PathPoint]:
        """Return the points of a kernel."""
        solved = [c for c in range(len(self.costs)) if any(path[c].solved for path in paths)]
        score_one = partial(self._point, number, K, paths, radius)
        scored = dict(zip(solved, run(score_one, solved, self.threads), strict=True))
        points: list[PathPoint] = []
        for c, C in enumerate(self.costs):
            if c in scored:
                points.append(scored[c])
            else:
                same = replace(points[-1], C=C, n_iter=0, seconds=0.0, solved=False)
                points.append(same)
        return points

    def _point(
        self, number: int, K: Array, paths: Sequence[CostPath], radius: float, c: int
    ) -> PathPoint:
        begin = perf_counter()
        steps, C = [path[c] for path in paths], self.costs[c]
        solutions = [step.solution for step in steps]
        sizes = self.criterion.sizes(solutions, radius)
        known: dict[str, Any] = sizes | {"score": sizes.get("bound", np.nan)}
        known |= self.criterion.evaluate(K, C, solutions)
        unknown = dict.fromkeys(_MEASURED, np.nan)
        return PathPoint(
            **unknown | known,
            value=self.grid.values[number].item(),
            sigma=np.nan if self.grid.sigma is None else float(self.grid.sigma[number]),
            C=C,
            radius=radius,
            n_iter=sum(step.solution.n_iter for step in steps if step.solved),
            seconds=sum(step.seconds for step in steps) + perf_counter() - begin,
            solved=True,
            converged=all(step.solution.converged for step in steps),
        )


def _line(grid: KernelGrid, number: int, points: Sequence[PathPoint]) -> str:
    """Return a line about the points of a kernel."""
    best = points[simplest_of_best(points)]
    value = "" if grid.name is None else f" {grid.name}={best.value:.4g},"
    steps = sum(point.n_iter for point in points)
    score = f"best score {best.score:.4g} at C={best.C:g}"
    return f"{number + 1} of {len(grid)}:{value} {steps} steps, {score}"
