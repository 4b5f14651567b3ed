"""Contractions of a symmetric matrix with the terms of a distance, compiled. Loads numba.

Both kinds of terms, |x - z| = 2 max(x, z) - x - z and (x - z)^2 = x^2 + z^2 - 2 xz, take

    mixed_k = sum_{i<j} s_ij f(x_ik, x_jk),  f = max or product,     ends_i = sum_j s_ij

where s_ij is K_ij times the product of factors, which stand behind the d features in left (n, q)
and right (q, n). A call adds those of some rows of K, they and the columns from ``start`` on, above
the diagonal: to ``mixed`` and, for each row, to ``sums`` lane by lane, and to ``totals`` the sum of
each column. Work arrays come from outside: what makes its own takes numba a second longer to
compile.
"""

# mypy: ignore-errors

import numpy as np
from numba import njit

from kernelwise._jit import FASTMATH
from kernelwise._lanes import accumulate, load, load_part, most, plus, splat, spread, store, times

from ._tiles import TILE_ROWS, TILE_VECTORS, dots

CHUNK = 8  # vectors of columns that are weighed at a time: rows of K are read along


@njit(cache=True, nogil=True)
def _pack(right, j, count, panel):
    """Copy vectors of columns from j on to the panel, zeros behind the last."""
    lanes, (q, n) = panel.shape[1], right.shape
    for k in range(q):
        for v in range(count):
            place = j + v * lanes
            if place + lanes <= n:
                store(load(right, k, place), panel, v * q + k, 0)
            else:
                store(load_part(right, k, place, n), panel, v * q + k, 0)


@njit(cache=True, nogil=True)
def _weigh(K, column, count, rows, start, left, d, panel, S, group, sums, totals):
    """Write s of ``count`` vectors of columns to S: panels of ``group`` vectors, line by line.

    ``column`` is the first in K. The panel holds lines of q for each vector.
    """
    lanes, end, q, height = S.shape[1], K.shape[1], left.shape[1], S.shape[0] // CHUNK
    for i in range(rows):
        own = load(sums, start + i, 0)
        for v in range(count):
            place, at = column + v * lanes, v * q
            weight = times(spread(left, start + i, d), load(panel, at + d, 0))
            for r in range(d + 1, q):
                weight = plus(times(spread(left, start + i, r), load(panel, at + r, 0)), weight)
            if place + lanes <= end:  # parts take longer
                s = times(weight, load(K, i, place))
            else:
                s = times(weight, load_part(K, i, place, end))
            line = v // group * group * height + i * group + v % group
            store(s, S, line, 0)
            if i >= place:
                for c in range(min(i - place + 1, lanes)):
                    S[line, c] = 0
                s = load(S, line, 0)
            own = plus(own, s)
            store(plus(load(totals, 0, start + place), s), totals, 0, start + place)
        store(own, sums, start + i, 0)


@njit(cache=True, nogil=True)
def _add_maxima(S, first, rows, start, left, panel, at, d, mixed):
    zero = splat(S.dtype.type(0))
    for k in range(0, d, 4):  # one load of S serves four features; the last may repeat
        b, c, e = min(k + 1, d - 1), min(k + 2, d - 1), min(k + 3, d - 1)
        y0, y1 = load(panel, at + k, 0), load(panel, at + b, 0)
        y2, y3 = load(panel, at + c, 0), load(panel, at + e, 0)
        t0 = t1 = t2 = t3 = zero
        for i in range(rows):
            s = load(S, first + i, 0)
            t0 = plus(times(s, most(spread(left, start + i, k), y0)), t0)
            t1 = plus(times(s, most(spread(left, start + i, b), y1)), t1)
            t2 = plus(times(s, most(spread(left, start + i, c), y2)), t2)
            t3 = plus(times(s, most(spread(left, start + i, e), y3)), t3)
        accumulate(t0, mixed, k, 0)
        accumulate(t1, mixed, k + 1, 0)  # beyond the last there are lines to spare
        accumulate(t2, mixed, k + 2, 0)
        accumulate(t3, mixed, k + 3, 0)


@njit(cache=True, nogil=True)
def _add_products(S, first, rows, features, panel, at, d, tile, mixed):
    q = features.shape[0]
    for k in range(0, d, TILE_ROWS):
        dots(features, k, d - 1, S, first, rows, tile)
        for a in range(min(TILE_ROWS, d - k)):
            both = times(load(tile, a, 0), load(panel, at + k + a, 0))
            for v in range(1, TILE_VECTORS):
                z = load(panel, at + v * q + k + a, 0)
                both = plus(times(load(tile, v * TILE_ROWS + a, 0), z), both)
            accumulate(both, mixed, k + a, 0)


@njit(cache=True, nogil=True)
def _contract_block(K, start, left, right, d, squares, S, panel, tile, mixed, sums, totals):
    """Contract as many rows as S has room for."""
    lanes, (q, n), height = S.shape[1], right.shape, S.shape[0] // CHUNK
    group = TILE_VECTORS if squares else 1
    features = right[:, start:]
    for j in range(start, n, CHUNK * lanes):
        count = min(CHUNK, -(-(n - j) // (group * lanes)) * group)
        rows = min(K.shape[0], j - start + count * lanes)
        _pack(right, j, count, panel)
        _weigh(K, j - start, count, rows, start, left, d, panel, S, group, sums, totals)
        for v in range(0, count, group):
            here = min(rows, j - start + (v + group) * lanes)  # the others are zeros
            if squares:
                _add_products(S, v * height, here, features, panel, v * q, d, tile, mixed)
            else:
                _add_maxima(S, v * height, here, start, left, panel, v * q, d, mixed)


@njit(cache=True, nogil=True)
def contract(K, start, left, right, d, squares, S, panel, tile, mixed, sums, totals):
    """Contract rows of K with x z, where terms are squares, else with max(x, z)."""
    height = S.shape[0] // CHUNK
    for row in range(0, K.shape[0], height):
        block, at = K[row : row + height, row:], start + row
        _contract_block(block, at, left, right, d, squares, S, panel, tile, mixed, sums, totals)


@njit(cache=True, nogil=True, fastmath=FASTMATH)
def whole_terms(rows, d, squares, mixed, sums, totals, out):
    """Write the contraction with the terms, put together from that with their parts."""
    for k in range(d):
        total = 0.0
        for lane in range(mixed.shape[1]):
            total += mixed[k, lane]
        out[k] = -2 * total if squares else 2 * total
    for i in range(rows.shape[0]):
        end = np.float64(totals[0, i])
        for lane in range(sums.shape[1]):
            end += sums[i, lane]
        for k in range(d):
            x = np.float64(rows[i, k])
            out[k] += end * x * x if squares else -end * x
