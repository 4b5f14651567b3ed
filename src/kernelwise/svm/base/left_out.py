"""Decision values of training rows by machines that did not have them, without fitting again.

A machine is solved again without a fifth of its rows at a time, at the kernel and C of the fit and
from the coefficients of the fit. The bounds of the rows that are left out are zero: all machines
share one kernel matrix, and K b holds the decision values of these rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from ..._threads import run, single_blas
from ..._typing import Array, Flags, Gram, Index, Matrix
from ...kernels import FunctionKernel, Precomputed
from ...qp import SMO, Adatron, DualQP, Solution, c_svc, hard_margin
from ...qp.gram import as_gram
from ...qp.problem import ridged
from .grams import Grams
from .predictor import Predictor
from .task import FitTask

N_FOLDS = 5  # folds that the rows are dealt out to
_MANY_COPIES = 10  # equal rows from which on they are left out one by one
_ENOUGH = 1000  # rows from which on no further fold is left out
_POLISH = 1e5  # kernel values spent on exactness of each fold, over all machines
_SHARED = 400  # rows up to which the machines share one stored matrix

# Solves the machines again on the rows to keep; returns the decision values of the rows that each
# machine has in the fit, whether or not they are left out here.
Decide: TypeAlias = Callable[[Flags], Sequence[Array]]
# Returns a machine's problem, from its number, its kernel matrix and which of its rows to keep.
Without: TypeAlias = Callable[[int, Array | Gram, Flags], DualQP]


@dataclass(frozen=True)
class LeftOutDecisions:
    """Decision values of rows that were left out."""

    rows: Index  # (m,), the rows of the task
    decisions: Array  # (m, n_machines)


def needs_calibration(method: str) -> Callable[[Any], bool]:
    """Return a check that an estimator asks for left-out rows, as a method of it needs."""

    def check(estimator: Any) -> bool:
        if getattr(estimator, "calibration", None) is None:
            raise AttributeError(
                f"{method} is not available with calibration=None; fit with calibration='loo'."
            )
        return True

    return check


def left_out_decisions(task: FitTask, outside: Array, decide: Decide) -> LeftOutDecisions:
    """Compute the decision values of rows by machines without them, fold by fold.

    Many rows need not all be left out: the folds end once there are a thousand.

    ``task``: the task that the machines solve. ``outside`` (n, n_machines): decision values of the
    fit, for the rows that are outside a machine anyway. ``decide``: solves the machines again on
    the rows to keep, and returns the decision values of the rows of each machine.
    """
    decisions, held = np.array(outside), []
    with single_blas():
        for fold in deal_task(task, N_FOLDS):
            kept = np.ones(len(outside), dtype=bool)
            kept[fold] = False
            for j, values in enumerate(decide(kept)):
                own = task.members[j]
                here = ~kept[own]
                decisions[own[here], j] = values[here]
            held.append(fold)
            if sum(map(len, held)) >= _ENOUGH:
                break
    if not held:
        raise ValueError(
            "calibration needs two different rows at least, of each class if there are any; got "
            f"n_samples = {len(outside)}."
        )
    rows = np.sort(np.concatenate(held))
    return LeftOutDecisions(rows, decisions[rows])


def deal_task(task: FitTask, n_folds: int) -> list[Index]:
    """Deal the rows of each class out to folds, equal rows together.

    Rows with many copies are dealt one by one, as new rows will be copies of them, too. The only
    row of a class is in no fold.

    Returns ``folds``, the rows of each fold; there are fewer folds where there are few rows.
    """
    place, n_groups = _equal_rows(task)
    sizes = np.bincount(task.classes, task.sample_weight)
    rarest = np.full(n_groups, len(sizes))  # classes in the order of their sizes
    np.minimum.at(rarest, place, np.argsort(np.argsort(sizes))[task.classes])
    order = np.random.default_rng(0).permutation(n_groups)
    order = order[np.argsort(rarest[order], kind="stable")]
    fold_of = np.empty(n_groups, dtype=np.intp)
    fold_of[order] = np.arange(n_groups) % n_folds
    spread = np.unique(np.column_stack([place, task.classes]), axis=0)[:, 1]
    only = np.bincount(spread)[task.classes] < 2
    fold_of[place[only]] = -1
    folds = [np.flatnonzero(fold_of[place] == number) for number in range(n_folds)]
    return [fold for fold in folds if len(fold)]


def _equal_rows(task: FitTask) -> tuple[Index, int]:
    """Return a number for each row that rows to leave out together share, and their number."""
    n, X = len(task.classes), task.X
    if isinstance(task.kernel, FunctionKernel | Precomputed):
        return np.arange(n), n
    if sp.issparse(X):  # two projections tell sparse rows apart
        X = X @ np.random.default_rng(0).normal(size=(X.shape[1], 2))
    table = np.ascontiguousarray(X) + 0.0  # minus zero is zero
    contents = table.view([("", table.dtype)] * table.shape[1]).ravel()
    place = np.unique(contents, return_inverse=True)[1]
    common = np.bincount(place)[place] >= _MANY_COPIES
    place[common] = n + np.arange(int(common.sum()))
    numbers, place = np.unique(place, return_inverse=True)
    return place, len(numbers)


def kernel_machines_left_out(
    task: FitTask,
    predictor: Predictor,
    solutions: Sequence[Solution],
    C: float | Array,
    *,
    rows: Matrix | None = None,
    tol: float = 1e-3,
    bias: bool = True,
) -> LeftOutDecisions:
    """Compute the decision values of rows by machines of two classes without them.

    Shapes: ``C`` (n_machines,). ``task``: the task that the machines solve. ``predictor``: the
    machines, as they predict. ``rows`` (n, d): the rows as the kernels read them; None for those of
    the task. ``tol``: the tolerance of the machines. ``bias``: whether the machines have an
    intercept.
    """
    costs = np.broadcast_to(C, len(solutions))

    def without(j: int, K: Array | Gram, kept: Flags) -> DualQP:
        own = task.members[j]
        y, cost = np.where(kept, task.Y[own, j], 0.0), costs[j] * task.cost_factor[own]
        if predictor.loss == "squared":
            return hard_margin(as_gram(ridged(np.asarray(K), cost)), y, bias=bias)
        return c_svc(as_gram(K, predictor.kernels[j].is_psd), y, cost, bias=bias)

    bounds = [float(costs[j] * task.cost_factor[own].max()) for j, own in enumerate(task.members)]
    return solved_without(
        task, predictor, solutions, without, bounds, rows=rows, tol=tol, bias=bias
    )


def solved_without(
    task: FitTask,
    predictor: Predictor,
    solutions: Sequence[Solution],
    without: Without,
    bounds: Sequence[float],
    *,
    rows: Matrix | None = None,
    tol: float = 1e-3,
    bias: bool = True,
) -> LeftOutDecisions:
    """Compute the decision values of rows by kernel machines without them.

    ``without``: returns the problem of a machine on some of its rows. ``bounds`` (n_machines,): the
    largest coefficient of each. The other arguments are those of `kernel_machines_left_out`.
    """
    Z, members = task.X if rows is None else rows, task.members
    grams = Grams(Z, tol=tol, n_machines=len(solutions), share=len(task.classes) <= _SHARED)
    solver: Any = SMO(tol=tol, budget=_POLISH / len(solutions)) if bias else Adatron(tol=tol)

    def decide(kept: Flags) -> list[Array]:
        def decide_one(j: int) -> Array:
            own = members[j]
            here = kept[own]
            qp = without(j, grams.machine(predictor.kernels[j], own, bounds[j]), here)
            solution = solver.solve(qp, start=np.where(here, solutions[j].beta, 0.0))
            values: Array = solution.gradient + qp.p
            return values + solution.nu[0] if bias else values

        return run(decide_one, range(len(solutions)), task.threads)

    for kernel in predictor.kernels:
        grams.prepare(kernel)
    outside = predictor.decision_values(task.X, task.threads)
    return left_out_decisions(task, outside, decide)
