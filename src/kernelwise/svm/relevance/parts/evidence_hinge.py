"""The hinge part of larger tables: one exact machine at the weights of the evidence.

    K = exp(-sum_j w_j d_j)

The evidence has learned the width with the weights. C is chosen on some rows by the span estimate
of the leave-one-out error; the machine is solved on all rows. Some of the rows ask for a smaller C
than all of them, so that a larger one is taken where it lowers the log loss of the machine mixed
with the other part. That estimate also gives the decisions without each row; where very many
support vectors are free, machines on halves of the rows decide the other halves instead.

Where rows are many and noisy the machine is dear and adds nothing beside a regression, so that a
rule decides first: a machine on half of the rows, which decides the other half. Only if it lowers
their log loss is the machine on all rows solved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ...._records import dataclass
from ...._typing import Array, Gram, Index
from ....criteria.span import span, split
from ....kernels import Laplacian, LazyGram
from ....qp import SMO, Solution
from ...base.grams import Grams
from ...base.predictor import Predictor, SupportVectors
from ...base.progress import FitProgress
from ...base.solve import solve_machines
from ...base.steps import RowStep
from ...paths.cost_path import decision_values
from ...paths.kernel_grid import KernelGrid
from ...paths.path import Path, PathPoint, simplest_of_best
from ...paths.rows import TrainingRows
from ...paths.selection import SpanCriterion
from ...paths.solvers import PathSolvers
from ...paths.walk import walk
from .evidence import EvidenceWeights
from .joint import kernel_shares
from .mixture import LEAST_NATS, mixed_loss, pays
from .rows import PartRows

COSTS = (1.0, 10.0)
_COST_STEP = 10.0  # from a cost to the next larger one
_LARGEST_COST = 100.0  # tried where the largest of these is the best
PATH_ROWS = 1500  # most rows on which C is chosen
HALVED_ABOVE = 7000  # rows above which a half decides whether the machine pays
_HALF_ROWS = 4000  # most rows of that half
_MOST_FREE = 1500  # free support vectors up to which spans are computed: they cost the cube
_TOL = 1e-2  # tolerance of the machine, in units of the margin


@dataclass(frozen=True)
class EvidenceHingePart:
    """A fitted machine at the weights of the evidence.

    Parameters
    ----------
    predictor : Predictor
        The machines, which read encoded rows.
    C : float
        The chosen cost.
    left_out : ndarray of shape (m, k)
        Decisions on the training rows without each of them.
    importances : ndarray of shape (d,)
        The share of each encoded column in the distance of two rows.
    solutions : tuple of Solution, default=()
        The solved machines; a stored model does without them.
    """

    predictor: Predictor
    C: float
    left_out: Array
    importances: Array
    solutions: tuple[Solution, ...] = ()
    name: ClassVar[str] = "hinge"

    def decision_values(self, X: Array) -> Array:
        """Return the decisions on encoded rows."""
        return self.predictor.decision_values(X)

    def additive_values(self, X: Array) -> None:
        """Return None: nothing is additive."""


class _SingleGram(LazyGram):
    """The kernel matrix, in float32: the machines are solved less exactly than it rounds."""

    def block(self, rows: Index, columns: Index) -> Array:
        return self.kernel(self.X[rows], None if rows is columns else self.X[columns])


@dataclass(frozen=True)
class _Machines:
    """Solved machines of one kernel.

    Parameters
    ----------
    rows : TrainingRows
        Their rows.
    kernel : Laplacian
        The kernel.
    C : float
        The cost.
    solutions : list of Solution
        One machine per class, or one for two classes.
    """

    rows: TrainingRows
    kernel: Laplacian
    C: float
    solutions: list[Solution]

    def predictor(self, *before: RowStep) -> Predictor:
        """Return the machines as they predict rows, after some steps."""
        every = [np.arange(len(self.rows))] * len(self.solutions)
        vectors = SupportVectors.of(self.rows.X, self.solutions, every, self.rows.classes)
        return Predictor(
            vectors,
            np.array([solution.nu[0] for solution in self.solutions]),
            (self.kernel,) * len(self.solutions),
            before=before,
        )

    @property
    def n_free(self) -> int:
        """The number of free support vectors of the machine that has the most of them."""
        bound = self.C * self.rows.cost_factor
        return max(len(split(solution.beta, bound)[0]) for solution in self.solutions)

    def left_out(self, share: Array, threads: int) -> Array:
        """Return the decisions without each row, of which a share is left out."""
        gram: Gram = _SingleGram(self.kernel, self.rows.X, threads)
        bound = self.C * self.rows.cost_factor
        columns = []
        for solution, y in zip(self.solutions, self.rows.Y.T, strict=True):
            alpha = np.abs(solution.beta)
            squared = span(gram, solution.beta, bound, single=True)
            lost = np.maximum(0, alpha - (1 - share) * bound) * squared
            columns.append(decision_values(solution, y) - np.sign(solution.beta) * lost)
        return np.column_stack(columns)


def fit_evidence_hinge(
    rows: PartRows,
    learned: EvidenceWeights,
    joint: Any,
    random_state: Any,
    *,
    memory: float = np.inf,
    threads: int = 1,
    progress: FitProgress | None = None,
) -> EvidenceHingePart | None:
    """Fit the machine, where it pays beside another part.

    Parameters
    ----------
    rows : PartRows
        The training rows.
    learned : EvidenceWeights
        The weights of the columns.
    joint : Part
        The part beside which the machine must pay where rows are many.
    random_state : RandomState
        Picks rows where there are too many.
    memory : float, default=inf
        Bytes for kernel values.
    threads : int, default=1
        Threads over kernel values and machines.
    progress : FitProgress, default=None
        Told of each step.

    Returns
    -------
    part : EvidenceHingePart or None
        The part; None where it does not pay.
    """
    solver = SMO(tol=_TOL, memory=memory, budget=0.0)
    fit = _Fit(rows, learned, joint.left_out, solver, threads, progress)
    every = np.arange(len(rows))
    if not (learned.weights > 0).any() or not fit.has_all_classes(every):
        return None
    if len(rows) <= HALVED_ABOVE and rows.groups is None:
        machines = fit.choose(every, random_state)
        if machines.n_free <= _MOST_FREE:
            left_out = machines.left_out(rows.left_out_share, threads)
        else:
            left_out = fit.decisions_of_halves(machines.C, random_state)
    else:
        half = half_of(rows, every, random_state)
        if not fit.has_all_classes(half):
            return None
        few = fit.choose(half, random_state)
        left_out = fit.decisions_of_half(few, half, random_state)
        if not pays(joint.left_out, left_out, rows, half):
            return None
        machines = fit.solve(every, few.C)
    return EvidenceHingePart(
        machines.predictor(learned.columns),
        machines.C,
        left_out,
        kernel_shares(rows, learned),
        tuple(machines.solutions),
    )


@dataclass(frozen=True)
class _Fit:
    """Solves machines on some of the rows.

    Parameters
    ----------
    rows : PartRows
        All rows.
    learned : EvidenceWeights
        The weights of the columns.
    beside : ndarray of shape (m, k)
        The leave-one-out decisions of the part that the machines are mixed with.
    solver : SMO
        The solver.
    threads : int
        Threads over kernel values and machines.
    progress : FitProgress or None
        Told of each step.
    """

    rows: PartRows
    learned: EvidenceWeights
    beside: Array
    solver: SMO
    threads: int
    progress: FitProgress | None

    @cached_property
    def X(self) -> Array:
        """The rows in the units in which they are compared."""
        return self.learned.columns.apply(self.rows.X)

    @cached_property
    def kernel(self) -> Laplacian:
        """The kernel of all machines."""
        return self.learned.kernel

    def has_all_classes(self, some: Index) -> bool:
        """Return whether some rows have all classes."""
        return len(np.unique(self.rows.classes[some])) == self.rows.n_classes

    def training_rows(self, some: Index) -> TrainingRows:
        """Return some rows as the machines read them."""
        every, own = np.arange(len(some)), self.rows.part(some)
        return TrainingRows(
            X=self.X[some],
            Y=own.codes,
            classes=own.classes,
            sample_weight=own.count,
            cost_factor=own.price,
            first=every,
            place=every,
            share=np.ones(len(some)),
        )

    def choose(self, some: Index, random_state: Any) -> _Machines:
        """Choose C on some of the rows, and solve on all of them."""
        rows = self.training_rows(some)
        path_rows = rows.sample(PATH_ROWS, random_state)
        path = self._path(path_rows, COSTS)
        points = list(path.points)
        if path.best_index == len(COSTS) - 1:
            further = self._path(path_rows, (_LARGEST_COST,), path.solutions)
            points += further.points
            path = (path, further)[simplest_of_best([path.best, further.best])]
        if path_rows is rows:
            return _Machines(rows, self.kernel, path.best.C, list(path.solutions))
        starts = np.zeros((len(path.solutions), len(rows)))
        starts[:, path_rows.first] = [solution.beta for solution in path.solutions]
        C = path.best.C
        if self.rows.groups is None:  # else points leave out less than the other part does
            C = self._larger_cost(path, points, path_rows, some)
        return self.solve(some, C, list(starts))

    def _larger_cost(
        self, path: Path, points: Sequence[PathPoint], path_rows: TrainingRows, some: Index
    ) -> float:
        """Return the cost of the best point, or a larger one that pays in the mixture."""
        own = self.rows.part(some[path_rows.first])
        # Points leave out one copy of a row; rows of which the other part loses more do not count.
        alike = own.left_out_share * own.count <= 1
        beside, own = self.beside[some[path_rows.first][alike]], own.part(alike)
        if len(np.unique(own.classes)) < own.n_classes:
            return path.best.C
        least = LEAST_NATS * len(path_rows) / len(some)

        def loss(point: PathPoint) -> float:
            left_out: Any = point.left_out
            return mixed_loss([beside, left_out[alike]], own)

        best = path.best
        while best.C < _LARGEST_COST:
            C = _COST_STEP * best.C
            known = [each for each in points if each.C == C and each.left_out is not None]
            point = known[0] if known else self._path(path_rows, (C,), path.solutions).best
            if not point.converged or loss(best) - loss(point) < least:
                break
            best = point
        return best.C

    def _path(
        self, rows: TrainingRows, costs: Sequence[float], start: Sequence[Solution] | None = None
    ) -> Path:
        return walk(
            KernelGrid.of(self.kernel, rows, None),
            costs,
            rows,
            SpanCriterion(rows, single=True),
            PathSolvers(tol=_TOL),
            start=start,
            single=True,
            prune=True,
            threads=self.threads,
            name="evidence: C",
            progress=self.progress,
        )

    def solve(self, some: Index, C: float, starts: list[Array] | None = None) -> _Machines:
        """Solve the machines of a cost on some rows."""
        rows = self.training_rows(some)
        n_machines = rows.Y.shape[1]
        grams = Grams(
            rows.X,
            tol=self.solver.tol,
            memory=self.solver.memory,
            threads=self.threads,
            n_machines=n_machines,
            share=n_machines > 1,
            small=0,
        )
        costs = C * rows.cost_factor
        solver = self.solver
        if self.progress is not None:
            solver = replace(solver, callback=self.progress.shows_violation("machines"))
        found = solve_machines(self.kernel, grams, rows.Y, costs, solver, start=starts)
        return _Machines(rows, self.kernel, C, found)

    def decisions_of_halves(self, C: float, random_state: Any) -> Array:
        """Return decisions on all rows of machines on the other half of the rows."""
        every = np.arange(len(self.rows))
        half = half_of(self.rows, every, random_state)
        other = np.setdiff1d(every, half)
        out = np.empty((len(self.rows), self.rows.codes.shape[1]))
        for own, unseen in ((half, other), (other, half)):
            out[unseen] = self.solve(own, C).predictor().decision_values(self.X[unseen])
        return out

    def decisions_of_half(self, few: _Machines, half: Index, random_state: Any) -> Array:
        """Return decisions on all rows of machines that did not have them.

        The rows of the half are left out one by one. Where they come in groups, machines on other
        rows decide them.
        """
        unseen = np.setdiff1d(np.arange(len(self.rows)), half)
        out = np.empty((len(self.rows), few.rows.Y.shape[1]))
        out[unseen] = few.predictor().decision_values(self.X[unseen])
        if self.rows.groups is None:
            out[half] = few.left_out(self.rows.left_out_share[half], self.threads)
        else:
            others = self.solve(half_of(self.rows, unseen, random_state), few.C)
            out[half] = others.predictor().decision_values(self.X[half])
        return out


def half_of(rows: PartRows, some: Index, random_state: Any) -> Index:
    """Return half of some rows, but not too many; each class has its part, groups stay whole.

    Parameters
    ----------
    rows : PartRows
        All rows.
    some : ndarray of shape (n_some,)
        The rows of which half is wanted.
    random_state : RandomState
        The source of the choice.

    Returns
    -------
    half : ndarray
        The rows, ascending.
    """
    share = min(0.5, _HALF_ROWS / len(some))
    if rows.groups is None:
        labels = rows.classes[some]
        own = [some[labels == label] for label in np.unique(labels)]
        kept = [random_state.permutation(each)[: max(1, round(share * len(each)))] for each in own]
        return np.sort(np.concatenate(kept))
    groups = random_state.permutation(np.unique(rows.groups[some]))
    sizes = np.cumsum([np.count_nonzero(rows.groups[some] == group) for group in groups])
    kept_groups = groups[: max(1, np.searchsorted(sizes, share * len(some)))]
    return np.sort(some[np.isin(rows.groups[some], kept_groups)])
