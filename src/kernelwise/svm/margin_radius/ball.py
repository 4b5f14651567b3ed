"""The margin-radius problem with the exact enclosing ball, as a cone program.

    min 1/2 sum_k w_k^2 / m_k + C/2 sum_i c_i xi_i^2
    s.t.  y_i (z_i'w + b) >= 1 - xi_i,   R_m^2 <= 1

This is problem (6) of the paper, whose value does not change with the scale of m, at the scale
that makes the radius one. The radius of a ball is a maximum of linear functions of m, so that it
is convex: some centre has sum_k m_k (z_ik - o_k)^2 <= 1 for all rows, which with e_k = m_k o_k and
h_k >= e_k^2 / m_k is linear in (m, e, h).
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..._typing import Array
from ...criteria import radius
from ...qp.squared_hinge import squared_hinge
from .problem import WeightedPoint
from .solver import MarginRadiusResult

MOST_COLUMNS = 60  # largest cone program that is attempted
_NO_WEIGHT = 1e-7  # weights below this fraction of the largest become zero
_RADIUS_TOL = 1e-10  # tolerance of the final enclosing ball
_SOLVED = {"Solved", "AlmostSolved"}


def learn_ball(
    Z: Array, y: Array, cost: Array, C: float, *, tol: float, max_iter: int
) -> tuple[MarginRadiusResult, float]:
    """Minimise the margin-radius objective of the exact ball over the weights.

    ``Z`` (n, k): the columns, each with half range one; at most 60. ``y`` (n,): codes -1 and +1.
    ``cost`` (n,): cost factors c_i of the rows. ``tol``: the relative duality gap to reach.
    ``max_iter``: maximum number of iterations of the cone solver. Returns ``learned``, the weights
    and the exact machine at them; its value is that of problem (6); ``squared_radius``, R_m^2 at
    these weights.
    """
    clarabel = _clarabel()
    if Z.shape[1] > MOST_COLUMNS:
        raise ValueError(
            f"radius='ball' solves a cone program of at most {MOST_COLUMNS} columns that vary; got "
            f"{Z.shape[1]}. Use radius='product', or select columns first."
        )
    if Z.shape[1] == 0:
        machine = squared_hinge(Z, y, C * cost)
        return _learned(Z, y, np.empty(0), machine, machine.value, machine.value, 1, tol), 0.0
    m, bound, n_iter = _solve(clarabel, Z, y, C * cost, tol, max_iter)
    m = np.where(m > _NO_WEIGHT * m.max(), m, 0.0)
    m /= m.sum()
    scaled = Z * np.sqrt(m)
    squared_radius = radius(scaled @ scaled.T, tol=_RADIUS_TOL) ** 2
    machine = squared_hinge(scaled, y, C * cost / squared_radius)
    value = squared_radius * machine.value
    return _learned(Z, y, m, machine, value, bound, n_iter, tol), squared_radius


def _learned(
    Z: Array, y: Array, m: Array, machine: Any, value: float, bound: float, n_iter: int, tol: float
) -> MarginRadiusResult:
    beta, coef = machine.alpha * y, np.sqrt(m) * machine.coef
    point = WeightedPoint(
        m, value, beta, coef, machine.intercept, (beta @ Z) ** 2, machine.violators
    )
    gap = max(0.0, (value - bound) / value) if value > 0 else 0.0
    return MarginRadiusResult(point, gap, n_iter, 1, "converged" if gap <= tol else "stalled")


def _clarabel() -> Any:
    try:
        return import_module("clarabel")
    except ImportError as error:
        raise ImportError(
            "radius='ball' needs the cone solver clarabel: pip install 'kernelwise[cone]'."
        ) from error


def _solve(
    clarabel: Any, Z: Array, y: Array, cost: Array, tol: float, max_iter: int
) -> tuple[Array, float, int]:
    """Solve the cone program; return the weights, a lower bound of the value and the iterations.

    The variables are (w, b, xi, m, e, h, u) with u_k >= w_k^2 / m_k.
    """
    n, d = Z.shape
    size = 5 * d + 1 + n
    P = np.zeros(size)
    P[d + 1 : d + 1 + n] = cost
    linear = np.zeros(size)
    linear[-d:] = 0.5
    w, b, xi = np.arange(d), d, d + 1 + np.arange(n)
    m, e, h, u = (d + 1 + n + k * d + np.arange(d) for k in range(4))

    margins = sp.lil_matrix((n, size))
    margins[:, w], margins[:, b] = -y[:, None] * Z, -y[:, None]
    margins[np.arange(n), xi] = -1.0
    ball = sp.lil_matrix((n, size))
    ball[:, m], ball[:, e], ball[:, h] = Z**2, -2 * Z, np.ones((n, d))
    rows = [margins, ball, _rotated(u, m, w, size), _rotated(h, m, e, size)]
    right = np.concatenate([-np.ones(n), np.ones(n), np.zeros(6 * d)])
    cones = [clarabel.NonnegativeConeT(2 * n), *[clarabel.SecondOrderConeT(3)] * (2 * d)]

    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_iter, settings.max_threads = False, max_iter, 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = min(1e-10, tol / 100)
    solver = clarabel.DefaultSolver(
        sp.diags_array(P).tocsc(), linear, sp.vstack(rows).tocsc(), right, cones, settings
    )
    solution = solver.solve()
    bound = solution.obj_val_dual if str(solution.status) in _SOLVED else 0.0
    return np.maximum(np.array(solution.x)[m], 0.0), float(bound), int(solution.iterations)


def _rotated(a: Any, b: Any, middle: Any, size: int) -> Any:
    """Write a_k b_k >= middle_k^2 as cones |(2 middle_k, a_k - b_k)| <= a_k + b_k."""
    out = sp.lil_matrix((3 * len(a), size))
    first = 3 * np.arange(len(a))
    out[first, a] = out[first, b] = -1.0
    out[first + 1, middle] = -2.0
    out[first + 2, a], out[first + 2, b] = -1.0, 1.0
    return out
