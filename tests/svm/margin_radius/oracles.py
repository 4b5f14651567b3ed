"""The margin-radius problems, stated anew for a cone solver, and the slow iteration."""

import clarabel
import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize_scalar


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


def quadratic_program(P, q, equality, lower):
    """Minimise 1/2 x'Px + q'x with equality'x = 0 and x >= lower, which is 0 or infinite."""
    n = len(q)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    finite = np.flatnonzero(np.isfinite(lower))
    rows = [equality[None], -np.eye(n)[finite]]
    cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(len(finite))]
    unit = np.abs(q).max() / np.diagonal(P).max()  # the size of x
    P, rows = sp.csc_matrix(np.triu(P) * unit), sp.csc_matrix(np.vstack(rows))
    right = np.zeros(1 + len(finite))
    solution = clarabel.DefaultSolver(P, q, rows, right, cones, settings).solve()
    assert str(solution.status) in {"Solved", "AlmostSolved"}, solution.status
    return unit * np.array(solution.x)


class Algorithm1:
    """Algorithm 1 of the paper line by line, each step by a general solver.

    The two corrections without which it cannot run: the step descends, along the projection of the
    negative gradient onto the feasible directions of the simplex.
    """

    def __init__(self, X, y, C):
        self.X, self.y, self.C = X, y, C
        self.squared_ranges = half_ranges(X) ** 2
        d = X.shape[1]
        self.mu = np.full(d, 1 / d)  # Initialize mu_k = 1/d

    def J(self, mu):
        """Return J(mu) and alpha: max_alpha W_s(alpha, mu) of eq. 9."""
        X, y = self.X, self.y
        n = len(y)
        radius = sum(m * R2 for m, R2 in zip(mu, self.squared_ranges, strict=True))
        K = sum(m * np.outer(x, x) for m, x in zip(mu, X.T, strict=True))
        P = y[:, None] * (K + radius / self.C * np.eye(n)) * y
        alpha = quadratic_program(P, -np.ones(n), y, np.zeros(n))
        return alpha.sum() - alpha @ P @ alpha / 2, alpha

    def gradient(self, alpha):
        """Return dJ/dmu_k, the formula below eq. 12."""
        out = np.empty(self.X.shape[1])
        for k, x in enumerate(self.X.T):
            kernel = np.outer(x, x) + self.squared_ranges[k] / self.C * np.eye(len(x))
            out[k] = -np.sum(np.outer(alpha * self.y, alpha * self.y) * kernel) / 2
        return out

    def step(self):
        """Do the body of the loop; return the duality gap before it."""
        value, alpha = self.J(self.mu)
        gradient = self.gradient(alpha)
        gap = value - (alpha.sum() - np.max(-2 * gradient) / 2)
        d = len(self.mu)
        scale = np.abs(gradient).max()
        lower = np.where(self.mu > 0, -np.inf, 0.0)
        move = quadratic_program(np.eye(d), gradient / scale, np.ones(d), lower)
        move[(self.mu == 0) & (move < 1e-6)] = 0.0  # what the solver leaves of a bound
        longest = min(-m / v for m, v in zip(self.mu, move, strict=True) if m > 0 > v)
        along = minimize_scalar(
            lambda t: self.J(np.maximum(self.mu + t * move, 0.0))[0],
            bounds=(0.0, longest),
            method="bounded",
            options={"xatol": 1e-9 * longest},
        )
        step = longest if along.x > (1 - 1e-6) * longest else along.x  # optimal step gamma_t
        self.mu = np.maximum(self.mu + step * move, 0.0)
        self.mu[self.mu < 1e-12] = 0.0
        self.mu /= self.mu.sum()
        return gap
