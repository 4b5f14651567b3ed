"""The linear system of every step with several equalities.

    [ M + D   Q  ] [d ]   [r]
    [ Q'     -rho] [nu] = [s]

M is positive semi-definite, Q has orthonormal columns, and rho and the diagonal D are not negative:
it is solved by Cholesky factors of M + D and of the Schur complement.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError
from scipy.linalg.lapack import dpotrf, dpotrs, dtrtrs

from .._typing import Array

# Ridges that are tried in turn until a factor exists, relative to the largest diagonal entry:
_RIDGES = (0.0, 1e-12, 1e-10, 1e-8)  # on M
_SCHUR_RIDGES = (1e-15, 1e-12, 1e-9)  # on the Schur complement


class KKTSystem:
    """The factored system.

    ``M`` (m, m): positive semi-definite. ``Q`` (m, l): the features of those rows. ``rho``: the
    ridge on the multipliers. ``D`` (m,): the diagonal; None is zero.

    Raises
    ------
    scipy.linalg.LinAlgError
        When M is indefinite by more than rounding.
    """

    def __init__(self, M: Array, Q: Array, rho: float, D: Array | None = None) -> None:
        self._lower = _factor(M, _RIDGES, D)
        self._columns = _half(self._lower, Q)
        with np.errstate(over="ignore", invalid="ignore"):  # `_factor` refuses what is not finite
            schur = self._columns.T @ self._columns
        self._schur = _factor(schur, _SCHUR_RIDGES, rho)

    def solve(self, r: Array, s: Array) -> tuple[Array, Array]:
        """Solve for one right-hand side.

        Shapes: ``r`` (m,), ``s`` (l,). Returns ``d`` (m,); ``nu`` (l,).
        """
        half = _half(self._lower, r)
        nu = np.zeros(0)
        if len(s):
            nu, _ = dpotrs(self._schur, self._columns.T @ half - s, lower=1)
            half = half - self._columns @ nu
        return _half(self._lower, half, transposed=True), nu


def _factor(M: Array, ridges: tuple[float, ...], D: Array | float | None = None) -> Array:
    """Return the Cholesky factor of M + D with the smallest ridge for which it exists."""
    if len(M) == 0:
        return M
    size = float(np.diagonal(M).max())
    diagonal = np.diagonal(M) if D is None else np.diagonal(M) + D
    if not np.isfinite(diagonal).all():
        raise LinAlgError("the kernel matrix overflows")
    for ridge in ridges:
        trial = np.array(M.T, order="F")  # M is symmetric, so that this is a plain copy
        np.fill_diagonal(trial, diagonal + ridge * size)
        lower, failed = dpotrf(trial, lower=1, overwrite_a=1, clean=0)
        if not failed and np.isfinite(lower[-1, -1]):
            return lower
    raise LinAlgError("the kernel matrix is not positive semi-definite")


def _half(lower: Array, right: Array, *, transposed: bool = False) -> Array:
    if right.size == 0:
        return right
    solved: Array = dtrtrs(lower, right, lower=1, trans=int(transposed))[0]
    return solved
