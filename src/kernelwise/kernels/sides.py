"""The weighted sums t of kernels k(x, z) = profile(t), made from two prepared sides.

    t = gamma sum_k w_k term(x_k, z_k)

    squares    |x - z|^2 = (x, |x|^2, 1) . (-2 z, 1, |z|^2)    one matrix product
    products   x . z                                           one matrix product
    absolute   |x - z| = 2 max(x, z) - x - z                   sides (x, sum of x)
    categories 1 where codes differ, else 0                    sides (code), (code, weight)

A kernel names its term; this module knows how the sums are computed, and where float32 holds them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from .._native import (
    gauss,
    l1_distances,
    laplace,
    other_side,
    scaled_rows,
    shifted_rows,
    transpose,
)
from .._typing import Array, Matrix
from .base import check_rows

if TYPE_CHECKING:
    from .pairwise import PairwiseKernel

_SOME_ROWS = 33  # rows that suffice to find the middle of the data
# Largest |x|^2, in units of t, for which float32 is precise enough:
FLOAT32_REACH = 32.0  # in a matrix product, which rounds t by 4e-6
# in a gradient, where rounding errors average out, and in tiles, which compute short distances
# between far rows from the differences
GRADIENT_REACH = 512.0
# A squared distance t of float64 rows is mostly rounding where |x|^2 + |z|^2 exceeds the first, and
# t does not exceed the second plus the third times |x|^2 + |z|^2, as in native/gauss.hpp.
_FAR, _CLOSE, _ROUNDING = 1e7, 8.0, 1e-14
_WORTH_MIRRORING = 16  # columns of a side from which an entry costs more to compute than to copy


class ExpTiles:
    """The kernel exp(-t) of prepared rows, made by tiles together with its distances.

    Shapes: ``weights`` (c,). ``left``, ``other`` (n, q): the first and the second rows.
    ``squared``: whether t is a sum of squared differences, else of absolute ones. ``far``: whether
    absolute differences are so large that 2 max(x, z) - x - z may be mostly rounding.
    """

    def __init__(
        self, left: Array, other: Array, weights: Array, *, squared: bool, far: bool = False
    ) -> None:
        self.left, self.other, self.weights = left, other, weights
        self._squared, self._far = squared, far

    def fill(self, K: Array, first: int, last: int, stop: int) -> None:
        """Write K[first:last].

        Shapes: ``K`` (n, m). ``stop``: zero writes whole rows. Otherwise rows are written from the
        diagonal on, and mirrored across the diagonal up to this column.
        """
        if self._squared:
            gauss(self.left, self.other, K, first, last, stop)
        else:
            laplace(self.left, self.other, self.weights, self._far, K, first, last, stop)


class WeightedSum(ABC):
    """One kind of weighted sum over the features."""

    accepts_sparse = True
    is_distance = False  # whether the sum of a row with itself is zero

    @abstractmethod
    def diag(self, kernel: PairwiseKernel, X: Matrix) -> Array:
        """Return the kernel of each row with itself."""

    @abstractmethod
    def sides(
        self, kernel: PairwiseKernel, X: Matrix, Y: Matrix, dtype: Any
    ) -> tuple[Matrix, Matrix]:
        """Return left (n, q) and right (q, m), in float64 where rows are too long for float32."""

    def fill(self, left: Matrix, right: Matrix, out: Array) -> None:
        """Write t into ``out``; rounding may leave squared distances below zero."""
        if sp.issparse(left):
            out[...] = (left @ right).toarray()
        else:
            np.matmul(left, right, out=out)

    def costs_a_copy(self, width: int) -> bool:
        """Return whether an entry from sides of this width costs more than copying it."""
        return width >= _WORTH_MIRRORING

    def contract(self, S: Array, X: Matrix, Y: Matrix) -> Array:
        """Return sum_ij S_ij term(x_ik, y_jk) for each feature k."""
        raise NotImplementedError

    def contract_outer(
        self, S: Array, a: Array, b: Array, X: Matrix, Y: Matrix
    ) -> tuple[Array, float]:
        """Return sum_ij a_i S_ij b_j term(x_ik, y_jk) for each feature k, and the plain sum."""
        product = S * a[:, None] * b
        return self.contract(product, X, Y), float(product.sum())


class Distances(WeightedSum):
    """Sums of squared or absolute differences."""

    is_distance = True
    squared = True  # whether the differences are squared, else their absolute values are taken

    def diag(self, kernel: PairwiseKernel, X: Matrix) -> Array:
        """Return ones."""
        return np.ones(check_rows(X).shape[0])

    def sides(
        self, kernel: PairwiseKernel, X: Matrix, Y: Matrix, dtype: Any
    ) -> tuple[Matrix, Matrix]:
        """Return the sides around the middle of the data, where rounding errors are smallest."""
        return self.sides_around(middle(Y), kernel, X, Y, dtype, FLOAT32_REACH)

    @abstractmethod
    def sides_around(
        self, centre: Array, kernel: PairwiseKernel, X: Array, Y: Array, dtype: Any, reach: float
    ) -> tuple[Array, Array]:
        """Return the sides of rows around a centre, in float64 where a row exceeds the reach."""

    @abstractmethod
    def tiles(self, kernel: PairwiseKernel, X: Array, Y: Array, dtype: Any) -> ExpTiles | None:
        """Return tiles of exp(-t) between rows; None where they are too long for float32."""

    @abstractmethod
    def fused_rows(self, kernel: PairwiseKernel, X: Array, dtype: Any) -> tuple[Array, Array]:
        """Return the rows as fused tiles take them, and the weights of categories.

        The rows are in float64 where they are too long for float32.
        """


class SquaredDistances(Distances):
    """sum_k w_k (x_k - z_k)^2 by one matrix product."""

    def sides(
        self, kernel: PairwiseKernel, X: Matrix, Y: Matrix, dtype: Any
    ) -> tuple[Matrix, Matrix]:
        """Return the sides; sparse rows are not shifted."""
        if not (sp.issparse(X) or sp.issparse(Y)):
            return super().sides(kernel, X, Y, dtype)
        root = np.sqrt(kernel.scales(X.shape[1]))
        A, B = sp.csr_array(X).multiply(root), sp.csr_array(Y).multiply(root)
        a, b = _squares(A), _squares(B)
        refuse_overflow(a.max(initial=0.0), b.max(initial=0.0))
        left = sp.hstack([A, a[:, None], np.ones((len(a), 1))], format="csr")
        right = sp.hstack([-2 * B, np.ones((len(b), 1)), b[:, None]], format="csr").T.tocsr()
        return left, right

    def sides_around(
        self, centre: Array, kernel: PairwiseKernel, X: Array, Y: Array, dtype: Any, reach: float
    ) -> tuple[Array, Array]:
        """Return the sides of rows around a centre, in float64 where a row exceeds the reach."""
        rows = self.rows_around(centre, kernel, X, Y, dtype, reach)
        if rows is None:
            return self.sides_around(centre, kernel, X, Y, np.float64, reach)
        return rows[0], _right_side(rows[1])

    def rows_around(
        self, centre: Array, kernel: PairwiseKernel, X: Array, Y: Array, dtype: Any, reach: float
    ) -> tuple[Array, Array] | None:
        """Return the rows (a, |a|^2, 1) of X and Y; None where they are too long for float32."""
        root = np.sqrt(kernel.scales(X.shape[1]))
        left, largest = _scaled(X, centre, root, dtype)
        other, largest_other = (left, largest) if Y is X else _scaled(Y, centre, root, dtype)
        if max(largest, largest_other) > reach and dtype == np.float32:
            return None
        refuse_overflow(largest, largest_other)
        return left, other

    def tiles(self, kernel: PairwiseKernel, X: Array, Y: Array, dtype: Any) -> ExpTiles | None:
        """Return tiles of exp(-t) between rows; None where they are too long for float32."""
        rows = self.rows_around(middle(Y), kernel, X, Y, dtype, GRADIENT_REACH)
        return None if rows is None else ExpTiles(*rows, np.zeros(0), squared=True)

    def fill(self, left: Matrix, right: Matrix, out: Array) -> None:
        """Write t into ``out``; short distances of far rows come from their differences."""
        super().fill(left, right, out)
        if not sp.issparse(left) and left.dtype == np.float64:
            _sharpen(left, right, out)

    def fused_rows(self, kernel: PairwiseKernel, X: Array, dtype: Any) -> tuple[Array, Array]:
        """Return the rows (a, |a|^2, 1), and no weights: there are no categories."""
        rows = self.rows_around(middle(X), kernel, X, X, dtype, GRADIENT_REACH)
        return self.fused_rows(kernel, X, np.float64) if rows is None else (rows[0], np.zeros(0))

    def contract(self, S: Array, X: Matrix, Y: Matrix) -> Array:
        """Return sum_ij S_ij (x_ik - y_jk)^2 for each feature k."""
        rows, columns = S @ np.ones(S.shape[1], S.dtype), np.ones(S.shape[0], S.dtype) @ S
        cross = _dot_contraction(S, X, Y)
        return rows @ _powers(X) + columns @ _powers(Y) - 2 * cross


class L1Distances(Distances):
    """sum_k w_k |x_k - z_k|, which is no matrix product.

    A feature that the kernel declares a category adds w_k where x_k and z_k differ, else nothing.
    """

    accepts_sparse = False
    squared = False

    def costs_a_copy(self, width: int) -> bool:
        """Return True: without a matrix product an entry always costs more."""
        return True

    def sides_around(
        self, centre: Array, kernel: Any, X: Array, Y: Array, dtype: Any, reach: float
    ) -> tuple[Array, Array]:
        """Return the sides of rows around a centre, in float64 where a row exceeds the reach."""
        rows = self._rows_around(centre, kernel, X, Y, dtype, reach)
        if rows is None:
            return self.sides_around(centre, kernel, X, Y, np.float64, reach)
        right = transposed(rows.other)
        if len(rows.weights) > 0:
            weights = np.broadcast_to(rows.weights[:, None], (len(rows.weights), len(Y)))
            right = np.concatenate([right, weights.astype(right.dtype)])
        return rows.left, right

    def _rows_around(
        self, centre: Array, kernel: Any, X: Array, Y: Array, dtype: Any, reach: float
    ) -> ExpTiles | None:
        """Return the rows (a, sum of a, codes); None where they are too long for float32."""
        scales, category = kernel.scales(X.shape[1]), kernel.categories(X.shape[1])
        kept, n_categories = scales > 0, int(np.count_nonzero(category))
        keeps_all = bool(kept.all())
        if not keeps_all:  # a feature without weight costs nothing, but its NaN is refused too
            refuse_overflow(*(np.abs(Z[:, ~kept]).max(initial=0.0) for Z in (X, Y)))
        if not keeps_all or n_categories > 0:  # numbers, then categories
            same, order = Y is X, np.argsort(category, kind="stable")
            order = order[kept[order]]
            X, centre, scales, category = X[:, order], centre[order], scales[order], category[order]
            Y = X if same else Y[:, order]
            n_categories = int(np.count_nonzero(category))
        n_numbers = len(scales) - n_categories
        around = _Shift(centre[:n_numbers], scales[:n_numbers])
        left, size = around.rows(X, dtype)
        other, size_other = (left, size) if Y is X else around.rows(Y, dtype)
        if max(size, size_other) > reach and dtype == np.float32:
            return None
        refuse_overflow(size, size_other)
        far = size + size_other > _FAR
        return ExpTiles(left, other, scales[n_numbers:], squared=False, far=far)

    def tiles(self, kernel: PairwiseKernel, X: Array, Y: Array, dtype: Any) -> ExpTiles | None:
        """Return tiles of exp(-t) between rows; None where they are too long for float32."""
        return self._rows_around(middle(Y), kernel, X, Y, dtype, FLOAT32_REACH)

    def fused_rows(self, kernel: PairwiseKernel, X: Array, dtype: Any) -> tuple[Array, Array]:
        """Return the rows (a, sum of a, codes), and the weights of the codes."""
        rows = self._rows_around(middle(X), kernel, X, X, dtype, FLOAT32_REACH)
        return self.fused_rows(kernel, X, np.float64) if rows is None else (rows.left, rows.weights)

    def fill(self, left: Array, right: Array, out: Array) -> None:
        """Write t into ``out``; short distances of far rows come from their differences."""
        l1_distances(left, right, out)
        if left.dtype == np.float64:
            _sharpen_absolute(left, right, out)


class DotProducts(WeightedSum):
    """sum_k w_k x_k z_k by one matrix product."""

    def diag(self, kernel: PairwiseKernel, X: Matrix) -> Array:
        """Return the profile of the squared lengths."""
        X = check_rows(X)
        root = np.sqrt(kernel.scales(X.shape[1]))
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = X.multiply(root) if sp.issparse(X) else X.astype(np.float64) * root
            squares = _squares(scaled)
        self._refuse_overflow(kernel, squares, np.float64)
        return kernel.profile(squares)

    def sides(
        self, kernel: PairwiseKernel, X: Matrix, Y: Matrix, dtype: Any
    ) -> tuple[Matrix, Matrix]:
        """Return the scaled rows of X and the scaled columns of Y'."""
        root = np.sqrt(kernel.scales(X.shape[1]))
        sparse = sp.issparse(X) or sp.issparse(Y)
        with np.errstate(over="ignore", invalid="ignore"):
            if sparse:
                A, B = sp.csr_array(X).multiply(root).tocsr(), sp.csr_array(Y).multiply(root)
            else:
                A, B = X * root, Y * root
            squares = np.concatenate([_squares(A), _squares(B)])
        self._refuse_overflow(kernel, squares, dtype)
        if sparse:
            return A, B.T.tocsr()
        return A.astype(dtype, copy=False), np.ascontiguousarray(B.T, dtype=dtype)

    def contract(self, S: Array, X: Matrix, Y: Matrix) -> Array:
        """Return sum_ij S_ij x_ik y_jk for each feature k."""
        return _dot_contraction(S, X, Y)

    def contract_outer(
        self, S: Array, a: Array, b: Array, X: Matrix, Y: Matrix
    ) -> tuple[Array, float]:
        """Return the sums without forming the product a_i S_ij b_j of dense rows."""
        if sp.issparse(X):
            SY = (S * b) @ Y
            cross = np.asarray(X.multiply(SY * a[:, None]).sum(axis=0)).ravel()
            return cross, float((a * (S @ b)).sum())
        both = np.empty((Y.shape[0], Y.shape[1] + 1), dtype=S.dtype)
        np.multiply(Y, b[:, None], out=both[:, :-1])
        both[:, -1] = b
        SY = S @ both
        SY *= a[:, None]
        return np.einsum("ik,ik->k", X, SY[:, :-1]), float(SY[:, -1].sum())

    @staticmethod
    def _refuse_overflow(kernel: PairwiseKernel, squares: Array, dtype: Any) -> None:
        """Refuse rows whose kernel with themselves overflows: no other entry is larger."""
        largest = np.array([squares.max(initial=0.0)])  # NaN stays NaN
        with np.errstate(over="ignore", invalid="ignore"):
            refuse_overflow(*largest.astype(dtype), *kernel.profile(largest).astype(dtype))


def middle(Y: Array) -> Array:
    """Return a point near most rows that a few far ones do not move: lower medians of some rows."""
    if Y.shape[0] == 0:
        return np.zeros(Y.shape[1])
    some = np.array(Y[:: -(-Y.shape[0] // _SOME_ROWS)].T, order="C")  # always a copy
    some.sort(axis=1)  # for so few numbers a full sort is faster than a partial one
    return some[:, (some.shape[1] - 1) // 2].astype(np.float64)


def refuse_overflow(*sizes: float) -> None:
    """Refuse rows of a size that is NaN or infinite."""
    if not all(map(isfinite, sizes)):
        raise ValueError(
            "X holds NaN, or values so large that the kernel overflows; scale the columns of X "
            "first, for instance with StandardScaler, or lower gamma or weights."
        )


def transposed(rows: Array) -> Array:
    """Return a copy with rows as columns."""
    columns = np.empty(rows.shape[::-1], dtype=rows.dtype)
    transpose(rows, columns)
    return columns


def _scaled(X: Array, centre: Array, root: Array, dtype: Any) -> tuple[Array, float]:
    """Return the rows (a, |a|^2, 1) with a = (x - centre) * root, and the largest |a|^2."""
    left = np.empty((X.shape[0], X.shape[1] + 2), dtype=dtype)
    return left, scaled_rows(np.ascontiguousarray(X), centre, root, left)


def _right_side(left: Array) -> Array:
    """Return the columns (-2 b, 1, |b|^2), so that left @ right is the squared distance."""
    right = np.empty(left.shape[::-1], dtype=left.dtype)
    other_side(left, right)
    return right


@dataclass(frozen=True)
class _Shift:
    """The centre and the scales of the numbers, which stand before the categories."""

    centre: Array
    scales: Array

    def rows(self, X: Array, dtype: Any) -> tuple[Array, float]:
        """Return the rows (a, sum of a, codes), a = (x - centre) * scales, and the largest |a|."""
        d, n_columns = len(self.scales), X.shape[1]
        rows = np.empty((X.shape[0], n_columns + 1), dtype=dtype)
        numbers = X if d == n_columns else X[:, :d]
        size = shifted_rows(
            np.ascontiguousarray(numbers), self.centre, self.scales, rows[:, : d + 1]
        )
        if d < n_columns:
            codes = X[:, d:]
            rows[:, d + 1 :] = codes
            refuse_overflow(np.abs(codes).max(initial=0.0))
        return rows, size


def _sharpen(left: Array, right: Array, T: Array) -> None:
    """Recompute squared distances that are mostly rounding, from the differences of the rows."""
    squares, others = left[:, -2], right[-1]
    if squares.max(initial=0.0) + others.max(initial=0.0) <= _FAR:
        return
    for i in np.flatnonzero(squares + others.max(initial=0.0) > _FAR):
        both = squares[i] + others
        unclear = np.flatnonzero((both > _FAR) & (T[i] < _CLOSE + _ROUNDING * both))
        differences = left[i, :-2, None] + right[:-2, unclear] / 2
        T[i, unclear] = np.einsum("kj,kj->j", differences, differences)


def _sharpen_absolute(left: Array, right: Array, T: Array) -> None:
    """Recompute distances that are mostly rounding: 2 max(x, z) - x - z of huge x and z."""
    n_categories = right.shape[0] - left.shape[1]
    d = left.shape[1] - 1 - n_categories  # numbers, their sum, then codes
    sizes, others = np.abs(left[:, :d]).sum(axis=1), np.abs(right[:d]).sum(axis=0)
    if sizes.max(initial=0.0) + others.max(initial=0.0) <= _FAR:
        return
    for i in np.flatnonzero(sizes + others.max(initial=0.0) > _FAR):
        both = sizes[i] + others
        unclear = np.flatnonzero((both > _FAR) & (T[i] < _CLOSE + _ROUNDING * both))
        T[i, unclear] = np.abs(left[i, :d, None] - right[:d, unclear]).sum(axis=0)
        for k in range(n_categories):
            differs = left[i, d + 1 + k] != right[d + 1 + k, unclear]
            T[i, unclear] += differs * right[d + 1 + n_categories + k, unclear]


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
