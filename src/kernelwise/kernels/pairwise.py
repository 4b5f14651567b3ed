"""Kernels k(x, z) = profile(t) of one number t = gamma * sum_k w_k term(x_k, z_k).

A new kernel is two one-liners, its profile and its slope. The bases here own the weights, the
distances, the blocks and the gradients:

    t = left(x) . right(z)      see `bilinear`; an L1 distance is made otherwise
    d value / d w_k = gamma sum_ij S_ij term(x_ik, x_jk),   S = dK * slope(t)
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._typing import Array, Matrix
from .base import BLOCK_ROWS, Kernel, check_rows
from .cotangent import Cotangent

_SOME_ROWS = 33  # enough to find the middle of the data
FLOAT32_REACH = 32.0  # largest |x|^2 (in units of t) whose float32 rounding, 4e-6, is harmless
_LEAST_SINGLE = 1e-26  # nothing beside a diagonal of one, with room for products of it
# The same in a float32 gradient, which adds up many such errors as noise, and in tiles, which make
# short distances of far rows from the differences.
GRADIENT_REACH = 512.0


def check_weights(weights: Any, name: str = "weights") -> Array | None:
    """Return the weights as a read-only float64 vector, or None."""
    if weights is None:
        return None
    try:
        weights = np.array(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a vector of numbers; got {weights!r}.") from None
    if weights.ndim != 1 or weights.size == 0:
        raise ValueError(f"{name} must be a vector, one number a feature; got {weights.shape}.")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError(f"{name} must be finite and not negative.")
    weights.flags.writeable = False
    return weights


def check_number(name: str, value: Any, least: float = -np.inf) -> None:
    """Refuse a parameter that is not a finite number, or too small."""
    try:
        fine = isfinite(value) and value >= least
    except (TypeError, ValueError, OverflowError):
        fine = False
    if not fine:
        bound = "" if least == -np.inf else f" of at least {least:g}"
        raise ValueError(f"{name} must be a finite number{bound}; got {value!r}.")


@dataclass(frozen=True, eq=False, repr=False)
class PairwiseKernel(Kernel):
    """Base of the kernels of one weighted sum over the features."""

    gamma: float = 1.0
    weights: Array | None = None

    def __post_init__(self) -> None:
        """Check the parameters and freeze the weights."""
        check_number("gamma", self.gamma, least=0)
        object.__setattr__(self, "weights", check_weights(self.weights))

    @abstractmethod
    def profile(self, t: Array) -> Array:
        """Compute the kernel from t.

        Parameters
        ----------
        t : ndarray
            The weighted sums, times gamma.

        Returns
        -------
        k : ndarray
            The kernel's values.
        """

    @abstractmethod
    def slope(self, t: Array) -> Array:
        """Compute the derivative of the profile by t.

        Parameters
        ----------
        t : ndarray
            The weighted sums, times gamma.

        Returns
        -------
        slope : ndarray
            The derivative.
        """

    @abstractmethod
    def _sides(self, X: Matrix, Y: Matrix, dtype: Any) -> tuple[Matrix, Matrix]:
        """Return left (n, q) and right (q, m) from which `_terms` makes t.

        Rows too long for float32 are given in float64 in any case.
        """

    def _terms(self, left: Matrix, right: Matrix, out: Array) -> None:
        """Write t into ``out``."""
        if sp.issparse(left):
            out[...] = (left @ right).toarray()
        else:
            np.matmul(left, right, out=out)

    def _contract(self, S: Array, X: Matrix, Y: Matrix) -> Array:
        """Return sum_ij S_ij term(x_ik, y_jk) for each feature k, where `_contraction` asks."""
        raise NotImplementedError

    def _finish(self, T: Array) -> None:
        """Turn t into the kernel, in place."""
        T[...] = self.profile(T)

    def _scales(self, d: int) -> Array:
        """Return gamma * weights, one number a feature."""
        if self.weights is None:
            return np.full(d, float(self.gamma))
        if self.weights.shape[0] != d:
            raise ValueError(
                f"weights has {self.weights.shape[0]} entries, but X has {d} features; "
                "give one weight a feature."
            )
        return self.gamma * self.weights

    def _check_pair(self, X: Matrix, Y: Matrix | None) -> tuple[Matrix, Matrix, Any]:
        X = check_rows(X)
        Y = X if Y is None else check_rows(Y, "Y")
        if X.shape[1] != Y.shape[1]:
            raise ValueError(f"X has {X.shape[1]} features, but Y has {Y.shape[1]}.")
        if not self.accepts_sparse and (sp.issparse(X) or sp.issparse(Y)):
            raise TypeError(f"{type(self).__name__} takes dense rows only; X is sparse.")
        single = X.dtype == np.float32 and Y.dtype == np.float32
        return X, Y, np.float32 if single else np.float64

    def __call__(self, X: Matrix, Y: Matrix | None = None) -> Array:
        """Evaluate the kernel between the rows of X and of Y.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            The first rows.
        Y : {array-like, sparse matrix} of shape (m, d), default=None
            The second rows; None is X itself.

        Returns
        -------
        K : ndarray of shape (n, m)
            The kernel matrix.
        """
        symmetric = Y is None
        X, Y, dtype = self._check_pair(X, Y)
        out = np.empty((X.shape[0], Y.shape[0]), dtype=dtype)
        if symmetric and not sp.issparse(X):
            self.reader(X, dtype).fill(out, 0, len(out))
        else:
            self._fill_between(X, Y, out)
        if symmetric:
            np.fill_diagonal(out, self.diag(X))
        return out

    def _fill_between(self, X: Matrix, Y: Matrix, out: Array) -> None:
        rows = self._tile_rows(X, Y, out.dtype)
        if rows is not None:
            self.fill_tiles(*rows, out, 0, len(out), 0)
            return
        left, right = self._sides(X, Y, out.dtype)
        for start in range(0, left.shape[0], BLOCK_ROWS):
            block = slice(start, start + BLOCK_ROWS)
            self.fill(left[block], right, out[block])

    def fill(self, left: Matrix, right: Matrix, out: Array) -> None:
        """Write the kernel of prepared sides into ``out``.

        Parameters
        ----------
        left : {ndarray, sparse matrix} of shape (n, q)
            Rows of the left side.
        right : {ndarray, sparse matrix} of shape (q, m)
            Columns of the right side.
        out : ndarray of shape (n, m)
            Overwritten by the kernel.
        """
        if left.dtype == out.dtype:
            self._terms(left, right, out)
            self._finish(out)
        else:  # the sides ask for more precision than the caller keeps
            wide = np.empty(out.shape, dtype=left.dtype)
            self._terms(left, right, wide)
            self._finish(wide)
            to_single(wide, out)

    def _tile_rows(self, X: Matrix, Y: Matrix, dtype: Any) -> tuple[Array, Array] | None:
        """Return both rows as `fill_tiles` wants them; None where it does not make their kernel."""
        return None

    def fill_tiles(
        self, left: Array, other: Array, K: Array, first: int, last: int, stop: int
    ) -> None:
        """Write the kernel of prepared rows to K[first:last], in one go with its distances.

        Parameters
        ----------
        left : ndarray of shape (n, q)
            The first rows.
        other : ndarray of shape (m, q)
            The second rows.
        K : ndarray of shape (n, m)
            The matrix.
        first, last : int
            The rows to write.
        stop : int
            Zero writes whole rows. Else they are written from the diagonal on, and what stands
            before this column across the diagonal, too.
        """
        raise NotImplementedError

    def reader(self, X: Matrix, dtype: Any, threads: int = 1) -> Any:
        from .gram import PairwiseReader, TileReader

        X = check_rows(X)
        if sp.issparse(X):
            return super().reader(X, dtype, threads)
        rows = self._tile_rows(X, X, dtype)
        if rows is not None:
            return TileReader(self, rows[0], threads)
        return PairwiseReader(self, *self._sides(X, X, dtype), threads)

    def costs_a_copy(self, width: int) -> bool:
        """Tell whether an entry costs more to compute than to copy from across the diagonal.

        Parameters
        ----------
        width : int
            Number of columns of the left side.

        Returns
        -------
        more : bool
            Whether it does.
        """
        return width >= 16

    def _vjp(self, X: Matrix, dK: Cotangent, dtype: Any, K: Array | None) -> dict[str, Any]:
        contraction, total = self._contraction(X, dK, dtype, K if self._decays else None)
        weights = np.ones(X.shape[1]) if self.weights is None else self.weights
        return self._gradient(contraction, weights, total)

    def _contraction(
        self, X: Matrix, dK: Cotangent, dtype: Any, K: Array | None
    ) -> tuple[Array, float]:
        """Return sum_ij S_ij term(x_ik, x_jk) for each feature k, and the plain sum of S.

        S = dK * slope(t) is made by blocks of rows, from the diagonal to the right. K is minus the
        slopes, where it is known.
        """
        X = X.astype(dtype, copy=False)
        left, right = self._sides(X, X, dtype)
        if left.dtype != X.dtype:  # float32 cannot hold these distances
            X = X.astype(left.dtype)
        dK = dK.astype(left.dtype)
        n = X.shape[0]
        height = n if n <= 3 * BLOCK_ROWS else 2 * BLOCK_ROWS
        contraction, total = np.zeros(X.shape[1]), 0.0
        outer = self._outer_products(dK)
        for start in range(0, n, max(1, height)):
            stop = min(start + height, n)
            if K is not None and K.dtype == left.dtype:
                S = -K[start:stop, start:]
            else:
                S = np.empty((stop - start, n - start), dtype=left.dtype)
                self._terms(left[start:stop], right[:, start:], S)
                self._differentiate(S)
            if self._is_distance:  # terms of a row with itself are zero, not what rounding leaves
                np.fill_diagonal(S[:, : stop - start], 0)
            here, there = slice(start, stop), slice(start, n)
            twice = np.full(n - start, 2, dtype=left.dtype)  # by symmetry, beyond the block
            twice[: stop - start] = 1
            if outer is None:
                S *= dK.block(start, stop, start)
                S[:, stop - start :] *= 2
                contraction += self._contract(S, X[here], X[there])
                total += float(S.sum()) if self._has_constant else 0.0
                continue
            for u, scaled in outer:
                part, sum_of = self._contract_outer(
                    S, scaled[here], u[there] * twice, X[here], X[there]
                )
                contraction += part
                total += sum_of
        return contraction, total

    def _outer_products(self, dK: Cotangent) -> list[tuple[Array, Array]] | None:
        """Return dK as one or two products of vectors, where that saves multiplying it out."""
        plain = dK.dense is None and dK.diagonal is None
        if not plain or dK.factors.shape[1] > 2:
            return None
        scale = np.ones(dK.factors.shape[1]) if dK.scale is None else dK.scale
        return [(u, (u * s).astype(u.dtype)) for u, s in zip(dK.factors.T, scale, strict=True)]

    def _contract_outer(
        self, S: Array, a: Array, b: Array, X: Matrix, Y: Matrix
    ) -> tuple[Array, float]:
        """Return sum_ij a_i S_ij b_j term(x_ik, y_jk) for each feature k, and the plain sum.

        Where a term is bilinear the product need not be formed: those bases do better.
        """
        product = S * a[:, None] * b
        return self._contract(product, X, Y), float(product.sum())

    #: Whether the terms are differences, so that those of a row with itself are zero.
    _is_distance = False
    #: Whether the profile has a constant beside t, which takes the sum of all slopes.
    _has_constant = False

    def _differentiate(self, T: Array) -> None:
        """Turn t into the slope, in place."""
        T[...] = self.slope(T)

    def _gradient(self, contraction: Array, weights: Array, total: float) -> dict[str, Any]:
        return {"weights": self.gamma * contraction, "gamma": float(weights @ contraction)}


def to_single(wide: Array, out: Array) -> None:
    """Round to float32; what would be a subnormal number, slow in every product, becomes zero.

    Parameters
    ----------
    wide : ndarray
        The values.
    out : ndarray
        Overwritten by them.
    """
    out[...] = wide
    out[np.abs(wide) < _LEAST_SINGLE] = 0


def middle(Y: Array) -> Array:
    """Return a point near most rows, whatever a few far ones do: lower medians over some rows."""
    if Y.shape[0] == 0:
        return np.zeros(Y.shape[1])
    some = np.array(Y[:: -(-Y.shape[0] // _SOME_ROWS)].T, order="C")  # a copy, always
    some.sort(axis=1)  # of so few numbers a whole order is found faster than a part of it
    return some[:, (some.shape[1] - 1) // 2].astype(np.float64)


def refuse_overflow(*sizes: float) -> None:
    """Refuse rows of a size that is NaN or infinite."""
    if not all(map(isfinite, sizes)):
        raise ValueError(
            "X holds NaN, or values so large that the kernel overflows; scale the columns of X "
            "first, for instance with StandardScaler, or lower gamma or weights."
        )
