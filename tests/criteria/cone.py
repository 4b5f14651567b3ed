"""The problems of this layer, stated anew for an interior-point solver of cone programs."""

import clarabel
import numpy as np
import scipy.sparse as sp


def solve(P, q, A, b, cones):
    """Minimise 1/2 x'Px + q'x with b - Ax in the cones; return x and the minimum."""
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    solver = clarabel.DefaultSolver(
        sp.csc_matrix(np.triu(P)), q, sp.csc_matrix(A), b, cones, settings
    )
    solution = solver.solve()
    assert str(solution.status) in {"Solved", "AlmostSolved"}, solution.status
    return np.array(solution.x), (solution.obj_val + solution.obj_val_dual) / 2


def squared_radius(K):
    """Return the squared radius of the smallest ball: max l'diag(K) - l'Kl, sum l = 1, l >= 0."""
    n = len(K)
    A = np.vstack([np.ones(n), -np.eye(n)])
    cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(n)]
    return -solve(2 * K, -np.diagonal(K), A, np.append(1.0, np.zeros(n)), cones)[1]


def squared_slack_machine(X, y, C):
    """Return the least 1/2 |w|^2 + 1/2 sum C_i xi_i^2 with y_i (x_i w + b) >= 1 - xi_i."""
    n, d = X.shape
    P = np.diag(np.concatenate([np.ones(d), [0.0], np.broadcast_to(C, n)]))
    A = -np.hstack([y[:, None] * X, y[:, None], np.eye(n)])
    return solve(P, np.zeros(d + 1 + n), A, -np.ones(n), [clarabel.NonnegativeConeT(n)])[1]
