"""SciPy's routine of L-BFGS-B, without the wrapper around it.

`scipy.optimize.fmin_l_bfgs_b` takes 0.1 ms per evaluation for its own records, which is a tenth of
an evaluation on a small table. The routine itself is private, so that it is called only in versions
of SciPy whose routine is known; in all others the public function does the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy
from scipy import optimize

from .._typing import Array

_KNOWN = (1, 15), (1, 18)  # first version of SciPy with this routine, and first unknown one
_ASKS_FOR_VALUE, _HAS_STEPPED, _STOPS, _CONVERGED = 3, 1, 5, 4  # what the routine says
_STOPPED_BY_CALLER = 505
_MOST_STEPS, _MOST_TRIALS = 15_000, 20  # SciPy's own limits on steps, and on trials of a step
_FAILED = 2  # SciPy's code for a line search that failed

Bounds = Sequence[tuple[float, float]] | None


def _known_routine() -> Any:
    """Return SciPy's routine; None in versions where it may be another one."""
    version = tuple(int(part) for part in scipy.__version__.split(".")[:2])
    if not _KNOWN[0] <= version < _KNOWN[1]:
        return None
    try:
        from scipy.optimize._lbfgsb import setulb
    except ImportError:
        return None
    return setulb


_routine = _known_routine()


def descend(
    fun: Callable[[Array], tuple[float, Array]],
    z: Array,
    bounds: Bounds,
    memory: int,
    is_enough: Callable[[float], bool],
) -> bool:
    """Minimise a function between bounds until it is enough, or no step improves it.

    ``fun``: returns value and gradient. ``z`` (k,): the start, between the bounds. ``bounds``: the
    least and the largest value of each coordinate. ``memory``: number of steps that the
    approximation of the Hessian remembers. ``is_enough``: called with the value after each step;
    True ends the descent. Returns ``fine``, False where a line search failed.
    """
    if _routine is None:
        return _descend_by_scipy(fun, z, bounds, memory, is_enough)
    k, n_steps = len(z), 0
    lo, hi, kinds = _limits(bounds, k)
    x, value = z.copy(), 0.0
    gradient: Array = np.zeros(k)
    work = np.zeros(2 * memory * k + 5 * k + 11 * memory**2 + 8 * memory)
    places, task, search = (np.zeros(size, dtype=np.int32) for size in (3 * k, 2, 2))
    flags, counts = (np.zeros(size, dtype=np.int32) for size in (4, 44))
    state = work, places, task, flags, counts, np.zeros(29), _MOST_TRIALS, search
    while True:
        _routine(memory, x, lo, hi, kinds, value, gradient, 0.0, 0.0, *state)
        if task[0] == _ASKS_FOR_VALUE:
            value, gradient = fun(x.copy())
        elif task[0] == _HAS_STEPPED:
            n_steps += 1
            if is_enough(value) or n_steps >= _MOST_STEPS:
                task[:] = _STOPS, _STOPPED_BY_CALLER
        else:
            return bool(task[0] in (_CONVERGED, _STOPS))


def _limits(bounds: Bounds, k: int) -> tuple[Array, Array, Any]:
    """Return bounds as the routine reads them: numbers, and which of them count."""
    if bounds is None:
        return np.zeros(k), np.zeros(k), np.zeros(k, dtype=np.int32)
    lo, hi = np.array(bounds, dtype=np.float64).T
    below, above = np.isfinite(lo), np.isfinite(hi)
    kinds = np.where(below, np.where(above, 2, 1), np.where(above, 3, 0)).astype(np.int32)
    return np.where(below, lo, 0.0), np.where(above, hi, 0.0), kinds


def _descend_by_scipy(
    fun: Callable[[Array], tuple[float, Array]],
    z: Array,
    bounds: Bounds,
    memory: int,
    is_enough: Callable[[float], bool],
) -> bool:
    """Do the same by the public function."""
    stopped = False

    def callback(intermediate_result: Any) -> None:
        nonlocal stopped
        stopped = is_enough(float(intermediate_result.fun))
        if stopped:
            raise StopIteration

    # Not optimize.minimize, which converts the bounds four times, number by number.
    *_, found = optimize.fmin_l_bfgs_b(
        fun, z, bounds=bounds, callback=callback, m=memory, factr=0.0, pgtol=0.0
    )
    return bool(stopped or found["warnflag"] != _FAILED)
