"""The empirical kernel map: columns whose scalar products are the kernel of the training rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.linalg import qr

from .._parameters import check_kind
from .._threads import interruptible
from .._typing import Array, Index, Matrix
from .base import Kernel, check_rows

_EPS = float(np.finfo(np.float64).eps)
_TIE = 1e-8  # relative difference of row norms up to which they count as equal
_LARGE = 500  # rows from which a decomposition takes so long that Ctrl-C must be able to end it
_BLOCK = 4_000_000  # entries of the kernel matrix computed at a time when rows are mapped


@dataclass(frozen=True, eq=False, repr=False)
class EmpiricalMap:
    """The map of rows to components whose scalar products are kernel values.

    With the eigenvectors U and eigenvalues L of the kernel matrix of the training rows, a row x
    goes to ``k(x, X) U L^(-1/2)``; the training rows go to ``U L^(1/2)``. A linear machine on the
    components is the kernel machine. Make it with `EmpiricalMap.of`.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    rows : {ndarray, sparse matrix} of shape (n, d) or None
        The training rows; None for a precomputed kernel.
    vectors : ndarray of shape (n, r)
        The eigenvectors U.
    eigenvalues : ndarray of shape (r,)
        The eigenvalues L, in descending order.

    Notes
    -----
    The map does not depend on the eigenvectors that LAPACK returns. The basis of each eigenspace
    results from a Gram-Schmidt process on the projections of the rows onto it, which takes the
    longest remaining one at each step, and the first of several equally long ones. The largest
    entry of an eigenvector of a simple eigenvalue is therefore positive. Eigenvalues that differ
    only by rounding are replaced by their mean.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.kernels import RBF, EmpiricalMap
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> columns = EmpiricalMap.of(RBF(), X)
    >>> np.allclose(columns.training @ columns.training.T, RBF()(X))
    True
    >>> columns.apply([[2.0]]).shape
    (1, 3)
    """

    kernel: Kernel
    rows: Matrix | None
    vectors: Array
    eigenvalues: Array

    def __post_init__(self) -> None:
        """Check the arrays, and freeze them."""
        check_kind(self.kernel, "kernel", Kernel)
        check_kind(self.vectors, "vectors", np.ndarray)
        check_kind(self.eigenvalues, "eigenvalues", np.ndarray)
        if self.vectors.ndim != 2 or self.eigenvalues.shape != self.vectors.shape[1:]:
            raise ValueError(
                "vectors must be of shape (n, r) and eigenvalues of shape (r,); got "
                f"{self.vectors.shape} and {self.eigenvalues.shape}."
            )
        n = len(self.vectors)
        if self.rows is not None and (shape := check_rows(self.rows, "rows").shape)[0] != n:
            raise ValueError(f"rows must have {n} rows; got shape {shape}.")
        for array in (self.vectors, self.eigenvalues):
            array.flags.writeable = False

    @classmethod
    def of(
        cls, kernel: Kernel, X: Matrix, *, n_components: Any = None, tol: float = 1e-10
    ) -> EmpiricalMap:
        """Compute the map of these training rows.

        Parameters
        ----------
        kernel : Kernel
            The kernel.
        X : {array-like, sparse matrix} of shape (n, d)
            The training rows; kernel values between them, (n, n), for a precomputed kernel.
        n_components : int or float, default=None
            An integer limits the number of components, which are those of the largest eigenvalues.
            A number between 0 and 1 keeps the smallest number of them whose eigenvalues make up
            that share of the sum. None keeps all.
        tol : float, default=1e-10
            Eigenvalues of at most this fraction of the largest are dropped in any case.

        Returns
        -------
        map : EmpiricalMap
            The map.
        """
        _check_cut(n_components, tol)
        X = check_rows(X)
        X = X if X.dtype == np.float64 else X.astype(np.float64)
        eigenvalues, vectors = _decompose(_symmetric(kernel(X)))
        rank = int(np.sum(eigenvalues > max(0.0, tol * eigenvalues[0])))
        if rank == 0:
            raise ValueError("the kernel matrix of the rows has no positive eigenvalue.")
        eigenvalues, vectors = _canonical(eigenvalues[:rank], vectors[:, :rank])
        kept = _n_kept(eigenvalues, n_components)
        rows = None if kernel.reads_values else X
        return cls(kernel, rows, vectors[:, :kept].copy(), eigenvalues[:kept].copy())

    @property
    def n_components(self) -> int:
        """Number of components."""
        return len(self.eigenvalues)

    @property
    def training(self) -> Array:
        """The components of the training rows, of shape (n, r)."""
        return self.vectors * np.sqrt(self.eigenvalues)

    def apply(self, X: Matrix) -> Array:
        """Map rows to components.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (m, d)
            The rows; kernel values against the training rows, (m, n), for a precomputed kernel.

        Returns
        -------
        components : ndarray of shape (m, r)
            The components. A `Ridge` in the kernel affects the training rows only.
        """
        X = check_rows(X)
        X = X if X.dtype == np.float64 else X.astype(np.float64)
        n = len(self.vectors)
        if self.rows is None and X.shape[1] != n:
            raise ValueError(f"X must be kernel values against {n} rows; got shape {X.shape}.")
        projection = self.vectors / np.sqrt(self.eigenvalues)
        out = np.empty((X.shape[0], self.n_components))
        height = max(1, _BLOCK // n)
        for start in range(0, X.shape[0], height):
            block = slice(start, start + height)
            out[block] = self.kernel(X[block], self.rows) @ projection
        return out

    def __reduce__(self) -> Any:
        # Constructed again, so that its arrays are read-only.
        return type(self), (self.kernel, self.rows, self.vectors, self.eigenvalues)

    def __repr__(self) -> str:
        return f"EmpiricalMap({self.kernel!r}, n_components={self.n_components})"


def _check_cut(n_components: Any, tol: Any) -> None:
    if not (isinstance(tol, Real) and 0 <= float(tol) < 1):
        raise ValueError(f"tol must be a number from 0 to below 1; got {tol!r}.")
    if n_components is None:
        return
    whole = isinstance(n_components, Integral) and not isinstance(n_components, bool)
    if whole and n_components >= 1:
        return
    if whole or not isinstance(n_components, Real) or not 0 < float(n_components) < 1:
        raise ValueError(
            "n_components must be a positive integer, a share between 0 and 1, or None; got "
            f"{n_components!r}."
        )


def _symmetric(K: Array) -> Array:
    """Return the kernel matrix, symmetric without rounding errors."""
    if K.shape[0] != K.shape[1]:
        raise ValueError(f"the kernel matrix must be square; got shape {K.shape}.")
    if not np.isfinite(K).all():
        raise ValueError("the kernel matrix has values that are not finite; scale X first.")
    mean: Array = 0.5 * (K + K.T)
    if np.abs(K - mean).max() > 1e-8 * np.abs(K).max():
        raise ValueError("the kernel matrix must be symmetric.")
    return mean


def _decompose(K: Array) -> tuple[Array, Array]:
    """Return the eigenvalues in descending order, and the eigenvectors; Ctrl-C ends it at once."""
    # NumPy's function releases Python's lock, which SciPy's holds until LAPACK is done.
    decompose = partial(np.linalg.eigh, K)
    found = interruptible(decompose) if len(K) >= _LARGE else decompose()
    return found.eigenvalues[::-1], found.eigenvectors[:, ::-1]


def _n_kept(eigenvalues: Array, n_components: Any) -> int:
    """Return the number of components to keep, for eigenvalues in descending order."""
    if n_components is None:
        return len(eigenvalues)
    if isinstance(n_components, Integral):
        return min(int(n_components), len(eigenvalues))
    sums = np.cumsum(eigenvalues)
    # A sum that misses the share only by rounding suffices.
    enough = n_components * sums[-1] * (1 - len(sums) * _EPS)
    return int(np.searchsorted(sums, enough)) + 1


def _canonical(eigenvalues: Array, vectors: Array) -> tuple[Array, Array]:
    """Merge eigenvalues that are equal to rounding, and fix the basis of each eigenspace."""
    eigenvalues, vectors = eigenvalues.copy(), vectors.copy()
    rounding = max(len(vectors), 1000) * _EPS * eigenvalues[0]
    starts = np.flatnonzero(np.diff(eigenvalues, prepend=np.inf) < -rounding)
    stops = np.append(starts[1:], len(eigenvalues))
    alone = starts[stops - starts == 1]  # nearly all, and at once
    vectors[:, alone] *= np.where(_first_longest_entries(vectors[:, alone]) > 0, 1.0, -1.0)
    for start, stop in zip(starts, stops, strict=True):
        if stop - start > 1:
            vectors[:, start:stop] = _canonical_basis(vectors[:, start:stop])
            eigenvalues[start:stop] = eigenvalues[start:stop].mean()
    return eigenvalues, vectors


def _first_longest_entries(vectors: Array) -> Array:
    """Return the longest entry of each column, the first of those that are equal to rounding."""
    squares = vectors**2
    first = (squares >= squares.max(axis=0) * (1 - _TIE)).argmax(axis=0)
    entries: Array = vectors[first, np.arange(vectors.shape[1])]
    return entries


def _canonical_basis(B: Array) -> Array:
    """Return a basis of the span of B's orthonormal columns that depends on the span alone.

    The rows of B are the coordinates of the projections of the unit vectors onto the span. The
    factor Q of the selected ones, with a positive diagonal in R, turns B into the basis that
    Gram-Schmidt computes from these projections.
    """
    Q, R = qr(B[_pivots(B)].T)
    return B @ (Q * np.where(np.diag(R) < 0, -1.0, 1.0))


def _pivots(B: Array) -> Index:
    """Select as many rows as B has columns, at each step the one with the longest remainder.

    This is QR with column pivoting of B', except that ties are not decided by rounding.
    """
    m = B.shape[1]
    pivots, directions = np.empty(m, dtype=np.intp), np.empty((m, m))
    squares = np.einsum("ij,ij->i", B, B)  # squared length of the remainder of each row
    for step in range(m):
        pivots[step] = pivot = int(np.argmax(squares >= squares.max() * (1 - _TIE)))
        chosen = directions[:step]
        left = B[pivot] - (chosen @ B[pivot]) @ chosen
        directions[step] = left / np.linalg.norm(left)
        squares -= (B @ directions[step]) ** 2
    return pivots
