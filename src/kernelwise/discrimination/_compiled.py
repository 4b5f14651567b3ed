"""Compiled leaf of the feature measures. Import this module inside functions: it loads numba."""

from typing import Any

import numpy as np
from numba import njit

from kernelwise._jit import FASTMATH


@njit(cache=True, nogil=True, fastmath=FASTMATH)
def squared_gaps(Xt: Any, order: Any, classes: Any, weights: Any, factors: Any, out: Any) -> None:
    """Integrate over each row of Xt the spread of the classes' distribution functions.

    Writes out[k, 0] = int sum_c factors[c] (F_c - F)^2 dx and out[k, 1] = int F (1 - F) dx, with
    F_c the distribution function of class c and F of all rows. ``order`` sorts the rows of Xt.
    """
    totals = np.zeros(factors.shape[0])
    for i in range(weights.shape[0]):
        totals[classes[i]] += weights[i]
    each, whole = 1 / totals, 1 / totals.sum()
    for k in range(Xt.shape[0]):
        x, o = Xt[k], order[k]
        passed, passed_all = np.zeros(factors.shape[0]), 0.0  # weights up to here: exact counts
        between, within = 0.0, 0.0
        for t in range(o.shape[0] - 1):
            passed[classes[o[t]]] += weights[o[t]]
            passed_all += weights[o[t]]
            F = passed_all * whole
            spread = 0.0
            for c in range(factors.shape[0]):
                spread += factors[c] * (passed[c] * each[c] - F) ** 2
            step = x[o[t + 1]] - x[o[t]]
            between += spread * step
            within += F * (1 - F) * step
        out[k, 0], out[k, 1] = between, within
