"""The Kernel-Adatron with the stop that the paper prints (Cristianini et al. 1998, section 3).

    alpha_i = 1
    for i = 1 to m:
        z_i = sum_j alpha_j y_j k(x_i, x_j);  alpha_i <- max(0, alpha_i + eta (1 - y_i z_i))
    margin = 1/2 (min z+ - max z-);  stop where it is 1, else sweep again

The z are those that the sweep computes on its way. A margin of one is necessary for an optimum, not
sufficient: `kernelwise.qp.Adatron` stops at the optimality conditions instead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._native import sweep_to_margin
from ..._typing import Array
from ...qp import DualQP, Solution
from ...qp.adatron import epochs_at_once
from ...qp.solution import SolverState


@dataclass(frozen=True)
class MarginAdatron:
    """Sweeps until the functional margin is one.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.qp import hard_margin
    >>> from kernelwise.svm.paths.margin_adatron import MarginAdatron
    >>> K, y = np.array([[1.0, -0.5], [-0.5, 1.0]]), np.array([1.0, -1.0])
    >>> solution = MarginAdatron(tol=0.01).solve(hard_margin(K, y, bias=False))
    >>> solution.n_iter, solution.beta.round(2)
    (1, array([ 0.5 , -0.75]))
    """

    tol: float = 1e-3  # stop when the functional margin is at least ``1 - tol``
    max_iter: int = 10_000  # limit on the number of sweeps
    eta: float = 1.0  # length of a step, 0 < eta < 2 / max K_ii

    def solve(self, qp: DualQP, *, start: Solution | Array | None = None) -> Solution:
        """Solve the problem, which has no equality.

        ``start`` (n,): the starting point; None is the paper's alpha_i = 1. Returns ``solution``,
        the point with its certificate: the violation may be large where the margin is one.
        """
        if len(qp.c):
            raise ValueError("the stop at the margin is for machines without a bias.")
        if not 0 < self.eta * qp.gram.size < 2:
            raise ValueError(
                "eta must satisfy 0 < eta < 2 / max K_ii, else the steps of the Adatron diverge; "
                f"got eta={self.eta:g} and max K_ii={qp.gram.size:.6g}."
            )
        beta = np.sign(qp.p) if start is None else start
        beta = qp.terms.repair(beta.beta if isinstance(beta, Solution) else np.asarray(beta))
        K = np.ascontiguousarray(qp.gram.dense(np.float64))
        n_iter, converged = 0, False
        while n_iter < self.max_iter and not converged:
            most = min(self.max_iter - n_iter, epochs_at_once(qp.n))
            done, converged = sweep_to_margin(
                K, beta, qp.p, qp.lo, qp.hi, float(self.eta), float(self.tol), most
            )
            n_iter += done
        status = "converged" if converged else "max_iter"
        state = SolverState(beta, qp.gradient(beta), np.inf, n_iter, status)
        return Solution.at(qp, state, np.empty(0))


def functional_margin(z: Array, codes: Array) -> float:
    """Return 1/2 (min z+ - max z-): the least margin that a best bias would give.

    ``z`` (n,): the decision values without bias. ``codes`` (n,): codes -1 and +1; 0 for rows that
    do not count. Returns ``margin``, the functional margin; one at a hard-margin optimum.
    """
    lowest = z[codes > 0].min(initial=np.inf)
    return 0.5 * float(lowest - z[codes < 0].max(initial=-np.inf))
