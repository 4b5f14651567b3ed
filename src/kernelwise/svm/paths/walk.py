"""The walk over widths and costs: each machine warm from a neighbour, each point judged.

for each kernel, from narrow to wide:
for each C, ascending, until max alpha < C:      (then nothing changes any more)
solve, from the solution before; judge the machines without another row

A pruned walk judges the points of a kernel in the order of what their scores cannot be below, and
leaves out those that cannot win.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import islice
from time import perf_counter
from typing import Any

import numpy as np

from ..._threads import run
from ..._typing import Array
from ...kernels import FunctionKernel, Kernel, LazyGram, Precomputed
from ...kernels.family import KernelFamily, family_of
from ...kernels.fill import to_single
from ...outer import Stop, path
from ...qp import Solution
from ..base.grams import symmetric
from .kernel_grid import KernelGrid
from .selection import Judge, Problem

_ROUNDING = 1e-9  # of a score: what is less above the best may be a tie


@dataclass(frozen=True)
class PathPoint:
    """One kernel and C of a path; NaN stands for what was not computed.

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
        What was to be small.
    n_iter : int
        Steps of the solver, over all machines; none where nothing had to be solved.
    n_iter_cold : float
        Steps without a warm start.
    seconds : float
        How long it took.
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
    n_iter_cold: float
    seconds: float
    solved: bool
    converged: bool

    @property
    def order(self) -> tuple[bool, float, float, float]:
        """What the choice sorts by: on ties smaller C, then the wider or simpler kernel."""
        score = np.inf if np.isnan(self.score) else self.score
        return not self.converged, score, self.C, self.value


def table(points: Sequence[PathPoint], grid: KernelGrid, cold: bool) -> dict[str, Array]:
    """Return points as columns of equal length, without those that the path does not have."""
    columns = {f.name: np.array([getattr(p, f.name) for p in points]) for f in fields(PathPoint)}
    value, sigma = columns.pop("value"), columns.pop("sigma")
    if not cold:
        del columns["n_iter_cold"]
    head = {} if grid.sigma is None else {"sigma": sigma}
    if grid.name is not None:
        head[grid.name] = value
    return head | columns


class PathGrams:
    """The kernel matrix of each kernel of a path, from one matrix of distances where they share it.

    In float64: a leave-one-out estimate takes the inverse of a part of it.

    Parameters
    ----------
    kernels : sequence of Kernel
        The kernels.
    X : {ndarray, sparse matrix} of shape (m, d)
        The rows.
    threads : int
        Threads that compute them.
    """

    def __init__(self, kernels: Sequence[Kernel], X: Any, threads: int) -> None:
        self._X, self._threads = X, threads
        self._family: KernelFamily | None = None
        names = {family_of(kernel) for kernel in kernels}
        if len(kernels) > 1 and len(names) == 1 and names != {None}:
            narrowest: Any = max(kernels, key=lambda kernel: getattr(kernel, "gamma", 1.0))
            self._family = KernelFamily(narrowest, X, np.float64, threads)

    def of(self, kernel: Any) -> Array:
        """Compute one kernel matrix."""
        if isinstance(kernel, FunctionKernel | Precomputed):
            return symmetric(kernel(self._X))
        if self._family is not None:
            return self._family.gram(kernel, np.float64)
        return LazyGram(kernel, self._X, self._threads).dense(np.float64)


@dataclass
class WidthPath:
    """The walk, one kernel a call, and the best point so far with its machines.

    Parameters
    ----------
    problem : Problem
        The rows and machines.
    grid : KernelGrid
        The kernels.
    costs : ndarray of shape (n_costs,)
        The values of C, ascending.
    judge : Judge
        What scores a point.
    grams : PathGrams
        The kernel matrices.
    threads : int, default=1
        Threads over machines, and over the points of a kernel that are judged.
    record_cold : bool, default=False
        Whether to solve each point once more without a warm start, to count the steps.
    start : list of ndarray, default=None
        Where the first machines start.
    prune : bool, default=False
        Whether not to judge points that cannot win: their scores, errors, bounds and margins are
        NaN. It does not change the choice. The sooner a good kernel comes, the more it saves.
    dtype : dtype, default=numpy.float64
        The type in which machines are solved; they are judged in float64.
    """

    problem: Problem
    grid: KernelGrid
    costs: Array
    judge: Judge
    grams: PathGrams
    threads: int = 1
    record_cold: bool = False
    start: list[Any] | None = None
    prune: bool = False
    dtype: Any = np.float64
    points: list[PathPoint] = field(default_factory=list)
    best: int = -1
    machines: tuple[Solution, ...] = ()
    n_solves: int = 0

    def __post_init__(self) -> None:
        """Stand before the first kernel."""
        self.n_iter = np.zeros(self.problem.Y.shape[1], dtype=np.int64)
        self._stops = path(
            self._solve,
            range(len(self.grid.kernels)),
            list(self.costs),
            settled=lambda timed, C: self.problem.has_settled(timed[0], C),
            start=None if self.start is None else (self.start, 0.0),
        )

    def walk(self, number: int) -> list[PathPoint]:
        """Solve and judge all costs of the next kernel."""
        begin = perf_counter()
        kernel = self.grid.kernels[number]
        self._K, self._is_psd = self.grams.of(kernel), kernel.is_psd
        self._stored = self._K if self.dtype == np.float64 else np.empty_like(self._K, self.dtype)
        if self._stored is not self._K:
            to_single(self._K, self._stored)
        radius = self.judge.radius(self._K)
        spent = perf_counter() - begin
        stops = list(islice(self._stops, len(self.costs)))
        judged = self._judge_all([stop for stop in stops if stop.solved], radius)
        points: list[PathPoint] = []
        for stop in stops:
            point = judged.pop(0) if stop.solved else self._settled(stop, points[-1])
            if not points:  # what all costs share is counted with the first
                point = replace(point, seconds=point.seconds + spent)
            if self.record_cold:
                point = replace(point, n_iter_cold=self._cold(stop.column))
            points.append(point)
            self._keep(point, stop.result[0])
        return points

    def _solve(self, number: int, C: float, start: Any) -> tuple[tuple[Solution, ...], float]:
        """Solve all machines at one point; return them and the seconds that it took."""
        begin = perf_counter()
        solutions = self._machines(C, None if start is None else start[0])
        self.n_solves += len(solutions)
        self.n_iter += np.reshape([s.n_iter for s in solutions], (-1, len(self.n_iter))).sum(axis=0)
        return solutions, perf_counter() - begin

    def _machines(self, C: float, starts: Any) -> tuple[Solution, ...]:
        codes, solver = self.judge.codes, self.problem.solver(C)
        qps = self.problem.qps(self._stored, codes, C, self._is_psd)

        def solve_one(j: int) -> Solution:
            solution: Solution = solver.solve(qps[j], start=None if starts is None else starts[j])
            return solution

        return tuple(run(solve_one, range(len(qps)), self.threads))

    def _judge_all(self, stops: list[Stop], radius: float) -> list[PathPoint]:
        if not self.prune:
            return run(lambda stop: self._judge(stop, radius), stops, self.threads)
        found: dict[int, PathPoint] = {}
        best = (True, np.inf) if self.best < 0 else self.points[self.best].order[:2]
        beaten = np.inf if best[0] else best[1]
        floors = self.judge.floors(self._K, [(s.column, s.result[0]) for s in stops], beaten)
        for number in np.argsort(floors, kind="stable").tolist():
            at_best = not _converged(stops[number]), floors[number] - _ROUNDING
            found[number] = self._judge(stops[number], radius, can_win=at_best <= best)
            best = min(best, found[number].order[:2])
        return [found[number] for number in range(len(stops))]

    def _judge(self, stop: Stop, radius: float, can_win: bool = True) -> PathPoint:
        begin = perf_counter()
        solutions, spent = stop.result
        known = {"score": np.nan}
        if can_win:
            found = self.judge.sizes(solutions, radius)
            known = found | {"score": found.get("bound", np.nan)}
            known |= self.judge.verdict(self._K, stop.column, solutions)
        sigma = np.nan if self.grid.sigma is None else float(self.grid.sigma[stop.row])
        unknown = dict.fromkeys(("bound", "margin", "loo_error", "held_out_error"), np.nan)
        return PathPoint(
            **unknown | known,
            value=self.grid.values[stop.row].item(),
            sigma=sigma,
            C=float(stop.column),
            radius=radius,
            n_iter=sum(s.n_iter for s in solutions),
            n_iter_cold=np.nan,
            seconds=spent + perf_counter() - begin,
            solved=True,
            converged=_converged(stop),
        )

    def _settled(self, stop: Stop, before: PathPoint) -> PathPoint:
        return replace(before, C=float(stop.column), n_iter=0, seconds=0.0, solved=False)

    def _cold(self, C: float) -> float:
        return float(sum(s.n_iter for s in self._machines(C, None)))

    def _keep(self, point: PathPoint, machines: tuple[Solution, ...]) -> None:
        self.points.append(point)
        if self.best < 0 or point.order < self.points[self.best].order:
            self.best, self.machines = len(self.points) - 1, machines


def _converged(stop: Stop) -> bool:
    return all(solution.converged for solution in stop.result[0])
