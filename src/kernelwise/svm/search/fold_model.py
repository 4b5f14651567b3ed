"""The machines of a fold, solved for ascending C, and the fitted model that a scorer sees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from ..._blocks import square_block
from ..._typing import Array, Index
from ...kernels import Kernel
from ...qp import SMO, Solution, StoredGram
from ..base.grams import Grams
from ..base.kernel_spec import KernelSpec
from ..base.multiclass import ONE_VS_ONE
from ..base.predictor import Predictor
from ..base.progress import FitProgress
from ..base.task import FitTask, Fitted, Labels, Numbers, Targets
from ..paths.cost_path import CostMachine, CostPath, cost_path
from ..svc import SVC
from ..svr import SVR

TypeOf: TypeAlias = dict[float, Any]  # the precision of the matrix that each C needs
_BLOCK_ENTRIES = 4_000_000  # kernel values per block of rows, in float64
# The start of the first solve. It changes the time of the solve, not the solution.
_WORTH_A_LOOK = 512  # rows of a machine from which on it is checked whether C is small
_SOME_ROWS = 32  # rows on which that is checked
_MOST = 0.9  # share of these rows that must be short of their margin


class FoldModel:
    """Adds to an `SVC` or `SVR` that it knows its decision values on the rows of its fold.

    It does not warn of machines that did not converge: a search does so once for all its fits.
    """

    _known: Sequence[tuple[Any, Array]] = ()

    def _fit_machines(self, task: FitTask) -> Fitted:
        fitted: Fitted = super()._fit_machines(task)  # type: ignore[misc]
        return replace(fitted, warnings=())

    def _known_decisions(self, X: Any) -> Array | None:
        return next((values for rows, values in self._known if rows is X), None)


class FoldSVC(FoldModel, SVC):
    """A fitted SVC that knows its decision values on the rows of its fold."""

    def decision_function(self, X: Any) -> Array:
        """Return decision values, known ones without another evaluation of the kernel."""
        known = self._known_decisions(X)
        if known is None:
            return super().decision_function(X)
        return ONE_VS_ONE.scores(known, len(self.classes_), self.decision_function_shape)

    def predict(self, X: Any) -> Any:
        """Predict classes, from known decision values where there are any."""
        known = self._known_decisions(X)
        return super().predict(X) if known is None else self._winners(known, ONE_VS_ONE)


class FoldSVR(FoldModel, SVR):
    """A fitted SVR that knows its predictions on the rows of its fold."""

    def predict(self, X: Any) -> Array:
        """Predict the targets, known ones without another evaluation of the kernel."""
        known = self._known_decisions(X)
        if known is None:
            return super().predict(X)
        return known[:, 0] if self._is_flat_ else known


def as_fold_model(model: SVC | SVR) -> Any:
    """Return a copy of a model that may come to know decision values."""
    kind: Any = FoldSVC if isinstance(model, SVC) else FoldSVR
    out = kind.__new__(kind)
    out.__dict__.update(model.__dict__)
    return out


def can_share(model: Any) -> bool:
    """Return whether a search can solve the machines of a model itself."""
    return type(model) is SVR or (type(model) is SVC and model.probability == "deprecated")


@dataclass(frozen=True)
class FoldProblem:
    """The machines of a kernel on the training rows of a fold."""

    model: Any  # the fold model to fit, with its classes and its kernel
    X: Any  # (n, d), all rows, of which the fold has some
    y: Array  # the targets of the training rows, as the user gave them
    rows: Index  # (m,), the training rows of positive weight, ascending
    targets: Targets

    @classmethod
    def of(
        cls, model: SVC | SVR, X: Any, y: Array, train: Index, sample_weight: Any
    ) -> FoldProblem:
        """Set up the machines that a fit of the training rows alone would solve."""
        fold, spec = as_fold_model(model), KernelSpec.of(model)
        targets: Targets
        if isinstance(model, SVC):
            targets = Labels.of(y[train], sample_weight, fold.class_weight, ONE_VS_ONE)
            fold.classes_, fold.class_weight_ = targets.names, targets.class_weight
        else:
            targets = Numbers.of(y[train], sample_weight)
        # In runs, where rows lie in runs.
        targets = targets.in_order(np.argsort(train[targets.rows], kind="stable"))
        rows = train[targets.rows]
        fold.kernel_ = spec.resolve(_some(fold, X, rows), targets.sample_weight)
        fold.shape_fit_ = (len(train), len(train) if spec.is_precomputed else X.shape[1])
        if hasattr(fold, "n_features_in_"):
            fold.n_features_in_ = fold.shape_fit_[1]
        return cls(fold, X, y[train], rows, targets)

    @property
    def kernel(self) -> Kernel:
        """The kernel."""
        kernel: Kernel = self.model.kernel_
        return kernel

    def bound(self, C: float) -> float:
        """Return the largest coefficient that a C allows."""
        return C * self._largest_factor

    @cached_property
    def _largest_factor(self) -> float:
        return float(self.targets.cost_factor.max())

    @cached_property
    def members(self) -> list[Index]:
        """The places in ``rows`` of the rows of each machine."""
        return self.targets.members

    def paths(self, costs: Sequence[float], grams: Grams) -> list[CostPath]:
        """Solve machine by machine: the kernel of its rows is gathered once for all C."""
        model, progress = self.model, FitProgress.of(self.model)
        is_psd, n_machines = self.kernel.is_psd, len(self.members)
        types = self._types(costs, grams)
        found = []
        for j, members in enumerate(self.members):
            gram = self._blocks(members, types, grams)
            y = self.targets.Y[members, j].astype(np.float64)
            factor, report = self.targets.cost_factor[members], progress.of_machine(j, n_machines)
            solver = SMO(tol=model.tol, max_iter=model.max_iter, exact=False, callback=report)
            start = None
            if isinstance(model, SVR):
                machine = CostMachine.of_numbers(y, factor, model.epsilon, costs)
            else:
                machine = CostMachine.of(y, factor, costs)
                start = _all_bounded(gram(costs[0]), y, costs[0] * factor) if is_psd else None
            found.append(cost_path(gram, machine, solver, start=start, warm=is_psd, stretch=True))
        return found

    def _blocks(self, members: Index, types: TypeOf, grams: Grams) -> Callable[[float], StoredGram]:
        """Return the matrix of a machine's rows, in the precision that C needs."""
        rows = self.rows[members]
        made: dict[Any, StoredGram] = {}

        def gram(C: float) -> StoredGram:
            if types[C] not in made:
                made.clear()  # C ascends: a coarser matrix is not needed any more
                block = square_block(grams.stored(self.kernel, self.bound(C)), rows)
                made[types[C]] = StoredGram(block, self.kernel.is_psd)
            return made[types[C]]

        return gram

    def _types(self, costs: Sequence[float], grams: Grams) -> TypeOf:
        """Return the precision that each C needs."""
        return {C: grams.dtype(self.kernel, self.bound(C)) for C in costs}

    def decisions(self, paths: Sequence[CostPath], rows: Index, grams: Grams) -> list[Array]:
        """Return the decision values of all machines on some of all rows, for each C."""
        costs = [step.C for step in paths[0].steps]
        types = self._types(costs, grams)
        out: list[Array] = []
        for dtype in sorted(set(types.values()), key=lambda each: each.itemsize):
            own = [c for c, C in enumerate(costs) if types[C] == dtype]
            K = grams.stored(self.kernel, self.bound(costs[own[0]]))
            out += self._decisions(paths, rows, own, K)
        return out

    def _decisions(
        self, paths: Sequence[CostPath], rows: Index, own: Sequence[int], K: Array
    ) -> list[Array]:
        beta: Any = np.zeros((len(self.rows), len(own), len(paths)))
        for place, c in enumerate(own):
            for j, members in enumerate(self.members):
                beta[members, place, j] = paths[j][c].solution.beta
        beta = beta.reshape(len(beta), -1)
        support = np.flatnonzero(beta.any(axis=1))
        columns, beta = self.rows[support], beta[support]
        values: Any = np.empty((len(rows), beta.shape[1]))
        height = max(1, _BLOCK_ENTRIES // max(1, len(columns)))
        for start in range(0, len(rows), height):
            some = slice(start, start + height)
            block = np.take(K[rows[some]], columns, axis=1)
            values[some] = block.astype(np.float64, copy=False) @ beta
        values = values.reshape(len(rows), len(own), len(paths))
        intercepts = np.array([[path[c].solution.nu[0] for path in paths] for c in own])
        return list(np.moveaxis(values + intercepts, 1, 0))

    def fitted(
        self, C: float, solutions: Sequence[Solution], known: Sequence[tuple[Any, Array]]
    ) -> Any:
        """Return the fitted model of some solutions; it knows decision values on some arrays."""
        model = as_fold_model(self.model)
        order = np.argsort(self.targets.rows)  # the order of the training rows
        task = FitTask(
            X=model._reader().take(self.X, self.rows[order]),
            targets=self.targets.in_order(order),
            kernel=self.kernel,
            progress=FitProgress(model),
            threads=1,
            given=(None, self.y, None),
        )
        place = np.argsort(order)
        members = [place[each] for each in self.members]
        fitted = Fitted(Predictor.of(task, solutions, members=members), solutions)
        own = {"C": C, "_known": known, "shape_fit_": model.shape_fit_}
        model.__dict__.update(model._common_attributes(task, fitted) | own)
        return model


def _some(model: SVC | SVR, X: Any, rows: Index) -> Any:
    """Return the rows where a kernel depends on their values, else any of as many columns."""
    return X[rows] if isinstance(model.gamma, str) and isinstance(model.kernel, str) else X[:1]


def _all_bounded(gram: StoredGram, y: Array, costs: Array) -> Array | None:
    """Return the solution for a small C, at which every row is short of its margin; else None."""
    n = len(y)
    if n < _WORTH_A_LOOK:
        return None
    upper, lower = np.maximum(0, y * costs), np.minimum(0, y * costs)
    up, down = float(upper.sum()), -float(lower.sum())
    total = min(up, down)
    if not np.isfinite(total):
        return None
    beta = upper * (total / up) + lower * (total / down)
    some = np.linspace(0, n - 1, _SOME_ROWS).astype(int)
    short = np.abs(gram.block(some, np.arange(n)) @ beta) < 1
    return beta if short.mean() >= _MOST else None
