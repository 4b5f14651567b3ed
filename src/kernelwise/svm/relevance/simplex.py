"""Weights of a mixture: a convex quadratic, or a log loss, on the simplex."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from ..._typing import Array

_MAX_STEPS = 50  # Newton steps; about five are needed
_MIN_GAIN = 1e-12  # predicted decrease at which the steps end, relative to the loss


def squared_weights(residuals: Array, cost_factor: Array, centre: Array, penalty: float) -> Array:
    """Return the weights of least squared error, pulled to a centre.

    min  sum_i p_i (sum_j w_j r_ji)^2 / (2 s) + penalty |w - c|^2   s.t.  w >= 0,  sum w = 1
    """
    H = (residuals * cost_factor) @ residuals.T
    size = max(float(np.diagonal(H).min()) / float(cost_factor.sum()), 1e-300)
    return simplex_minimum(H / size + 2 * penalty * np.eye(len(H)), -2 * penalty * centre)


def log_weights(Z: Array, y: Array, cost_factor: Array, centre: Array, penalty: float) -> Array:
    """Return the weights of least log loss, pulled to a centre, by Newton's method.

    min  sum_i p_i log(1 + exp(-y_i sum_j w_j z_ji)) + penalty |w - c|^2   s.t.  w >= 0,  sum w = 1
    """
    ridge = 2 * penalty * np.eye(len(Z))

    def loss(w: Array) -> tuple[float, Array]:
        z = -y * (w @ Z)
        tail = np.exp(-np.abs(z))
        losses = np.maximum(z, 0.0) + np.log1p(tail)  # log(1 + exp(z)), and its slope
        slopes = np.where(z >= 0, 1.0, tail) / (1 + tail)
        return float(cost_factor @ losses) + penalty * float(np.sum((w - centre) ** 2)), slopes

    weights, (value, miss) = centre, loss(centre)
    for _ in range(_MAX_STEPS):
        gradient = -Z @ (cost_factor * y * miss) + 2 * penalty * (weights - centre)
        hessian = (Z * (cost_factor * miss * (1 - miss))) @ Z.T + ridge
        step = simplex_minimum(hessian, gradient - hessian @ weights) - weights
        if -float(gradient @ step) <= _MIN_GAIN * (1 + value):
            break
        while (new := loss(weights + step))[0] > value:
            step = step / 2
        weights, (value, miss) = weights + step, new
    return weights


def simplex_minimum(H: Array, g: Array) -> Array:
    """Return the minimum of 1/2 w'Hw + g'w on the simplex, for a positive definite H.

    Without its bounds the minimum has all weights free; if that is not feasible, it is the best
    over all smaller sets of free weights.
    """
    n = len(g)
    best = _minimum_of_sum_one(H, g)
    if (best >= 0).all():
        return best
    least = np.inf
    for size in range(1, n):
        for free in map(list, combinations(range(n), size)):
            block = H[np.ix_(free, free)]
            own = _minimum_of_sum_one(block, g[free])
            value = float(0.5 * own @ block @ own + g[free] @ own)
            if (own >= 0).all() and value < least:
                best, least = np.zeros(n), value
                best[free] = own
    return best


def _minimum_of_sum_one(H: Array, g: Array) -> Array:
    """Return the minimum of 1/2 w'Hw + g'w over weights of sum one."""
    free, ones = np.linalg.solve(H, np.column_stack([-g, np.ones(len(g))])).T
    minimum: Array = free + ones * ((1 - free.sum()) / ones.sum())
    return minimum
