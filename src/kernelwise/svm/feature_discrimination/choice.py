"""Width, C and eta by held-out rows: in two stages, or jointly on a grid of three dimensions.

stages   the plain machine:   for each width,            C ascending    -> the width
         at that width:       for each measure and eta,  C ascending    -> the measure, eta and C
joint    for each width, measure and eta, C ascending                   -> all four

The measures use labels, so that they are taken inside each fold, on the rows not held out. One
eigendecomposition of a fold's kernel serves all measures, eta and C.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from ..._blocks import square_block
from ..._threads import run
from ..._typing import Array, Index
from ...kernels import Kernel, LazyGram, Linear
from ...qp import SMO
from ..base.grams import Grams
from ..paths.rows import TrainingRows
from .folds import FAILURES, SOLVES, STEPS, WRONG, Fold
from .space import ScaledSpace, ScaleRule, SpaceRule

ETAS = (0.0, 1.0, 2.0, 4.0, 8.0, 16.0)
COSTS = tuple(10.0**power for power in range(-3, 4))
_MOST_SPREAD = 1e8  # ratio of scales from which float64 has no digits left for the smallest square
_ROUNDING = 9  # decimals of an error that count: weights may be summed in another order


@dataclass(frozen=True)
class ChoicePoint:
    """One choice, and its error on rows that were held out."""

    stage: int  # 1 for the plain machine, 2 for one with weighted features
    importance: int  # which of the measures, in the order given
    gamma: float  # the inverse width; NaN for a kernel without one
    eta: float  # how much the measures count
    C: float
    held_out_error: float  # the part of the rows held out that is decided wrongly
    n_iter: int  # steps of the solver
    n_solves: int  # machines solved: none where those of a smaller C were known to stay
    converged: bool  # whether all machines reached the tolerance

    @property
    def order(self) -> tuple[bool, float, float, float, float, int]:
        """Key of the choice: on ties smaller eta, smaller C, the wider kernel."""
        error = round(self.held_out_error, _ROUNDING)
        gamma = 0.0 if np.isnan(self.gamma) else self.gamma
        return not self.converged, error, self.eta, self.C, gamma, self.importance


@dataclass(frozen=True)
class ParameterChoice:
    """The chosen point and kernel, and all points that were tried."""

    kernel: Kernel
    point: ChoicePoint
    points: list[ChoicePoint] = field(repr=False)

    def table(self, names: Sequence[Any]) -> dict[str, Array]:
        """Return the points as columns of equal length; measures by their names."""
        points = self.points
        columns = {
            f.name: np.array([getattr(p, f.name) for p in points]) for f in fields(ChoicePoint)
        }
        named = ["" if p.stage == 1 else str(names[p.importance]) for p in self.points]
        return columns | {"importance": np.array(named)}


@dataclass(frozen=True)
class ChoiceGrid:
    """The values to choose from."""

    measures: Sequence[Any]
    etas: Sequence[float]  # the values of eta and C, ascending
    costs: Sequence[float]

    @classmethod
    def of(cls, measures: Sequence[Any], etas: Any, costs: Any) -> ChoiceGrid:
        """Check the values; None is the default."""
        positive = np.finfo(np.float64).tiny
        return cls(
            measures,
            etas=_ascending("etas", etas, ETAS, least=0.0),
            costs=_ascending("costs", costs, COSTS, least=positive),
        )


@dataclass(frozen=True)
class HeldOutSearch:
    """The choice of width, C, eta and measure."""

    rows: TrainingRows  # the rows to choose by
    labels: Any  # (n_classes,), the classes, for measures that the user gave
    folds: list[Fold]  # the rows that are held out in turn
    grid: ChoiceGrid  # the values to choose from
    space: SpaceRule  # which features are weighted
    scales: ScaleRule  # how they are measured and scaled
    solver: SMO
    threads: int  # threads over the folds

    def jointly(self, kernels: Sequence[Kernel]) -> ParameterChoice:
        """Score every kernel with every measure, eta and C (section 4 of the paper)."""
        points = self.plain(kernels) if self._is_plain else []
        for kernel in kernels:
            points += self.weighted(kernel)
        chosen = min(points, key=lambda point: point.order)
        return ParameterChoice(_with_gamma(kernels, chosen.gamma), chosen, points)

    def in_stages(self, kernels: Sequence[Kernel]) -> ParameterChoice:
        """Go through both stages, with kernels from narrow to wide."""
        plain = self.plain(kernels)
        gamma = min(plain, key=lambda point: point.order).gamma
        kernel = _with_gamma(kernels, gamma)
        later = self.weighted(kernel)
        # Without weights the machine of stage 1 is that of eta = 0, unless the trace scales it.
        alike = [p for p in plain if p.gamma == gamma or np.isnan(gamma)] if self._is_plain else []
        chosen = min([*alike, *later], key=lambda point: point.order)
        return ParameterChoice(kernel, chosen, [*plain, *later])

    @property
    def _is_plain(self) -> bool:
        return self.scales.normalization == "inverse" and 0 in self.grid.etas

    def plain(self, kernels: Sequence[Kernel]) -> list[ChoicePoint]:
        """Score the plain machines of some kernels."""
        rows, threads = self.rows, self.threads
        grams = Grams(rows.X, tol=self.solver.tol, threads=threads, kernels=kernels, precise=True)
        starts: list[Any] = [None] * len(self.folds)
        points: list[ChoicePoint] = []
        for kernel in kernels:
            cuts = self.space.cuts(kernel)
            if not cuts:
                grams.prepare(kernel)

            def tally(
                number: int, kernel: Any = kernel, cuts: bool = cuts, starts: Any = starts
            ) -> Any:
                fold = self.folds[number]
                gram = self._cut_gram(kernel, fold) if cuts else _blocks(grams, kernel)
                return self._tally(fold, gram, starts[number])

            found = run(tally, range(len(self.folds)), threads)
            grams.forget(kernel)
            starts = [firsts for _, firsts in found]
            points += self._points(sum(own for own, _ in found), 1, 0, _gamma(kernel), 0.0)
        return points

    def _cut_gram(self, kernel: Kernel, fold: Fold) -> Callable[[int, Index], Array]:
        """Return the matrix of a kernel without the components that are left out."""
        Z = self._features(self._space(kernel, fold), fold)
        K = Z @ Z.T
        return lambda _, rows: K if len(rows) == len(K) else square_block(K, rows)

    def _tally(self, fold: Fold, gram: Any, starts: Any) -> tuple[Array, list[Any]]:
        return fold.tally(gram, self.grid.costs, self.solver, len(self.labels), starts)

    def weighted(self, kernel: Kernel) -> list[ChoicePoint]:
        """Score the machines of all measures and eta, with one kernel."""
        etas = [eta for eta in self.grid.etas if eta > 0 or not self._is_plain]
        settings = [(m, eta) for m in range(len(self.grid.measures)) for eta in etas]
        tallies = run(lambda fold: self._weighted(kernel, fold, etas), self.folds, self.threads)
        points: list[ChoicePoint] = []
        for (measure, eta), tally in zip(settings, np.sum(tallies, axis=0), strict=True):
            points += self._points(tally, 2, measure, _gamma(kernel), eta)
        return points

    def _weighted(self, kernel: Kernel, fold: Fold, etas: Sequence[float]) -> Array:
        """Return a tally for each measure and eta, of one fold."""
        rows, train = self.rows, fold.train
        space = self._space(kernel, fold)
        Z = self._features(space, fold)
        known = self.labels[rows.classes[train]], rows.Y[train], rows.sample_weight[train]
        tallies = []
        for measure in self.grid.measures:
            q = self.scales.importances(measure, space.training, *known)
            starts = None
            for eta in etas:
                scales = [self.scales.scales(each, eta) for each in q]
                if any(each.max() > _MOST_SPREAD * each.min() for each in scales):
                    tallies.append(self._untried(fold))
                    continue
                made = [space.weighted(each) for each in scales]

                def gram(j: int, some: Index, made: list[Kernel] = made) -> Array:
                    return LazyGram(made[j if len(made) > 1 else 0], Z[some]).dense(np.float64)

                tally, starts = self._tally(fold, gram, starts)
                tallies.append(tally)
        return np.array(tallies).reshape(-1, len(self.grid.costs), 4)

    def _untried(self, fold: Fold) -> Array:
        """Return the tally of machines that cannot be computed: none right, none converged."""
        tally = np.zeros((len(self.grid.costs), 4))
        tally[:, WRONG] = self.rows.sample_weight[fold.held].sum()
        tally[:, FAILURES] = len(fold.machines)
        return tally

    def _space(self, kernel: Kernel, fold: Fold) -> ScaledSpace:
        """Return the space of the rows not held out; this is the eigendecomposition."""
        rows, train = self.rows, fold.train
        return self.space.space(kernel, rows.X[train], rows.sample_weight[train])

    def _features(self, space: ScaledSpace, fold: Fold) -> Array:
        """Return the features of all rows, in a space made from those not held out."""
        X = self.rows.X
        if space.map is None:
            return X
        Z = np.zeros((len(X), space.training.shape[1]))  # rows of neither part are not read
        Z[fold.train], Z[fold.held] = space.training, space.features(X[fold.held])
        return Z

    def _points(
        self, tally: Array, stage: int, measure: int, gamma: float, eta: float
    ) -> list[ChoicePoint]:
        total = sum(self.rows.sample_weight[fold.held].sum() for fold in self.folds)
        return [
            ChoicePoint(
                stage=stage,
                importance=measure,
                gamma=gamma,
                eta=float(eta),
                C=float(C),
                held_out_error=float(own[WRONG] / total),
                n_iter=int(own[STEPS]),
                n_solves=int(own[SOLVES]),
                converged=not own[FAILURES],
            )
            for C, own in zip(self.grid.costs, tally, strict=True)
        ]


def _blocks(grams: Grams, kernel: Kernel) -> Callable[[int, Index], Any]:
    return lambda _, rows: grams.machine(kernel, rows)


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


def _gamma(kernel: Any) -> float:
    """Return the inverse width; NaN for kernels without one, and linear ones need none."""
    return float("nan") if isinstance(kernel, Linear) else float(getattr(kernel, "gamma", np.nan))


def _with_gamma(kernels: Sequence[Kernel], gamma: float) -> Kernel:
    """Return the kernel of an inverse width; a kernel without one is the only one."""
    if np.isnan(gamma):
        return kernels[0]
    return next(kernel for kernel in kernels if _gamma(kernel) == gamma)
