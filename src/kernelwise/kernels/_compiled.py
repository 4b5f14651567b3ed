"""Compiled leaves of the kernels. Import this module inside functions: it loads numba."""

import numpy as np
from numba import njit

from kernelwise._jit import FASTMATH, bits_as_float, contiguous, larger, smaller

from ._lanes import accumulate, flip, load, minus, most, plus, splat, spread, store, times


@njit(cache=True, nogil=True, fastmath=FASTMATH, error_model="numpy")
def exp_of_minus32(T):
    """Overwrite float32 T by exp(-max(T, 0)): Cephes' polynomial, relative error 2e-7.

    The least value is exp(-60). Less is nothing beside a diagonal of one, but products of it would
    be subnormal numbers, with which a processor is up to a hundred times slower.
    """
    f = np.float32
    for i in range(T.shape[0]):
        row = contiguous(T[i])
        for j in range(row.shape[0]):
            x = smaller(larger(-row[j], f(-60.0)), f(0.0))
            k = f(np.rint(x * f(1.4426950408889634)))  # exp(x) = 2^k exp(r), |r| <= log(2)/2
            r = x - k * f(0.693359375) + k * f(2.12194440e-4)
            e = f(1.9875691500e-4)
            e = e * r + f(1.3981999507e-3)
            e = e * r + f(8.3334519073e-3)
            e = e * r + f(4.1665795894e-2)
            e = e * r + f(1.6666665459e-1)
            e = e * r + f(5.0000001201e-1)
            e = e * r * r + r + f(1.0)
            bits = np.int32((np.int32(k) + np.int32(127)) << np.int32(23))
            row[j] = e * bits_as_float(bits)


@njit(cache=True, nogil=True, fastmath=FASTMATH, error_model="numpy")
def exp_of_minus64(T):
    """Overwrite float64 T by exp(-max(T, 0)): Cephes' rational form, relative error 3e-16.

    The least value is exp(-600), for the same reason as above.
    """
    for i in range(T.shape[0]):
        row = contiguous(T[i])
        for j in range(row.shape[0]):
            x = smaller(larger(-row[j], -600.0), 0.0)
            k = np.rint(x * 1.4426950408889634)
            r = x - k * 6.93145751953125e-1 - k * 1.42860682030941723212e-6
            rr = r * r
            top = r * ((1.26177193074810590878e-4 * rr + 3.02994407707441961300e-2) * rr + 1.0)
            low = (
                (3.00198505138664455042e-6 * rr + 2.52448340349684104192e-3) * rr
                + 2.27265548208155028766e-1
            ) * rr + 2.0
            e = 1.0 + 2.0 * top / (low - top)
            row[j] = e * bits_as_float((np.int64(k) + np.int64(1023)) << np.int64(52))


@njit(cache=True, nogil=True)
def transpose(source, target):
    """Copy source' to target, by tiles that stay in registers; rows of both are contiguous."""
    n, m = source.shape
    side = 64 // source.itemsize
    for j in range(0, m, side):
        for i in range(0, n, side):
            if i + side <= n and j + side <= m:
                flip(source, i, j, target)
            else:
                for a in range(i, min(i + side, n)):
                    for b in range(j, min(j + side, m)):
                        target[b, a] = source[a, b]


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
    """Copy columns of Yt from j on to the panel, zeros behind the last; return how many.

    Lines of a panel follow each other, so that they do not push each other from the cache.
    """
    lanes = panel.shape[1]
    count = min(lanes, Yt.shape[1] - j)
    for k in range(rows):
        if count == lanes:
            store(load(Yt, k, j), panel, k, 0)
        else:
            for c in range(lanes):
                panel[k, c] = Yt[k, j + c] if c < count else 0
    return count


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
        count = _pack(right, right.shape[0], j, panel)
        for i in range(0, n, 4):
            _tile(left, i, panel, tile)
            for a in range(min(4, n - i)):
                if count == lanes:
                    store(load(tile, a, 0), out, i + a, j)
                else:
                    for c in range(count):
                        out[i + a, j + c] = tile[a, c]


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
