"""The solvers of a path: quick ones on the way, and an exact one for the chosen machines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._native import sweep_to_margin
from ..._typing import Array
from ...qp import SMO, Adatron, DualQP, Solution
from ...qp.adatron import epochs_at_once
from ...qp.problem import SolverState


@dataclass(frozen=True)
class MarginAdatron:
    """Sweeps until the functional margin is one.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.qp import hard_margin
    >>> from kernelwise.svm.paths.solvers import MarginAdatron
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


_HARD_STEPS, _FEWEST_HARD = 200, 10_000  # steps per row, at least: a hard margin may not exist
_SOFT_STEPS, _FEWEST_SOFT = 1000, 100_000  # ten times as many as points worth choosing need
_POLISH = 3e6  # kernel entries worth spending on exactness, over all machines


@dataclass(frozen=True)
class PathSolvers:
    """The settings of the solvers."""

    name: str = "smo"
    tol: float = 1e-3  # the tolerance, in units of the margin
    eta: float = 1.0  # the step of the Adatron
    max_iter: int = -1  # most steps per machine; -1 depends on the rows and on C
    # where the Adatron stops: at the optimality conditions, or at a functional margin of one
    stop: str = "tol"

    def on_path(self, n_rows: int, C: float) -> Any:
        """Return the solver of a machine on the way, which ends at its tolerance."""
        if self.name == "adatron":
            return self._adatron()
        steps = self._hard_steps(n_rows, C)
        if steps < 0:
            steps = max(_FEWEST_SOFT, _SOFT_STEPS * n_rows)
        return SMO(tol=self.tol, max_iter=steps, exact=False)

    def final(self, n_rows: int, C: float, *, n_machines: int, memory: float) -> Any:
        """Return the solver of chosen machines, which polishes them where that is cheap."""
        if self.name == "adatron":
            return self._adatron()
        steps, budget = self._hard_steps(n_rows, C), _POLISH / n_machines
        return SMO(tol=self.tol, max_iter=steps, memory=memory, budget=budget)

    def _adatron(self) -> Adatron | MarginAdatron:
        sweeps = {} if self.max_iter < 0 else {"max_iter": self.max_iter}
        kind = MarginAdatron if self.stop == "margin" else Adatron
        return kind(tol=self.tol, eta=self.eta, **sweeps)

    def _hard_steps(self, n_rows: int, C: float) -> int:
        if self.max_iter < 0 and np.isinf(C):
            return max(_FEWEST_HARD, _HARD_STEPS * n_rows)
        return self.max_iter
