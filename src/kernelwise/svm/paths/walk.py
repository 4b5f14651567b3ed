"""The walk over kernels and costs: each machine starts from a neighbour, each point is scored.

for each kernel, from narrow to wide:
for each C, ascending, until max alpha < C:      (a larger C changes nothing any more)
solve, from the solution before; score the machines by their own training rows

A pruned walk scores the points of a kernel in the order of lower bounds of their scores, and skips
those that cannot be the best.
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
from ..._typing import Array, Gram
from ...kernels.fill import to_single
from ...qp import Solution, StoredGram
from ...qp.precision import largest_float32_bound
from ..base.grams import Grams
from ..base.progress import FitProgress
from ..base.ties import slack
from .cost_path import CostMachine, CostPath, cost_path
from .kernel_grid import KernelGrid
from .path import Path, PathPoint, simplest_of_best
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
    single: bool = False,
    prune: bool = False,
    threads: int = 1,
    name: str = "kernel",
    callback: Callable[[PathPoint], Any] | None = None,
    progress: FitProgress | None = None,
) -> Path:
    """Solve and score all points.

    Parameters
    ----------
    grid : KernelGrid
        The kernels.
    costs : sequence of float
        The values of C, ascending.
    rows : TrainingRows
        The rows.
    criterion : SelectionCriterion
        The criterion, and the machines that it scores.
    solvers : PathSolvers
        The solvers.
    start : sequence of ndarray, default=None
        Where the first machines start, one per column of the criterion's codes.
    single : bool, default=False
        Whether machines are solved in float32 where that is precise enough; they are scored in
        float64.
    prune : bool, default=False
        Whether to skip points that cannot be selected: their scores, errors, bounds and margins
        are NaN. It does not change the selection. The sooner a good kernel comes, the more it
        saves.
    threads : int, default=1
        Threads over machines, and over the points of a kernel that are scored.
    name : str, default="kernel"
        The name of the task of each kernel.
    callback : callable, default=None
        Called with each point; a true return value ends the walk after this kernel.
    progress : FitProgress, default=None
        Told of each kernel.

    Returns
    -------
    path : Path
        The points, the best of them and its machines.
    """
    costs = [float(C) for C in costs]
    scorer = _Scorer(grid, costs, criterion, prune, threads)
    solve = _Solver.of(costs, rows, criterion, solvers, single, threads)
    grams = Grams(rows.X, tol=solvers.tol, threads=threads, kernels=grid.kernels, precise=True)
    points: list[PathPoint] = []
    n_solves, n_iter = 0, np.zeros(criterion.codes.shape[1], dtype=np.int64)
    leaders = _Leaders()
    for number in range(len(grid)):
        with nullcontext() if progress is None else progress.task(name):
            found, paths = _solve_and_score(number, grams, solve, scorer, start, leaders.rank)
        for c, point in enumerate(found):
            points.append(point)
            leaders.add(len(points) - 1, point, tuple(path[c].solution for path in paths))
        n_solves += sum(path.n_solves for path in paths)
        n_iter += [path.n_iter for path in paths]
        start = [path[0].solution for path in paths]
        if progress is not None:
            progress.line(f"{name} {_line(grid, number, found)}")
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
    best: tuple[bool, float],
) -> tuple[list[PathPoint], list[CostPath]]:
    """Solve and score all costs of a kernel."""
    begin, kernel = perf_counter(), scorer.grid.kernels[number]
    K = grams.stored(kernel)
    if number > 0:  # and not before: memory that is free for long is returned, and costs anew
        grams.forget(scorer.grid.kernels[number - 1])
    radius, seconds = scorer.criterion.radius(K), perf_counter() - begin
    paths = solver.paths(StoredGram(K, kernel.is_psd), start)
    points = scorer.score(number, K, paths, radius, best)
    points[0] = replace(points[0], seconds=points[0].seconds + seconds)
    return points, paths


@dataclass(frozen=True)
class _Solver:
    """Solves the machines of a kernel.

    Parameters
    ----------
    machines : list of CostMachine
        The machines.
    solvers : dict
        The solver of each C.
    tol : float
        Their tolerance.
    largest_factor : float
        The largest factor of C of a row.
    coarse : ndarray of shape (m, m) or None
        Room for a matrix in float32, for machines for which that is precise enough.
    threads : int
        Threads over the machines.
    """

    machines: list[CostMachine]
    solvers: dict[float, Any]
    tol: float
    largest_factor: float
    coarse: Array | None
    threads: int

    @classmethod
    def of(
        cls,
        costs: Sequence[float],
        rows: TrainingRows,
        criterion: SelectionCriterion,
        solvers: PathSolvers,
        single: bool,
        threads: int,
    ) -> _Solver:
        """Build the machines of a criterion, and their solvers."""
        factor, bias = rows.cost_factor, criterion.bias
        machines = [CostMachine.of(y, factor, costs, bias=bias) for y in criterion.codes.T]
        own = {C: solvers.on_path(len(rows), C) for C in costs}
        coarse = np.empty((len(rows), len(rows)), np.float32) if single else None
        return cls(machines, own, solvers.tol, float(factor.max()), coarse, threads)

    def paths(self, gram: StoredGram, start: Sequence[Any] | None) -> list[CostPath]:
        """Solve all machines for all costs."""
        by_cost = self._by_cost(gram)

        def solve_one(j: int) -> CostPath:
            own = None if start is None else start[j]
            return cost_path(by_cost, self.machines[j], self.solvers.__getitem__, start=own)

        return run(solve_one, range(len(self.machines)), self.threads)

    def _by_cost(self, gram: StoredGram) -> Callable[[float], Gram]:
        """Return the matrix that the machines of a C read: float32 if it is enough."""
        if self.coarse is None:
            return lambda C: gram
        most = largest_float32_bound(self.tol, gram.size) / self.largest_factor
        to_single(gram.K, self.coarse)
        in_single = StoredGram(self.coarse, gram.is_psd)
        return lambda C: in_single if most >= C else gram


@dataclass(frozen=True)
class _Scorer:
    """Scores the points of a kernel.

    Parameters
    ----------
    grid : KernelGrid
        The kernels.
    costs : sequence of float
        The values of C.
    criterion : SelectionCriterion
        The criterion.
    prune : bool
        Whether points that cannot be the best are skipped.
    threads : int
        Threads over the points, where none is skipped.
    """

    grid: KernelGrid
    costs: Sequence[float]
    criterion: SelectionCriterion
    prune: bool
    threads: int

    def score(
        self,
        number: int,
        K: Array,
        paths: Sequence[CostPath],
        radius: float,
        best: tuple[bool, float],
    ) -> list[PathPoint]:
        """Return the points of a kernel; ``best`` is the rank of the best one so far."""
        solved = [c for c in range(len(self.costs)) if any(path[c].solved for path in paths)]
        score_one = partial(self._point, number, K, paths, radius)
        if self.prune:
            scored = self._scored_in_turn(score_one, K, paths, solved, best)
        else:
            scored = dict(zip(solved, run(score_one, solved, self.threads), strict=True))
        points: list[PathPoint] = []
        for c, C in enumerate(self.costs):
            if c in scored:
                points.append(scored[c])
            else:
                same = replace(points[-1], C=C, n_iter=0, seconds=0.0, solved=False)
                points.append(same)
        return points

    def _scored_in_turn(
        self,
        score_one: Callable[..., PathPoint],
        K: Array,
        paths: Sequence[CostPath],
        solved: Sequence[int],
        best: tuple[bool, float],
    ) -> dict[int, PathPoint]:
        """Score the points from the most promising one on, and skip those that cannot win."""
        beaten = np.inf if best[0] else best[1]
        costed = [(self.costs[c], [path[c].solution for path in paths]) for c in solved]
        floors = self.criterion.floors(K, costed, beaten)
        scored: dict[int, PathPoint] = {}
        for place in np.argsort(floors, kind="stable").tolist():
            c = solved[place]
            at_best = not _converged(paths, c), floors[place]
            scored[c] = score_one(c, can_win=_may_win(at_best, best))
            best = min(best, scored[c].rank)
        return scored

    def _point(
        self,
        number: int,
        K: Array,
        paths: Sequence[CostPath],
        radius: float,
        c: int,
        can_win: bool = True,
    ) -> PathPoint:
        begin = perf_counter()
        steps, C = [path[c] for path in paths], self.costs[c]
        solutions = [step.solution for step in steps]
        known: dict[str, Any] = {"score": np.nan}
        if can_win:
            sizes = self.criterion.sizes(solutions, radius)
            known = sizes | {"score": sizes.get("bound", np.nan)}
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
            converged=_converged(paths, c),
        )


def _converged(paths: Sequence[CostPath], c: int) -> bool:
    return all(path[c].solution.converged for path in paths)


def _line(grid: KernelGrid, number: int, points: Sequence[PathPoint]) -> str:
    """Return a line about the points of a kernel."""
    best = points[simplest_of_best(points)]
    value = "" if grid.name is None else f" {grid.name}={best.value:.4g},"
    steps = sum(point.n_iter for point in points)
    score = f"best score {best.score:.4g} at C={best.C:g}"
    if np.isnan(best.score):
        score = "cannot win"
    return f"{number + 1} of {len(grid)}:{value} {steps} steps, {score}"
