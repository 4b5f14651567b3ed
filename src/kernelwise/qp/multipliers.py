"""The multipliers of the equalities, where the free variables do not determine them.

At a solution b with gradient g = K b - p the multipliers are those with

    g + Q nu = 0 between the bounds,   >= 0 at the lower ones,   <= 0 at the upper ones,

the optima of a linear program. Of several the shortest is taken: with orthonormal features
|nu| is |Q nu|, so that it does not depend on how the features are written. That is a least-distance
problem, solved by non-negative least squares (Lawson and Hanson 1974, chapter 23).
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import svd
from scipy.optimize import nnls

from .._typing import Array, Index
from .reduced import Reduced

_RANK = 1e-9  # of the features of the free rows, relative to the largest direction
_SLACK = 1e-10  # of a condition: what rounding may have taken
_FEASIBLE = 1e-12  # least squared distance that is not rounding


def shortest(problem: Reduced, beta: Array, nu: Array) -> Array:
    """Return the shortest multipliers of a solution.

    Parameters
    ----------
    problem : Reduced
        The problem.
    beta : ndarray of shape (n,)
        Its solution.
    nu : ndarray of shape (r,)
        Multipliers of the solution.

    Returns
    -------
    nu : ndarray of shape (r,)
        The shortest ones; those given where they are the only ones, or none is found.
    """
    at_lo, at_hi = beta <= problem.lo, beta >= problem.hi
    fixed, freedom = _determined(problem, beta, np.flatnonzero(~(at_lo | at_hi)))
    if freedom.shape[1] == 0:
        return nu
    signs = np.where(at_lo, 1.0, -1.0)[at_lo | at_hi]
    sides = signs[:, None] * problem.Q[at_lo | at_hi]
    gradient = problem.product(beta) - problem.p
    needed = -signs * gradient[at_lo | at_hi] - sides @ fixed - _SLACK
    # The shortest are no longer than those given, so that what is looked for has a length of one.
    scale = max(1.0, float(np.linalg.norm(nu)))
    short = _least_distance(sides @ freedom, needed / scale)
    return nu if short is None else fixed + freedom @ (scale * short)


def _determined(problem: Reduced, beta: Array, rows: Index) -> tuple[Array, Array]:
    """Return what the free rows say of the multipliers, and a basis of what they leave open."""
    n_features = len(problem.c)
    if len(rows) == 0:
        return np.zeros(n_features), np.eye(n_features)
    gradient = beta @ problem.K[:, rows] - problem.p[rows]
    few = len(rows) < n_features  # else the thin decomposition has all directions on the right
    left, sizes, right = svd(problem.Q[rows], full_matrices=few, lapack_driver="gesvd")
    rank = int((sizes > _RANK * sizes[0]).sum()) if len(sizes) else 0
    fixed = right[:rank].T @ ((left[:, :rank].T @ -gradient) / sizes[:rank])
    return fixed, right[rank:].T


def _least_distance(G: Array, h: Array) -> Array | None:
    """Return the shortest t with G t >= h; None where there is none."""
    if not (h > 0).any():
        return np.zeros(G.shape[1])
    target = np.zeros(G.shape[1] + 1)
    target[-1] = 1.0
    system = np.vstack([G.T, h])
    try:
        weights, _ = nnls(system, target)
    except RuntimeError:  # out of iterations
        return None
    residual = system @ weights - target
    squared = -residual[-1]  # 1 / (1 + |t|^2), zero where there is no such t
    return residual[:-1] / squared if squared > _FEASIBLE else None
