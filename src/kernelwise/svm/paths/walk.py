"""The walk over kernels and costs: each machine starts from a neighbour, each point is scored.

for each kernel, from narrow to wide:
for each C, ascending, until max alpha < C:      (a larger C changes nothing any more)
solve, from the solution before; score the machines by their own training rows

A pruned walk scores the points of a kernel in the order of lower bounds of their scores, and skips
those that cannot be the best.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, fields, replace
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..._threads import run
from ..._typing import Array, Gram, Index
from ...kernels.fill import to_single
from ...qp import Solution, StoredGram
from ...qp.precision import largest_float32_bound
from ..base.grams import Grams
from ..base.progress import FitProgress
from .cost_path import CostMachine, CostPath, cost_path
from .kernel_grid import KernelGrid
from .rows import TrainingRows
from .selection import SelectionCriterion
from .solvers import PathSolvers

_ROUNDING = 1e-9  # difference of two scores that may be a tie


@dataclass(frozen=True)
class PathPoint:
    """One kernel and C of a path; NaN stands for numbers that were not computed.

    Parameters
    ----------
    value : float
        The kernel's parameter.
    sigma : float
        The width of a Gaussian kernel.
    C : float
        The cost.
    bound : float
        R^2 sum(alpha) / m, summed over the machines.
    radius : float
        R.
    margin : float
        The least margin 1 / ||w|| of the machines.
    loo_error : float
        The span estimate of the leave-one-out error.
    held_out_error : float
        The error on held-out rows.
    score : float
        The number by which the point is selected; the lowest is best.
    n_iter : int
        Steps of the solver, over all machines; none where nothing had to be solved.
    seconds : float
        The duration.
    solved : bool
        False where the machines of a smaller C were known to stay.
    converged : bool
        Whether all machines reached the tolerance.
    """

    value: float
    sigma: float
    C: float
    bound: float
    radius: float
    margin: float
    loo_error: float
    held_out_error: float
    score: float
    n_iter: int
    seconds: float
    solved: bool
    converged: bool

    @property
    def order(self) -> tuple[bool, float, float, float]:
        """Key of the selection: on ties smaller C, then the wider or simpler kernel."""
        score = np.inf if np.isnan(self.score) else self.score
        return not self.converged, score, self.C, self.value


@dataclass(frozen=True)
class Path:
    """The points of a walk, and the machines of the best one.

    Parameters
    ----------
    grid : KernelGrid
        The kernels.
    n_costs : int
        Points per kernel.
    points : tuple of PathPoint
        The points, kernel by kernel.
    best_index : int
        The best of them.
    solutions : tuple of Solution
        Its machines, on the rows of the path.
    n_solves : int
        The machines that were solved.
    n_iter : ndarray of shape (n_machines,)
        Steps of the solver for each column of the criterion's codes.
    """

    grid: KernelGrid
    n_costs: int
    points: tuple[PathPoint, ...]
    best_index: int
    solutions: tuple[Solution, ...]
    n_solves: int
    n_iter: Index

    @property
    def best(self) -> PathPoint:
        """The best point."""
        return self.points[self.best_index]

    @property
    def kernel(self) -> Any:
        """The kernel of the best point."""
        return self.grid.kernels[self.best_index // self.n_costs]

    def warnings(self) -> list[tuple[str, type[Warning]]]:
        """Return the warning about points that did not converge, where there are any."""
        n_short, n_points = sum(not point.converged for point in self.points), len(self.points)
        if n_short == 0:
            return []
        used = "They were left out of the selection."
        if n_short == n_points:
            used = "The best of them is used all the same, and may be meaningless."
        text = (
            f"{n_short} of the {n_points} points of the path did not converge within max_iter. "
            f"{used} A hard margin does not exist where classes overlap or equal rows have "
            "different classes: give finite C there; else raise max_iter or tol."
        )
        return [(text, ConvergenceWarning)]

    def starts(self, rows: TrainingRows) -> list[Array]:
        """Return where the machines of the best point start on the table of the path's rows.

        Machines of several folds start from the mean of their coefficients.
        """
        n_machines = rows.Y.shape[1]
        beta = np.array([solution.beta for solution in self.solutions])
        beta = beta.reshape(-1, n_machines, beta.shape[1]).mean(axis=0)
        return [rows.spread(each) for each in beta]

    def table(self) -> dict[str, Array]:
        """Return the points as columns of equal length, without those that the path lacks."""
        names = [field.name for field in fields(PathPoint)]
        columns = {name: np.array([getattr(p, name) for p in self.points]) for name in names}
        value, sigma = columns.pop("value"), columns.pop("sigma")
        head = {} if self.grid.sigma is None else {"sigma": sigma}
        if self.grid.name is not None:
            head[self.grid.name] = value
        return head | columns


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
        Whether machines are solved in float32 where that will do; they are scored in float64.
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
    grams = Grams(rows.X, tol=solvers.tol, threads=threads, kernels=grid.kernels, precise=True)
    points: list[PathPoint] = []
    best, n_solves = 0, 0
    solutions: tuple[Solution, ...] = ()
    machines = [
        CostMachine.of(y, rows.cost_factor, costs, bias=criterion.bias) for y in criterion.codes.T
    ]
    n, solver = len(machines), {C: solvers.on_path(len(rows), C) for C in costs}
    n_iter = np.zeros(n, dtype=np.int64)
    for number, kernel in enumerate(grid.kernels):
        with nullcontext() if progress is None else progress.task(name):
            begin = perf_counter()
            K = grams.stored(kernel)
            grams.forget(kernel)
            radius, seconds = criterion.radius(K), perf_counter() - begin
            gram = _by_cost(StoredGram(K, kernel.is_psd), rows, solvers.tol, single)
            paths = run(partial(_path, gram, machines, solver, start), range(n), threads)
            known = points[best].order[:2] if points else (True, np.inf)
            found = scorer.score(number, K, paths, radius, known)
        found[0] = replace(found[0], seconds=found[0].seconds + seconds)
        for c, point in enumerate(found):
            points.append(point)
            if point.order < points[best].order or len(points) == 1:
                best = len(points) - 1
                solutions = tuple(path[c].solution for path in paths)
        n_solves += sum(path.n_solves for path in paths)
        n_iter += [path.n_iter for path in paths]
        start = [path[0].solution for path in paths]
        if progress is not None:
            progress.line(f"{name} {_line(grid, number, found)}")
        if callback is not None and any([callback(point) for point in found]):
            break
    return Path(grid, len(costs), tuple(points), best, solutions, n_solves, n_iter)


def _path(
    gram: Callable[[float], Gram],
    machines: Sequence[CostMachine],
    solver: Mapping[float, Any],
    start: Sequence[Any] | None,
    j: int,
) -> CostPath:
    """Solve a machine of a kernel for all costs."""
    own = None if start is None else start[j]
    return cost_path(gram, machines[j], solver.__getitem__, start=own)


def _by_cost(
    gram: StoredGram, rows: TrainingRows, tol: float, single: bool
) -> Callable[[float], Gram]:
    """Return the matrix that the machines of a C read: in float32 where that may and will do."""
    if not single:
        return lambda C: gram
    most = largest_float32_bound(tol, gram.size) / float(rows.cost_factor.max())
    coarse = np.empty_like(gram.K, np.float32)
    to_single(gram.K, coarse)
    in_single = StoredGram(coarse, gram.is_psd)
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
        """Return the points of a kernel; ``best`` is the order of the best one so far."""
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
            at_best = not _converged(paths, c), floors[place] - _ROUNDING
            scored[c] = score_one(c, can_win=at_best <= best)
            best = min(best, scored[c].order[:2])
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
        known = {"score": np.nan}
        if can_win:
            sizes = self.criterion.sizes(solutions, radius)
            known = sizes | {"score": sizes.get("bound", np.nan)}
            known |= self.criterion.evaluate(K, C, solutions)
        unknown = dict.fromkeys(("bound", "margin", "loo_error", "held_out_error"), np.nan)
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
    best = min(points, key=lambda point: point.order)
    value = "" if grid.name is None else f" {grid.name}={best.value:.4g},"
    steps = sum(point.n_iter for point in points)
    score = f"best score {best.score:.4g} at C={best.C:g}"
    if np.isnan(best.score):
        score = "cannot win"
    return f"{number + 1} of {len(grid)}:{value} {steps} steps, {score}"
