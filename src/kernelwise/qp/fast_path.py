"""The fast path: one compiled call for a kernel matrix in memory.

Learning a kernel solves hundreds of problems that are nearly solved at their start, so that the
overhead around the steps dominates. Problems that are hard for steps alone are left unfinished for
the general method (`active_rows.ActiveRowsRun`) to continue.
"""

from __future__ import annotations

import numpy as np

from .. import _native
from .._typing import Array
from .problem import DualQP, SolverState

SWEEP = 4e7  # matrix entries read between two checks for Ctrl-C, about 30 ms

_STATUS = {_native.CONVERGED: "converged", _native.OUT_OF_STEPS: "max_iter"}


def solve_quickly(
    qp: DualQP,
    K: Array,
    beta: Array,
    tol: float,
    most_steps: int,
    product: Array | None = None,
) -> tuple[SolverState, Array]:
    """Solve a problem whose kernel matrix is in memory, as far as steps alone lead.

    Shapes: ``beta`` (n,). ``qp``: the problem, with one equality sum b = c. ``K`` (n, n): its
    kernel matrix, in the precision of the steps. ``tol``: the tolerance of the stop test.
    ``most_steps``: limit on the number of steps. ``product`` (n,): K times the start where it is
    known. Returns ``state``, the final state; its status is empty where the general method has to
    continue; ``certificate`` (4,): the multiplier, objective, gap and violation, valid where it
    converged.
    """
    beta, K, terms, known = beta.copy(), np.ascontiguousarray(K), qp.terms, product is not None
    gradient = np.empty(len(beta)) if product is None else product - terms.p
    certificate, vectors = np.empty(4), (beta, gradient, terms.p, terms.lo, terms.hi)
    violation, steps, ended = _native.solve_stored(
        K, *vectors, known, float(tol), most_steps, SWEEP, terms.c[0], certificate, terms.kink
    )
    if ended == _native.NOT_A_NUMBER:
        raise ValueError("K must not hold NaN, nor values so large that products overflow.")
    return SolverState(beta, gradient, violation, steps, _STATUS.get(ended, "")), certificate
