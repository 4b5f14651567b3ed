"""The steps of RelevanceSVC: learn weights, and choose width and C at given weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ..._typing import Array, Codes, Index
from ...criteria import Objective, RadiusMargin
from ...discrimination import energy, log_relevance
from ...kernels import RBF, Laplacian
from ...kernels.family import typical_gamma
from ...kernels.pairwise import PairwiseKernel
from ...outer import LBFGS, LogPositive, Minimum, minimize
from ...qp import SMO, Solution
from ...qp.precision import dtype_for
from ..base.column_scaling import Scaling
from ..paths.kernel_grid import DistinctRows, KernelGrid
from ..paths.selection import BySpan, Problem
from ..paths.walk import PathGrams, PathPoint, WidthPath

KERNELS: dict[str, type[PairwiseKernel]] = {"laplacian": Laplacian, "rbf": RBF}
_OTHER = {"laplacian": "rbf", "rbf": "laplacian"}
FACTORS = (0.3, 1.0, 3.0)  # of gamma; wide ones first, which lets most narrow ones be skipped
COSTS = (0.1, 1.0, 10.0, 100.0)
_LEAST_EXCESS = 0.3  # of the energy distance over chance that is told apart
_LOWEST, _HIGHEST = -14.0, 4.0  # of the logarithm of gamma * weight, on columns of spread one
_LEAST_C, _MOST_C = -5.0, 9.0  # of the logarithm of C
_STEPS_A_ROW, _LEAST_STEPS = 1000, 100_000  # a machine that takes more is left where it is


@dataclass(frozen=True)
class Rows:
    """Distinct rows on one scale, with what each counts and costs.

    Parameters
    ----------
    X : ndarray of shape (m, q)
        The rows, scaled, without constant columns.
    Y : ndarray of shape (m, n_machines)
        Their codes.
    counts : ndarray of shape (m,)
        How many rows each stands for.
    price : ndarray of shape (m,)
        What multiplies C.
    classes : ndarray of shape (m,)
        The class of each.
    """

    X: Array
    Y: Array
    counts: Array
    price: Array
    classes: Index

    @classmethod
    def of(
        cls,
        X: Array,
        Y: Codes,
        classes: Index,
        kinds: DistinctRows,
        scaling: Scaling,
        class_weight: Array,
    ) -> Rows:
        """Take the distinct rows of a table."""
        own = classes[kinds.first]
        codes = Y[kinds.first].astype(np.float64)
        price = kinds.counts * class_weight[own]
        return cls(scaling.apply(X[kinds.first]), codes, kinds.counts, price, own)


@dataclass(frozen=True)
class Teacher:
    """Learns weights by the radius-margin bound.

    Parameters
    ----------
    solver : SMO
        What solves the machines and the ball.
    max_evaluations : int
        Most evaluations of the bound.
    threads : int
        Threads over the machines.
    callback : callable, default=None
        Called with each `kernelwise.outer.Step`; a true return value ends the learning.
    watch : callable, default=None
        ``watch(name, objective)`` returns what is evaluated in place of the objective.
    """

    solver: SMO
    max_evaluations: int
    threads: int
    callback: Callable[[Any], Any] | None = None
    watch: Callable[[str, Objective], Any] | None = None

    def learn(self, kernel: PairwiseKernel, rows: Rows, start: Array) -> Minimum:
        """Minimise log(R^2 ||w||^2) over the weights and C, from the start."""
        steps = max(_LEAST_STEPS, _STEPS_A_ROW * len(rows.X))
        solver = replace(self.solver, max_iter=steps, budget=0.0)
        bound = RadiusMargin(solver=solver, threads=self.threads)
        names = ["weights", "C"]
        objective: Any = bound.of(kernel, names, rows.X, rows.Y, weights=rows.price, log=True)
        if self.watch is not None:
            objective = self.watch(name_of(kernel), objective)
        d = rows.X.shape[1]
        lo = np.exp(np.append(np.full(d, _LOWEST), _LEAST_C))
        hi = np.exp(np.append(np.full(d, _HIGHEST), _MOST_C))
        return minimize(
            objective,
            start,
            method=LBFGS(),
            domain=LogPositive(lo, hi),
            max_evaluations=self.max_evaluations,
            tol=0.0,
            callback=self.callback,
        )


@dataclass(frozen=True)
class Learned:
    """What was learned from the rows; weights are on scaled columns, with gamma in them.

    Parameters
    ----------
    members : dict of PairwiseKernel
        The kernel of each member: "shrunk", and "energy" and "learned" in an ensemble.
    sources : tuple of PairwiseKernel
        The same before anything is shrunk.
    minima : dict of Minimum
        Where the learning of each kernel ended, by the kernel's name.
    """

    members: dict[str, PairwiseKernel]
    sources: tuple[PairwiseKernel, ...]
    minima: dict[str, Minimum]

    def shares(self, scaling: Scaling) -> Array:
        """Return what each feature adds to a distance; an equal share is one."""
        shares: Array = np.mean([scaling.comparable(kernel) for kernel in self.sources], axis=0)
        return shares


def learn(
    name: str,
    ensemble: bool,
    rows: Rows,
    teacher: Teacher,
    random_state: Any,
    last: dict[str, Array] | None = None,
) -> Learned:
    """Learn the weights of one machine, or of the three of an ensemble.

    Parameters
    ----------
    name : {"laplacian", "rbf"}
        The kernel; the third machine of an ensemble has the other one.
    ensemble : bool
        Whether there are three machines.
    rows : Rows
        What to learn from.
    teacher : Teacher
        What learns.
    random_state : RandomState
        Picks rows for a first width.
    last : dict of ndarray, default=None
        Where the learning of each kernel starts, in place of equal weights.

    Returns
    -------
    learned : Learned
        The weights.
    """
    minima: dict[str, Minimum] = {}

    def taught(start: PairwiseKernel) -> PairwiseKernel:
        own = name_of(start)
        theta = (last or {}).get(own)
        theta = np.append(np.asarray(start.weights), 1.0) if theta is None else theta
        minima[own] = teacher.learn(start, rows, theta)
        return with_weights(start, minima[own].theta[:-1])

    start = equal_weights(name, rows, random_state)
    learned = taught(start)
    members, sources = {"shrunk": between(start, learned)}, (learned,)
    if not ensemble:
        return Learned(members, sources, minima)
    by_energy = with_energy(start, rows)
    elsewhere = taught(equal_weights(_OTHER[name], rows, random_state))
    members |= {"energy": by_energy, "learned": elsewhere}
    return Learned(members, (*sources, by_energy, elsewhere), minima)


def name_of(kernel: PairwiseKernel) -> str:
    """Return the name of a kernel."""
    return next(name for name, kind in KERNELS.items() if isinstance(kernel, kind))


def with_weights(kernel: PairwiseKernel, weights: Array) -> PairwiseKernel:
    """Return the kernel with other weights."""
    out: Any = kernel.with_params(weights=weights)
    return out


def equal_weights(name: str, rows: Rows, random_state: Any) -> PairwiseKernel:
    """Return the kernel of a name at which typical rows are one unit apart; gamma is in weights."""
    kernel = KERNELS[name]()
    gamma = typical_gamma(kernel, rows.X, random_state)
    return with_weights(kernel, np.full(rows.X.shape[1], gamma))


def between(first: PairwiseKernel, second: PairwiseKernel) -> PairwiseKernel:
    """Return the kernel half-way between two: the geometric mean of their weights."""
    return with_weights(first, np.sqrt(np.asarray(first.weights) * np.asarray(second.weights)))


def with_energy(start: PairwiseKernel, rows: Rows) -> PairwiseKernel:
    """Raise the weights of features along which the classes lie apart."""
    counts = rows.counts * max(1.0, 2 / rows.counts.sum())  # less than two rows have no spread
    logs = log_relevance(energy(rows.X, rows.classes, sample_weight=counts), _LEAST_EXCESS)
    power = 0.5 if isinstance(start, Laplacian) else 1.0  # of differences, or of their squares
    return with_weights(start, np.asarray(start.weights) * np.exp(power * logs))


@dataclass(frozen=True)
class Chosen:
    """A kernel and C, and the machines there.

    Parameters
    ----------
    kernel : PairwiseKernel
        The kernel on scaled columns.
    C : float
        The cost.
    machines : tuple of Solution
        The machines on the rows of the path.
    points : tuple of PathPoint
        The points that were tried.
    n_solves : int
        The machines that were solved on the way.
    """

    kernel: PairwiseKernel
    C: float
    machines: tuple[Solution, ...]
    points: tuple[PathPoint, ...]
    n_solves: int


def choose(
    kernel: PairwiseKernel,
    rows: Rows,
    solver: SMO,
    threads: int,
    told: Callable[[Callable[[], Any]], Any],
) -> Chosen:
    """Choose the width and C of a kernel by the span estimate of the leave-one-out error."""
    m = len(rows.X)
    solver = replace(solver, max_iter=max(_LEAST_STEPS, _STEPS_A_ROW * m), exact=False)
    kernels = tuple(kernel.with_params(gamma=factor) for factor in FACTORS)
    grid = KernelGrid(kernels, "gamma", np.array(FACTORS), None)
    problem = Problem(rows.Y, rows.counts, rows.price, True, lambda C: solver)
    grams = PathGrams(kernels, rows.X, threads)
    walk = WidthPath(
        problem,
        grid,
        np.array(COSTS),
        BySpan(problem),
        grams,
        threads,
        prune=True,
        dtype=dtype_for(solver.tol, 1.0, bound=0.0),  # SMO refines by itself for a large C
    )
    for number in range(len(FACTORS)):
        told(partial(walk.walk, number))
    best = walk.points[walk.best]
    chosen: Any = kernels[walk.best // len(COSTS)]
    return Chosen(chosen, best.C, walk.machines, tuple(walk.points), walk.n_solves)


def with_an_equal_share(shares: Array) -> Any:
    """Tell which features have at least an equal share, but for rounding."""
    return shares > 1 - 1e-9


def normalised(kernel: PairwiseKernel, scaling: Scaling) -> PairwiseKernel:
    """Return the same kernel for columns as they come, its comparable weights of mean one."""
    size = float(np.mean(scaling.in_terms(kernel))) or 1.0
    even = with_weights(kernel, np.asarray(kernel.weights) / size)
    out: Any = scaling.unscaled(even.with_params(gamma=kernel.gamma * size))
    return out
