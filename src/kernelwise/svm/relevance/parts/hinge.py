"""The hinge part: support vector machines whose kernels learn which features matter.

    v    = argmin log(R^2 ||w||^2)        radius-margin bound of the L2-SVM; L-BFGS on log v, log C
    v    = sqrt(v * v_equal)              shrunk half-way towards equal weights
    f, C = argmin error + smooth error    of each row left out, by the span of the support vectors
    K    = exp(-f sum_k v_k |x_k - z_k|)

The decision of an ensemble is the mean over three members whose weights come from different
sources. Its leave-one-out decisions are those by which each member chose its width and C.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...._records import dataclass
from ...._typing import Array, Index
from ....kernels import Kernel
from ....kernels.pairwise import PairwiseKernel
from ....qp import SMO, Solution
from ...base.column_scaling import Scaling
from ...base.predictor import Predictor, SupportVectors
from ...base.progress import FitProgress
from ...base.weight_learning import LearnedWeights
from ...paths.path import Path
from ...paths.rows import TrainingRows
from ..columns import ColumnLayout
from ..machines import path_criterion, solve_everywhere, width_path
from ..members import (
    TINY,
    UsedColumns,
    kernel_names,
    learn_kernels,
    members_of_sources,
    unscaled,
    weight_sources,
)


@dataclass(frozen=True)
class HingeSettings:
    """Settings of the machines.

    Parameters
    ----------
    kernel : {"laplacian", "rbf"}
        The kernel of the first members.
    ensemble : bool
        Whether there are three members, or one.
    standardize : bool
        Whether the columns are brought to one scale first.
    max_iter : int
        Most evaluations of the bound for each kernel.
    weight_rows : int
        Most rows from which weights are learned.
    path_rows : int
        Most rows on which width and C are chosen.
    copy_weight : float
        The largest weight of a row that is left out: infinite, or one copy.
    solver : SMO
        The solver of the machines.
    threads : int, default=1
        Threads over the machines.
    points : mapping of str to (float, float), default=None
        The members and the factor of gamma and C of each, where they are known; None to choose
        them.
    """

    kernel: str
    ensemble: bool
    standardize: bool
    max_iter: int
    weight_rows: int
    path_rows: int
    copy_weight: float
    solver: SMO
    threads: int = 1
    points: Mapping[str, tuple[float, float]] | None = None


@dataclass(frozen=True)
class HingeMachines:
    """The machines of all members, and how they were found.

    Parameters
    ----------
    table : TrainingRows
        The rows in their own units.
    path_rows : ndarray of shape (m,)
        The numbers of the rows on which width and C were chosen.
    columns : UsedColumns
        The columns that vary, and their scale while learning.
    learned : dict of LearnedWeights
        The kernels whose weights were learned, by name.
    sources : dict of PairwiseKernel
        The kernels of all sources of weights, on scaled columns.
    paths : dict of Path
        The choice of width and C of each member.
    kernels : list of PairwiseKernel
        The kernel of each member, for columns as they come.
    solutions : list of list of Solution
        The machines of each member, on all rows.
    is_of_path : bool
        Whether these machines are those of the path, which had all rows.
    """

    table: TrainingRows
    path_rows: Index
    columns: UsedColumns
    learned: Mapping[str, LearnedWeights]
    sources: Mapping[str, PairwiseKernel]
    paths: Mapping[str, Path]
    kernels: Sequence[PairwiseKernel]
    solutions: Sequence[Sequence[Solution]]
    is_of_path: bool

    @property
    def left_out(self) -> Array:
        """Decisions without each row of the path, the mean over the members."""
        found = [path.best.left_out for path in self.paths.values()]
        mean: Array = np.mean([each for each in found if each is not None], axis=0)
        return mean

    @property
    def flat_solutions(self) -> list[Solution]:
        """All machines, member by member."""
        return [solution for own in self.solutions for solution in own]

    @property
    def flat_kernels(self) -> list[Kernel]:
        """The kernel of each machine."""
        pairs = zip(self.kernels, self.solutions, strict=True)
        return [kernel for kernel, own in pairs for _ in own]

    @property
    def importances(self) -> Array:
        """The share of each encoded column in the distances of the sources."""
        found = [self.scaling.comparable(kernel) for kernel in self.sources.values()]
        shares: Array = np.mean(found, axis=0)
        out: Array = shares / shares.sum()
        return out

    @property
    def scaling(self) -> Scaling:
        """The scale of the columns while learning."""
        return self.columns.scaling

    def part(self) -> HingePart:
        """Return the machines as they predict encoded rows."""
        flat, rows = self.flat_solutions, np.arange(len(self.table))
        vectors = SupportVectors.of(self.table.X, flat, [rows] * len(flat), self.table.classes)
        predictor = Predictor(
            vectors,
            np.array([solution.nu[0] for solution in flat]),
            tuple(self.flat_kernels),
            n_members=len(self.kernels),
        )
        return HingePart(predictor, self.left_out, self.importances)


@dataclass(frozen=True)
class HingePart:
    """The machines as a part of the mixture.

    Parameters
    ----------
    predictor : Predictor
        The machines.
    left_out : ndarray of shape (m, k)
        Leave-one-out decisions of the rows on which width and C were chosen.
    importances : ndarray of shape (d,)
        Share of each column in a distance, the mean over the sources of weights.
    """

    predictor: Predictor
    left_out: Array
    importances: Array

    @property
    def name(self) -> str:
        """The kind of part."""
        return "hinge"

    def decision_values(self, X: Array) -> Array:
        """Return the decisions on new encoded rows."""
        return self.predictor.decision_values(X)

    def additive_values(self, X: Array) -> None:
        """Return None: nothing is additive."""


def fit_hinge(
    table: TrainingRows,
    layout: ColumnLayout,
    settings: HingeSettings,
    random_state: Any,
    *,
    last: Any = None,
    progress: FitProgress | None = None,
) -> HingeMachines:
    """Learn weights, choose width and C of each member, and solve the machines on all rows.

    Parameters
    ----------
    table : TrainingRows
        The distinct rows, in their own units.
    layout : ColumnLayout
        What their columns are.
    settings : HingeSettings
        The settings.
    random_state : RandomState
        Picks rows where there are too many.
    last : tuple, default=None
        The columns that varied in the last fit and what it learned, where this one starts from it.
    progress : FitProgress, default=None
        Told of each step.

    Returns
    -------
    machines : HingeMachines
        The machines.
    """
    solver, threads = settings.solver, settings.threads
    columns = UsedColumns.of(table, layout, settings.standardize)
    scaling = columns.scaling
    rows = table.scaled(scaling)
    path_rows = rows.sample(settings.path_rows, random_state)
    weight_rows = path_rows.sample(settings.weight_rows, random_state)
    # 1. Weights: v = argmin log(R^2 ||w||^2) over weights and C, for each kernel.
    size = TINY + 1 if "learned" in (settings.points or {}) else len(table)
    learned = learn_kernels(
        kernel_names(settings.kernel, settings.ensemble, size, layout),
        weight_rows,
        columns,
        solver,
        max_evaluations=settings.max_iter,
        random_state=random_state,
        last=_last_weights(last, scaling),
        threads=threads,
        progress=progress,
    )
    # 2. Members: shrunk half-way to equal weights; by the energy distance; as learned.
    sources = weight_sources(learned, weight_rows, columns, settings.ensemble)
    members = members_of_sources(sources, learned, weight_rows, columns, random_state)
    # 3. Width and C of each member, by the decisions on rows that are left out.
    criterion = path_criterion(path_rows, settings.copy_weight, random_state)
    known = settings.points or {}
    paths = {
        name: width_path(name, kernel, criterion, solver.tol, threads, progress, known.get(name))
        for name, kernel in members.items()
    }
    # 4. The machines on all rows; those of the path, where the path had all rows.
    is_of_path = path_rows is rows and rows.groups is None
    solutions = [
        path.solutions
        if is_of_path
        else solve_everywhere(path, path_rows, rows, solver, threads, progress)
        for path in paths.values()
    ]
    return HingeMachines(
        table=table,
        path_rows=table.place[path_rows.first],
        columns=columns,
        learned=learned,
        sources=sources,
        paths=paths,
        kernels=[unscaled(path.kernel, scaling) for path in paths.values()],
        solutions=solutions,
        is_of_path=is_of_path,
    )


def _last_weights(last: Any, scaling: Scaling) -> dict[str, Array] | None:
    """Return the parameters that the last fit learned; None where other columns varied."""
    columns, thetas = (np.empty(0), None) if last is None else last
    return thetas if np.array_equal(columns, scaling.columns) else None
