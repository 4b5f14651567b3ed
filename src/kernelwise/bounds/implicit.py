"""Implicit differentiation of a solved machine: from its decision values back to K and to C."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import Array, Index
from ..kernels import Cotangent
from ..qp import Solution
from ..qp.gram import Gram
from .free import FreeSystem


@dataclass(frozen=True)
class Machine:
    """A solved machine with the linear system of its free support vectors.

    Parameters
    ----------
    K : Gram
        The kernel matrix.
    beta : ndarray of shape (n,)
        The signed dual coefficients.
    gradient : ndarray of shape (n,)
        K b - p.
    free, bounded : ndarray
        The support vectors inside and at their bounds.
    system : FreeSystem or None
        The system of the free ones; None without any.
    """

    K: Gram
    beta: Array
    gradient: Array
    free: Index
    bounded: Index
    system: FreeSystem | None

    @classmethod
    def of(cls, K: Gram, solution: Solution, free: Index, bounded: Index) -> Machine:
        """Factor the system of a solution.

        Parameters
        ----------
        K : Gram
            The kernel matrix.
        solution : Solution
            The solved machine.
        free, bounded : ndarray
            Its support vectors.

        Returns
        -------
        machine : Machine
            The machine.
        """
        system = FreeSystem.of(K, free) if len(free) else None
        return cls(K, solution.beta, solution.gradient, free, bounded, system)

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.beta)


@dataclass(frozen=True)
class Pullback:
    """A derivative by decision values, carried back.

    Parameters
    ----------
    cotangent : Cotangent
        By each entry of K.
    by_bounds : float
        By the logarithm of a factor of all bounds: C times the derivative by C.
    """

    cotangent: Cotangent
    by_bounds: float


def implicit(machine: Machine, by_decision: Array, by_beta: Array | None = None) -> Pullback:
    """Carry a derivative by the decision values f = K b + nu back to K and to the bounds.

    The free variables and nu solve a linear system (see `free`), so one adjoint solve tells how
    they follow; the bounded variables move with their bounds only.

    Parameters
    ----------
    machine : Machine
        The solved machine.
    by_decision : ndarray of shape (n,)
        The derivative by the decision value of each row.
    by_beta : ndarray of shape (n,), default=None
        A further derivative by the coefficients themselves.

    Returns
    -------
    pullback : Pullback
        The derivative by K and by the bounds.
    """
    u, support = by_decision, np.concatenate([machine.free, machine.bounded])
    if machine.system is None:
        u = _through_middle(machine, u)
    by_beta = np.zeros(machine.n) if by_beta is None else by_beta
    rows = np.flatnonzero(u)
    at_support = machine.K.block(support, rows) @ u[rows] + by_beta[support]
    n_free = len(machine.free)
    pulled = u.copy()
    by_bounded = at_support[n_free:]
    if machine.system is not None:
        adjoint, last = machine.system.solve(at_support[:n_free], float(u.sum()))
        pulled[machine.free] -= adjoint
        if len(machine.bounded):
            across = machine.K.block(machine.bounded, machine.free)
            by_bounded = by_bounded - (across @ adjoint + last)
    return Pullback(
        _symmetric_product(pulled, machine.beta), float(machine.beta[machine.bounded] @ by_bounded)
    )


def _through_middle(machine: Machine, u: Array) -> Array:
    """Without free variables nu is minus the middle of two gradients: move its share there."""
    beta, gradient = machine.beta, machine.gradient
    # At the solution every row that can rise has the larger gradient, and no row is free.
    up = np.flatnonzero(beta <= 0) if (beta > 0).any() else np.arange(len(beta))
    down = np.flatnonzero(beta >= 0)
    out, share = u.copy(), 0.5 * float(u.sum())
    out[up[np.argmin(gradient[up])]] -= share
    out[down[np.argmax(gradient[down])]] -= share
    return out


def _symmetric_product(a: Array, b: Array) -> Cotangent:
    """Return the symmetric part of a b' as two squares."""
    factors = np.column_stack([a + b, a - b])
    return Cotangent(factors, np.array([0.25, -0.25]))
