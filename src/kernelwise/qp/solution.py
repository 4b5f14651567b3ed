"""The state of a solver on the way, and the solution with its certificate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import _native
from .._typing import Array
from .problem import DualQP


@dataclass(frozen=True)
class SolverState:
    """A feasible point on the way to a solution."""

    beta: Array
    gradient: Array  # empty where it is not computed yet
    violation: float
    n_iter: int
    status: str  # empty while the solve goes on

    @classmethod
    def start(cls, beta: Array) -> SolverState:
        """Return the state before anything is computed."""
        return cls(beta, np.empty(0), np.inf, 0, "")


@dataclass(frozen=True)
class Solution:
    """A solution and its certificate.

    Parameters
    ----------
    beta : ndarray of shape (n,)
        The signed dual coefficients.
    nu : ndarray of shape (l,)
        The multipliers of the equalities; the intercept for a support vector machine.
    gradient : ndarray of shape (n,)
        K b - p; a row's decision value is ``gradient + p + A'nu``.
    objective : float
        1/2 b'Kb - p'b.
    gap : float
        Upper bound on the distance of the objective from its minimum; NaN for indefinite kernels.
    violation : float
        The largest violation of the optimality conditions.
    n_iter : int
        Number of steps.
    status : str
        "converged", "max_iter" (out of steps), "stalled" (no step makes progress) or "degenerate"
        (the multipliers of several equalities are unbounded).
    """

    beta: Array
    nu: Array
    gradient: Array
    objective: float
    gap: float
    violation: float
    n_iter: int
    status: str

    @property
    def converged(self) -> bool:
        """Whether the solver reached its tolerance."""
        return self.status == "converged"

    @classmethod
    def at(
        cls,
        qp: DualQP,
        state: SolverState,
        nu: Array | None = None,
        certificate: Array | None = None,
    ) -> Solution:
        """Certify the final state of a solver.

        Parameters
        ----------
        qp : DualQP
            The problem.
        state : SolverState
            The final state.
        nu : ndarray of shape (l,), default=None
            The multipliers; None computes the one of sum b = c.
        certificate : ndarray of shape (4,), default=None
            The multiplier of sum b = c, objective, gap and violation, where they are known.

        Returns
        -------
        solution : Solution
            The point with its multipliers, objective, gap and violation.
        """
        beta, gradient = state.beta, state.gradient
        if certificate is not None:
            nu = certificate[:1]
            objective, gap, violation = certificate[1:].tolist()
        elif nu is None:
            own, *rest = _native.certify(beta, gradient, qp.p, qp.lo, qp.hi, qp.c[0])
            nu = np.array([own])
            objective, gap, violation = rest
        else:
            objective = qp.objective(beta, gradient)
            gap = qp.duality_gap(beta, nu, gradient)
            violation = qp.kkt_violation(beta, nu, gradient)
        gap = gap if qp.gram.is_psd else float("nan")
        return cls(beta, nu, gradient, objective, gap, violation, state.n_iter, state.status)
