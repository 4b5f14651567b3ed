"""What solves the machines of a path, and the chosen ones once more, to the end."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..._memory import allowance
from ..._threads import n_threads, run
from ..._typing import Array, Codes
from ...kernels import FunctionKernel, LazyGram, Precomputed
from ...qp import SMO, Adatron, Solution
from .selection import Problem
from .walk import PathGrams

_HARD_STEPS = 200  # a row and machine: a hard margin that needs more does not exist, or hardly
_SOFT_STEPS = 1000  # a row and machine: ten times what points worth choosing need
_POLISH = 3e6  # kernel entries worth spending on exactness, over all machines


def solver_of(svc: Any, n: int, C: float, *, n_machines: int = 0) -> Any:
    """Return what solves a machine of n rows; exactly, if it is told of how many machines."""
    if svc.solver == "adatron":
        sweeps = {} if svc.max_iter < 0 else {"max_iter": svc.max_iter}
        return Adatron(tol=svc.tol, eta=svc.eta, **sweeps)
    steps, exact = svc.max_iter, n_machines > 0
    if steps < 0 and np.isinf(C):
        steps = max(10_000, _HARD_STEPS * n)
    elif steps < 0 and not exact:
        steps = max(100_000, _SOFT_STEPS * n)
    return SMO(
        tol=svc.tol,
        max_iter=steps,
        memory=allowance(svc.cache_size, max(1, min(n_threads(svc.n_jobs), n_machines))),
        exact=exact,
        budget=_POLISH / max(1, n_machines),
    )


def solve_chosen(
    svc: Any,
    kernel: Any,
    C: float,
    X: Any,
    Y: Codes,
    weights: Array,
    starts: list[Array],
) -> list[Solution]:
    """Solve the machines of an estimator's chosen kernel and C on all rows."""
    n, k = Y.shape
    codes = Y.astype(np.float64)
    problem = Problem(codes, weights, weights, svc._has_bias(), partial(solver_of, svc, n))
    solver, K = solver_of(svc, n, C, n_machines=k), _gram(svc, kernel, X, k)

    def solve_one(j: int) -> Solution:
        qp = problem.qp(K, codes[:, j], C, kernel.is_psd)
        solution: Solution = solver.solve(qp, start=starts[j])
        return solution

    return run(solve_one, range(k), n_threads(svc.n_jobs))


def _gram(svc: Any, kernel: Any, X: Any, n_machines: int) -> Any:
    """Return the chosen kernel's matrix of all rows, stored where it is small or shared."""
    n, threads = X.shape[0], n_threads(svc.n_jobs)
    given = isinstance(kernel, FunctionKernel | Precomputed)
    shared = n_machines > 1 or n <= svc.max_rows or svc.solver == "adatron"
    if given or (shared and 8 * n * n <= allowance(svc.cache_size)):
        return PathGrams([kernel], X, threads).of(kernel)
    if svc.solver == "adatron":
        raise ValueError(
            f"solver='adatron' stores the kernel matrix of all {n} rows, which takes "
            f"{8e-6 * n * n:.0f} MB; raise cache_size, or use solver='smo'."
        )
    return LazyGram(kernel, X, threads if n_machines == 1 else 1)
