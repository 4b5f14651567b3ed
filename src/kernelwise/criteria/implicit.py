"""Implicit differentiation of a solved machine, from its decision values back to K and C."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import Array, Gram, Index
from ..kernels import Cotangent
from ..qp import Solution
from .free_system import FreeSystem


@dataclass(frozen=True)
class ImplicitMachine:
    """A solved machine with the linear system of its free support vectors."""

    K: Gram
    beta: Array  # (n,)
    gradient: Array  # (n,), K b - p
    y: Array  # (n,), the codes of the machine; 0 for rows outside it
    free: Index  # the support vectors inside and at their bounds
    bounded: Index
    system: FreeSystem | None  # the system of the free support vectors; None where there are none

    @classmethod
    def of(
        cls, K: Gram, solution: Solution, y: Array, free: Index, bounded: Index
    ) -> ImplicitMachine:
        """Factor the system of a solution.

        Shapes: ``y`` (n,).
        """
        system = FreeSystem.of(K, free) if len(free) else None
        return cls(K, solution.beta, solution.gradient, y, free, bounded, system)

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.beta)


@dataclass(frozen=True)
class Pullback:
    """A derivative that has been pulled back from decision values."""

    cotangent: Cotangent  # the derivative by each entry of K
    by_bounds: float  # the derivative by the logarithm of C, which scales all bounds


def implicit(
    machine: ImplicitMachine, by_decision: Array, by_beta: Array | None = None
) -> Pullback:
    """Pull a derivative by the decision values f = K b + nu back to K and to the bounds.

    The free variables and nu solve a linear system (see `free_system`), so that one adjoint solve
    gives their derivatives; the bounded variables move with their bounds only.

    ``by_decision`` (n,): the derivative by the decision value of each row. ``by_beta`` (n,): an
    additional derivative by the coefficients. Returns ``pullback``, the derivative by K and by the
    bounds.
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


def _through_middle(machine: ImplicitMachine, u: Array) -> Array:
    """Return the derivative with nu replaced by the two gradients that determine it.

    Without free variables nu is minus the middle of two gradients.
    """
    beta, gradient = machine.beta, machine.gradient
    # Rows at zero can move towards their code, the others back to zero.
    up = np.flatnonzero((beta < 0) | ((beta == 0) & (machine.y > 0)))
    down = np.flatnonzero((beta > 0) | ((beta == 0) & (machine.y < 0)))
    ends = [up[[np.argmin(gradient[up])]]] if len(up) else []
    ends += [down[[np.argmax(gradient[down])]]] if len(down) else []
    out = u.copy()
    for end in ends:
        out[end] -= float(u.sum()) / len(ends)
    return out


def _symmetric_product(a: Array, b: Array) -> Cotangent:
    """Return the symmetric part of a b' as two squares."""
    factors = np.column_stack([a + b, a - b])
    return Cotangent(factors, np.array([0.25, -0.25]))
