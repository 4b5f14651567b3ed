"""Where a solver stands, and where it ended: a point, and a point with its certificate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import Array
from .problem import DualQP


@dataclass(frozen=True)
class Point:
    """A feasible point on the way to a solution, without its certificate."""

    beta: Array
    gradient: Array  # of no entries where it is not computed yet
    violation: float
    n_iter: int
    status: str  # empty while there is something left to do

    @classmethod
    def start(cls, beta: Array) -> Point:
        """Return a point of which nothing is known yet."""
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
        How far the objective is from its minimum, at most; NaN for indefinite kernels.
    violation : float
        The largest violation of the optimality conditions.
    n_iter : int
        Steps taken.
    status : str
        "converged", "max_iter" (out of steps), "stalled" (no step makes progress any more) or
        "degenerate" (the multipliers of several equalities have no bound).
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
        point: Point,
        nu: Array | None = None,
        certificate: Array | None = None,
    ) -> Solution:
        """Certify a point.

        Parameters
        ----------
        qp : DualQP
            The problem.
        point : Point
            Where a solver ended.
        nu : ndarray of shape (l,), default=None
            The multipliers; None asks the one equality sum b = c for its own.
        certificate : ndarray of shape (4,), default=None
            The multiplier of that equality, objective, gap and violation, where they are known.

        Returns
        -------
        solution : Solution
            The point with its multipliers, objective, gap and violation.
        """
        from . import _box

        beta, gradient = point.beta, point.gradient
        if certificate is not None:
            nu = certificate[:1]
            objective, gap, violation = certificate[1:].tolist()
        elif nu is None:
            own, *rest = _box.certify(beta, gradient, qp.p, qp.lo, qp.hi, qp.c[0])
            nu = np.array([own])
            objective, gap, violation = rest
        else:
            objective = qp.objective(beta, gradient)
            gap = qp.duality_gap(beta, nu, gradient)
            violation = qp.kkt_violation(beta, nu, gradient)
        gap = gap if qp.gram.is_psd else float("nan")
        return cls(beta, nu, gradient, objective, gap, violation, point.n_iter, point.status)
