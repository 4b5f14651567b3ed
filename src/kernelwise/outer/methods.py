"""Descent methods, from the fixed step of the dual-objective paper to L-BFGS."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._parameters import check_count, check_number
from .._typing import Array
from .domains import Domain, Simplex
from .lbfgsb import descend
from .minimize import Evaluate, Method

_MOST_STEPS = 1000  # steps that the approximation of a Hessian can make use of


def _improves_little(before: float, after: float, tol: float) -> bool:
    return before - after <= tol * max(abs(before), abs(after), 1e-300)


@dataclass(frozen=True)
class FixedStep(Method):
    """Fixed steps: theta <- project(theta - eta * gradient), until the limit of evaluations.

    Parameters
    ----------
    eta : float, default=0.001
        The length of a step, as a factor of the gradient.

    Examples
    --------
    >>> from kernelwise.outer import FixedStep, minimize
    >>> def fun(theta):
    ...     return float(theta @ theta), 2 * theta
    >>> minimize(fun, [1.0], method=FixedStep(0.25), max_evaluations=3).theta
    array([0.25])
    """

    eta: float = 0.001

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_number(self.eta, "eta")

    def run(self, evaluate: Evaluate, theta: Array, domain: Domain, tol: float) -> str:
        while True:  # until evaluate raises Stopped: the paper has no other stop test
            _, gradient = evaluate(theta)
            theta = domain.project(theta - self.eta * gradient)


@dataclass(frozen=True)
class ProjectedGradient(Method):
    """Spectral projected gradient: Barzilai-Borwein steps with an Armijo line search.

    Parameters
    ----------
    armijo : float, default=1e-4
        The fraction of the predicted decrease that a step must attain.
    shrink : float, default=0.3
        The factor by which a step that does not is shortened.

    Examples
    --------
    >>> from kernelwise.outer import Box, ProjectedGradient, minimize
    >>> def fun(theta):
    ...     return float(theta @ theta), 2 * theta
    >>> minimize(fun, [3.0], method=ProjectedGradient(), domain=Box(1.0, 9.0)).theta
    array([1.])
    """

    armijo: float = 1e-4
    shrink: float = 0.3

    def __post_init__(self) -> None:
        """Check the parameters."""
        for name in ("armijo", "shrink"):
            check_number(getattr(self, name), name)
            if not 0 < getattr(self, name) < 1:
                raise ValueError(f"{name} must be between 0 and 1; got {getattr(self, name)!r}.")

    def run(self, evaluate: Evaluate, theta: Array, domain: Domain, tol: float) -> str:
        value, gradient = evaluate(theta)
        slope = float(np.abs(gradient).max(initial=0.0))
        length = float(np.abs(theta).max(initial=1.0)) / slope if slope > 0 else 0.0
        while length > 0:
            direction = domain.project(theta - length * gradient) - theta
            decrease = -float(gradient @ direction)
            if decrease <= tol * abs(value):
                break
            part = 1.0
            new_value, new_gradient = evaluate(theta + direction)
            while new_value > value - self.armijo * part * decrease:
                part *= self.shrink
                if part < 1e-6:
                    return "stalled"
                new_value, new_gradient = evaluate(theta + part * direction)
            move, bend = part * direction, new_gradient - gradient
            curvature = float(move @ bend)
            length = float(move @ move) / curvature if curvature > 0 else 10 * length
            if _improves_little(value, new_value, tol):
                break
            theta, value, gradient = theta + move, new_value, new_gradient
        return "converged"


@dataclass(frozen=True)
class ExponentiatedGradient(Method):
    """Multiplicative updates theta_k <- theta_k exp(-rate * gradient_k), scaled to the simplex.

    The rate grows while steps succeed and shrinks when one does not.

    Parameters
    ----------
    first : float, default=1.0
        The largest change of a logarithm in the first step.

    Examples
    --------
    >>> from kernelwise.outer import ExponentiatedGradient, Simplex, minimize
    >>> def fun(theta):
    ...     return float(theta @ theta), 2 * theta
    >>> descent = ExponentiatedGradient()
    >>> minimize(fun, [0.9, 0.1], method=descent, domain=Simplex()).theta.round(2)
    array([0.5, 0.5])
    """

    first: float = 1.0

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_number(self.first, "first")

    def run(self, evaluate: Evaluate, theta: Array, domain: Domain, tol: float) -> str:
        value, gradient = evaluate(theta)
        # Scaling to a fixed sum cancels a common part of the gradient, so it is removed first.
        summed = isinstance(domain, Simplex)
        spread = float(np.ptp(gradient) if summed else np.abs(gradient).max(initial=0.0))
        rate = self.first / spread if spread > 0 else 0.0
        while rate > 0:
            common = float(gradient.min()) if summed else 0.0
            moved = domain.rescale(theta * np.exp(-rate * (gradient - common)))
            new_value, new_gradient = evaluate(moved)
            if new_value > value:
                rate *= 0.3
                if rate * spread < 1e-6:
                    return "stalled"
                continue
            if _improves_little(value, new_value, tol):
                break
            theta, value, gradient, rate = moved, new_value, new_gradient, 1.5 * rate
        return "converged"


@dataclass(frozen=True)
class LBFGS(Method):
    """L-BFGS-B on the domain's free coordinates: logits of a simplex, logarithms, or themselves.

    Parameters
    ----------
    memory : int, default=10
        Number of steps that the approximation of the Hessian remembers.
    first : float, default=1.0
        The largest change of a free coordinate in the first step.

    Examples
    --------
    >>> from kernelwise.outer import LBFGS, LogPositive, minimize
    >>> def fun(theta):
    ...     return float((theta[0] - 2) ** 2), 2 * (theta - 2)
    >>> minimize(fun, [9.0], method=LBFGS(), domain=LogPositive()).theta.round(3)
    array([2.])
    """

    memory: int = 10
    first: float = 1.0

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_count(self.memory, "memory", least=1, most=_MOST_STEPS)
        check_number(self.first, "first")

    def run(self, evaluate: Evaluate, theta: Array, domain: Domain, tol: float) -> str:
        z = domain.encode(theta)
        seen: list[float] = []
        scale, rises = 0.0, False

        def of_free(z: Array) -> tuple[float, Array]:
            nonlocal scale
            at = domain.decode(z)
            value, gradient = evaluate(at)
            pulled = domain.pull(at, gradient)
            if not seen:
                # With bounds SciPy's first step is the whole gradient, however long: scale it.
                slope = float(np.abs(pulled).max(initial=0.0))
                scale = self.first / slope if slope > 0 else 1.0
                seen.append(value)
            return scale * value, scale * pulled

        def is_enough(scaled: float) -> bool:
            nonlocal rises
            value = scaled / scale
            # A line search that rounding stops keeps its last trial, even a worse one.
            rises = not _improves_little(value, seen[-1], tol)
            if _improves_little(seen[-1], value, tol):
                return True
            seen.append(value)
            return False

        bounds = domain.bounds(len(theta))
        fine = descend(of_free, z, bounds, self.memory, is_enough)
        return "converged" if fine and not rises else "stalled"
