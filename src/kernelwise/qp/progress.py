"""The report of a solver on a solve that is under way."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """The progress of a solve.

    Parameters
    ----------
    n_iter : int
        Steps so far.
    violation : float
        The largest violation of the optimality conditions; at most the tolerance at the end.
    objective : float
        The objective so far.
    n_active : int
        Rows of the kernel in memory.
    machine : int, default=0
        Number of the machine that is being solved.
    n_machines : int, default=1
        Number of machines of the estimator.
    """

    n_iter: int
    violation: float
    objective: float
    n_active: int
    machine: int = 0
    n_machines: int = 1
