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

import numpy as np
from scipy.linalg.lapack import dpotrf, dtrtri

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
    half : ndarray of shape (n_free, n_free)
        The inverse L^-1 of the Cholesky factor of their block of K, with its jitter: all that is
        asked for are lengths of columns and products with it.
    bias : bool
        Whether there is a border, that is, a bias.
    """

    free: Index
    half: Array
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
            factor, failed = dpotrf(ridged.T, lower=1, overwrite_a=1, clean=1)
            if not failed:
                half, _ = dtrtri(factor, lower=1, overwrite_c=1)
                return cls(free, half, bias)
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
        multiplier = 0.0
        if self.bias:
            multiplier = (float(self._sums @ right) - last) / self._total
        return self.half.T @ (self.half @ (right - multiplier)), multiplier

    @cached_property
    def _ones(self) -> Array:
        return self.half.sum(axis=1)

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
        """The diagonal of `inverse`, without the rest."""
        diagonal = np.einsum("ij,ij->j", self.half, self.half)
        return diagonal - self._sums**2 / self._total if self.bias else diagonal

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
        part = self.half @ columns
        squares = np.einsum("ij,ij->j", part, part)
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
        coefficients = self.half.T @ (self.half @ columns)
        if self.bias:
            short = self._sums @ columns - 1
            coefficients -= np.outer(self._sums, short) / self._total
        return coefficients
