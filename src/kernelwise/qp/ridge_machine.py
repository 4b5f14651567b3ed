"""The machine of squared slack on a kernel matrix in memory, in one compiled call.

Cells solve thousands of these; the general solver takes the few that one call does not finish.
"""

from __future__ import annotations

import numpy as np

from .. import _native
from .._typing import Array
from .fast_path import SWEEP
from .precision import TIGHT, is_coarse
from .smo import SMO


def solve_ridge_machine(
    solver: SMO, K: Array, diag: Array, y: Array, cost: Array, start: Array | None = None
) -> tuple[Array, float] | None:
    """Solve the hard margin on K + diag(1 / cost), or leave it to the solver.

    Parameters
    ----------
    solver : SMO
        The tolerance, the number of steps, and which solutions are to be polished.
    K : ndarray of shape (n, n)
        The kernel matrix, contiguous. What its diagonal holds is not read, and is overwritten.
    diag : ndarray of shape (n,), of float64
        Its diagonal without the ridge.
    y : ndarray of shape (n,), of float64
        Codes -1 and +1; 0 leaves a row out.
    cost : ndarray of shape (n,), of float64
        The positive cost of each row.
    start : ndarray of shape (n,), default=None
        Where to begin; made feasible.

    Returns
    -------
    found : tuple of ndarray of shape (n,) and float, or None
        The coefficients, within the tolerance, and the intercept. None where the solver has more to
        do: the steps did not converge, float32 was too coarse, or a polish may be cheap.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.qp import SMO
    >>> from kernelwise.qp.ridge_machine import solve_ridge_machine
    >>> K, y, solver = np.array([[4.0, -4.0], [-4.0, 4.0]]), np.array([-1.0, 1.0]), SMO(budget=0)
    >>> beta, nu = solve_ridge_machine(solver, K, K.diagonal().copy(), y, np.ones(2))
    >>> beta.round(3).tolist(), abs(nu) < 1e-9
    ([-0.111, 0.111], True)
    """
    if solver.tol < TIGHT and K.dtype == np.float32:
        return None
    beta = np.empty(len(y)) if start is None else start.astype(np.float64)
    end, nu, kernel_size, length, n_vectors = _native.solve_ridge_machine(
        K, diag, y, cost, start is not None, solver.tol, solver.most_steps(len(y)), SWEEP, beta
    )
    is_rounded = K.dtype == np.float32 and is_coarse(solver.tol, kernel_size, length)
    may_polish = solver.polishes and len(y) * n_vectors <= solver.polish_budget
    return None if end != _native.CONVERGED or is_rounded or may_polish else (beta, nu)
