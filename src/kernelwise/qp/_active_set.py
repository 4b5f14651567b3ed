"""Compiled leaves of the active-set method. Loads numba."""

# mypy: ignore-errors

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def newton_system(K, gradient, free, ridge, block, slope):
    """Write the system H K H d = -H g of the free variables, with H the centring.

    In the direction that H K H loses it gets what keeps it definite; the ridge is relative.
    """
    m = free.shape[0]
    means = np.zeros(m)
    size = total = mean = largest = 0.0
    for a in range(m):
        source, target = K[free[a]], block[a]
        for c in range(m):
            target[c] = source[free[c]]
            means[a] += target[c]
        means[a] /= m
        total += means[a] / m
        size += target[a] / m
        mean += gradient[free[a]] / m
    for a in range(m):
        target = block[a]
        for c in range(m):
            target[c] += total + size / m - means[a] - means[c]
        largest = max(largest, target[a])
        slope[a] = mean - gradient[free[a]]
    for a in range(m):
        block[a, a] += ridge * largest


@njit(cache=True, nogil=True)
def centre(step):
    """Take the mean away, so that the step keeps the sum."""
    mean = 0.0
    for value in step:
        mean += value / step.shape[0]
    for a in range(step.shape[0]):
        step[a] -= mean


@njit(cache=True, nogil=True)
def walk(K, b, lo, hi, gradient, free, step):
    """Go as far along the step as the bounds let; return how far that was, of a whole step.

    b and the gradient move in place.
    """
    length = np.inf
    for a in range(free.shape[0]):
        i = free[a]
        if step[a] > 0:
            length = min(length, (hi[i] - b[i]) / step[a])
        elif step[a] < 0:
            length = min(length, (lo[i] - b[i]) / step[a])
    part = min(1.0, length)
    for a in range(free.shape[0]):
        i = free[a]
        moved = min(max(b[i] + part * step[a], lo[i]), hi[i])
        change = moved - b[i]
        b[i] = moved
        row = K[i]
        for j in range(gradient.shape[0]):
            gradient[j] += change * row[j]
    return length


@njit(cache=True, nogil=True)
def residuals(b, lo, hi, gradient, free, held):
    """Write by how much each bound holds a variable back; return the largest free residual."""
    nu, count, largest = 0.0, 0, 0.0
    for i in range(b.shape[0]):
        if free[i]:
            nu -= gradient[i]
            count += 1
    nu /= max(1, count)
    for i in range(b.shape[0]):
        residual = gradient[i] + nu
        held[i] = 0.0
        if b[i] <= lo[i] and hi[i] > lo[i]:
            held[i] = -residual
        elif b[i] >= hi[i]:
            held[i] = residual
        if free[i]:
            largest = max(largest, abs(residual))
    return largest
