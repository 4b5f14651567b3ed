"""The kernel matrices of machines on parts of the same rows: shared, or each its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._typing import Array, Codes, Index
from ...kernels import FunctionKernel, Kernel, LazyGram, Precomputed
from ...qp import SMO, DualQP, c_svc
from ...qp.precision import SMALL, TIGHT


@dataclass(frozen=True)
class Grams:
    """Gives each machine the kernel matrix of its rows.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    X : {ndarray, sparse matrix} of shape (n, d)
        All rows.
    stored : ndarray of shape (n, n) or None
        The kernel matrix of all rows; None leaves each machine to compute the rows it needs.
    threads : int
        Threads for computing rows.
    """

    kernel: Kernel
    X: Any
    stored: Array | None
    threads: int

    @classmethod
    def of(cls, kernel: Kernel, X: Any, members: list[Index], solver: SMO, threads: int) -> Grams:
        """Decide what machines on these rows share.

        Many small machines share one matrix; large ones do better with the rows they need.
        """
        if isinstance(kernel, FunctionKernel | Precomputed):
            return cls(kernel, X, symmetric(kernel(X)), threads)
        small = len(members) > 1 and max(map(len, members)) <= SMALL
        if not small or 8 * X.shape[0] ** 2 > solver.memory:
            return cls(kernel, X, None, threads if len(members) == 1 else 1)
        exact = X.shape[0] <= SMALL or solver.tol < TIGHT
        dtype = np.float64 if exact else np.float32
        return cls(kernel, X, LazyGram(kernel, X, threads).dense(dtype), threads)

    def c_svc(self, rows: Index, y: Codes, C: Array) -> DualQP:
        """Build the machine of some rows, from the codes and costs of all."""
        whole = len(rows) == self.X.shape[0]
        if not whole:
            y, C = y[rows], C[rows]
        if self.stored is not None:
            K = self.stored if whole else square_block(self.stored, rows)
            return c_svc(K, y, C, is_psd=self.kernel.is_psd)
        return c_svc(LazyGram(self.kernel, self.X if whole else self.X[rows], self.threads), y, C)


def square_block(K: Array, rows: Index) -> Array:
    """Return the rows and columns of K, by slices where they lie in a few runs."""
    runs = np.split(rows, np.flatnonzero(np.diff(rows) != 1) + 1)
    if len(runs) > 4:
        return K[np.ix_(rows, rows)]
    out, ends = np.empty((len(rows), len(rows)), dtype=K.dtype), np.cumsum([0, *map(len, runs)])
    for i, a in enumerate(runs):
        for j, b in enumerate(runs):
            part = K[a[0] : a[-1] + 1, b[0] : b[-1] + 1]
            out[ends[i] : ends[i + 1], ends[j] : ends[j + 1]] = part
    return out


def symmetric(K: Array) -> Array:
    """Refuse a given kernel matrix that is not symmetric."""
    if np.abs(K - K.T).max(initial=0.0) > 1e-5 * np.abs(K).max(initial=0.0):
        raise ValueError(
            "The kernel is not symmetric: kernel(X, X) must equal its transpose. Check the "
            "function given as kernel, or the matrix given as X with kernel='precomputed'."
        )
    return K
