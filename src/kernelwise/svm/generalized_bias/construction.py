"""The machine as the paper constructs it: a kernel H, a quadratic program and a linear program.

    phi~ = the features transformed so that they are unit vectors at l rows, the nodes    (10, 11)
    H(x, y) = Phi(x, y) + sum_pq phi~_p(x) phi~_q(y) Phi(x_p, x_q)
              - sum_p phi~_p(x) Phi(x_p, y) - sum_q phi~_q(y) Phi(x, x_q)                      (9)
    min 1/2 c'Hc - y'c   s.t.   min(0, y C) <= c <= max(0, y C),   phi~'c = 0           (23, 24)
    lambda~ = argmin sum_i C_i xi_i   s.t.   y_i (phi~ lambda~ + H c)_i >= 1 - xi_i,  xi >= 0  (25)
    f = sum_p lambda~_p phi~_p + sum_i c_i H(x_i, .)                                          (26)

with c = y alpha / (2 gamma) and C = 1 / (2 gamma m). H is zero at the nodes, whose c counts for
nothing in f. Where no l rows determine the features, virtual samples take the place of the nodes
(27): points at which the features are unit vectors already and which the kernel sees apart from all
rows, so that phi~ = phi and H = Phi.

`SeveralEqualities` solves the same machine without H and without the linear program.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import qr
from scipy.optimize import linprog

from ..._typing import Array, Index
from ...qp import DualQP, Solution, StoredGram, Terms
from ...qp.problem import SolverState

_DEPENDENT = 1e-7  # pivot of the features at the nodes below which virtual samples are used
_LP_TOL = 1e-10  # feasibility of the linear program, in units of the margin


@dataclass(frozen=True)
class Construction:
    """The kernel H and the transformed features of some rows."""

    H: Array  # (m, m), the kernel of eq. 9
    basis: Array  # (m, l)
    nodes: Index  # (l,), the rows at which they are unit vectors; empty for virtual samples
    change: Array  # (l, l), the transformation: basis = features @ change

    @classmethod
    def of(cls, Phi: Array, features: Array, nodes: Index | None = None) -> Construction:
        """Transform the features; None looks for nodes, an empty array asks for virtual samples."""
        nodes = independent_rows(features) if nodes is None else nodes
        if len(nodes) == 0:
            return cls(Phi, features, nodes, np.eye(features.shape[1]))
        change = np.linalg.inv(features[nodes])
        basis = features @ change
        cross = basis @ Phi[nodes]
        H = Phi + basis @ Phi[np.ix_(nodes, nodes)] @ basis.T - cross - cross.T
        H = 0.5 * (H + H.T)
        H[nodes] = H[:, nodes] = 0.0  # eq. 14, without rounding
        return cls(H, basis, nodes, change)

    def coefficients(self, Phi: Array, c: Array, weights: Array) -> Array:
        """Return the coefficients of the features as they are, for f as a sum of Phi(x_i, .).

        Expanding H in f gives the node p the coefficient -sum_i c_i phi~_p(x_i), which by the
        equality of eq. 24 is its own c_p.
        """
        if len(self.nodes) == 0:
            return weights
        within = Phi[np.ix_(self.nodes, self.nodes)] @ -c[self.nodes]
        others = c.copy()
        others[self.nodes] = 0.0
        return self.change @ (weights + within - Phi[self.nodes] @ others)


def independent_rows(features: Array) -> Index:
    """Return l rows on which l features are independent; none where there are no such rows.

    The paper takes the first l rows. Any others with an inverse give the same machine; these are
    the ones of a pivoted decomposition, so that the inverse is accurate.
    """
    m, size = features.shape
    if size == 0 or size > m:
        return np.empty(0, dtype=np.intp)
    scale = np.abs(features).max(axis=0)
    scaled = features.T / np.where(scale > 0, scale, 1.0)[:, None]
    R, order = qr(scaled, mode="r", pivoting=True)
    pivots = np.abs(np.diagonal(R))
    size = size if pivots[-1] > _DEPENDENT * pivots[0] else 0
    return np.sort(order[:size]).astype(np.intp)


def solve_constructed(
    qp: DualQP, features: Array, solver: Any, *, nodes: Index | None = None
) -> Solution:
    """Solve a C-SVC with features in its bias by the construction of the paper.

    ``features`` (m, l): the features, the constant among them. ``solver``: the solver of the
    quadratic program. ``nodes`` (l,): the rows at which the transformed features are unit vectors;
    None finds them, and an empty array stands for virtual samples. Returns ``solution``:
    coefficients of the kernel Phi and, as multipliers, of the features.
    """
    Phi = qp.gram.dense(np.float64)
    made = Construction.of(Phi, features, nodes)
    program = DualQP(StoredGram(made.H), Terms(qp.p, qp.lo, qp.hi, made.basis.T))
    dual = solver.solve(program)
    c = dual.beta
    weights = linear_program(made.basis, made.H @ c, qp.p, np.maximum(qp.hi, -qp.lo))
    free = DualQP(StoredGram(Phi), Terms(qp.p, qp.lo, qp.hi, features.T))
    state = SolverState(c, free.gradient(c), np.inf, dual.n_iter, dual.status)
    return Solution.at(free, state, made.coefficients(Phi, c, weights))


def linear_program(basis: Array, by_kernel: Array, y: Array, cost: Array) -> Array:
    """Return the coefficients of the features with the least total slack (eq. 25)."""
    m, size = basis.shape
    if size == 0:
        return np.empty(0)
    rows = -sp.hstack([sp.csr_array(y[:, None] * basis), sp.eye_array(m)], format="csr")
    bounds = [(None, None)] * size + [(0, None)] * m
    options = {"primal_feasibility_tolerance": _LP_TOL, "dual_feasibility_tolerance": _LP_TOL}
    found = linprog(
        np.append(np.zeros(size), cost / cost.mean()),
        A_ub=rows,
        b_ub=y * by_kernel - 1,
        bounds=bounds,
        method="highs",
        options=options,
    )
    if found.x is None:
        raise ValueError(f"The linear program of solver='paper' was not solved: {found.message}")
    weights: Array = found.x[:size]
    return weights
