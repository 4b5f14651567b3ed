"""Names for the types that every layer uses, and the protocols of a kernel matrix."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.floating[Any]]
Index: TypeAlias = NDArray[np.intp]
Codes: TypeAlias = NDArray[np.int8]  # -1, 0 (not in the machine) and +1
Flags: TypeAlias = NDArray[np.bool_]
Square: TypeAlias = NDArray[Any]  # kernel values in float64, or in uint16, where 65535 is one
Matrix: TypeAlias = Any  # a dense array or a SciPy sparse matrix in CSR form


class RowReader(Protocol):
    """Fills rows of a kernel matrix whose rows and columns can be reordered."""

    def swap(self, a: Index, b: Index) -> None:
        """Exchange the positions ``a`` with the positions ``b``, pair by pair."""

    def fill(self, K: Array, start: int, stop: int) -> None:
        """Write rows ``start`` to ``stop`` of K in the current order; earlier rows are filled."""


class Tiles(Protocol):
    """A kernel matrix with entries from 0 to 1 and ones on the diagonal that is never stored."""

    def add_products(
        self, left: Index, change: Array, columns: Index, out: Array, *, precise: bool
    ) -> None:
        """Add K[columns, left] @ change to ``out[columns]``; in float64 where ``precise``."""

    def add_mutual_products(self, which: Index, change: Array, out: Array) -> None:
        """Add K[which, which] @ change to ``out[which]``, in float64."""

    def fill_square(self, which: Index, first: int, K: Square) -> None:
        """Write K[which, which], whose first rows and columns are there already."""


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

    @property
    def n_features(self) -> int:
        """Number of features of the rows; zero for a matrix that is stored."""

    @property
    def has_tiles(self) -> bool:
        """Whether the matrix can be made by tiles, faster than it can be stored."""

    def tiles(self, order: Index) -> Tiles:
        """Return the matrix with rows in this order, made by tiles."""
