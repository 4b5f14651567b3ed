"""One solve on a stored kernel matrix, compiled from start to end. Loads numba."""

# mypy: ignore-errors

import numpy as np
from numba import njit

from ._box import reach, snap
from ._compiled import (
    CONVERGED,
    NEVER,
    OUT_OF_STEPS,
    add_rows,
    smo,
    square_block,
)

UNFINISHED, NOT_A_NUMBER = 10, 11

_FIRST_SWEEP = 4e6  # row entries swept before the working set is shrunk for the first time
_MOST_SWEPT = 4e7  # row entries swept at most, about 50 ms: compiled code does not hear Ctrl-C
_ROUNDS = 12  # looks at all rows; what needs more is a hard problem
_WORTH_COPYING = 0.6  # part of the rows that may be left for a copy of their block to pay
_FEWEST_STEPS = 50


@njit(cache=True, nogil=True)
def _barrier(inside, dtype_of):
    """Return 0 where a variable can move and NEVER where it cannot, in the type of a matrix."""
    out = np.empty(inside.shape[0], dtype_of.dtype)
    for i in range(inside.shape[0]):
        out[i] = 0 if inside[i] else NEVER
    return out


@njit(cache=True, nogil=True)
def _descend(K, diag, b, g, lo, hi, tol, limit):
    """Run SMO on a block: b moves in place, the gradient g is read only."""
    rise, fall = _barrier(b < hi, K), _barrier(b > lo, K)
    return smo(K, diag, b, g.astype(K.dtype), lo, hi, rise, fall, K.dtype.type(tol), limit)


@njit(cache=True, nogil=True)
def _movable(b, g, lo, hi, least, most):
    """Return the variables that a step may still pick (LIBSVM's shrinking)."""
    return np.flatnonzero(((b < hi) & (g < most)) | ((b > lo) & (g > least)))


@njit(cache=True, nogil=True)
def _first_limit(lo, hi):
    """Return the steps on all rows after which a copy without the fixed ones would have paid."""
    n = lo.shape[0]
    free = np.count_nonzero(lo < hi)
    limit = max(1000, _FIRST_SWEEP / n)
    return int(min(limit, max(_FEWEST_STEPS, free * free / max(1, n - free))))


@njit(cache=True, nogil=True)
def _round(K, diag, b, g, lo, hi, some, tol, limit):
    """Solve on some of the rows, and bring the gradient of all up to date in float64."""
    if some.shape[0] < _WORTH_COPYING * b.shape[0]:
        inner = b[some]
        block = square_block(K, some)
        steps, ended = _descend(block, diag[some], inner, g[some], lo[some], hi[some], tol, limit)
        change = inner - b[some]
        b[some] = inner
        moved = np.flatnonzero(change)
        add_rows(K, some[moved], change[moved], g)
    else:
        before = b.copy()
        steps, ended = _descend(K, diag, b, g, lo, hi, tol, limit)
        change = b - before
        moved = np.flatnonzero(change)
        add_rows(K, moved, change[moved], g)
    return steps, ended


@njit(cache=True, nogil=True)
def solve_stored(K, b, p, lo, hi, tol, max_steps, product):
    """Run SMO on a stored matrix from a feasible b, which moves in place.

    Fixed variables (lo = hi) never enter a step; once a copy of the block without them, and
    without those that stay at their bounds, costs less than sweeping them did, there is one.

    ``product`` is K b of the start, or empty where it has to be computed.

    Returns the gradient K b - p, its largest minus its least over what can move, the number of
    steps, and one of CONVERGED, OUT_OF_STEPS, UNFINISHED, NOT_A_NUMBER.
    """
    n = b.shape[0]
    g = -p
    if product.shape[0] == n:
        g += product
    else:
        support = np.flatnonzero(b)
        add_rows(K, support, b[support], g)
    diag = np.empty(n, K.dtype)
    for i in range(n):
        diag[i] = K[i, i]
    everything = np.arange(n)
    some, limit = everything, _first_limit(lo, hi)
    steps, swept = 0, 0.0
    violation = np.inf
    for _ in range(_ROUNDS):
        least, most = reach(b, g, lo, hi)
        violation = most - least
        if np.isnan(violation) or np.isnan(g).any():
            return g, violation, steps, NOT_A_NUMBER
        if not violation > tol:
            b[:] = snap(b, lo, hi)
            return g, violation, steps, CONVERGED
        if steps >= max_steps:
            return g, violation, steps, OUT_OF_STEPS
        if swept >= _MOST_SWEPT:
            break
        taken, ended = _round(K, diag, b, g, lo, hi, some, 0.9 * tol, min(limit, max_steps - steps))
        steps += taken
        swept += taken * some.shape[0]
        if taken == 0:
            break
        if ended == OUT_OF_STEPS:
            least, most = reach(b, g, lo, hi)
            some = _movable(b, g, lo, hi, least, most)
            limit = int(max(1000, (_MOST_SWEPT - swept) / max(1, some.shape[0])))
        else:
            some, limit = everything, 2 * limit
    return g, violation, steps, UNFINISHED
