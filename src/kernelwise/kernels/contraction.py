"""Gradients by the weights of a kernel: the cotangent contracted with the terms of each feature.

    d value / d w_k = gamma sum_ij S_ij term(x_ik, x_jk),   S = dK * slope(t)

S is made by blocks of rows, so that no (n, n, d) array is needed. A term of a distance splits into
parts of either row alone and one part of both, which compiled code sums at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from .. import _native
from .._typing import Array, Matrix
from .base import BLOCK_ROWS
from .cotangent import Cotangent
from .fill import apply_profile, apply_slope, fill_sums, tiles_of
from .sides import GRADIENT_REACH, Distances, middle, refuse_overflow, transposed

if TYPE_CHECKING:
    from .pairwise import PairwiseKernel

LARGEST_SQUARE = 1e30  # largest square in float32 that leaves room for sums of products
_PANEL_ROWS = 128  # rows of a block whose part of a panel stays in the first-level cache
_WHOLE = 384  # rows up to which a whole matrix of tiles is made faster than blocks of it


def contract(
    kernel: PairwiseKernel, X: Matrix, dK: Cotangent, dtype: Any, K: Array | None
) -> tuple[Array, float]:
    """Contract a cotangent with the terms of each feature.

    Shapes: ``X`` (n, d). ``dK``: the derivative by each entry of the kernel matrix. ``dtype``: the
    precision of the work; float64 is used where float32 cannot hold the distances. ``K`` (n, n):
    the kernel matrix where it is known. Returns ``contraction`` (d,): sum_ij S_ij term(x_ik, x_jk)
    for each feature k; ``total``: the sum of S, where the profile has a constant beside t.
    """
    slopes = K if kernel.is_exponential else None  # exp(-t) is minus its slope
    if isinstance(kernel.term, Distances) and not sp.issparse(X):
        return _contract_distances(kernel, X, dK, dtype, slopes), 0.0
    return _contract_blocks(kernel, X, dK, dtype, slopes)


def _contract_blocks(
    kernel: PairwiseKernel, X: Matrix, dK: Cotangent, dtype: Any, K: Array | None
) -> tuple[Array, float]:
    """Contract by blocks of rows, from the diagonal to the right."""
    term = kernel.term
    X = X.astype(dtype, copy=False)
    left, right = term.sides(kernel, X, X, dtype)
    if left.dtype != X.dtype:  # float32 cannot hold these sums
        X = X.astype(left.dtype)
    dK = dK.astype(left.dtype)
    n = X.shape[0]
    height = n if n <= 3 * BLOCK_ROWS else 2 * BLOCK_ROWS
    contraction, total = np.zeros(X.shape[1]), 0.0
    outer = _outer_products(dK)
    for start in range(0, n, max(1, height)):
        stop = min(start + height, n)
        if K is not None and K.dtype == left.dtype:
            S = -K[start:stop, start:]
        else:
            S = np.empty((stop - start, n - start), dtype=left.dtype)
            fill_sums(kernel, left[start:stop], right[:, start:], S)
            apply_slope(kernel, S)
        if term.is_distance:  # the terms of a row with itself are zero, up to rounding
            np.fill_diagonal(S[:, : stop - start], 0)
        here, there = slice(start, stop), slice(start, n)
        if outer is None:
            S *= dK.block(start, stop, start)
            S[:, stop - start :] *= 2  # by symmetry, beyond the block
            contraction += term.contract(S, X[here], X[there])
            total += float(S.sum()) if kernel.has_constant else 0.0
            continue
        twice = np.full(n - start, 2, dtype=left.dtype)
        twice[: stop - start] = 1
        for u, scaled in outer:
            part, part_sum = term.contract_outer(
                S, scaled[here], u[there] * twice, X[here], X[there]
            )
            contraction += part
            total += part_sum
    return contraction, total


def _outer_products(dK: Cotangent) -> list[tuple[Array, Array]] | None:
    """Return dK as one or two outer products, where that saves forming it."""
    plain = dK.dense is None and dK.diagonal is None
    if not plain or dK.factors.shape[1] > 2:
        return None
    scale = np.ones(dK.factors.shape[1]) if dK.scale is None else dK.scale
    return [(u, (u * s).astype(u.dtype)) for u, s in zip(dK.factors.T, scale, strict=True)]


def _contract_distances(
    kernel: PairwiseKernel, X: Array, dK: Cotangent, dtype: Any, K: Array | None
) -> Array:
    """Contract the entries above the diagonal twice: the terms on it are zero."""
    term: Any = kernel.term
    (n, d), centre = X.shape, middle(X)
    factors, scale = _factors(dK)
    rows = np.empty((n, d + factors.shape[1]), dtype=dtype)
    category, order, terms, moved = kernel.categories(d), None, kernel.scales(d), X
    n_categories = int(np.count_nonzero(category))
    if n_categories > 0:
        order = np.argsort(category, kind="stable")  # numbers, then categories
        terms = np.where(category, 0.0, terms)[order]  # codes have no size
        moved, centre = X.take(order, axis=1), centre[order]
    around = np.ascontiguousarray(moved), centre, terms
    size, largest = _native.centred_rows(*around, term.squared, rows)
    refuse_overflow(size, largest)
    if dtype == np.float32 and (size > GRADIENT_REACH or largest > LARGEST_SQUARE):
        return _contract_distances(kernel, X, dK, np.dtype(np.float64), K)
    columns = transposed(rows)
    # Where kernel values stand for minus the slopes, the sign is cheaper in the factors.
    rows[:, d:] = (-2 if kernel.is_exponential else 2) * scale * factors
    columns[d:] = factors.T
    K = _whole(kernel, X, dtype) if K is None else np.ascontiguousarray(K)  # read along its rows
    if K is None:
        sides = term.sides_around(middle(X), kernel, X, X, dtype, np.inf)  # the reach is checked
    total = _DistanceSums(rows, columns, d, n_categories, term.squared)
    at_once = K is not None and K.dtype == dtype and dK.dense is None
    height = max(1, n) if at_once else _PANEL_ROWS
    for start in range(0, n, height):
        stop = min(start + height, n)
        if K is not None:
            S = K[start:stop, start:].astype(dtype, copy=False)
        else:
            S = np.empty((stop - start, n - start), dtype=dtype)
            _fill_slopes(kernel, sides[0][start:stop], sides[1][:, start:], S)
        if dK.dense is not None:
            S = S * dK.block(start, stop, start).astype(dtype)
        total.add(S, start)
    if order is None:
        return total.whole()
    contraction = np.empty(d)
    contraction[order] = total.whole()
    return contraction


def _whole(kernel: PairwiseKernel, X: Array, dtype: Any) -> Array | None:
    """Return the kernel matrix where it gives the slopes and is made quickly."""
    tiles = tiles_of(kernel, X, X, dtype) if len(X) <= _WHOLE else None
    if tiles is None:
        return None
    K = np.empty((len(X), len(X)), dtype=dtype)
    tiles.fill(K, 0, len(K), len(K))
    return K


def _fill_slopes(kernel: PairwiseKernel, left: Array, right: Array, S: Array) -> None:
    """Write the slopes, or the kernel where it is minus the slopes."""
    fill_sums(kernel, left, right, S)
    if kernel.is_exponential:
        apply_profile(kernel, S)
    else:
        apply_slope(kernel, S)


class _DistanceSums:
    """Sums over blocks of a matrix; native/contraction.hpp defines them."""

    def __init__(
        self, rows: Array, columns: Array, d: int, n_categories: int, squared: bool
    ) -> None:
        self._rows, self._columns = rows, columns
        self._kind = n_categories, squared
        self._mixed, self._ends = np.zeros(d), np.zeros(len(rows))

    def add(self, S: Array, start: int) -> None:
        """Add some rows of S, which start at row and column ``start``."""
        sides, sums = (self._rows, self._columns), (self._mixed, self._ends)
        _native.contract(S, start, *sides, len(self._mixed), *self._kind, *sums)

    def whole(self) -> Array:
        """Return the contraction with the terms, for each feature."""
        out = np.empty_like(self._mixed)
        _native.whole_terms(self._rows, *self._kind, self._mixed, self._ends, out)
        return out


def _factors(dK: Cotangent) -> tuple[Array, Any]:
    """Return U and s with dK = U diag(s) U' off the diagonal; ones where dK is not of that form."""
    if dK.dense is not None:
        return np.ones((dK.n_rows, 1)), 1.0
    if dK.factors.shape[1] == 0:
        return np.zeros((dK.n_rows, 1)), 1.0
    return dK.factors, 1.0 if dK.scale is None else dK.scale
