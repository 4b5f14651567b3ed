"""The machine with a generalised bias as the paper builds it, solved by a general cone solver."""

import clarabel
import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from kernelwise import GeneralizedBiasSVC


def quadratic_program(P, q, equalities, upper):
    """Minimise 1/2 a'Pa + q'a with equalities a = 0 and 0 <= a <= upper."""
    n = len(q)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    rows = sp.csc_matrix(np.vstack([equalities, -np.eye(n), np.eye(n)]))
    right = np.concatenate([np.zeros(len(equalities) + n), upper])
    cones = [clarabel.ZeroConeT(len(equalities))] if len(equalities) else []
    cones.append(clarabel.NonnegativeConeT(2 * n))
    P = sp.csc_matrix(np.triu(P))
    solution = clarabel.DefaultSolver(P, q, rows, right, cones, settings).solve()
    assert str(solution.status) in {"Solved", "AlmostSolved"}, solution.status
    return np.array(solution.x)


def dual_solution(K, F, y, C):
    """Return b of min 1/2 b'Kb - y'b, F'b = 0, in the box: the semiparametric machine."""
    alpha = quadratic_program(y[:, None] * K * y, -np.ones(len(y)), F.T * y, np.full(len(y), C))
    return alpha * y


class PaperMachine:
    """Section 4.1 of the paper, step by step; the first l rows are the nodes of the new basis."""

    def __init__(self, kernel, features, X, y, C):
        m = len(y)
        gamma = 1 / (2 * C * m)
        F = features(X)
        n_features = F.shape[1]
        self.kernel, self.features, self.X = kernel, features, X
        self.nodes = X[:n_features]
        self.change = np.linalg.inv(F[:n_features])
        H, E = self.H(X, X), self.basis(X).T
        second = np.arange(m) >= n_features
        P = np.where(np.outer(second, second), y[:, None] * H * y, 0.0)
        # Eq. 23 and 24, alpha in units of 1/m.
        alpha = quadratic_program(P, np.full(m, -2 * gamma * m), E * y, np.ones(m)) / m
        self.c = np.where(second, y * alpha / (2 * gamma), 0.0)  # eq. 22
        self.weights = self._linear_program(self.basis(X), H @ self.c, y)  # eq. 25

    def basis(self, X):
        """Return the transformed features: at the nodes they are the unit vectors (eq. 10, 11)."""
        return self.features(X) @ self.change

    def H(self, X, Y):
        """Return the kernel of eq. 9."""
        kernel, nodes, left, right = self.kernel, self.nodes, self.basis(X), self.basis(Y)
        return (
            kernel(X, Y)
            + left @ kernel(nodes, nodes) @ right.T
            - left @ kernel(nodes, Y)
            - kernel(X, nodes) @ right.T
        )

    def K(self, X, Y):
        """Return the kernel of eq. 8."""
        return self.H(X, Y) + self.basis(X) @ self.basis(Y).T

    def decisions(self, X):
        """Return f of eq. 26."""
        return self.basis(X) @ self.weights + self.H(X, self.X) @ self.c

    @staticmethod
    def _linear_program(basis, by_kernel, y):
        m, n_features = basis.shape
        cost = np.concatenate([np.zeros(n_features), np.ones(m)])
        rows = -np.hstack([y[:, None] * basis, np.eye(m)])
        bounds = [(None, None)] * n_features + [(0, None)] * m
        found = linprog(cost, A_ub=rows, b_ub=y * by_kernel - 1, bounds=bounds, method="highs")
        assert found.status == 0, found.message
        return found.x[:n_features]


def unpenalised(*args, **given):
    """Return an estimator with the paper's free features unless a penalty is given."""
    return GeneralizedBiasSVC(*args, **{"bias_penalty": 0.0} | given)
