"""Decision values of training rows by machines that did not have them, without fitting again.

A machine is solved again without a fifth of its rows at a time, at the kernel and C of the fit and
from the coefficients of the fit. The rows that are left out have the code 0, which makes their
bounds zero: all machines share one kernel matrix, and K b holds the decision values of these rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from ..._threads import run, single_blas
from ..._typing import Array, Codes, Index, Matrix
from ...kernels import FunctionKernel, Precomputed
from ...qp import SMO, Adatron, Solution, c_svc, hard_margin
from ...qp.builders import ridged
from .grams import Grams
from .predictor import Predictor
from .task import FitTask

N_FOLDS = 5  # folds that the rows are dealt out to
_ENOUGH = 1000  # rows from which on no further fold is left out
_SHARED = 400  # rows up to which the machines share one stored matrix

# Solves the machines of a code matrix again; returns the decision values of the rows that each
# machine has in the fit, whether or not they are left out here.
Decide: TypeAlias = Callable[[Codes], Sequence[Array]]


@dataclass(frozen=True)
class LeftOut:
    """Decision values of rows that were left out.

    Parameters
    ----------
    rows : ndarray of shape (m,)
        The rows of the task.
    decisions : ndarray of shape (m, n_machines)
        Their decision values.
    """

    rows: Index
    decisions: Array


def left_out_decisions(task: FitTask, outside: Array, decide: Decide) -> LeftOut:
    """Compute the decision values of rows by machines without them, fold by fold.

    Copies of a row are left out together, unless fewer than half of the rows are distinct. The
    only row of a class is never left out. Many rows need not all be left out: the folds end once
    there are a thousand.

    Parameters
    ----------
    task : FitTask
        The task that the machines solve.
    outside : ndarray of shape (n, n_machines)
        Decision values of the fit, for the rows that are outside a machine anyway.
    decide : callable
        Solves the machines again for codes in which the rows to leave out are zero, and returns
        the decision values of the rows of each machine.

    Returns
    -------
    left_out : LeftOut
        The decision values.
    """
    decisions, held = np.array(outside), []
    with single_blas():
        for fold in _deal(task):
            codes = task.Y.copy()
            codes[fold] = 0
            is_held = np.zeros(len(codes), dtype=bool)
            is_held[fold] = True
            for j, values in enumerate(decide(codes)):
                own = task.members[j]
                here = is_held[own]
                decisions[own[here], j] = values[here]
            held.append(fold)
            if sum(map(len, held)) >= _ENOUGH:
                break
    rows = np.sort(np.concatenate(held))
    return LeftOut(rows, decisions[rows])


def _deal(task: FitTask) -> list[Index]:
    """Deal the rows of each class out to folds, copies together and single rows to none."""
    place, first = _distinct(task)
    classes = task.classes[first]
    order = np.random.default_rng(0).permutation(len(first))
    order = order[np.argsort(classes[order], kind="stable")]
    fold_of = np.empty(len(first), dtype=np.intp)
    fold_of[order] = np.arange(len(first)) % N_FOLDS
    fold_of[np.bincount(classes)[classes] < 2] = -1
    folds = [np.flatnonzero(fold_of[place] == number) for number in range(N_FOLDS)]
    return [fold for fold in folds if len(fold)]


def _distinct(task: FitTask) -> tuple[Index, Index]:
    """Return which rows are left out together, and the first of each such group."""
    n = len(task.classes)
    is_table = isinstance(task.X, np.ndarray) and task.X.dtype.kind == "f"
    if is_table and not isinstance(task.kernel, FunctionKernel | Precomputed):
        table = np.ascontiguousarray(np.column_stack([task.classes, task.X]) + 0.0)  # no -0.0
        contents = table.view([("", table.dtype)] * table.shape[1]).ravel()
        _, first, place = np.unique(contents, return_index=True, return_inverse=True)
        if 2 * len(first) >= n:
            return place, first
    return np.arange(n), np.arange(n)


def kernel_machines_left_out(
    task: FitTask,
    predictor: Predictor,
    solutions: Sequence[Solution],
    C: float | Array,
    *,
    rows: Matrix | None = None,
    tol: float = 1e-3,
    bias: bool = True,
) -> LeftOut:
    """Compute the decision values of rows by kernel machines without them.

    Parameters
    ----------
    task : FitTask
        The task that the machines solve.
    predictor : Predictor
        The machines, as they predict.
    solutions : sequence of Solution
        Their solutions.
    C : float or ndarray of shape (n_machines,)
        Their cost of slack.
    rows : {ndarray, sparse matrix} of shape (n, d), default=None
        The rows as the kernels read them; None for those of the task.
    tol : float, default=1e-3
        The tolerance of the machines.
    bias : bool, default=True
        Whether the machines have an intercept.

    Returns
    -------
    left_out : LeftOut
        The decision values.
    """
    Z, costs = task.X if rows is None else rows, np.broadcast_to(C, len(solutions))
    members, is_squared = task.members, predictor.loss == "squared"
    grams = Grams(Z, tol=tol, n_machines=len(solutions), share=len(task.classes) <= _SHARED)
    solver: Any = SMO(tol=tol, exact=False) if bias else Adatron(tol=tol)

    def decide(codes: Codes) -> list[Array]:
        def decide_one(j: int) -> Array:
            own, y = members[j], codes[members[j], j].astype(np.float64)
            cost = costs[j] * task.cost_factor[own]
            K = grams.machine(predictor.kernels[j], own, float(cost.max()))
            if is_squared:
                qp = hard_margin(ridged(np.asarray(K), cost), y, bias=bias)
            else:
                qp = c_svc(K, y, cost, is_psd=predictor.kernels[j].is_psd, bias=bias)
            solution = solver.solve(qp, start=np.where(y != 0, solutions[j].beta, 0.0))
            values: Array = solution.gradient + y
            return values + solution.nu[0] if bias else values

        return run(decide_one, range(len(solutions)), task.threads)

    for kernel in predictor.kernels:
        grams.prepare(kernel)
    outside = predictor.decision_values(task.X, task.threads)
    return left_out_decisions(task, outside, decide)
