"""How long a fit is going to take, from a small part of it that is timed."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from ..._typing import Array

_PROBE = 256  # rows whose kernel is timed
_SLOWER = 2.0  # a gradient and a solve, in units of the kernel that they follow
_FREE = 0.4  # part of the rows that are free support vectors, about
_FLOP = 1e-10  # seconds, of a dense factorisation on one thread
_STEP = 3e-10  # seconds a row entry that a solver sweeps
_STEPS_A_ROW = 4.0
_AGAIN = 7.0  # how much longer it takes where rows of the kernel do not fit, and are made anew


def forecast(
    X: Array,
    n_machines: int,
    *,
    learned: list[Any],
    members: list[Any],
    evaluations: int,
    points: int,
    taught: int,
    on_path: int,
    memory: float,
) -> float:
    """Return about how many seconds weights, path and machines are going to take.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        All rows.
    n_machines : int
        The machines of a member.
    learned : list of Kernel
        The kernels whose weights are learned.
    members : list of Kernel
        The kernels of the members.
    evaluations : int
        Evaluations of a criterion for each learned kernel.
    points : int
        Points of a member's path.
    taught, on_path : int
        Rows that weights are learned from, and that paths are walked on.
    memory : float
        Bytes for rows of the kernel.

    Returns
    -------
    seconds : float
        The forecast, right within a factor of two or three.
    """
    n = len(X)
    speed = {type(kernel): _seconds_an_entry(kernel, X) for kernel in learned}
    learning = sum(speed[type(k)] for k in learned) * evaluations * taught**2 * (1 + _SLOWER)
    free = _FREE * on_path
    a_point = n_machines * (_FLOP * free**3 + _STEP * _STEPS_A_ROW * on_path**2)
    paths = len(members) * points * a_point
    last = 0.0
    if n > on_path:
        entries = n * n * _FREE
        last = sum((speed[type(k)] + n_machines * _STEP * _STEPS_A_ROW) * entries for k in members)
        last *= _AGAIN if 4 * entries > memory else 1.0
    return learning + paths + last


def _seconds_an_entry(kernel: Any, X: Array) -> float:
    rows = X[:: max(1, len(X) // _PROBE)][:_PROBE]
    some = rows / np.maximum(1e-300, np.abs(rows).max(axis=0))
    kernel(some)  # compiles where that was not done yet
    begin = perf_counter()
    kernel(some)
    return (perf_counter() - begin) / len(some) ** 2


def duration(seconds: float) -> str:
    """Return a duration in words."""
    return f"{seconds:.0f} seconds" if seconds < 90 else f"{seconds / 60:.0f} minutes"
