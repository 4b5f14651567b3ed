"""The margin-radius problems, stated anew for a cone solver, and the slow iteration."""

import clarabel
import numpy as np
import scipy.sparse as sp


def half_ranges(X):
    return np.ptp(X, axis=0) / 2


def cone(P, q, rows, right, cones):
    """Minimise 1/2 x'diag(P)x + q'x with right - rows x in the cones; the mean of both values."""
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    rows = sp.csc_matrix(rows)
    solver = clarabel.DefaultSolver(sp.diags_array(P).tocsc(), q, rows, right, cones, settings)
    solution = solver.solve()
    assert str(solution.status) in {"Solved", "AlmostSolved"}, solution.status
    return (solution.obj_val + solution.obj_val_dual) / 2


def product_value(X, y, C, cost=1.0):
    """Return the least 1/2 (sum_k R_k |w_k|)^2 + C/2 sum_i c_i xi_i^2."""
    n, d = X.shape
    Z = (X - X.mean(axis=0)) / half_ranges(X)
    P = np.concatenate([np.zeros(2 * d + 1), [1.0], C * np.broadcast_to(cost, n)])
    size = len(P)  # (w+, w-, b, t, xi)
    rows = np.zeros((n + 1 + 2 * d, size))
    rows[:n, :d], rows[:n, d : 2 * d] = -y[:, None] * Z, y[:, None] * Z
    rows[:n, 2 * d], rows[:n, 2 * d + 2 :] = -y, -np.eye(n)
    rows[n, : 2 * d], rows[n, 2 * d + 1] = 1.0, -1.0
    rows[n + 1 :, : 2 * d] = -np.eye(2 * d)
    right = np.concatenate([-np.ones(n), np.zeros(1 + 2 * d)])
    return cone(P, np.zeros(size), rows, right, [clarabel.NonnegativeConeT(len(right))])


def paper_value(X, y, C, cost=1.0):
    """Return the largest sum a - 1/2 max_k q_k(a): the dual of eq. 8.

    Cones |(x_k'b, R_k tau / sqrt(C))| <= sigma and |a / sqrt(c)| <= tau, objective sigma^2 / 2.
    """
    n, d = X.shape
    R = half_ranges(X)
    unit = R.max()
    Z, r = (X - X.mean(axis=0)) / unit, R / unit / np.sqrt(C)
    size = n + 2  # (a, tau, sigma)
    P = np.append(np.zeros(n + 1), 1.0)
    linear = np.concatenate([-np.ones(n), np.zeros(2)])
    equality = np.concatenate([y, np.zeros(2)])[None]
    signs = -np.eye(n, size)
    columns = np.zeros((3 * d, size))
    columns[0::3, n + 1] = -1.0
    columns[1::3, :n] = -(y[:, None] * Z).T
    columns[2::3, n] = -r
    slack = np.zeros((n + 1, size))
    slack[0, n] = -1.0
    slack[1:, :n] = -np.diag(1 / np.sqrt(np.broadcast_to(cost, n)))
    rows = np.vstack([equality, signs, columns, slack])
    cones = [
        clarabel.ZeroConeT(1),
        clarabel.NonnegativeConeT(n),
        *[clarabel.SecondOrderConeT(3)] * d,
        clarabel.SecondOrderConeT(n + 1),
    ]
    return -cone(P, linear, rows, np.zeros(len(rows)), cones) / unit**2


def slow_weights(problem, steps):
    """Take the five-line iteration mu_k <- mu_k sqrt(q_k) / sum: monotone, without exact zeros."""
    mu = np.full(problem.size, 1 / problem.size)
    for _ in range(steps):
        mu = mu * np.sqrt(problem.at(mu).q)
        mu = mu / mu.sum()
    return mu
