"""Compiled leaves of the solvers. Import this module inside functions: it loads numba."""

import numpy as np
from numba import njit

from kernelwise._jit import FASTMATH, larger, smaller

# Reductions run over short stretches, so that the place of an extremum is found by looking at one.
STRETCH = 64
# Added to (taken from) the gradient of what cannot move, so that it never wins a comparison.
NEVER = 1e30
# LIBSVM's curvature for pairs that have none: equal rows, or an indefinite kernel.
LEAST_CURVATURE = 1e-12

CONVERGED, OUT_OF_STEPS, STUCK = 0, 1, 2


@njit(cache=True, nogil=True, fastmath=FASTMATH, error_model="numpy")
def _step(g, row_i, row_j, t, no_up, no_down, least, most):
    """Do g += t (row_i - row_j); leave each stretch's least g over up, most over down."""
    for s in range(least.shape[0]):
        here = slice(s * STRETCH, min((s + 1) * STRETCH, g.shape[0]))
        gs, ki, kj, nu, nd = g[here], row_i[here], row_j[here], no_up[here], no_down[here]
        low, high = g.dtype.type(NEVER), g.dtype.type(-NEVER)
        for k in range(gs.shape[0]):
            value = gs[k] + t * (ki[k] - kj[k])
            gs[k] = value
            low = smaller(low, value + nu[k])
            high = larger(high, value - nd[k])
        least[s], most[s] = low, high


@njit(cache=True, nogil=True, fastmath=FASTMATH, error_model="numpy")
def _gains(g, row_i, diag, no_down, g_i, k_ii, gain, top):
    """Set gain to (g_j - g_i)^2 / curvature over what can go down; leave each stretch's largest."""
    flat, zero = g.dtype.type(LEAST_CURVATURE), g.dtype.type(0)
    for s in range(top.shape[0]):
        here = slice(s * STRETCH, min((s + 1) * STRETCH, g.shape[0]))
        gs, ki, d, nd, out = g[here], row_i[here], diag[here], no_down[here], gain[here]
        best = zero
        for k in range(gs.shape[0]):
            rise = larger(gs[k] - nd[k] - g_i, zero)
            value = rise * rise / larger(k_ii + d[k] - ki[k] - ki[k], flat)
            out[k] = value
            best = larger(best, value)
        top[s] = best


@njit(cache=True, nogil=True)
def _lowest(g, no_up, s):
    """Find the least g over what can rise in a stretch."""
    i = s * STRETCH
    for k in range(i + 1, min((s + 1) * STRETCH, g.shape[0])):
        if g[k] + no_up[k] < g[i] + no_up[i]:
            i = k
    return i


@njit(cache=True, nogil=True)
def _place(values, s, value):
    """Find where in a stretch a value stands."""
    k = s * STRETCH
    while values[k] != value:
        k += 1
    return k


@njit(cache=True, nogil=True, error_model="numpy")
def smo(K, diag, b, g, lo, hi, no_up, no_down, tol, max_steps):
    """Second-order SMO on min 1/2 b'Kb - p'b, sum b = const, lo <= b <= hi, in place.

    g = K b - p goes along with b. Each step raises b_i and lowers b_j by t: i has the least
    gradient of those that can rise, j the largest gain of those that can fall (Fan, Chen, Lin
    2005). Stops when the largest gradient of what can fall is within ``tol`` of the least of
    what can rise. Only the leading len(g) rows and columns of K are read.

    Returns the number of steps and one of CONVERGED, OUT_OF_STEPS, STUCK.
    """
    n = g.shape[0]
    T = g.dtype.type
    n_stretches = (n + STRETCH - 1) // STRETCH
    least, most = np.empty(n_stretches, g.dtype), np.empty(n_stretches, g.dtype)
    gain, top = np.empty(n, g.dtype), np.empty(n_stretches, g.dtype)
    _step(g, g, g, T(0), no_up, no_down, least, most)
    for steps in range(max_steps):
        s = np.argmin(least)
        if most.max() - least[s] <= tol:
            return steps, CONVERGED
        i = _lowest(g, no_up, s)
        row_i = K[i]
        _gains(g, row_i, diag, no_down, g[i], diag[i], gain, top)
        s = np.argmax(top)
        if not top[s] > 0:
            return steps, STUCK
        j = _place(gain, s, top[s])
        curvature = max(np.float64(diag[i] + diag[j] - 2 * row_i[j]), LEAST_CURVATURE)
        room_i, room_j = hi[i] - b[i], b[j] - lo[j]
        t = min(np.float64(g[j] - g[i]) / curvature, room_i, room_j)
        # At a bound, land on it to the bit; else the two sums drift apart.
        new_i = hi[i] if t == room_i else b[i] + t
        new_j = lo[j] if t == room_j else b[j] - t
        if new_i == b[i] and new_j == b[j]:
            return steps, STUCK
        b[i], b[j] = new_i, new_j
        for k in (i, j):
            no_up[k] = T(0) if b[k] < hi[k] else T(NEVER)
            no_down[k] = T(0) if b[k] > lo[k] else T(NEVER)
        _step(g, row_i, K[j], T(t), no_up, no_down, least, most)
    return max_steps, OUT_OF_STEPS


@njit(cache=True, nogil=True)
def square_block(K, some):
    """Copy the rows and columns ``some`` of K."""
    out = np.empty((some.shape[0], some.shape[0]), K.dtype)
    for i in range(some.shape[0]):
        source, target = K[some[i]], out[i]
        for j in range(some.shape[0]):
            target[j] = source[some[j]]
    return out


@njit(cache=True, nogil=True)
def swap_columns(K, n_rows, a, b):
    """Exchange the columns a with the columns b in the leading rows of K."""
    for r in range(n_rows):
        row = K[r]
        for k in range(a.shape[0]):
            row[a[k]], row[b[k]] = row[b[k]], row[a[k]]


@njit(cache=True, nogil=True, fastmath=FASTMATH)
def add_rows(K, rows, change, out):
    """Do out += sum_r change[r] K[rows[r]] in float64, in pieces that stay in cache."""
    width = 1024
    piece = np.empty(width, np.float64)
    n, n_rows = out.shape[0], rows.shape[0]
    for start in range(0, n, width):
        stop = min(start + width, n)
        part = piece[: stop - start]
        part[:] = 0
        for r in range(0, n_rows - 3, 4):
            c0, c1, c2, c3 = change[r], change[r + 1], change[r + 2], change[r + 3]
            k0, k1 = K[rows[r], start:stop], K[rows[r + 1], start:stop]
            k2, k3 = K[rows[r + 2], start:stop], K[rows[r + 3], start:stop]
            for j in range(part.shape[0]):
                part[j] += c0 * k0[j] + c1 * k1[j] + c2 * k2[j] + c3 * k3[j]
        for r in range(n_rows - n_rows % 4, n_rows):
            c0, k0 = change[r], K[rows[r], start:stop]
            for j in range(part.shape[0]):
                part[j] += c0 * k0[j]
        whole = out[start:stop]
        for j in range(part.shape[0]):
            whole[j] += part[j]
