"""Compiled leaves of the kernels. Import this module inside functions: it loads numba."""

import numpy as np
from numba import njit

from kernelwise._jit import FASTMATH, bits_as_float, contiguous, larger, smaller


@njit(cache=True, nogil=True, fastmath=FASTMATH, error_model="numpy")
def exp_of_minus32(T):
    """Overwrite float32 T by exp(-max(T, 0)): Cephes' polynomial, relative error 2e-7."""
    f = np.float32
    for i in range(T.shape[0]):
        row = contiguous(T[i])
        for j in range(row.shape[0]):
            x = smaller(larger(-row[j], f(-87.0)), f(0.0))
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
    """Overwrite float64 T by exp(-max(T, 0)): Cephes' rational form, relative error 3e-16."""
    for i in range(T.shape[0]):
        row = contiguous(T[i])
        for j in range(row.shape[0]):
            x = smaller(larger(-row[j], -708.0), 0.0)
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


@njit(cache=True, nogil=True, fastmath=FASTMATH)
def l1_distances(X, Yt, out):
    """Write out[i, j] = sum_k |X[i, k] - Yt[k, j]|."""
    width, d = 512, X.shape[1]  # a piece of the row stays in the first-level cache
    for i in range(X.shape[0]):
        whole = contiguous(out[i])
        for start in range(0, Yt.shape[1], width):
            row = whole[start : start + width]
            row[:] = 0
            for k in range(0, d - 3, 4):  # four features a pass: the row is read and written less
                x0, x1, x2, x3 = X[i, k], X[i, k + 1], X[i, k + 2], X[i, k + 3]
                y0 = contiguous(Yt[k])[start : start + width]
                y1 = contiguous(Yt[k + 1])[start : start + width]
                y2 = contiguous(Yt[k + 2])[start : start + width]
                y3 = contiguous(Yt[k + 3])[start : start + width]
                for j in range(row.shape[0]):
                    near = abs(x0 - y0[j]) + abs(x1 - y1[j])
                    row[j] += near + (abs(x2 - y2[j]) + abs(x3 - y3[j]))
            for k in range(d - d % 4, d):
                x0, y0 = X[i, k], contiguous(Yt[k])[start : start + width]
                for j in range(row.shape[0]):
                    row[j] += abs(x0 - y0[j])


@njit(cache=True, nogil=True, fastmath=FASTMATH)
def l1_contraction(S, X, Yt, out):
    """Add to out[k] the sum over i, j of S[i, j] |X[i, k] - Yt[k, j]|."""
    for i in range(X.shape[0]):
        s = contiguous(S[i])
        for k in range(X.shape[1]):
            x = X[i, k]
            y = contiguous(Yt[k])
            total = S.dtype.type(0)
            for j in range(s.shape[0]):
                total += s[j] * abs(x - y[j])
            out[k] += total


@njit(cache=True, nogil=True)
def transpose(source, target):
    """Copy source' to target, eight columns at a time: rows of target are written in order."""
    n, m = source.shape
    for j in range(0, m - 7, 8):
        t0, t1 = contiguous(target[j]), contiguous(target[j + 1])
        t2, t3 = contiguous(target[j + 2]), contiguous(target[j + 3])
        t4, t5 = contiguous(target[j + 4]), contiguous(target[j + 5])
        t6, t7 = contiguous(target[j + 6]), contiguous(target[j + 7])
        for i in range(n):
            s = contiguous(source[i])[j : j + 8]
            t0[i], t1[i], t2[i], t3[i] = s[0], s[1], s[2], s[3]
            t4[i], t5[i], t6[i], t7[i] = s[4], s[5], s[6], s[7]
    for j in range(m - m % 8, m):
        for i in range(n):
            target[j, i] = source[i, j]


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


@njit(cache=True, nogil=True)
def column_medians(X, step):
    """Return the medians of the columns over every step-th row; NaN where a value is NaN."""
    n = (X.shape[0] + step - 1) // step
    out = np.empty(X.shape[1], np.float64)
    values = np.empty(n, np.float64)
    for k in range(X.shape[1]):
        for i in range(n):  # by insertion: there are few
            value = np.float64(X[i * step, k])
            j = i
            while j > 0 and not values[j - 1] <= value:
                values[j] = values[j - 1]
                j -= 1
            values[j] = value
        out[k] = 0.5 * values[(n - 1) // 2] + 0.5 * values[n // 2]
    return out
