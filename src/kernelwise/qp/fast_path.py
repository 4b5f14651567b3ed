"""The quick way through: one compiled call for a kernel matrix in memory.

Learning a kernel solves hundreds of problems that are nearly solved at their start; what they cost
is then not the steps but what stands around them. Problems that are hard for steps alone are left
where they stand, for the general way (`run.Run`) to go on from.
"""

from __future__ import annotations

import numpy as np

from .._typing import Array
from .problem import DualQP
from .solution import Point

SWEEP = 4e7  # row entries swept between two looks at Ctrl-C, about 30 ms


def solve_quickly(
    qp: DualQP,
    K: Array,
    beta: Array,
    tol: float,
    most_steps: int,
    product: Array | None = None,
) -> tuple[Point, Array]:
    """Solve a problem with all of its kernel matrix, as far as steps alone lead.

    Parameters
    ----------
    qp : DualQP
        The problem, with one equality sum b = c.
    K : ndarray of shape (n, n)
        Its kernel matrix, in the type in which steps are to be made.
    beta : ndarray of shape (n,)
        A feasible start.
    tol : float
        The stop test.
    most_steps : int
        Most steps.
    product : ndarray of shape (n,), default=None
        K times the start, where it is known.

    Returns
    -------
    point : Point
        Where it ended; its status is empty where the general way has to go on.
    certificate : ndarray of shape (4,)
        The multiplier, objective, gap and violation there, where it converged.
    """
    from . import _compiled
    from . import _fast_path as _stored

    beta, K, known = beta.copy(), np.ascontiguousarray(K), product is not None
    gradient = np.empty(qp.n) if product is None else product - qp.p
    certificate, vectors = np.empty(4), (beta, gradient, qp.p, qp.lo, qp.hi)
    violation, steps, ended = _stored.solve_stored(
        K, *vectors, known, float(tol), most_steps, SWEEP, qp.c[0], certificate
    )
    if ended == _stored.NOT_A_NUMBER:
        raise ValueError("K must not hold NaN, nor values so large that products overflow.")
    names = {_compiled.CONVERGED: "converged", _compiled.OUT_OF_STEPS: "max_iter"}
    return Point(beta, gradient, violation, steps, names.get(ended, "")), certificate
