"""The free support vectors' linear system: how a solved machine answers to a small change.

At a fixed set of free variables F (strictly inside their bounds) and of bounded ones B, the
solution is one bordered system,

    [K_FF  1] [b_F]   [p_F - K_FB b_B]
    [1'    0] [nu ] = [c - 1'b_B     ]

Its inverse gives the span of each support vector, and the derivatives of b and nu.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg.blas import dtrmm
from scipy.linalg.lapack import dpotrf, dtrtri

from .._typing import Array, Gram, Index

# Numbers added to the diagonal of the free block, relative to its mean, until it is definite.
_JITTERS = (1e-8, 1e-6, 1e-4)
_HALVED = 96  # rows above which a triangle is inverted by halves


@dataclass(frozen=True)
class FreeSystem:
    """The bordered system of the free support vectors."""

    free: Index  # (n_free,)
    # (n_free, n_free), the inverse L^-1 of the Cholesky factor of their block of K, with its jitter
    half: Array
    bias: bool  # whether the machine has a bias, and the system a border

    @classmethod
    def of(cls, K: Gram, free: Index, *, bias: bool = True) -> FreeSystem:
        """Factor the block of the free rows."""
        for jitter in _JITTERS:
            # Read in every pass, as factoring overwrites it.
            block = K.block(free, free).astype(np.float64, copy=False)
            diagonal = np.einsum("ii->i", block)  # a view that can be written to
            size = float(np.abs(diagonal).sum()) / max(1, len(free))
            diagonal += jitter * (size or 1.0)
            factor, failed = dpotrf(block.T, lower=1, overwrite_a=1, clean=1)
            if not failed:
                return cls(free, invert_triangle(factor), bias)
        raise ValueError("K is not positive semi-definite on the free support vectors.")

    def solve(self, right: Array, last: float) -> tuple[Array, float]:
        """Solve the bordered system.

        ``right`` (n_free,): the right-hand side of the free rows. ``last``: the right-hand side of
        the border; ignored without a bias. Returns ``solution`` (n_free,), the solution for the
        free rows; ``multiplier``, the solution for the border; zero without a bias.
        """
        multiplier = 0.0
        if self.bias:
            multiplier = (float(self._sums @ right) - last) / self._total
        return self.half.T @ (self.half @ (right - multiplier)), multiplier

    @cached_property
    def _ones(self) -> Array:
        return self.half @ np.ones(len(self.half))

    @cached_property
    def _sums(self) -> Array:
        return self._ones @ self.half

    @cached_property
    def _total(self) -> float:
        return float(self._ones @ self._ones)

    @cached_property
    def inverse(self) -> Array:
        """The free rows' block of the inverse of the bordered matrix."""
        inverse = self.half.T @ self.half
        if self.bias:
            inverse -= np.outer(self._sums, self._sums) / self._total
        return inverse

    @cached_property
    def inverse_diagonal(self) -> Array:
        """The diagonal of `inverse`, computed without the other entries."""
        diagonal = np.einsum("ij,ij->j", self.half, self.half)
        return diagonal - self._sums**2 / self._total if self.bias else diagonal

    def explained(self, columns: Array) -> Array:
        """Compute (k, 1)' inverse (k, 1): the part of k(x, x) that the free rows explain.

        ``columns`` (n_free, m): the kernel between the free rows and m others. Returns ``squares``
        (m,).
        """
        part = dtrmm(1.0, self.half, columns.astype(np.float64, copy=False), lower=1)
        squares = np.einsum("ij,ij->j", part, part)
        return squares - (self._ones @ part - 1) ** 2 / self._total if self.bias else squares

    def project(self, columns: Array) -> Array:
        """Project rows onto the span of the free rows.

        ``columns`` (n_free, m): the kernel between the free rows and m others. Returns
        ``coefficients`` (n_free, m): the free rows' part of inverse @ (k, 1).
        """
        coefficients = self.half.T @ (self.half @ columns)
        if self.bias:
            short = self._sums @ columns - 1
            coefficients -= np.outer(self._sums, short) / self._total
        return coefficients


def invert_triangle(factor: Array) -> Array:
    """Invert a lower triangular matrix.

    The halves are inverted one by one, and one product gives the block below them: LAPACK's own
    inverse takes twice as long for more than a hundred rows.

    ``factor`` (n, n): the matrix, zero above its diagonal. Returns ``inverse`` (n, n): its inverse,
    in Fortran order.
    """
    n = len(factor)
    if n <= _HALVED:
        inverse: Array = dtrtri(factor, lower=1)[0]
        return inverse
    first, second = slice(0, n // 2), slice(n // 2, n)
    upper, lower = invert_triangle(factor[first, first]), invert_triangle(factor[second, second])
    below = dtrmm(-1.0, lower, factor[second, first], lower=1)
    inverse = np.zeros((n, n), order="F")
    inverse[first, first], inverse[second, second] = upper, lower
    inverse[second, first] = dtrmm(1.0, upper, below, side=1, lower=1, overwrite_b=1)
    return inverse
