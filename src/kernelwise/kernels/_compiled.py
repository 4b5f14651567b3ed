"""Compiled leaves of the kernels. Import this module inside functions: it loads numba."""

import numpy as np
from numba import njit

from kernelwise._jit import FASTMATH
from kernelwise._lanes import (
    BYTES,
    any_less,
    await_store,
    if_less,
    load,
    load_part,
    minus,
    most,
    plus,
    splat,
    spread,
    store,
    store_part,
)

from ._tiles import (
    FLIP_BYTES,
    TILE_ROWS,
    TILE_VECTORS,
    dots,
    exp_of_minus,
    flip,
    gauss_tile,
    less_double,
    squares,
)
from .base import BLOCK_ROWS
from .pairwise import FLOAT32_REACH

# What |x|^2 + |z|^2 - 2 x.z leaves of far rows that are close together is mostly rounding: where
# the squares exceed the first number and the distance is below the second, beyond which nothing is
# left of the error in exp(-t), it is made of the differences.
_FAR, _CLOSE = 2 * FLOAT32_REACH, 8.0
_LEAST_SQUARE = 7.9  # of each such row, as |x| and |z| differ by the root of _CLOSE at most


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
    side = FLIP_BYTES // source.itemsize
    for j in range(0, m, side):
        for b in range(j + side, min(j + 2 * side, m)):
            for i in range(0, n, BYTES // source.itemsize):
                await_store(target, b, i)
        for i in range(0, n, side):
            if i + side <= n and j + side <= m:
                flip(source, i, j, target, j, i)
            else:
                for a in range(i, min(i + side, n)):
                    for b in range(j, min(j + side, m)):
                        target[b, a] = source[a, b]


@njit(cache=True, nogil=True)
def _pack_panels(other, first, stop, panels):
    """Write rows to panels as columns: lines of their features, then one of their squares.

    Places behind the last row are zero.
    """
    lines, side = other.shape[1] - 1, FLIP_BYTES // other.itemsize
    line = 0
    for j in range(first, stop, panels.shape[1]):
        for v in range(0, panels.shape[1], side):
            whole = lines - lines % side if j + v + side <= other.shape[0] else 0
            for k in range(0, whole, side):
                flip(other, j + v, k, panels, line + k, v)
            for k in range(whole, lines):
                for a in range(side):
                    row = j + v + a
                    panels[line + k, v + a] = other[row, k] if row < other.shape[0] else 0
        line += lines


@njit(cache=True, nogil=True)
def _is_blurred(left, i, rows, panels, at, d, tile):
    """Tell whether any distance of a tile, made of its dot products, is mostly rounding."""
    far, close = splat(left.dtype.type(_FAR)), splat(left.dtype.type(_CLOSE))
    for a in range(rows):
        if left[i + a, d] > _LEAST_SQUARE:
            for v in range(TILE_VECTORS):
                lengths = load(panels, at + d, v * tile.shape[1])
                both = plus(spread(left, i + a, d), lengths)
                t = less_double(both, load(tile, a + v * TILE_ROWS, 0))
                if any_less(if_less(far, both, t, close), close):
                    return True
    return False


@njit(cache=True, nogil=True)
def _has_far_row(left, i, rows, d):
    """Tell whether any of some rows is so far out that its distances may be mostly rounding."""
    found = False
    for a in range(rows):
        found = found or left[i + a, d] > _LEAST_SQUARE
    return found and left.itemsize == 4


@njit(cache=True, nogil=True)
def _await_tile(out, i, rows, j, lanes):
    """Have the memory of a tile brought to the cache."""
    for a in range(rows):
        await_store(out, i + a, j)
        await_store(out, i + a, j + lanes)


@njit(cache=True, nogil=True)
def _mirror(out, first, last, start, stop):
    """Write some columns of a block of rows, from its diagonal on, across the diagonal."""
    side = FLIP_BYTES // out.itemsize
    for b in range(max(start, first), min(stop, last), side):
        end = min(b + side, stop, last)
        transpose(out[first:b, b:end], out[b:end, first:b])
    beyond = max(start, last)
    if beyond < stop:
        transpose(out[first:last, beyond:stop], out[beyond:stop, first:last])


@njit(cache=True, nogil=True)
def gauss(left, other, out, first, last, stop, panels, tile, sharp):
    """Write exp(-|x - z|^2) to the rows out[first:last], from rows (x, |x|^2, 1) of both.

    With ``stop`` zero, whole rows; else from the diagonal to the right, and what stands before
    the column ``stop`` is written across the diagonal as well. ``panels``, ``tile`` and ``sharp``
    are work arrays.
    """
    height = BLOCK_ROWS // TILE_ROWS * TILE_ROWS
    for start in range(first, last, height):
        end, column = min(start + height, last), start if stop > 0 else 0
        _gauss_block(left, other, out, start, end, column, stop, panels, tile, sharp)


@njit(inline="always")  # a call takes a tenth of a tile's time
def _careful_tile(left, i, rows, panels, at, d, out, j, m, has_far, tile, sharp):
    """Write a tile at the edge of the matrix, or of far rows, of which some may be close."""
    lanes = tile.shape[1]
    far, close = splat(left.dtype.type(_FAR)), splat(left.dtype.type(_CLOSE))
    dots(left, i, i + rows - 1, panels, at, d, tile)
    blurred = has_far and _is_blurred(left, i, rows, panels, at, d, tile)
    if blurred:
        squares(left, i, i + rows - 1, panels, at, d, sharp)
    for v in range(TILE_VECTORS):
        lengths, place = load(panels, at + d, v * lanes), j + v * lanes
        for a in range(rows):
            both = plus(spread(left, i + a, d), lengths)  # first: it is symmetric
            t = less_double(both, load(tile, a + v * TILE_ROWS, 0))
            if blurred:  # each lane for itself: this is symmetric, too
                clear = load(sharp, a + v * TILE_ROWS, 0)
                t = if_less(if_less(far, both, t, close), close, clear, t)
            if place + lanes <= m:  # parts take longer to store
                store(exp_of_minus(t), out, i + a, place)
            else:
                store_part(exp_of_minus(t), out, i + a, place, m)


@njit(cache=True, nogil=True)
def _gauss_block(left, other, out, first, last, column, mirrored, panels, tile, sharp):
    """Write a block of rows from a column on.

    As much of the other rows as ``panels`` holds is packed and multiplied at a time, so that it and
    what is made of it stay in the second-level cache.
    """
    d, m, lanes = left.shape[1] - 2, other.shape[0], tile.shape[1]
    width, lines = TILE_VECTORS * lanes, d + 1
    chunk = panels.shape[0] // lines * width
    for start in range(column, m, chunk):
        stop = min(start + chunk, m)
        _pack_panels(other, start, stop, panels)
        for i in range(first, last, TILE_ROWS):
            rows = min(TILE_ROWS, last - i)
            has_far = _has_far_row(left, i, rows, d)
            # Tiles below the diagonal are written across it.
            skipped = max(0, i - start) // width * width if mirrored > 0 else 0
            for j in range(start + skipped, stop, width):
                at = (j - start) // width * lines
                _await_tile(out, i, rows, j + width, lanes)
                if rows == TILE_ROWS and not has_far and j + width <= m:
                    gauss_tile(left, i, panels, at, d, out, j)
                else:
                    _careful_tile(left, i, rows, panels, at, d, out, j, m, has_far, tile, sharp)
        if mirrored > 0:
            _mirror(out, first, last, start, min(stop, mirrored))


@njit(cache=True, nogil=True, fastmath=FASTMATH)
def scaled_rows(X, centre, root, out):
    """Write (X - centre) * root, its squared length and a one; return the largest squared length.

    What is so small that its square is nothing becomes zero: features that hardly weigh would make
    sums of subnormal numbers, with which a processor is many times slower.
    """
    d = X.shape[1]
    least = 1e-15 if out.itemsize == 4 else 1e-140
    largest = 0.0
    for i in range(X.shape[0]):
        x, row = X[i], out[i]
        total = 0.0
        for k in range(d):
            value = (x[k] - centre[k]) * root[k]
            row[k] = 0.0 if abs(value) < least else value
        for k in range(d):  # of what is written: a row has no distance from itself
            total += np.float64(row[k]) * np.float64(row[k])
        row[d], row[d + 1] = total, 1
        if np.isnan(total):
            return total
        largest = max(largest, total)
    return largest


@njit(cache=True, nogil=True)
def other_side(left, right):
    """Write the columns (-2 b, 1, |b|^2) of the rows (b, |b|^2, 1)."""
    d = left.shape[1] - 2
    transpose(left, right)
    for k in range(d):
        for j in range(right.shape[1]):
            right[k, j] *= -2
    for j in range(right.shape[1]):
        right[d, j], right[d + 1, j] = right[d + 1, j], right[d, j]


@njit(cache=True, nogil=True, fastmath=FASTMATH)
def centred_rows(X, centre, scales, squares, out):
    """Write X - centre to the first columns.

    Return the largest sum of a row's squares, or else absolute values, times their scales, and the
    largest sum of squares alone; NaN where there is one.
    """
    size = largest = 0.0
    for i in range(X.shape[0]):
        x, row = X[i], out[i]
        absolute = square = plain = 0.0
        for k in range(X.shape[1]):
            value = np.float64(x[k] - centre[k])
            row[k] = value
            absolute += scales[k] * abs(value)
            square += scales[k] * value * value
            plain += value * value
        if np.isnan(plain):
            return plain, plain
        size, largest = max(size, square if squares else absolute), max(largest, plain)
    return size, largest


# --- L1 distances -----------------------------------------------------------------------------
#
# A distance takes two instructions a feature instead of three by
#
#     |x - z| = 2 max(x, z) - x - z
#
# Work arrays come from outside: what makes its own takes numba a second longer to compile.


@njit(cache=True, nogil=True, fastmath=FASTMATH)
def shifted_rows(X, centre, scales, out):
    """Write (X - centre) * scales and, after it, its sum; return the largest sum of |values|.

    What is too small to count becomes zero, see `scaled_rows`.
    """
    d = X.shape[1]
    least = 1e-30 if out.itemsize == 4 else 1e-280
    largest = 0.0
    for i in range(X.shape[0]):
        x, row = X[i], out[i]
        total = size = 0.0
        for k in range(d):
            value = out.dtype.type((x[k] - centre[k]) * scales[k])
            if abs(value) < least:
                value = out.dtype.type(0)
            row[k] = value
            total += np.float64(value)
            size += abs(np.float64(value))
        row[d] = total
        if np.isnan(size):
            return size
        largest = max(largest, size)
    return largest


@njit(cache=True, nogil=True)
def _pack(Yt, j, panel):
    """Copy columns of Yt from j on to the panel, zeros behind the last.

    Lines of a panel follow each other, so that they do not push each other from the cache.
    """
    for k in range(Yt.shape[0]):
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
        _pack(right, j, panel)
        for i in range(0, n, 4):
            _tile(left, i, panel, tile)
            for a in range(min(4, n - i)):
                if j + lanes <= m:
                    store(load(tile, a, 0), out, i + a, j)
                else:
                    store_part(load(tile, a, 0), out, i + a, j, m)
