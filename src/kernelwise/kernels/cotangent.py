"""The cotangent d value / d K of a criterion: factored, on the rows where it is not zero."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._typing import Array, Index


@dataclass(frozen=True)
class Cotangent:
    """A symmetric cotangent dK = U diag(scale) U' + diag(diagonal) + dense, on some rows of K.

    By the envelope theorem the cotangent of most criteria is of low rank: that of the dual
    objective is ``-1/2 beta beta'``. It is kept as factors, so that no (n, n) array is needed.

    Parameters
    ----------
    factors : ndarray of shape (n_rows, rank)
        The columns of U.
    scale : ndarray of shape (rank,), default=None
        The factor of each column's outer product; None means ones.
    diagonal : ndarray of shape (n_rows,), default=None
        A vector that is added to the diagonal.
    dense : ndarray of shape (n_rows, n_rows), default=None
        A matrix that is added; only its symmetric part is kept.
    rows : ndarray of shape (n_rows,), default=None
        The rows and columns of K on which the cotangent is not zero; None means all.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.kernels import Cotangent
    >>> beta = np.array([[1.0], [-1.0]])
    >>> Cotangent(beta, scale=np.array([-0.5])).block(0, 2)
    array([[-0.5,  0.5],
           [ 0.5, -0.5]])
    """

    factors: Array
    scale: Array | None = None
    diagonal: Array | None = None
    dense: Array | None = None
    rows: Index | None = None

    def __post_init__(self) -> None:
        """Check that the parts fit; keep the symmetric part of ``dense``."""
        n, rank = self.factors.shape if np.ndim(self.factors) == 2 else (-1, -1)
        if n < 0:
            raise ValueError("factors must have two dimensions: (n_rows, rank).")
        wanted = {"scale": (rank,), "diagonal": (n,), "dense": (n, n)}
        for name, shape in wanted.items():
            part = getattr(self, name)
            if part is not None and np.shape(part) != shape:
                raise ValueError(f"{name} must have shape {shape}; got {np.shape(part)}.")
        if self.dense is not None:
            object.__setattr__(self, "dense", (self.dense + self.dense.T) / 2)

    @classmethod
    def of(cls, dK: Cotangent | Array) -> Cotangent:
        """Wrap a dense array; return a cotangent as it is.

        Parameters
        ----------
        dK : Cotangent or ndarray of shape (n, n)
            The cotangent.

        Returns
        -------
        cotangent : Cotangent
            The cotangent.
        """
        if isinstance(dK, Cotangent):
            return dK
        dense = np.asarray(dK, dtype=np.float64)
        if dense.ndim != 2 or dense.shape[0] != dense.shape[1]:
            raise ValueError(f"dK must be a square array or a Cotangent; got shape {dense.shape}.")
        return cls(np.empty((dense.shape[0], 0)), dense=dense)

    @classmethod
    def total(cls, parts: Sequence[Cotangent]) -> Cotangent | None:
        """Add cotangents on the same rows.

        Parameters
        ----------
        parts : sequence of Cotangent
            The parts, all with the same ``rows``.

        Returns
        -------
        total : Cotangent or None
            Their sum; None where there are no parts.
        """
        if not parts:
            return None
        if any(not _same_rows(part.rows, parts[0].rows) for part in parts):
            raise ValueError("cotangents on different rows cannot be added.")
        scales = [np.ones(p.factors.shape[1]) if p.scale is None else p.scale for p in parts]
        return cls(
            np.hstack([part.factors for part in parts]),
            np.concatenate(scales),
            _sum_of(part.diagonal for part in parts),
            _sum_of(part.dense for part in parts),
            parts[0].rows,
        )

    @property
    def n_rows(self) -> int:
        """Number of rows on which the cotangent is not zero."""
        return int(self.factors.shape[0])

    def everywhere(self) -> Cotangent:
        """Drop the row indices, after the caller has selected those rows.

        Returns
        -------
        cotangent : Cotangent
            The same block with ``rows=None``.
        """
        return replace(self, rows=None)

    def astype(self, dtype: Any) -> Cotangent:
        """Return the cotangent in another precision.

        Parameters
        ----------
        dtype : dtype
            The precision.

        Returns
        -------
        cotangent : Cotangent
            The cotangent itself where it already has that precision.
        """
        if self.factors.dtype == dtype:
            return self
        parts = {name: getattr(self, name) for name in ("factors", "scale", "diagonal", "dense")}
        return replace(self, **{k: v.astype(dtype) for k, v in parts.items() if v is not None})

    def block(self, start: int, stop: int, column: int = 0) -> Array:
        """Compute rows ``start`` to ``stop`` of the block.

        Parameters
        ----------
        start, stop : int
            The first row, and the row after the last.
        column : int, default=0
            The first column, at most ``start``.

        Returns
        -------
        block : ndarray of shape (stop - start, n_rows - column)
            The rows, dense.
        """
        left = self.factors[start:stop]
        if self.scale is not None:
            left = left * self.scale
        right = self.factors[column:]
        out: Array = left * right.T if right.shape[1] == 1 else left @ right.T
        if self.dense is not None:
            out += self.dense[start:stop, column:]
        if self.diagonal is not None:
            at = np.arange(start, stop)
            out[at - start, at - column] += self.diagonal[start:stop]
        return out

    def diag(self) -> Array:
        """Compute the diagonal.

        Returns
        -------
        diagonal : ndarray of shape (n_rows,)
            The diagonal of the block.
        """
        squares = self.factors**2
        out: Array = squares.sum(axis=1) if self.scale is None else squares @ self.scale
        for part in (self.diagonal, None if self.dense is None else np.diag(self.dense)):
            out = out if part is None else out + part
        return out

    def trace(self) -> float:
        """Compute the sum of the diagonal.

        Returns
        -------
        trace : float
            The sum.
        """
        return float(self.diag().sum())


def _same_rows(a: Index | None, b: Index | None) -> bool:
    if a is None or b is None:
        return a is b
    return np.array_equal(a, b)


def _sum_of(arrays: Iterable[Array | None]) -> Array | None:
    """Add the arrays that are not None; return None where there are none."""
    present = [array for array in arrays if array is not None]
    return np.sum(present, axis=0) if present else None
