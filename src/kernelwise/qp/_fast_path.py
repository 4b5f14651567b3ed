"""One solve on a stored kernel matrix, compiled from start to end. Loads numba.

Written in loops, with the solver called from one place: array expressions, and each place that
calls the solver, take numba seconds to compile.
"""

# mypy: ignore-errors

import numpy as np
from numba import njit

from kernelwise._blocks import square_block

from ._box import certify, reach, snap
from ._compiled import (
    CONVERGED,
    OUT_OF_STEPS,
    add_rows,
    count_movable,
    gather,
    smo,
)

UNFINISHED, NOT_A_NUMBER = 10, 11

_STEP = 256  # row entries that a step is worth beside those that it sweeps
_ROUNDS = 12  # looks at all rows; what needs more is a hard problem
_WORTH_COPYING = 0.6  # part of the rows that may be left for a copy of their block to pay
_FEWEST_STEPS = 50  # between two looks at what is left


@njit(cache=True, nogil=True)
def _put(b, change, inner, some):
    """Bring variables back; leave by how much each of all has changed."""
    for i in range(b.shape[0]):
        change[i] = 0.0
    for k in range(some.shape[0]):
        i = some[k]
        change[i] = inner[k] - b[i]
        b[i] = inner[k]


@njit(cache=True, nogil=True)
def _movable(b, g, lo, hi, least, most):
    """Return the variables that a step may still pick (LIBSVM's shrinking)."""
    out = np.empty(b.shape[0], np.int64)
    found = 0
    for i in range(b.shape[0]):
        if (b[i] < hi[i] and g[i] < most) or (b[i] > lo[i] and g[i] > least):
            out[found] = i
            found += 1
    return out[:found].copy()


@njit(cache=True, nogil=True)
def _pays(n, left, steps):
    """Tell whether a copy of the block that is left pays, with as many steps to come as were made.

    To copy an entry takes as long as three in a step; then all gradients have to be brought up to
    date.
    """
    return left < _WORTH_COPYING * n and steps * (n - left) > 3 * left * left + n * left / 2


@njit(cache=True, nogil=True)
def _add_product(K, rows, change, g):
    """Add K times a change of some variables to g, leaving out those that did not change."""
    moved, by = np.empty(rows.shape[0], np.int64), np.empty(rows.shape[0], np.float64)
    found = 0
    for k in range(rows.shape[0]):
        if change[k] != 0:
            moved[found], by[found] = rows[k], change[k]
            found += 1
    add_rows(K, moved[:found], by[:found], g)


@njit(cache=True, nogil=True)
def _has_nan(g):
    found = False
    for i in range(g.shape[0]):
        found = found or np.isnan(g[i])
    return found


@njit(cache=True, nogil=True)
def _steps(block, inner, low, high, state, tol, most_steps, most_swept):
    """Run SMO until it ends, or a copy of what is left pays; return the steps and how it ended."""
    m, taken, ended = inner.shape[0], 0, OUT_OF_STEPS
    between = max(_FEWEST_STEPS, m // 8)
    while ended == OUT_OF_STEPS and taken < most_steps and taken * (m + _STEP) < most_swept:
        limit = min(between, most_steps - taken)
        made, ended = smo(block, inner, low, high, state, tol, limit)
        taken += made
        if ended == OUT_OF_STEPS and _pays(m, count_movable(state), taken):
            break
    return taken, ended


@njit(cache=True, nogil=True)
def solve_stored(K, b, g, p, lo, hi, known, tol, max_steps, most_swept, total, certificate):
    """Run SMO on a stored matrix from a feasible b, which moves in place.

    Fixed variables (lo = hi) never enter a step; once a copy of the block without them, and
    without those that stay at their bounds, costs less than sweeping them did, there is one.

    ``g`` is overwritten by the gradient K b - p; ``known`` says that it holds that of the start.
    ``most_swept`` is about how many row entries are swept at most: compiled code does not hear
    Ctrl-C. ``certificate`` is overwritten by nu, objective, gap and violation where the solve
    converges; ``total`` is the sum of b. No array is returned: numba makes one in Python, where a
    Ctrl-C would be lost.

    Returns the largest of g minus its least over what can move, the number of steps, and one of
    CONVERGED, OUT_OF_STEPS, UNFINISHED, NOT_A_NUMBER.
    """
    n = b.shape[0]
    everything, diag, change = np.arange(n), np.empty(n, K.dtype), np.empty(n, np.float64)
    for i in range(n):
        diag[i] = K[i, i]
        g[i] = g[i] if known else -p[i]
        change[i] = 0.0 if known else b[i]
    steps, swept = 0, 0.0
    violation = np.inf
    taken, ended = 0, CONVERGED
    for turn in range(_ROUNDS + 1):
        _add_product(K, everything, change, g)  # of the start, then of the round before
        least, most = reach(b, g, lo, hi)
        violation = most - least
        if np.isnan(violation) or _has_nan(g):
            return violation, steps, NOT_A_NUMBER
        if not violation > tol:
            snap(b, lo, hi)
            nu, objective, gap, own = certify(b, g, p, lo, hi, total)
            certificate[0], certificate[1], certificate[2], certificate[3] = nu, objective, gap, own
            return violation, steps, CONVERGED
        if steps >= max_steps:
            return violation, steps, OUT_OF_STEPS
        if swept >= most_swept or turn == _ROUNDS or (turn > 0 and taken == 0):
            break
        some = everything
        if turn > 0 and ended == OUT_OF_STEPS:
            some = _movable(b, g, lo, hi, least, most)
        block = K
        if some.shape[0] < _WORTH_COPYING * n:
            block = square_block(K, some)
        else:
            some = everything
        inner, low, high, state = gather(diag, b, g, lo, hi, some)
        taken, ended = _steps(
            block,
            inner,
            low,
            high,
            state,
            K.dtype.type(0.9 * tol),
            max_steps - steps,
            most_swept - swept,
        )
        steps += taken
        swept += taken * (some.shape[0] + _STEP)
        _put(b, change, inner, some)
    return violation, steps, UNFINISHED
