"""Compiled leaves of the kernels. Import this module inside functions: it loads numba."""

import numpy as np
from numba import njit

from kernelwise._jit import FASTMATH
from kernelwise._lanes import (
    BYTES,
    accumulate,
    await_store,
    load,
    load_part,
    minus,
    most,
    plus,
    splat,
    spread,
    store,
    store_part,
    times,
)

from ._tiles import TILE_ROWS, TILE_VECTORS, dots, exp_of_minus, flip
from .base import BLOCK_ROWS


@njit(cache=True, nogil=True)
def exp_of_minus_rows(T):
    """Overwrite T, whose rows are contiguous, by exp(-max(T, 0))."""
    n, m = T.shape
    lanes = BYTES // T.itemsize
    whole = m - m % lanes
    for i in range(n):
        for j in range(0, whole, lanes):
            store(exp_of_minus(load(T, i, j)), T, i, j)
        if whole < m:
            store_part(exp_of_minus(load_part(T, i, whole, m)), T, i, whole, m)


@njit(cache=True, nogil=True)
def transpose(source, target):
    """Copy source' to target, by tiles that stay in registers; rows of both are contiguous."""
    n, m = source.shape
    side = BYTES // source.itemsize
    for j in range(0, m, side):
        for b in range(j + side, min(j + 2 * side, m)):
            for i in range(0, n, side):
                await_store(target, b, i)
        for i in range(0, n, side):
            if i + side <= n and j + side <= m:
                flip(source, i, j, target, j, i)
            else:
                for a in range(i, min(i + side, n)):
                    for b in range(j, min(j + side, m)):
                        target[b, a] = source[a, b]


@njit(cache=True, nogil=True)
def _pack_panels(right, column, stop, panels):
    """Copy columns to panels: for some columns lines of their features, then of their squares."""
    d, m = right.shape[0] - 2, right.shape[1]
    lanes = panels.shape[1]
    line = 0
    for j in range(column, stop, TILE_VECTORS * lanes):
        for k in range(d + 1):
            for v in range(TILE_VECTORS):
                source = load_part(right, k if k < d else d + 1, j + v * lanes, m)
                store(source, panels, line, 0)
                line += 1


@njit(cache=True, nogil=True)
def gauss(left, right, out, first, last, stop, panels, tile):
    """Write exp(-|x - z|^2) to the rows out[first:last], from the sides of squared distances.

    With ``stop`` zero, whole rows; else from the diagonal to the right, and what stands before
    the column ``stop`` is written across the diagonal as well. ``panels`` and ``tile`` are work
    arrays.
    """
    for start in range(first, last, BLOCK_ROWS):
        end, column = min(start + BLOCK_ROWS, last), start if stop > 0 else 0
        _gauss_block(left, right, out, start, end, column, stop, panels, tile)


@njit(cache=True, nogil=True)
def _gauss_block(left, right, out, first, last, column, mirrored, panels, tile):
    """Write a block of rows from a column on.

    As much of the right as ``panels`` holds is packed and multiplied at a time, so that it and what
    is made of it stay in the second-level cache.
    """
    d, m, lanes = left.shape[1] - 2, right.shape[1], tile.shape[1]
    width, lines = TILE_VECTORS * lanes, TILE_VECTORS * (d + 1)
    chunk = panels.shape[0] // lines * width
    for start in range(column, m, chunk):
        stop = min(start + chunk, m)
        _pack_panels(right, start, stop, panels)
        for i in range(first, last, TILE_ROWS):
            rows = min(TILE_ROWS, last - i)
            for j in range(start, stop, width):  # no function for a tile: a call costs a third
                at = (j - start) // width * lines
                for a in range(rows):
                    await_store(out, i + a, j + width)
                    await_store(out, i + a, j + width + lanes)
                dots(left, i, last - 1, panels, at, d, tile)
                for v in range(TILE_VECTORS):
                    squares, place = load(panels, at + TILE_VECTORS * d + v, 0), j + v * lanes
                    for a in range(rows):
                        both = plus(spread(left, i + a, d), squares)  # first: it is symmetric
                        value = exp_of_minus(plus(load(tile, a + v * TILE_ROWS, 0), both))
                        if place + lanes <= m:  # parts take longer to store
                            store(value, out, i + a, place)
                        else:
                            store_part(value, out, i + a, place, m)
        stop = min(stop, mirrored)
        transpose(out[first:last, start:stop], out[start:stop, first:last])


@njit(cache=True, nogil=True, fastmath=FASTMATH)
def scaled_rows(X, centre, root, out):
    """Write (X - centre) * root and, after it, its squared length; return the largest length."""
    d = X.shape[1]
    largest = 0.0
    for i in range(X.shape[0]):
        x, row = X[i], out[i]
        total = 0.0
        for k in range(d):
            value = out.dtype.type((x[k] - centre[k]) * root[k])
            row[k] = value
            total += np.float64(value) * np.float64(value)
        row[d] = total
        if np.isnan(total):
            return total
        largest = max(largest, total)
    return largest


# --- L1 distances -----------------------------------------------------------------------------
#
# A distance takes two instructions a feature instead of three, and so does its contraction, by
#
#     |x - z| = 2 max(x, z) - x - z
#
# Work arrays come from outside: what makes its own takes numba a second longer to compile.


@njit(cache=True, nogil=True, fastmath=FASTMATH)
def shifted_rows(X, centre, scales, out):
    """Write (X - centre) * scales and, after it, its sum; return the largest sum of |values|."""
    d = X.shape[1]
    largest = 0.0
    for i in range(X.shape[0]):
        x, row = X[i], out[i]
        total = size = 0.0
        for k in range(d):
            value = out.dtype.type((x[k] - centre[k]) * scales[k])
            row[k] = value
            total += np.float64(value)
            size += abs(np.float64(value))
        row[d] = total
        if np.isnan(size):
            return size
        largest = max(largest, size)
    return largest


@njit(cache=True, nogil=True)
def _pack(Yt, rows, j, panel):
    """Copy columns of Yt from j on to the panel, zeros behind the last.

    Lines of a panel follow each other, so that they do not push each other from the cache.
    """
    for k in range(rows):
        store(load_part(Yt, k, j, Yt.shape[1]), panel, k, 0)


@njit(cache=True, nogil=True)
def _tile(left, i, panel, out):
    """Write the distances of four rows from i on to the columns of the panel.

    The last row of the left is repeated where there is no other.
    """
    d, last = left.shape[1] - 1, left.shape[0] - 1
    b, c, e = min(i + 1, last), min(i + 2, last), min(i + 3, last)
    zero = splat(left.dtype.type(0))
    t0 = t1 = t2 = t3 = zero
    for start in range(0, d, 32):  # sums of sums: of hundreds of features one would round too much
        s0 = s1 = s2 = s3 = zero
        for k in range(start, min(start + 32, d)):
            y = load(panel, k, 0)
            s0 = plus(s0, most(spread(left, i, k), y))
            s1 = plus(s1, most(spread(left, b, k), y))
            s2 = plus(s2, most(spread(left, c, k), y))
            s3 = plus(s3, most(spread(left, e, k), y))
        t0, t1, t2, t3 = plus(t0, s0), plus(t1, s1), plus(t2, s2), plus(t3, s3)
    y = load(panel, d, 0)  # the sums; a distance is not negative, whatever rounding says
    store(most(plus(minus(t0, spread(left, i, d)), minus(t0, y)), zero), out, 0, 0)
    store(most(plus(minus(t1, spread(left, b, d)), minus(t1, y)), zero), out, 1, 0)
    store(most(plus(minus(t2, spread(left, c, d)), minus(t2, y)), zero), out, 2, 0)
    store(most(plus(minus(t3, spread(left, e, d)), minus(t3, y)), zero), out, 3, 0)


@njit(cache=True, nogil=True)
def l1_distances(left, right, out, panel, tile):
    """Write the distances between the rows of left and the columns of right.

    After its features each row (column) has their sum. ``panel`` is a work array of as many lines
    as right has rows, ``tile`` of four.
    """
    n, m = out.shape
    lanes = panel.shape[1]
    for j in range(0, m, lanes):
        _pack(right, right.shape[0], j, panel)
        for i in range(0, n, 4):
            _tile(left, i, panel, tile)
            for a in range(min(4, n - i)):
                if j + lanes <= m:
                    store(load(tile, a, 0), out, i + a, j)
                else:
                    store_part(load(tile, a, 0), out, i + a, j, m)


@njit(cache=True, nogil=True)
def _weigh(S, rows, start, left, panel, d, diagonal, sums):
    """Multiply S by the factors of the cotangent, above the diagonal; return the sums of columns.

    The factors stand behind the d features. Sums of rows are added to ``sums``, lane by lane.
    """
    total = splat(S.dtype.type(0))
    for i in range(rows):
        weight = times(spread(left, start + i, d), load(panel, d, 0))
        for r in range(d + 1, left.shape[1]):
            weight = plus(times(spread(left, start + i, r), load(panel, r, 0)), weight)
        store(times(weight, load(S, i, 0)), S, i, 0)
        for c in range(i - diagonal + 1):
            S[i, c] = 0
        s = load(S, i, 0)
        store(plus(load(sums, start + i, 0), s), sums, start + i, 0)
        total = plus(total, s)
    return total


@njit(cache=True, nogil=True)
def _contract(S, rows, start, left, panel, d, out):
    """Add to out[k] the sum over rows of S max(left, panel) of each feature, lane by lane."""
    zero = splat(S.dtype.type(0))
    for k in range(0, d, 4):  # one load of S serves four features; the last may repeat
        b, c, e = min(k + 1, d - 1), min(k + 2, d - 1), min(k + 3, d - 1)
        y0, y1, y2, y3 = load(panel, k, 0), load(panel, b, 0), load(panel, c, 0), load(panel, e, 0)
        t0 = t1 = t2 = t3 = zero
        for i in range(rows):
            s = load(S, i, 0)
            t0 = plus(times(s, most(spread(left, start + i, k), y0)), t0)
            t1 = plus(times(s, most(spread(left, start + i, b), y1)), t1)
            t2 = plus(times(s, most(spread(left, start + i, c), y2)), t2)
            t3 = plus(times(s, most(spread(left, start + i, e), y3)), t3)
        accumulate(t0, out, k, 0)
        accumulate(t1, out, k + 1, 0)
        accumulate(t2, out, k + 2, 0)
        accumulate(t3, out, k + 3, 0)


@njit(cache=True, nogil=True)
def l1_contraction(K, start, left, right, d, S, panel, out, sums, columns):
    """Contract a block of K, its rows and columns from ``start`` on, above the diagonal.

    With s_ij = K_ij times the product of the factors, which stand behind the d features in left
    (n, q) and right (q, n), add sum_ij s_ij max(x_ik, x_jk) to out[k], the sum of s in a row to
    ``sums``, both lane by lane, and that in a column to ``columns``. ``out`` has three lines to
    spare; ``S`` and ``panel`` are work arrays of as many lines as K and right have rows.
    """
    lanes = panel.shape[1]
    for j in range(start, right.shape[1], lanes):
        rows = min(K.shape[0], j - start + lanes)
        _pack(right, right.shape[0], j, panel)
        _pack(K, rows, j - start, S)
        total = _weigh(S, rows, start, left, panel, d, j - start, sums)
        accumulate(total, columns, 0, j)
        _contract(S, rows, start, left, panel, d, out)
