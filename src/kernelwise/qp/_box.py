"""Compiled leaves on a box with one sum: starts, projection, certificate. Loads numba.

Written in loops: array expressions take numba several times as long to compile.
"""

# mypy: ignore-errors

import numpy as np
from numba import njit

from kernelwise._jit import FASTMATH

_SHIFTS = 200  # halvings of a bracket that leave nothing of it


@njit(cache=True, nogil=True, fastmath=FASTMATH)
def _shifted_sum(beta, lo, hi, shift):
    """Return sum clip(beta - shift, lo, hi), and how many of its terms move with the shift."""
    total, inside = 0.0, 0
    for i in range(beta.shape[0]):
        value = beta[i] - shift
        total += min(max(value, lo[i]), hi[i])
        inside += (value > lo[i]) & (value < hi[i])
    return total, inside


@njit(cache=True, nogil=True, error_model="numpy")
def _find_shift(beta, lo, hi, total, rounding, scale):
    """Solve sum clip(beta - shift, lo, hi) = total: Newton on a piecewise line, in a bracket."""
    left, right, shift, width = -np.inf, np.inf, 0.0, scale
    for turn in range(_SHIFTS):
        found, inside = _shifted_sum(beta, lo, hi, shift)
        if abs(found - total) <= rounding:
            break
        if found > total:
            left = shift
        else:
            right = shift
        aim = shift + (found - total) / inside
        bracketed = left > -np.inf and right < np.inf
        if bracketed and (turn % 3 == 2 or not (left < aim < right)):
            aim = 0.5 * (left + right)
        elif not np.isfinite(aim) or aim == shift:
            aim, width = shift + (width if found > total else -width), 2 * width
        if aim == shift:
            break
        shift = aim
    return shift


@njit(cache=True, nogil=True)
def _clip(beta, shift, lo, hi, out):
    """Write clip(beta - shift, lo, hi); return its sum and the sum of its absolute values."""
    total, size = 0.0, 0.0
    for i in range(beta.shape[0]):
        out[i] = min(max(beta[i] - shift, lo[i]), hi[i])
        total += out[i]
        size += abs(out[i])
    return total, size


@njit(cache=True, nogil=True)
def _sum(values):
    total = 0.0
    for i in range(values.shape[0]):
        total += values[i]
    return total


@njit(cache=True, nogil=True)
def project_to_sum(beta, lo, hi, total):
    """Return the nearest point of the box whose sum is total, and whether there is one."""
    feasible = np.empty(beta.shape[0])
    found, size = _clip(beta, 0.0, lo, hi, feasible)
    scale = 1.0 + size + abs(total)
    rounding = 1e-12 * scale
    if _sum(lo) > total + rounding or _sum(hi) < total - rounding:
        return feasible, False
    # What differs by rounding alone is not shifted: that would take every row off its bound.
    if abs(found - total) > rounding:
        shift = _find_shift(beta, lo, hi, total, 1e-3 * rounding, scale)
        found, size = _clip(beta, shift, lo, hi, feasible)
    rest = total - found
    widest, room = -1, abs(rest)
    for i in range(beta.shape[0]):
        here = min(hi[i] - feasible[i], feasible[i] - lo[i])
        if here > room:
            widest, room = i, here
    if widest >= 0:
        feasible[widest] += rest
    return feasible, True


@njit(cache=True, nogil=True)
def repair(beta, lo, hi, total):
    """Make a point feasible by moving its non-zeros alone where that can be; tell whether it is."""
    n = beta.shape[0]
    clipped, low, high = np.empty(n), np.empty(n), np.empty(n)
    _clip(beta, 0.0, lo, hi, clipped)
    least, most = 0.0, 0.0
    for i in range(n):
        moves = clipped[i] != 0
        low[i] = lo[i] if moves else 0.0
        high[i] = hi[i] if moves else 0.0
        least += low[i]
        most += high[i]
    if not least <= total <= most:
        clipped, low, high = beta, lo, hi
    return project_to_sum(clipped, low, high, total)


@njit(cache=True, nogil=True)
def first_point(lo, hi, total):
    """Return a feasible point with few non-zeros, and whether there is one."""
    beta = np.zeros(lo.shape[0])
    rest = total - _clip(beta, 0.0, lo, hi, beta)[0]
    for i in range(beta.shape[0]):
        if rest == 0:
            break
        move = min(rest, hi[i] - beta[i]) if rest > 0 else max(rest, lo[i] - beta[i])
        beta[i] += move
        rest -= move
    return beta, abs(rest) <= 1e-12 * (1 + abs(total))


@njit(cache=True, nogil=True)
def reach(beta, gradient, lo, hi):
    """Return the least gradient of what can rise and the largest of what can fall."""
    least, most = np.inf, -np.inf
    for i in range(beta.shape[0]):
        if beta[i] < hi[i]:
            least = min(least, gradient[i])
        if beta[i] > lo[i]:
            most = max(most, gradient[i])
    return least, most


@njit(cache=True, nogil=True)
def intercept(beta, gradient, lo, hi):
    """Return minus the mean gradient of the free, or the middle of what the others allow."""
    total, free = 0.0, 0
    for i in range(beta.shape[0]):
        if lo[i] < beta[i] < hi[i]:
            total += gradient[i]
            free += 1
    if free:
        return -total / free
    least, most = reach(beta, gradient, lo, hi)
    if not np.isfinite(least):
        return -most if np.isfinite(most) else 0.0
    return -0.5 * (least + most) if np.isfinite(most) else -least


@njit(cache=True, nogil=True)
def kkt_violation(beta, residual, lo, hi):
    """Return the largest residual that a bound does not hold."""
    worst = 0.0
    for i in range(beta.shape[0]):
        if beta[i] < hi[i]:
            worst = max(worst, -residual[i])
        if beta[i] > lo[i]:
            worst = max(worst, residual[i])
    return worst


@njit(cache=True, nogil=True, error_model="numpy")
def _stretch(scores, p, lo, hi):
    """Return the least t >= 1 with t * scores - p of the right sign at infinite bounds."""
    t = 1.0
    for i in range(p.shape[0]):
        short_up = np.isinf(hi[i]) and scores[i] < p[i]
        short_down = np.isinf(lo[i]) and scores[i] > p[i]
        if (short_up and scores[i] <= 0) or (short_down and scores[i] >= 0):
            return np.inf
        if short_up or short_down:
            t = max(t, p[i] / scores[i])
    return t


@njit(cache=True, nogil=True)
def _lowest(r, lo, hi):
    """Return the least of r x over lo <= x <= hi; infinite bounds have r of the right sign."""
    if r > 0:
        return 0.0 if np.isinf(lo) else lo * r
    if r < 0:
        return 0.0 if np.isinf(hi) else hi * r
    return 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def duality_gap(beta, gradient, pull, p, lo, hi, constant):
    """Return the gap; pull is A'nu and constant nu'c. See `DualQP.duality_gap`."""
    scores = np.empty(p.shape[0])
    for i in range(p.shape[0]):
        scores[i] = gradient[i] + p[i] + pull[i]
    t = _stretch(scores, p, lo, hi)
    if np.isinf(t):
        return np.inf
    lowest, quadratic, objective = 0.0, 0.0, 0.0
    for i in range(p.shape[0]):
        lowest += _lowest(t * scores[i] - p[i], lo[i], hi[i])
        quadratic += beta[i] * (gradient[i] + p[i])
        objective += 0.5 * beta[i] * (gradient[i] - p[i])
    return max(0.0, objective - (-0.5 * t**2 * quadratic - t * constant + lowest))


@njit(cache=True, nogil=True)
def snap(beta, lo, hi):
    """Put what rounding left an ulp off its bound onto it, in place: it would pin the intercept."""
    rounding = 0.0
    for i in range(beta.shape[0]):
        rounding = max(rounding, 1e-14 * abs(beta[i]))
    for i in range(beta.shape[0]):
        if beta[i] - lo[i] <= rounding:
            beta[i] = lo[i]
        if hi[i] - beta[i] <= rounding:
            beta[i] = hi[i]


@njit(cache=True, nogil=True, fastmath=FASTMATH)
def objective(beta, gradient, p):
    """Return 1/2 b'Kb - p'b from the gradient K b - p."""
    total = 0.0
    for i in range(beta.shape[0]):
        total += beta[i] * (gradient[i] - p[i])
    return 0.5 * total


@njit(cache=True, nogil=True)
def certify(beta, gradient, p, lo, hi, total):
    """Return nu, objective, gap and violation of a point of the box with sum b = total."""
    nu = intercept(beta, gradient, lo, hi)
    pull, residual = np.empty(beta.shape[0]), np.empty(beta.shape[0])
    for i in range(beta.shape[0]):
        pull[i], residual[i] = nu, gradient[i] + nu
    gap = duality_gap(beta, gradient, pull, p, lo, hi, nu * total)
    violation = kkt_violation(beta, residual, lo, hi)
    return nu, objective(beta, gradient, p), gap, violation
