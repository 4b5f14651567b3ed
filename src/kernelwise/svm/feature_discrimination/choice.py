"""Width, C and eta by held-out rows, in two stages instead of a grid of three dimensions.

stage 1   the plain machine:   for each width,            C ascending    -> the width
stage 2   at that width:       for each measure and eta,  C ascending    -> the measure, eta and C

The measures use labels, so that they are taken inside each fold, on the rows not held out. One
eigendecomposition of a fold's kernel serves all measures, eta and C.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ..._threads import run
from ..._typing import Array, Index
from ...kernels import Kernel, LazyGram, Linear
from ...qp import SMO
from ..base.grams import square_block
from ..base.task import FitTask
from ..paths.kernel_grid import DistinctRows, KernelGrid
from ..paths.selection import deal
from ..paths.walk import PathGrams
from .folds import FAILURES, SOLVES, STEPS, WRONG, Fold, Rows
from .space import Measuring, Space, takes_components

ETAS = (0.0, 1.0, 2.0, 4.0, 8.0, 16.0)
COSTS = tuple(10.0**power for power in range(-3, 4))
_ROUNDING = 9  # decimals of an error: sums of weights in another order are no better or worse
_WITH_WIDTHS = {"rbf", "laplacian", "matern32", "matern52"}


@dataclass(frozen=True)
class Point:
    """What the rows held out say of one choice.

    Parameters
    ----------
    stage : int
        1 for the plain machine, 2 for one with weighted features.
    importance : int
        Which of the measures, in the order given.
    gamma : float
        The inverse width; NaN for a kernel without one.
    eta : float
        How much the measures count.
    C : float
        The cost.
    held_out_error : float
        The part of the rows held out that is decided wrongly.
    n_iter : int
        Steps of the solver.
    n_solves : int
        Machines solved: none where those of a smaller C were known to stay.
    converged : bool
        Whether all machines reached the tolerance.
    """

    stage: int
    importance: int
    gamma: float
    eta: float
    C: float
    held_out_error: float
    n_iter: int
    n_solves: int
    converged: bool

    @property
    def order(self) -> tuple[bool, float, float, float, float, int]:
        """What the choice sorts by: on ties smaller eta, smaller C, the wider kernel."""
        error = round(self.held_out_error, _ROUNDING)
        gamma = 0.0 if np.isnan(self.gamma) else self.gamma
        return not self.converged, error, self.eta, self.C, gamma, self.importance


@dataclass(frozen=True)
class Choice:
    """What was chosen, and what it was chosen from."""

    kernel: Kernel
    point: Point
    points: list[Point] = field(repr=False)

    def table(self, names: Sequence[Any]) -> dict[str, Array]:
        """Return the points as columns of equal length; measures by their names."""
        points = self.points
        columns = {f.name: np.array([getattr(p, f.name) for p in points]) for f in fields(Point)}
        named = ["" if p.stage == 1 else str(names[p.importance]) for p in self.points]
        return columns | {"importance": np.array(named)}


class TwoStages:
    """The choice of an estimator whose ``eta`` is "cv".

    Parameters
    ----------
    svc : FeatureDiscriminationSVC
        The parameters.
    kernel : Kernel
        The kernel that they describe.
    rows : Rows
        The rows to choose by.
    measures : sequence
        The measures to choose from.
    folds : list of Fold
        What is held out in turn.
    threads : int
        Threads over the folds.
    """

    def __init__(
        self,
        svc: Any,
        kernel: Kernel,
        rows: Rows,
        measures: Sequence[Any],
        folds: list[Fold],
        threads: int,
    ) -> None:
        self.kernel = kernel
        self.svc, self.rows, self.measures, self.threads = svc, rows, measures, threads
        self.folds, self.total = folds, sum(rows.counts[fold.held].sum() for fold in folds)
        self.measuring = Measuring.of(svc)
        self.costs = _ascending("costs", svc.costs, COSTS, least=np.finfo(np.float64).tiny)
        self.etas = _ascending("etas", svc.etas, ETAS, least=0.0)
        # A point that takes more steps than these is no good one; there are many of them.
        most = svc.max_iter if svc.max_iter >= 0 else max(100_000, 1000 * len(rows.classes))
        self.solver = SMO(tol=svc.tol, max_iter=most, exact=False)

    def choose(self) -> Choice:
        """Go through both stages."""
        kernels = self._kernels()
        plain = self.plain(kernels)
        gamma = min(plain, key=lambda point: point.order).gamma
        kernel = kernels[0] if np.isnan(gamma) else _with_gamma(kernels, gamma)
        later = self.weighted(kernel)
        # Without weights the machine of stage 1 is that of eta = 0, unless the trace scales it.
        alike = [p for p in plain if p.gamma == gamma or np.isnan(gamma)] if self._is_plain else []
        chosen = min([*alike, *later], key=lambda point: point.order)
        return Choice(kernel, chosen, [*plain, *later])

    @property
    def _is_plain(self) -> bool:
        return self.svc.normalization == "inverse" and 0 in self.etas

    def _kernels(self) -> tuple[Kernel, ...]:
        """Return the kernels of stage 1, from narrow to wide."""
        svc = self.svc
        walks = isinstance(svc.kernel, str) and svc.kernel in _WITH_WIDTHS
        if not walks or not isinstance(svc.gamma, str):
            return (self.kernel,)
        wanted = SimpleNamespace(parameter="gamma", values=None, widths=svc.widths)
        return KernelGrid.of(wanted, self.kernel, self.rows.X, self.rows.counts).kernels

    def plain(self, kernels: Sequence[Kernel]) -> list[Point]:
        """Judge the plain machines of some kernels."""
        grams = PathGrams(kernels, self.rows.X, self.threads)
        starts: list[Any] = [None] * len(self.folds)
        points: list[Point] = []
        for kernel in kernels:
            whole = None if self._cuts(kernel) else grams.of(kernel)
            walked = self._plain(kernel, whole, starts)
            starts = [firsts for _, firsts in walked]
            tally = np.sum([own for own, _ in walked], axis=0)
            points += self._points(tally, 1, 0, _gamma(kernel), 0.0)
        return points

    def _plain(self, kernel: Kernel, whole: Any, starts: list[Any]) -> list[tuple[Array, Any]]:
        """Return the tally and the next starts of each fold, all of which share a matrix."""

        def walk(number: int) -> tuple[Array, Any]:
            fold = self.folds[number]
            K = self._cut_gram(kernel, fold) if whole is None else whole
            return fold.walk(
                lambda _, rows: _block(K, rows), self.costs, self.solver, starts[number]
            )

        return run(walk, range(len(self.folds)), self.threads)

    def _cuts(self, kernel: Kernel) -> bool:
        """Tell whether components are left out, so that the kernel is that of what remains."""
        return self.svc.n_components is not None and takes_components(self.svc, kernel)

    def _cut_gram(self, kernel: Kernel, fold: Fold) -> Array:
        Z = self._features(self._space(kernel, fold), fold)
        return Z @ Z.T

    def weighted(self, kernel: Kernel) -> list[Point]:
        """Judge the machines of all measures and eta, with one kernel."""
        etas = [eta for eta in self.etas if eta > 0 or not self._is_plain]
        settings = [(m, eta) for m in range(len(self.measures)) for eta in etas]
        tallies = run(lambda fold: self._weighted(kernel, fold, etas), self.folds, self.threads)
        points: list[Point] = []
        for (measure, eta), tally in zip(settings, np.sum(tallies, axis=0), strict=True):
            points += self._points(tally, 2, measure, _gamma(kernel), eta)
        return points

    def _weighted(self, kernel: Kernel, fold: Fold, etas: Sequence[float]) -> Array:
        """Return a tally for each measure and eta, of one fold."""
        rows, train = self.rows, fold.train
        space = self._space(kernel, fold)
        Z = self._features(space, fold)
        tallies, known = [], (rows.y[train], rows.Y[train], rows.counts[train])
        for measure in self.measures:
            q = self.measuring.importances(measure, space.training, *known)
            starts = None
            for eta in etas:
                made = [space.weighted(self.measuring.scales(each, eta)) for each in q]

                def gram(j: int, some: Index, made: list[Kernel] = made) -> Array:
                    return LazyGram(made[j if len(made) > 1 else 0], Z[some]).dense(np.float64)

                tally, starts = fold.walk(gram, self.costs, self.solver, starts)
                tallies.append(tally)
        return np.array(tallies).reshape(-1, len(self.costs), 4)

    def _space(self, kernel: Kernel, fold: Fold) -> Space:
        """Return the space of the rows not held out; this is the eigendecomposition."""
        return Space.of(self.svc, kernel, self.rows.X[fold.train], self.rows.counts[fold.train])

    def _features(self, space: Space, fold: Fold) -> Array:
        """Return the features of all rows, in a space made from those not held out."""
        X = self.rows.X
        if space.map is None:
            return X
        Z = np.zeros((len(X), space.training.shape[1]))  # rows of neither part are not read
        Z[fold.train], Z[fold.held] = space.training, space.features(X[fold.held])
        return Z

    def _points(
        self, tally: Array, stage: int, measure: int, gamma: float, eta: float
    ) -> list[Point]:
        return [
            Point(
                stage=stage,
                importance=measure,
                gamma=gamma,
                eta=float(eta),
                C=float(C),
                held_out_error=float(own[WRONG] / self.total),
                n_iter=int(own[STEPS]),
                n_solves=int(own[SOLVES]),
                converged=not own[FAILURES],
            )
            for C, own in zip(self.costs, tally, strict=True)
        ]


def choose(
    svc: Any, measures: Sequence[Any], task: FitTask, splits: list[list[Index]] | None
) -> Choice:
    """Choose the width, C, eta and measure of an estimator; None is folds of our own."""
    X, classes, counts, labels = task.X, task.classes, task.sample_weight, task.labels

    def rows_of(some: Index, counts: Array) -> Rows:
        own = classes[some]
        price = counts * labels.class_weight[own]
        names = labels.names
        return Rows(X[some], names[own], own, task.Y[some], counts, price, len(names))

    if splits is None:
        random_state = check_random_state(svc.random_state)
        kinds = DistinctRows.of(task.kernel, X, classes, counts)
        kinds = kinds.at_most(svc.max_rows, classes, random_state)
        rows = rows_of(kinds.first, kinds.counts)
        n_folds = min(int(svc.cv), len(rows.classes))
        folds = [Fold(rows, held) for held in deal(rows.classes, n_folds, random_state)]
    else:
        rows = rows_of(np.arange(len(classes)), counts)
        folds = [Fold(rows, held, train) for train, held in splits]
    return TwoStages(svc, task.kernel, rows, measures, folds, task.threads).choose()


def _ascending(name: str, values: Any, default: Sequence[float], least: float) -> list[float]:
    """Return the candidates of a parameter once each, in ascending order."""
    try:
        out = np.unique(np.asarray(default if values is None else values, dtype=np.float64))
    except (TypeError, ValueError):
        out = np.full(1, np.nan)
    if len(out) == 0 or not np.isfinite(out).all() or out[0] < least:
        kind = "positive" if least > 0 else "not negative"
        raise ValueError(f"{name} must be finite numbers, {kind}; got {values!r}.")
    return [float(value) for value in out]


def _block(K: Array, rows: Index) -> Array:
    return K if len(rows) == len(K) else square_block(K, rows)


def _gamma(kernel: Any) -> float:
    """Return the inverse width; NaN for kernels without one, and linear ones need none."""
    return float("nan") if isinstance(kernel, Linear) else float(getattr(kernel, "gamma", np.nan))


def _with_gamma(kernels: Sequence[Any], gamma: float) -> Kernel:
    found: Kernel = next(kernel for kernel in kernels if kernel.gamma == gamma)
    return found
