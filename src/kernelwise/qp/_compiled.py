"""Compiled leaves of the solvers. Import this module inside functions: it loads numba."""

import numpy as np
from numba import njit

from kernelwise._jit import FASTMATH
from kernelwise._lanes import (
    PAIR_BYTES,
    if_less,
    least,
    load_pair,
    load_pair_part,
    minus,
    most,
    plus,
    splat_pair,
    store,
    times,
)

from ._extrema import largest_of, place_of_largest_ratio, place_of_least

# Added to (taken from) the gradient of what cannot move, so that it never wins a comparison.
NEVER = 1e30
# LIBSVM's curvature for pairs that have none: equal rows, or an indefinite kernel.
LEAST_CURVATURE = 1e-12

CONVERGED, OUT_OF_STEPS, STUCK = 0, 1, 2

# What SMO reads of each variable, a row each, in the type of the matrix: the gradient, zero where
# it can rise (fall) or NEVER where it cannot, and the diagonal of K. Rows end in variables that
# can do neither, so that they are made of whole lanes.
_SLOPE, _NO_RISE, _NO_FALL, _DIAGONAL = range(4)


@njit(cache=True, nogil=True)
def gather(diag, b, g, lo, hi, some):
    """Return what SMO works on for some variables: b and its bounds in float64, and their state."""
    m, lanes = some.shape[0], PAIR_BYTES // diag.itemsize
    inner, low, high = np.empty(m), np.empty(m), np.empty(m)
    padded = (m + lanes - 1) // lanes * lanes
    state = np.empty((4, padded), diag.dtype)
    for k in range(m):
        i = some[k]
        inner[k], low[k], high[k] = b[i], lo[i], hi[i]
        state[_SLOPE, k], state[_DIAGONAL, k] = g[i], diag[i]
        state[_NO_RISE, k] = 0 if b[i] < hi[i] else NEVER
        state[_NO_FALL, k] = 0 if b[i] > lo[i] else NEVER
    for k in range(m, padded):
        state[_SLOPE, k] = state[_DIAGONAL, k] = 0
        state[_NO_RISE, k] = state[_NO_FALL, k] = NEVER
    return inner, low, high, state


@njit(cache=True, nogil=True)
def _step(K, i, j, t, state, n):
    """Add t (K_i - K_j) to the gradient.

    Returns where it is least among what can rise, and how far the largest among what can fall is
    above that.
    """
    T = state.dtype.type
    lanes = PAIR_BYTES // state.itemsize
    low, high = splat_pair(T(NEVER)), splat_pair(T(-NEVER))
    low_at = here = splat_pair(T(0))
    width, change = splat_pair(T(lanes)), splat_pair(t)
    for k in range(0, state.shape[1], lanes):
        if k + lanes <= n:  # parts take longer to load
            rows = minus(load_pair(K, i, k), load_pair(K, j, k))
        else:
            rows = minus(load_pair_part(K, i, k, n), load_pair_part(K, j, k, n))
        slope = plus(load_pair(state, _SLOPE, k), times(change, rows))
        store(slope, state, _SLOPE, k)
        rising = plus(slope, load_pair(state, _NO_RISE, k))
        low_at = if_less(rising, low, here, low_at)
        low = least(rising, low)
        high = most(minus(slope, load_pair(state, _NO_FALL, k)), high)
        here = plus(here, width)
    first = place_of_least(low, low_at)
    return first, largest_of(high) - (state[_SLOPE, first] + state[_NO_RISE, first])


@njit(cache=True, nogil=True)
def _partner(K, i, state, n):
    """Return which of those that can fall gains most with i: (g_j - g_i)^2 / curvature.

    Two ratios are compared by products: a division takes longer than all the rest.
    """
    T = state.dtype.type
    lanes = PAIR_BYTES // state.itemsize
    zero, two, flat = splat_pair(T(0)), splat_pair(T(2)), splat_pair(T(LEAST_CURVATURE))
    own_slope, own_diagonal = splat_pair(state[_SLOPE, i]), splat_pair(state[_DIAGONAL, i])
    top, bottom = zero, splat_pair(T(1))
    best_at = here = zero
    width = splat_pair(T(lanes))
    for k in range(0, state.shape[1], lanes):
        falling = minus(load_pair(state, _SLOPE, k), load_pair(state, _NO_FALL, k))
        gain = most(minus(falling, own_slope), zero)
        gain = times(gain, gain)
        ends = plus(own_diagonal, load_pair(state, _DIAGONAL, k))
        row = load_pair(K, i, k) if k + lanes <= n else load_pair_part(K, i, k, n)
        curvature = most(minus(ends, times(two, row)), flat)
        old, new = times(top, curvature), times(gain, bottom)
        best_at = if_less(old, new, here, best_at)
        top, bottom = if_less(old, new, gain, top), if_less(old, new, curvature, bottom)
        here = plus(here, width)
    return place_of_largest_ratio(top, bottom, best_at)


@njit(cache=True, nogil=True, error_model="numpy")
def smo(K, b, lo, hi, state, tol, max_steps):
    """Second-order SMO on min 1/2 b'Kb - p'b, sum b = const, lo <= b <= hi, in place.

    b, its bounds and the state are those of `gather`; the gradient K b - p goes along with b. Each
    step raises b_i and lowers b_j by t: i has the least gradient of those that can rise, j the
    largest gain of those that can fall (Fan, Chen, Lin 2005). Stops when the largest gradient of
    what can fall is within ``tol`` of the least of what can rise. Only the leading len(b) rows and
    columns of K are read.

    Returns the number of steps and one of CONVERGED, OUT_OF_STEPS, STUCK.
    """
    n, T = b.shape[0], state.dtype.type
    i = j = 0
    t = T(0)
    for steps in range(max_steps + 1):
        i, violation = _step(K, i, j, t, state, n)
        if violation <= tol:
            return steps, CONVERGED
        if steps == max_steps:
            break
        j = _partner(K, i, state, n)
        rise = state[_SLOPE, j] - state[_SLOPE, i]
        if not rise - state[_NO_FALL, j] > 0:
            return steps, STUCK
        curvature = np.float64(state[_DIAGONAL, i] + state[_DIAGONAL, j] - 2 * K[i, j])
        room_i, room_j = hi[i] - b[i], b[j] - lo[j]
        by = min(np.float64(rise) / max(curvature, LEAST_CURVATURE), room_i, room_j)
        # At a bound, land on it to the bit; else the two sums drift apart.
        new_i = hi[i] if by == room_i else b[i] + by
        new_j = lo[j] if by == room_j else b[j] - by
        if new_i == b[i] and new_j == b[j]:
            return steps, STUCK
        b[i], b[j] = new_i, new_j
        for k in (i, j):
            state[_NO_RISE, k] = 0 if b[k] < hi[k] else NEVER
            state[_NO_FALL, k] = 0 if b[k] > lo[k] else NEVER
        t = T(by)
    return max_steps, OUT_OF_STEPS


@njit(cache=True, nogil=True)
def count_movable(state):
    """Count the variables that a step may still pick (LIBSVM's shrinking)."""
    least, most, found = np.inf, -np.inf, 0
    for k in range(state.shape[1]):
        least = min(least, state[_SLOPE, k] + state[_NO_RISE, k])
        most = max(most, state[_SLOPE, k] - state[_NO_FALL, k])
    for k in range(state.shape[1]):
        rises = state[_SLOPE, k] + state[_NO_RISE, k] < most
        found += rises or state[_SLOPE, k] - state[_NO_FALL, k] > least
    return found


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
