"""Domains of parameters: each projects onto itself, and has free coordinates.

A projecting method works on the parameters themselves; a quasi-Newton method works on free
coordinates z, in which the domain is the whole space or a box.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import softmax

from .._parameters import as_real
from .._typing import Array


def _check_bounds(lo: Any, hi: Any) -> None:
    """Raise unless the bounds are numbers or vectors of them, and none exceeds its partner."""
    low, high = as_real(lo, "lo"), as_real(hi, "hi")
    if low.ndim > 1 or high.ndim > 1 or len({low.size, high.size} - {1}) > 1 or not low.size:
        raise ValueError("lo and hi must be numbers, or vectors of the same length.")
    if not (low <= high).all():
        raise ValueError("lo must not exceed hi.")


class Domain(ABC):
    """A set of parameter vectors."""

    @abstractmethod
    def project(self, theta: Array) -> Array:
        """Map a vector into the domain.

        Parameters
        ----------
        theta : ndarray of shape (k,)
            Any vector.

        Returns
        -------
        inside : ndarray of shape (k,)
            A vector of the domain; the given one if it is inside.
        """

    def rescale(self, theta: Array) -> Array:
        """Scale a vector into a domain with a fixed sum; project it where the sum is free.

        Parameters
        ----------
        theta : ndarray of shape (k,)
            Any vector.

        Returns
        -------
        inside : ndarray of shape (k,)
            A vector of the domain.
        """
        return self.project(theta)

    @abstractmethod
    def encode(self, theta: Array) -> Array:
        """Return the free coordinates of a vector of the domain.

        Parameters
        ----------
        theta : ndarray of shape (k,)
            A vector of the domain.

        Returns
        -------
        z : ndarray of shape (k,)
            Its free coordinates.
        """

    @abstractmethod
    def decode(self, z: Array) -> Array:
        """Return the vector with these free coordinates.

        Parameters
        ----------
        z : ndarray of shape (k,)
            Free coordinates.

        Returns
        -------
        theta : ndarray of shape (k,)
            The vector.
        """

    @abstractmethod
    def pull(self, theta: Array, gradient: Array) -> Array:
        """Convert a gradient to the free coordinates.

        Parameters
        ----------
        theta : ndarray of shape (k,)
            The parameters at which it was taken.
        gradient : ndarray of shape (k,)
            The derivative by theta.

        Returns
        -------
        pulled : ndarray of shape (k,)
            The derivative by the free coordinates.
        """

    def bounds(self, k: int) -> list[tuple[float, float]] | None:
        """Return the bounds of the free coordinates.

        Parameters
        ----------
        k : int
            Number of coordinates.

        Returns
        -------
        bounds : list of tuple or None
            None is the whole space.
        """
        return None


@dataclass(frozen=True)
class Simplex(Domain):
    """Vectors theta >= 0 with sum theta = total, projected to the nearest one.

    Free coordinates are logits: theta = total * softmax(z).

    Parameters
    ----------
    total : float, default=1.0
        The sum.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.outer import Simplex
    >>> Simplex(2.0).project(np.array([3.0, 2.0, -1.0]))
    array([1.5, 0.5, 0. ])
    """

    total: float = 1.0

    def rescale(self, theta: Array) -> Array:
        clipped = np.maximum(0, theta)
        size = float(clipped.sum())
        if size == 0:
            return np.full(len(theta), self.total / len(theta))
        return clipped * (self.total / size)

    def project(self, theta: Array) -> Array:
        ordered = np.sort(theta)[::-1]
        shifts = (np.cumsum(ordered) - self.total) / np.arange(1, len(theta) + 1)
        return np.maximum(0, theta - shifts[np.flatnonzero(ordered > shifts)[-1]])

    def encode(self, theta: Array) -> Array:
        # A weight of zero has the logit -inf, which is replaced by a very low one.
        return np.log(np.maximum(theta / self.total, 1e-12))

    def decode(self, z: Array) -> Array:
        out: Array = self.total * softmax(z)
        return out

    def pull(self, theta: Array, gradient: Array) -> Array:
        return theta * (gradient - float(theta @ gradient) / self.total)


@dataclass(frozen=True)
class L1Sphere(Simplex):
    """The same vectors as `Simplex`, with the projection of the dual-objective paper.

    Negative entries become zero, then all are scaled to the sum. Where no entry is positive, all
    become equal.

    Parameters
    ----------
    total : float, default=1.0
        The sum.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.outer import L1Sphere
    >>> L1Sphere(2.0).project(np.array([3.0, 1.0, -1.0]))
    array([1.5, 0.5, 0. ])
    """

    def project(self, theta: Array) -> Array:
        return self.rescale(theta)


@dataclass(frozen=True)
class Box(Domain):
    """Vectors between two bounds; free coordinates are the vectors themselves.

    Parameters
    ----------
    lo : float or array-like, default=-inf
        The lower bounds.
    hi : float or array-like, default=inf
        The upper bounds.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.outer import Box
    >>> Box(0.0, 1.0).project(np.array([-1.0, 0.5]))
    array([0. , 0.5])
    """

    lo: Any = -np.inf
    hi: Any = np.inf

    def __post_init__(self) -> None:
        """Check the bounds."""
        _check_bounds(self.lo, self.hi)

    def project(self, theta: Array) -> Array:
        return np.clip(theta, self.lo, self.hi)

    def encode(self, theta: Array) -> Array:
        return self.project(theta)

    def decode(self, z: Array) -> Array:
        return self.project(z)

    def pull(self, theta: Array, gradient: Array) -> Array:
        return gradient

    def bounds(self, k: int) -> list[tuple[float, float]] | None:
        lo, hi = np.broadcast_to(self.lo, (k,)), np.broadcast_to(self.hi, (k,))
        return list(zip(lo.tolist(), hi.tolist(), strict=True))


@dataclass(frozen=True)
class LogPositive(Domain):
    """Positive vectors; free coordinates are the logarithms, between bounds.

    Parameters
    ----------
    lo : float or array-like, default=1e-8
        The lower bounds, positive.
    hi : float or array-like, default=1e8
        The upper bounds.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.outer import LogPositive
    >>> LogPositive(0.1, 10.0).project(np.array([0.0, 1.0, 99.0]))
    array([ 0.1,  1. , 10. ])
    """

    lo: Any = 1e-8
    hi: Any = 1e8

    def __post_init__(self) -> None:
        """Check the bounds."""
        _check_bounds(self.lo, self.hi)
        if not (as_real(self.lo, "lo") > 0).all():
            raise ValueError("lo must be positive.")

    def project(self, theta: Array) -> Array:
        inside: Array = np.minimum(np.maximum(theta, self.lo), self.hi)  # as np.clip, but quicker
        return inside

    def encode(self, theta: Array) -> Array:
        return np.log(self.project(theta))

    def decode(self, z: Array) -> Array:
        return self.project(np.exp(z))

    def pull(self, theta: Array, gradient: Array) -> Array:
        return theta * gradient

    def bounds(self, k: int) -> list[tuple[float, float]] | None:
        lo, hi = np.broadcast_to(self.lo, (k,)), np.broadcast_to(self.hi, (k,))
        return list(zip(np.log(lo).tolist(), np.log(hi).tolist(), strict=True))
