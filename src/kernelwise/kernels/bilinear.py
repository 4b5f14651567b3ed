"""Squared distances and dot products: sums over the features that are one matrix product.

|x - z|^2 = (x, |x|^2, 1) . (-2 z, 1, |z|^2)
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from .._typing import Array, Matrix
from .base import check_rows
from .cotangent import Cotangent
from .distance import DistanceKernel
from .pairwise import PairwiseKernel, refuse_overflow


class SquaredDistanceKernel(DistanceKernel):
    """Base of the kernels of t = gamma sum_k w_k (x_k - z_k)^2; tagged positive semi-definite.

    A subclass writes ``profile(t)``, the kernel's value, and ``slope(t)``, its derivative.

    Parameters
    ----------
    gamma : float, default=1.0
        Inverse width.
    weights : array-like of shape (d,), default=None
        One weight per feature, not negative; None means ones.
    """

    @property
    def accepts_sparse(self) -> bool:
        """Whether rows may come as a sparse matrix."""
        return True

    def _sides(self, X: Matrix, Y: Matrix, dtype: Any) -> tuple[Matrix, Matrix]:
        if not (sp.issparse(X) or sp.issparse(Y)):
            return super()._sides(X, Y, dtype)
        root = np.sqrt(self._scales(X.shape[1]))
        A, B = sp.csr_array(X).multiply(root), sp.csr_array(Y).multiply(root)
        a, b = _squares(A), _squares(B)
        refuse_overflow(a.max(initial=0.0), b.max(initial=0.0))
        left = sp.hstack([A, a[:, None], np.ones((len(a), 1))], format="csr")
        right = sp.hstack([-2 * B, np.ones((len(b), 1)), b[:, None]], format="csr").T.tocsr()
        return left, right

    def _sides_around(
        self, centre: Array, X: Array, Y: Array, dtype: Any, reach: float
    ) -> tuple[Array, Array]:
        root = np.sqrt(self._scales(X.shape[1]))
        return _dense_sides(X, Y, centre, root, dtype, reach)

    def _terms(self, left: Matrix, right: Matrix, out: Array) -> None:
        super()._terms(left, right, out)
        np.maximum(out, 0, out=out)

    def _contraction(
        self, X: Matrix, dK: Cotangent, dtype: Any, K: Array | None
    ) -> tuple[Array, float]:
        if sp.issparse(X):
            return PairwiseKernel._contraction(self, X, dK, dtype, K)
        return super()._contraction(X, dK, dtype, K)

    def _contract(self, S: Array, X: Matrix, Y: Matrix) -> Array:
        rows, columns = S @ np.ones(S.shape[1], S.dtype), np.ones(S.shape[0], S.dtype) @ S
        cross = _dot_contraction(S, X, Y)
        return rows @ _powers(X) + columns @ _powers(Y) - 2 * cross


class DotKernel(PairwiseKernel):
    """Base of the kernels of t = gamma sum_k w_k x_k z_k."""

    @property
    def accepts_sparse(self) -> bool:
        """Whether rows may come as a sparse matrix."""
        return True

    def diag(self, X: Matrix) -> Array:
        X = check_rows(X)
        root = np.sqrt(self._scales(X.shape[1]))
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = X.multiply(root) if sp.issparse(X) else X.astype(np.float64) * root
            squares = _squares(scaled)
        self._refuse_overflow(squares, np.float64)
        return self.profile(squares)

    def _refuse_overflow(self, squares: Array, dtype: Any) -> None:
        """Refuse rows whose kernel with themselves is too large: no other entry is larger."""
        largest = np.array([squares.max(initial=0.0)])  # NaN stays NaN
        with np.errstate(over="ignore", invalid="ignore"):
            refuse_overflow(*largest.astype(dtype), *self.profile(largest).astype(dtype))

    def _sides(self, X: Matrix, Y: Matrix, dtype: Any) -> tuple[Matrix, Matrix]:
        root = np.sqrt(self._scales(X.shape[1]))
        sparse = sp.issparse(X) or sp.issparse(Y)
        with np.errstate(over="ignore", invalid="ignore"):
            if sparse:
                A, B = sp.csr_array(X).multiply(root).tocsr(), sp.csr_array(Y).multiply(root)
            else:
                A, B = X * root, Y * root
            squares = np.concatenate([_squares(A), _squares(B)])
        self._refuse_overflow(squares, dtype)
        if sparse:
            return A, B.T.tocsr()
        return A.astype(dtype, copy=False), np.ascontiguousarray(B.T, dtype=dtype)

    def _contract(self, S: Array, X: Matrix, Y: Matrix) -> Array:
        return _dot_contraction(S, X, Y)

    def _contract_outer(
        self, S: Array, a: Array, b: Array, X: Matrix, Y: Matrix
    ) -> tuple[Array, float]:
        cross, rows = _outer_dot_contraction(S, a, b, X, Y)
        return cross, float(rows.sum())


def _dense_sides(
    X: Array, Y: Array, centre: Array, root: Array, dtype: Any, reach: float
) -> tuple[Array, Array]:
    """Return the sides around a centre; in float64 where rows are too long for float32."""
    rows = scaled_pair(X, Y, centre, root, dtype, reach)
    if rows is None:
        return _dense_sides(X, Y, centre, root, np.float64, reach)
    return rows[0], _right_side(rows[1])


def scaled_pair(
    X: Array, Y: Array, centre: Array, root: Array, dtype: Any, reach: float
) -> tuple[Array, Array] | None:
    """Return the rows (a, |a|^2, 1) of X and Y; None where they are too long for float32."""
    left, largest = _scaled(X, centre, root, dtype)
    other, largest_other = (left, largest) if Y is X else _scaled(Y, centre, root, dtype)
    if max(largest, largest_other) > reach and dtype == np.float32:
        return None
    refuse_overflow(largest, largest_other)
    return left, other


def _scaled(X: Array, centre: Array, root: Array, dtype: Any) -> tuple[Array, float]:
    """Return the rows (a, |a|^2, 1) with a = (x - centre) * root, and the largest |a|^2."""
    from ._compiled import scaled_rows

    left = np.empty((X.shape[0], X.shape[1] + 2), dtype=dtype)
    return left, scaled_rows(np.ascontiguousarray(X), centre, root, left)


def _right_side(left: Array) -> Array:
    """Return the columns (-2 b, 1, |b|^2), so that left @ right is the squared distance."""
    from ._compiled import other_side

    right = np.empty(left.shape[::-1], dtype=left.dtype)
    other_side(left, right)
    return right


def _squares(A: Matrix) -> Array:
    """Return the squared length of each row."""
    if sp.issparse(A):
        return np.asarray(A.multiply(A).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", A, A)


def _powers(X: Matrix) -> Matrix:
    return X.multiply(X).tocsr() if sp.issparse(X) else X * X


def _dot_contraction(S: Array, X: Matrix, Y: Matrix) -> Array:
    """Return sum_ij S_ij x_ik y_jk for each feature k."""
    if sp.issparse(X):
        return np.asarray(X.multiply(S @ Y).sum(axis=0)).ravel()
    return np.einsum("ik,ik->k", X, S @ Y)


def _outer_dot_contraction(
    S: Array, a: Array, b: Array, X: Matrix, Y: Matrix
) -> tuple[Array, Array]:
    """Return sum_ij a_i S_ij b_j x_ik y_jk for each k, and a_i sum_j S_ij b_j for each i."""
    if sp.issparse(X):
        SY = (S * b) @ Y
        return np.asarray(X.multiply(SY * a[:, None]).sum(axis=0)).ravel(), a * (S @ b)
    both = np.empty((Y.shape[0], Y.shape[1] + 1), dtype=S.dtype)
    np.multiply(Y, b[:, None], out=both[:, :-1])
    both[:, -1] = b
    SY = S @ both
    SY *= a[:, None]
    return np.einsum("ik,ik->k", X, SY[:, :-1]), SY[:, -1]
