"""Minimisation of a function with expensive evaluations over a domain.

    min fun(theta)   s.t.   theta in domain

The function, the descent method and the solver of inner problems are three separate things: this
module knows a function that returns value and gradient, a domain, and a method.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from numbers import Integral, Real
from time import perf_counter
from typing import Any

import numpy as np

from .._parameters import Interval, as_real, checked_arguments
from .._typing import Array
from .domains import Box, Domain


@dataclass(frozen=True)
class Step:
    """One evaluation of a descent.

    Parameters
    ----------
    value : float
        The value.
    theta : ndarray of shape (k,)
        The parameters.
    n_iter : int
        Steps of the inner solver: ``fun.n_iter`` after the evaluation, 0 where there is none.
    seconds : float
        Duration of the evaluation.
    """

    value: float
    theta: Array
    n_iter: int
    seconds: float


@dataclass(frozen=True)
class Minimum:
    """The result of a descent.

    Parameters
    ----------
    theta : ndarray of shape (k,)
        The parameters of the lowest value.
    value : float
        The value there.
    history : list of Step
        Every evaluation, in order.
    status : str
        "converged", "stalled" (no step along the gradient improves the value), "max_evaluations"
        or "stopped" (by the callback).
    """

    theta: Array
    value: float
    history: list[Step] = field(repr=False)
    status: str

    @property
    def n_evaluations(self) -> int:
        """Number of evaluations."""
        return len(self.history)


Evaluate = Callable[[Array], tuple[float, Array]]


class Method(ABC):
    """Base of the descent methods."""

    @abstractmethod
    def run(self, evaluate: Evaluate, theta: Array, domain: Domain, tol: float) -> str:
        """Descend until the relative improvement of a step is less than ``tol``.

        Parameters
        ----------
        evaluate : callable
            Returns value and gradient; raises when no more evaluations are allowed.
        theta : ndarray of shape (k,)
            The starting point, inside the domain.
        domain : Domain
            The domain of the parameters.
        tol : float
            The relative improvement of a step that ends the descent.

        Returns
        -------
        status : str
            "converged", or "stalled" where no step along the gradient improves the value.
        """


class Stopped(Exception):  # noqa: N818 - it ends a loop and is no error
    """Raised by ``evaluate`` when no more evaluations are allowed."""


class _Recorder:
    """Records evaluations, and ends the descent when the limit is reached."""

    def __init__(self, fun: Any, max_evaluations: int, callback: Any) -> None:
        self._fun, self._limit, self._callback = fun, max_evaluations, callback
        self.history: list[Step] = []
        self.status = "converged"

    def __call__(self, theta: Array) -> tuple[float, Array]:
        if len(self.history) == self._limit:
            self.status = "max_evaluations"
            raise Stopped
        begin = perf_counter()
        value, gradient = self._fun(theta)
        seconds = perf_counter() - begin
        if not (np.isfinite(value) and np.isfinite(gradient).all()):
            raise ValueError(
                f"the function to minimise, or its gradient, is NaN or inf at {theta}; scale what "
                "it depends on, such as the columns of X, start from another point, or bound the "
                "domain."
            )
        step = Step(float(value), np.array(theta), getattr(self._fun, "n_iter", 0), seconds)
        self.history.append(step)
        if self._callback is not None and self._callback(step):
            self.status = "stopped"
            raise Stopped
        return value, gradient


@checked_arguments(
    fun=[callable],
    method=[Method],
    domain=[Domain, None],
    max_evaluations=[Interval(Integral, 1, None, closed="left")],
    tol=[Interval(Real, 0, None, closed="left")],
    callback=[callable, None],
)
def minimize(
    fun: Callable[..., tuple[float, Array]],
    theta0: Any,
    *,
    method: Method,
    domain: Domain | None = None,
    max_evaluations: int = 100,
    tol: float = 1e-6,
    callback: Callable[[Step], Any] | None = None,
) -> Minimum:
    """Minimise a function over a domain.

    Parameters
    ----------
    fun : callable
        ``fun(theta)`` returns value and gradient.
    theta0 : array-like of shape (k,)
        The starting point; projected onto the domain.
    method : Method
        `FixedStep`, `ProjectedGradient`, `ExponentiatedGradient` or `LBFGS`.
    domain : Domain, default=None
        The domain of the parameters; None is unbounded.
    max_evaluations : int, default=100
        Limit on the number of evaluations of the function.
    tol : float, default=1e-6
        The descent ends when the relative improvement of a step is less.
    callback : callable, default=None
        Called with each `Step`; a true return value ends the descent.

    Returns
    -------
    minimum : Minimum
        The point of the lowest value seen, the start included, and the history.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.outer import LBFGS, Simplex, minimize
    >>> def fun(theta):
    ...     return float(theta @ theta), 2 * theta
    >>> minimize(fun, [0.7, 0.2, 0.1], method=LBFGS(), domain=Simplex()).theta.round(3)
    array([0.333, 0.333, 0.333])
    """
    domain = Box() if domain is None else domain
    theta: Array = as_real(theta0, "theta0").copy()
    if theta.ndim != 1 or theta.size == 0 or not np.isfinite(theta).all():
        raise ValueError("theta0 must be a vector of finite numbers.")
    theta = domain.project(theta)
    recorder = _Recorder(fun, max_evaluations, callback)
    with suppress(Stopped):
        recorder.status = method.run(recorder, theta, domain, tol)
    best = min(recorder.history, key=lambda step: step.value)
    return Minimum(best.theta, best.value, recorder.history, recorder.status)
