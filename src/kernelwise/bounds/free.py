"""The free support vectors' linear system: how a solved machine answers to a small change.

At a fixed set of free variables F (strictly inside their bounds) and of bounded ones B, the
solution is one bordered system,

    [K_FF  1] [b_F]   [p_F - K_FB b_B]
    [1'    0] [nu ] = [c - 1'b_B     ]

Its inverse gives the span of each support vector and the derivative of all that depends on b, nu.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, solve_triangular
from scipy.linalg.lapack import dpotri

from .._typing import Array, Index
from ..qp.gram import Gram

JITTERS = (1e-8, 1e-6, 1e-4)  # relative, on the free block: the least that makes it definite


@dataclass(frozen=True)
class FreeSystem:
    """The bordered system of the free support vectors.

    Parameters
    ----------
    free : ndarray of shape (n_free,)
        The free rows.
    factor : tuple
        The Cholesky factor of their block of K, with its jitter.
    bias : bool
        Whether there is a border, that is, a bias.
    """

    free: Index
    factor: Any
    bias: bool

    @classmethod
    def of(cls, K: Gram, free: Index, *, bias: bool = True) -> FreeSystem:
        """Factor the block of the free rows.

        Parameters
        ----------
        K : Gram
            The kernel matrix.
        free : ndarray of shape (n_free,)
            The free rows.
        bias : bool, default=True
            Whether the machine has a bias.

        Returns
        -------
        system : FreeSystem
            The factored system.
        """
        block = K.block(free, free)
        size = float(np.abs(np.diagonal(block)).mean()) if len(free) else 0.0
        for jitter in JITTERS:
            ridged = block.copy()
            ridged[np.diag_indices_from(ridged)] += jitter * (size or 1.0)
            try:
                return cls(free, cho_factor(ridged, lower=True, check_finite=False), bias)
            except LinAlgError:
                continue
        raise ValueError("K is not positive semi-definite on the free support vectors.")

    def solve(self, right: Array, last: float) -> tuple[Array, float]:
        """Solve the bordered system.

        Parameters
        ----------
        right : ndarray of shape (n_free,)
            The right side of the free rows.
        last : float
            The right side of the border; not read without a bias.

        Returns
        -------
        solution : ndarray of shape (n_free,)
            The part of the free rows.
        multiplier : float
            The part of the border; zero without a bias.
        """
        if not self.bias:
            return cho_solve(self.factor, right, check_finite=False), 0.0
        multiplier = (float(self._sums @ right) - last) / self._total
        return cho_solve(self.factor, right - multiplier, check_finite=False), multiplier

    @cached_property
    def _sums(self) -> Array:
        ones = np.ones(len(self.free))
        return cho_solve(self.factor, ones, check_finite=False)

    @cached_property
    def _total(self) -> float:
        return float(self._sums.sum())

    @cached_property
    def inverse(self) -> Array:
        """The free rows' block of the inverse of the bordered matrix."""
        inverse, _ = dpotri(self.factor[0], lower=1)
        inverse = np.tril(inverse)
        inverse += np.tril(inverse, -1).T
        if self.bias:
            inverse -= np.outer(self._sums, self._sums) / self._total
        return inverse

    def explained(self, columns: Array) -> Array:
        """Compute (k, 1)' inverse (k, 1): what the free rows explain of k(x, x).

        Parameters
        ----------
        columns : ndarray of shape (n_free, m)
            The kernel between the free rows and m others.

        Returns
        -------
        squares : ndarray of shape (m,)
            What is explained.
        """
        half = solve_triangular(self.factor[0], columns, lower=True, check_finite=False)
        squares = np.einsum("ij,ij->j", half, half)
        return squares - (self._sums @ columns - 1) ** 2 / self._total if self.bias else squares

    def project(self, columns: Array) -> Array:
        """Project rows onto the span of the free rows.

        Parameters
        ----------
        columns : ndarray of shape (n_free, m)
            The kernel between the free rows and m others.

        Returns
        -------
        coefficients : ndarray of shape (n_free, m)
            The free rows' part of inverse @ (k, 1).
        """
        coefficients = cho_solve(self.factor, columns, check_finite=False)
        if self.bias:
            short = self._sums @ columns - 1
            coefficients -= np.outer(self._sums, short) / self._total
        return coefficients
