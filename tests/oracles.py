"""Slow, obvious answers to hold the fast code against.

    descend(qp)         minimum of a dual problem by the best of all pairs, for some sixty variables
    enumerate_sets(qp)  the same by trying every set of bounds, for about six variables
    nearest(...)        projection onto a box and a sum, by trying every set of bounds
    naive_kernel(...)   a kernel matrix entry by entry, feature by feature, from its formula
    derivative(...)     derivative of K by one parameter, by finite differences
    differences(...)    the same of sum(D * K)
    slopes(...)         gradient of any function of a vector, by finite differences
    decisions_of(...)   a machine with or without bias, and its decision values
    leave_each_out(...) the decision value of each row by a machine refitted without it

The two solvers share nothing but the statement of the problem, and both prove what they return:
for a positive semi-definite K the optimality conditions are sufficient.
"""

import math
from functools import singledispatch
from itertools import product

import numpy as np

from kernelwise.kernels import (
    RBF,
    FunctionKernel,
    Laplacian,
    Linear,
    Matern32,
    Matern52,
    Normalized,
    Polynomial,
    Precomputed,
    Product,
    Ridge,
    Scaled,
    Sigmoid,
    Sum,
)
from kernelwise.qp import DualQP, Terms, c_svc

# --- The dual problem: min 1/2 b'Kb - p'b + kink'|b|, sum b = c, lo <= b <= hi ---------------


def dense(qp):
    """Return the problem's parts with its kernel matrix in float64."""
    everything = np.arange(qp.n)
    return qp.gram.block(everything, everything), qp.p, qp.lo, qp.hi, float(qp.c[0])


def objective(qp, beta):
    K, p, *_ = dense(qp)
    bent = 0.0 if qp.kink is None else qp.kink @ np.abs(beta)
    return 0.5 * beta @ K @ beta - p @ beta + bent


def violation(qp, beta):
    """Return the largest gradient of what can fall minus the least of what can rise."""
    K, p, lo, hi, _ = dense(qp)
    kink = np.zeros(len(p)) if qp.kink is None else qp.kink
    return _violation(K @ beta - p, beta, lo, hi, kink)


def _violation(gradient, beta, lo, hi, kink=0.0):
    can_rise, can_fall = beta < hi, beta > lo
    if not can_rise.any() or not can_fall.any():
        return 0.0
    rising = gradient + kink * np.where(beta < 0, -1, 1)
    falling = gradient + kink * np.where(beta > 0, 1, -1)
    return max(0.0, falling[can_fall].max() - rising[can_rise].min())


def doubled(qp):
    """Return a problem without kinks in the positive and the negative parts of the variables."""
    K, p, lo, hi, c = dense(qp)
    above, below = np.maximum(0, (lo, hi)), np.minimum(0, (lo, hi))
    terms = Terms(
        p=np.append(p - qp.kink, p + qp.kink),
        lo=np.append(above[0], below[0]),
        hi=np.append(above[1], below[1]),
        c=[c],
    )
    return DualQP(np.tile(K, (2, 2)), terms)


def descend(qp, tol=1e-12, most_steps=200_000):
    """Minimise by moving, again and again, the pair that lowers the objective most.

    The gradient is computed anew at each step, so that nothing drifts. ``tol`` is relative to the
    size of the terms that the gradient is the sum of.
    """
    if qp.kink is not None:
        return descend(doubled(qp), tol, most_steps).reshape(2, -1).sum(axis=0)
    K, p, lo, hi, c = dense(qp)
    beta = _any_feasible(lo, hi, c)
    diag = np.diagonal(K)
    curvature = np.maximum(diag[:, None] + diag - 2 * K, 1e-300)  # equal rows have none
    for _ in range(most_steps):
        gradient = K @ beta - p
        size = np.abs(p).max() + np.abs(K).max() * np.abs(beta).sum()
        if _violation(gradient, beta, lo, hi) <= tol * size:
            return beta
        slope = gradient - gradient[:, None]  # of raising i and lowering j
        room = np.minimum((hi - beta)[:, None], beta - lo)
        step = np.minimum(np.maximum(slope, 0) / curvature, room)
        gain = step * (slope - 0.5 * step * curvature)
        i, j = np.unravel_index(np.argmax(gain), gain.shape)
        move = step[i, j]
        # On a bound to the bit, or it would count as free.
        beta[i] = hi[i] if move == hi[i] - beta[i] else beta[i] + move
        beta[j] = lo[j] if move == beta[j] - lo[j] else beta[j] - move
    raise AssertionError(f"the oracle did not reach its tolerance in {most_steps} steps")


def _any_feasible(lo, hi, c):
    beta = np.clip(0.0, lo, hi)
    for i in range(len(beta)):
        beta[i] = np.clip(beta[i] + c - beta.sum(), lo[i], hi[i])
    assert math.isclose(beta.sum(), c, abs_tol=1e-12), "no feasible point"
    return beta


def enumerate_sets(qp):
    """Minimise by trying, for each variable, its lower bound, its upper bound, and neither."""
    K, p, lo, hi, c = dense(qp)
    best, least = None, np.inf
    for at_lo, at_hi in _sets(lo, hi):
        beta = _stationary_point(K, p, lo, hi, c, at_lo, at_hi)
        if beta is not None and 0.5 * beta @ K @ beta - p @ beta < least:
            best, least = beta, 0.5 * beta @ K @ beta - p @ beta
    assert best is not None, "no feasible point"
    return best


def _sets(lo, hi):
    """Yield masks (at lo, at hi) of all choices; nothing stands at an infinite bound."""
    for choice in product("lhf", repeat=len(lo)):
        at_lo, at_hi = (np.array([state == side for state in choice]) for side in "lh")
        if np.isfinite(lo[at_lo]).all() and np.isfinite(hi[at_hi]).all():
            yield at_lo, at_hi


def _stationary_point(K, p, lo, hi, c, at_lo, at_hi):
    """Return the point where the free gradient is constant, or None if it is not feasible."""
    free = ~(at_lo | at_hi)
    beta = np.where(at_lo, lo, np.where(at_hi, hi, 0.0))
    if free.any():
        m = int(free.sum())
        bordered = np.zeros((m + 1, m + 1))
        bordered[:m, :m] = K[np.ix_(free, free)]
        bordered[m, :m] = bordered[:m, m] = 1
        right = np.append((p - K @ beta)[free], c - beta.sum())
        beta[free] = np.linalg.lstsq(bordered, right, rcond=None)[0][:m]
    feasible = np.isclose(beta.sum(), c, atol=1e-9)
    inside = (beta >= lo - 1e-9).all() and (beta <= hi + 1e-9).all()
    return np.clip(beta, lo, hi) if feasible and inside else None


def nearest(beta, lo, hi, c):
    """Return the point of the box with sum c nearest to beta, by trying every set of bounds.

    On a set the nearest point shifts all free variables by the same amount.
    """
    best, least = None, np.inf
    for at_lo, at_hi in _sets(lo, hi):
        free = ~(at_lo | at_hi)
        point = np.where(at_lo, lo, np.where(at_hi, hi, beta))
        if free.any():
            point[free] += (c - point.sum()) / free.sum()
        inside = (point >= lo - 1e-12).all() and (point <= hi + 1e-12).all()
        distance = np.sum((point - beta) ** 2)
        if inside and abs(point.sum() - c) < 1e-9 and distance < least:
            best, least = point, distance
    return best


# --- Kernels ----------------------------------------------------------------------------------


def naive_kernel(kernel, X, Y=None):
    """Evaluate a kernel entry by entry, in float64."""
    X = np.asarray(X, dtype=np.float64)
    Y = X if Y is None else np.asarray(Y, dtype=np.float64)
    n_columns = X.shape[1] if isinstance(kernel, Precomputed) else len(Y)
    return np.array([[_entry(kernel, X, i, Y, j) for j in range(n_columns)] for i in range(len(X))])


def _weights(kernel, d):
    return [1.0] * d if kernel.weights is None else [float(w) for w in kernel.weights]


def _dot(kernel, x, z):
    return kernel.gamma * math.fsum(
        w * a * b for w, a, b in zip(_weights(kernel, len(x)), x, z, strict=True)
    )


def _squared_distance(kernel, x, z):
    return kernel.gamma * math.fsum(
        w * (a - b) ** 2 for w, a, b in zip(_weights(kernel, len(x)), x, z, strict=True)
    )


@singledispatch
def _entry(kernel, X, i, Y, j):
    """Return k(row i of X, row j of Y); the two are the same row where Y is X and i is j."""
    raise NotImplementedError(f"write the formula of {type(kernel).__name__} here")


@_entry.register
def _(kernel: Linear, X, i, Y, j):
    return _dot(kernel, X[i], Y[j])


@_entry.register
def _(kernel: Polynomial, X, i, Y, j):
    return (_dot(kernel, X[i], Y[j]) + kernel.coef0) ** kernel.degree


@_entry.register
def _(kernel: Sigmoid, X, i, Y, j):
    return math.tanh(_dot(kernel, X[i], Y[j]) + kernel.coef0)


@_entry.register
def _(kernel: RBF, X, i, Y, j):
    return math.exp(-_squared_distance(kernel, X[i], Y[j]))


@_entry.register
def _(kernel: Matern32, X, i, Y, j):
    u = math.sqrt(3 * _squared_distance(kernel, X[i], Y[j]))
    return (1 + u) * math.exp(-u)


@_entry.register
def _(kernel: Matern52, X, i, Y, j):
    u = math.sqrt(5 * _squared_distance(kernel, X[i], Y[j]))
    return (1 + u + u**2 / 3) * math.exp(-u)


@_entry.register
def _(kernel: Laplacian, X, i, Y, j):
    weights, d = _weights(kernel, len(X[i])), len(X[i])
    categorical = [False] * d if kernel.categorical is None else kernel.categorical
    terms = (
        float(a != b) if is_category else abs(a - b)
        for is_category, a, b in zip(categorical, X[i], Y[j], strict=True)
    )
    distance = math.fsum(w * term for w, term in zip(weights, terms, strict=True))
    return math.exp(-kernel.gamma * distance)


@_entry.register
def _(kernel: Precomputed, X, i, Y, j):
    return float(X[i, j])


@_entry.register
def _(kernel: FunctionKernel, X, i, Y, j):
    return float(kernel.function(X[i : i + 1], Y[j : j + 1])[0, 0])


@_entry.register
def _(kernel: Sum, X, i, Y, j):
    return _entry(kernel.left, X, i, Y, j) + _entry(kernel.right, X, i, Y, j)


@_entry.register
def _(kernel: Product, X, i, Y, j):
    return _entry(kernel.left, X, i, Y, j) * _entry(kernel.right, X, i, Y, j)


@_entry.register
def _(kernel: Scaled, X, i, Y, j):
    return kernel.scale * _entry(kernel.kernel, X, i, Y, j)


@_entry.register
def _(kernel: Normalized, X, i, Y, j):
    norms = _entry(kernel.kernel, X, i, X, i) * _entry(kernel.kernel, Y, j, Y, j)
    return _entry(kernel.kernel, X, i, Y, j) / math.sqrt(norms) if norms > 0 else 0.0


@_entry.register
def _(kernel: Ridge, X, i, Y, j):
    if Y is not X or i != j:
        return 0.0
    weights = [1.0] if kernel.weights is None else kernel.weights
    return math.fsum(np.broadcast_to(kernel.value, len(weights)) * weights)


# --- Derivatives ------------------------------------------------------------------------------

# Coefficients of differences of fourth order; the second looks forward only, for a parameter
# that stands at its least value.
_CENTRAL = {-2: 1 / 12, -1: -8 / 12, 1: 8 / 12, 2: -1 / 12}
_FORWARD = {0: -25 / 12, 1: 48 / 12, 2: -36 / 12, 3: 16 / 12, 4: -3 / 12}


def derivative(kernel, X, name, step=1e-3):
    """Return dK / d parameter: an (n, n) array, or one per feature for a vector of parameters."""
    value = kernel.get_params()[name]
    if value is None:  # weights that are not given are ones
        value = np.ones(X.shape[1])

    def matrix(changed):
        return naive_kernel(kernel.with_params(**{name: changed}), X)

    if np.ndim(value) == 0:
        return _difference(matrix, float(value), step)
    return np.array(
        [_difference(_along(matrix, value, k), value[k], step) for k in range(len(value))]
    )


def differences(kernel, X, D, name):
    """Return d sum(D * K) / d parameter: a number, or one per feature for a vector."""
    return np.sum(D * derivative(kernel, X, name), axis=(-2, -1))


def _along(matrix, value, k):
    def of_one(number):
        changed = np.array(value)
        changed[k] = number
        return matrix(changed)

    return of_one


def _difference(matrix, at, step):
    stencil = _FORWARD if 0 <= at < 2 * step else _CENTRAL
    return sum(factor * matrix(at + k * step) for k, factor in stencil.items()) / step


def slopes(function, theta, step=1e-4):
    """Return the gradient of a function of a vector, by finite differences."""
    theta = np.asarray(theta, dtype=np.float64)
    return np.array(
        [_difference(_along(function, theta, k), theta[k], step) for k in range(len(theta))]
    )


# --- Machines left one row short --------------------------------------------------------------


def decisions_of(K, y, C, bias=True):
    """Return a machine's coefficients and its decision values on all rows, in or out of it."""
    if not bias:
        beta = _ascend(K, y, C)
        return beta, K @ beta
    y, C = np.asarray(y, dtype=float), np.broadcast_to(C, len(y))
    qp = c_svc(K, y, C)
    beta = descend(qp, tol=1e-14)
    gradient = K @ beta - y
    free = (qp.lo < beta) & (beta < qp.hi)
    if free.any():
        return beta, K @ beta - gradient[free].mean()
    # Any bias between these two does: the middle.
    can_rise, can_fall = gradient[beta < qp.hi], gradient[beta > qp.lo]
    return beta, K @ beta - (can_rise.min() + can_fall.max()) / 2


def _ascend(K, y, C, most_sweeps=20_000):
    """Maximise a dual without equality by one coordinate after the other (Kernel-Adatron)."""
    alpha = np.zeros(len(y))
    C = np.broadcast_to(C, len(y))
    for _ in range(most_sweeps):
        before = alpha.copy()
        for i in np.flatnonzero(y):
            margin = y[i] * (K[i] @ (alpha * y))
            alpha[i] = np.clip(alpha[i] + (1 - margin) / K[i, i], 0, C[i])
        if np.abs(alpha - before).max() <= 1e-14:
            return alpha * y
    raise AssertionError("the oracle did not come to rest")


def role_of(beta, C):
    """Return 0 for rows that are no support vectors, 1 for free ones, 2 for bounded ones."""
    bounded = np.abs(beta) >= (1 - 1e-10) * np.broadcast_to(C, len(beta))
    return np.where(beta == 0, 0, np.where(bounded, 2, 1))


def leave_each_out(K, y, C, bias=True):
    """Refit without each row: its decision value then, and whether the others kept their roles."""
    whole = role_of(decisions_of(K, y, C, bias)[0], C)
    values, kept = np.empty(len(y)), np.empty(len(y), dtype=bool)
    for i in range(len(y)):
        others = np.arange(len(y)) != i
        beta, decisions = decisions_of(K, np.where(others, y, 0.0), C, bias)
        values[i] = decisions[i]
        kept[i] = np.array_equal(role_of(beta, C)[others], whole[others])
    return values, kept
