"""Descent of a function with expensive evaluations, over a domain, by a method of choice.

    min fun(theta)   s.t.   theta in domain

What is minimised, how, and what solves the inner problems are three things: this module knows a
function that returns value and gradient, a domain, and a method.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np

from .._typing import Array
from .domains import Box, Domain


@dataclass(frozen=True)
class Step:
    """One evaluation on the way.

    Parameters
    ----------
    value : float
        The value.
    theta : ndarray of shape (k,)
        Where.
    n_iter : int
        What ``fun.n_iter`` said after it: the inner solver's steps; 0 where it says nothing.
    seconds : float
        How long it took.
    tol : float or None
        The inner tolerance, where there is a schedule.
    """

    value: float
    theta: Array
    n_iter: int
    seconds: float
    tol: float | None = None


@dataclass(frozen=True)
class Minimum:
    """Where a descent ended.

    Parameters
    ----------
    theta : ndarray of shape (k,)
        The parameters of the lowest value, or the last ones without ``keep_best``.
    value : float
        The value there.
    history : list of Step
        Every evaluation, in order.
    status : str
        "converged", "stalled" (no step improves though one should), "max_evaluations" or "stopped"
        (by the callback).
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
    """How to descend."""

    @abstractmethod
    def run(self, evaluate: Evaluate, theta: Array, domain: Domain, tol: float) -> str:
        """Descend until a step improves by less than ``tol``, relatively.

        Parameters
        ----------
        evaluate : callable
            Returns value and gradient; raises when no more evaluations are allowed.
        theta : ndarray of shape (k,)
            Where to start, inside the domain.
        domain : Domain
            Where to stay.
        tol : float
            The relative improvement of a step that ends the descent.

        Returns
        -------
        status : str
            "converged", or "stalled" where no step improves though one should.
        """


class Stopped(Exception):  # noqa: N818 - it ends a loop, it is no error
    """Raised by ``evaluate`` when no more evaluations are allowed."""


class _Recorder:
    """Counts and keeps evaluations, and ends the descent when there were enough."""

    def __init__(self, fun: Any, callback: Any) -> None:
        self._fun, self._callback = fun, callback
        self.history: list[Step] = []
        self.tol: float | None = None
        self.left, self.first_of_stage, self.status = 0, 0, "converged"

    def begin(self, tol: float | None, evaluations: int) -> None:
        self.tol, self.left = tol, evaluations
        self.first_of_stage = len(self.history)
        self.status = "converged"

    def __call__(self, theta: Array) -> tuple[float, Array]:
        if self.left == 0:
            self.status = "max_evaluations"
            raise Stopped
        self.left -= 1
        begin = perf_counter()
        value, gradient = self._fun(theta) if self.tol is None else self._fun(theta, self.tol)
        seconds = perf_counter() - begin
        if not (np.isfinite(value) and np.isfinite(gradient).all()):
            raise ValueError(
                f"the function to minimise, or its gradient, is NaN or inf at {theta}."
            )
        n_iter = getattr(self._fun, "n_iter", 0)
        step = Step(float(value), np.array(theta), n_iter, seconds, self.tol)
        self.history.append(step)
        if self._callback is not None and self._callback(step):
            self.status = "stopped"
            raise Stopped
        return value, gradient

    def best(self) -> Step:
        """Return the lowest of the last stage: other stages had another tolerance."""
        return min(self.history[self.first_of_stage :], key=lambda step: step.value)


def minimize(
    fun: Callable[..., tuple[float, Array]],
    theta0: Any,
    *,
    method: Method,
    domain: Domain | None = None,
    max_evaluations: int = 100,
    tol: float = 1e-6,
    stages: Sequence[tuple[float, int]] | None = None,
    keep_best: bool = True,
    callback: Callable[[Step], Any] | None = None,
) -> Minimum:
    """Minimise a function over a domain.

    Parameters
    ----------
    fun : callable
        ``fun(theta)`` returns value and gradient; with stages it is called ``fun(theta, tol)``.
    theta0 : array-like of shape (k,)
        Where to start; brought into the domain.
    method : Method
        How: `FixedStep`, `ProjectedGradient`, `ExponentiatedGradient` or `LBFGS`.
    domain : Domain, default=None
        Where; None is everywhere.
    max_evaluations : int, default=100
        Most evaluations of the function.
    tol : float, default=1e-6
        Ends the descent when a step improves the value by less, relatively.
    stages : sequence of (float, int), default=None
        Inner tolerances and how many evaluations each is for, in place of ``max_evaluations``.
        Each stage starts at the best point of the one before. Only values of the last stage
        compete: an inner problem that is not solved reads low.
    keep_best : bool, default=True
        Whether to return the lowest point seen, the start included, or the last one.
    callback : callable, default=None
        Called with each `Step`; a true return value ends the descent.

    Returns
    -------
    minimum : Minimum
        The parameters, their value and the history.

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
    theta: Array = np.array(theta0, dtype=np.float64)
    if theta.ndim != 1 or theta.size == 0 or not np.isfinite(theta).all():
        raise ValueError("theta0 must be a vector of finite numbers.")
    theta = domain.project(theta)
    plan: Sequence[tuple[float | None, int]] = stages or [(None, max_evaluations)]
    if any(evaluations < 1 for _, evaluations in plan):
        raise ValueError("at least one evaluation must be allowed.")
    recorder = _Recorder(fun, callback)
    for inner_tol, evaluations in plan:
        recorder.begin(inner_tol, evaluations)
        with suppress(Stopped):
            recorder.status = method.run(recorder, theta, domain, tol)
        theta = recorder.best().theta
        if recorder.status == "stopped":
            break
    chosen = recorder.best() if keep_best else recorder.history[-1]
    return Minimum(chosen.theta, chosen.value, recorder.history, recorder.status)
