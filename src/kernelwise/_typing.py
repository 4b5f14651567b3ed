"""Names for the types that every layer uses, and the protocols of a kernel matrix."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.floating[Any]]
Index: TypeAlias = NDArray[np.intp]
Codes: TypeAlias = NDArray[np.int8]  # -1, 0 (not in the machine) and +1
Matrix: TypeAlias = Any  # a dense array or a SciPy sparse matrix in CSR form


class RowReader(Protocol):
    """Fills rows of a kernel matrix whose rows and columns can be reordered."""

    def swap(self, a: Index, b: Index) -> None:
        """Exchange the positions ``a`` with the positions ``b``, pair by pair."""

    def fill(self, K: Array, start: int, stop: int) -> None:
        """Write rows ``start`` to ``stop`` of K in the current order; earlier rows are filled."""


class Gram(Protocol):
    """A kernel matrix that is read by blocks and rows: `qp.StoredGram` or `kernels.LazyGram`."""

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the matrix."""

    @property
    def is_psd(self) -> bool:
        """Whether the matrix is known to be positive semi-definite."""

    @property
    def size(self) -> float:
        """Largest absolute value on the diagonal."""

    def diag(self) -> Array:
        """Return the diagonal."""

    def block(self, rows: Index, columns: Index) -> Array:
        """Return a block in float64."""

    def dense(self, dtype: Any) -> Array:
        """Return the whole matrix."""

    def matvec(self, b: Array) -> Array:
        """Return the product with a vector, in float64."""

    def open(self, dtype: Any) -> RowReader:
        """Open the matrix for reading row by row."""
