"""Problems with several equalities, and what an independent solver says of them."""

import clarabel
import numpy as np
from scipy.linalg import orth

from kernelwise.kernels import RBF
from kernelwise.qp import DualQP, Terms
from tests.criteria.cone import solve as cone_program


def machine(K, F, y, C):
    """Return the dual of a machine whose bias has the columns of F."""
    return DualQP(K, Terms(p=y, lo=np.minimum(0, C * y), hi=np.maximum(0, C * y), A=F.T))


def random_machine(n, n_features, C=10.0, seed=0):
    """Return K, features with the constant first, and classes that overlap."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=n) > 0, 1.0, -1.0)
    F = np.hstack([np.ones((n, 1)), np.tanh(X @ rng.normal(size=(3, n_features)))])
    return RBF(gamma=0.5)(X), F[:, :n_features], y


def random_box(n, n_equalities, seed=0):
    """Return a problem of any signs and bounds, some of them equal, whose equalities can be met."""
    rng = np.random.default_rng(seed)
    K = RBF(gamma=0.4)(rng.normal(size=(n, 3)))
    lo = -rng.uniform(0, 2, n)
    hi = rng.uniform(0, 3, n)
    lo[: n // 10] = hi[: n // 10] = 0.0  # held out
    fixed = slice(n // 10, n // 5)
    lo[fixed] = hi[fixed] = rng.normal(size=n // 5 - n // 10)
    A = rng.normal(size=(n_equalities, n))
    inside = lo + (hi - lo) * rng.uniform(0.2, 0.8, n)
    return DualQP(K, Terms(p=2 * rng.normal(size=n), lo=lo, hi=hi, A=A, c=A @ inside))


def violations(qp, solution):
    """Return the violation of the margin and that of the equalities, from their definitions."""
    K, beta = np.asarray(qp.gram.K, dtype=np.float64), solution.beta
    residual = K @ beta - qp.p + qp.A.T @ solution.nu
    rises = -residual[beta < qp.hi].min(initial=0.0)
    falls = residual[beta > qp.lo].max(initial=0.0)
    own = qp.lo < qp.hi
    F = qp.A[:, own].T
    lengths = np.linalg.norm(F, axis=0)
    F, c = F[:, lengths > 0] / lengths[lengths > 0], qp.c - qp.A[:, ~own] @ beta[~own]
    Q = orth(F, rcond=1e-9) if F.size else F  # scipy before 1.14 refuses an empty matrix
    target = Q.T @ np.linalg.lstsq(F.T, c[lengths > 0] / lengths[lengths > 0], rcond=1e-9)[0]
    left = np.linalg.norm(Q.T @ beta[own] - target) / max(1.0, np.abs(beta[own]).sum())
    return max(rises, falls), left


def minimum(qp):
    """Return the least objective, by a solver of cone programs."""
    n = qp.n
    A = np.vstack([qp.A, np.eye(n), -np.eye(n)])
    b = np.concatenate([qp.c, qp.hi, -qp.lo])
    cones = [clarabel.ZeroConeT(len(qp.c)), clarabel.NonnegativeConeT(2 * n)]
    return cone_program(np.asarray(qp.gram.K, dtype=np.float64), -qp.p, A, b, cones)[1]


def shortest_values(qp, beta, slack=1e-9):
    """Return A'nu of the shortest multipliers that a solution leaves, by the same solver.

    On the rows whose bounds are apart, with orthonormal features.
    """
    own = qp.lo < qp.hi
    F, beta = qp.A[:, own].T, beta[own]
    F = F / np.maximum(np.linalg.norm(F, axis=0), 1e-300)
    Q = orth(F, rcond=1e-9) if F.size else F  # scipy before 1.14 refuses an empty matrix
    gradient = qp.gradient(np.where(own, _whole(own, beta), qp.lo))[own]
    can_rise, can_fall = beta < qp.hi[own], beta > qp.lo[own]
    # g + Q nu >= 0 where b can rise, <= 0 where it can fall.
    A = np.vstack([-Q[can_rise], Q[can_fall]])
    b = np.concatenate([gradient[can_rise], -gradient[can_fall]]) + slack
    cones = [clarabel.NonnegativeConeT(len(b))]
    return Q @ cone_program(np.eye(Q.shape[1]), np.zeros(Q.shape[1]), A, b, cones)[0]


def _whole(own, values):
    whole = np.zeros(len(own))
    whole[own] = values
    return whole
