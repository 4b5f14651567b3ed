"""Kernels given by the user, as a matrix or a function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._typing import Array, Matrix
from .base import Kernel, check_rows


@dataclass(frozen=True, eq=False, repr=False)
class Precomputed(Kernel):
    """Rows that already are kernel values against all training rows.

    Examples
    --------
    >>> from kernelwise.kernels import Precomputed
    >>> Precomputed()([[2.0, 1.0], [1.0, 2.0]])
    array([[2., 1.],
           [1., 2.]])
    """

    @property
    def is_psd(self) -> bool:
        """Whether the kernel is known to be positive semi-definite."""
        return False

    @property
    def reads_values(self) -> bool:
        """Whether rows are kernel values against all rows, not features."""
        return True

    def __call__(self, X: Matrix, Y: Matrix | None = None) -> Array:
        if sp.issparse(X):
            raise TypeError("X must be a dense kernel matrix; sparse ones are not supported.")
        return check_rows(X)

    def diag(self, X: Matrix) -> Array:
        X = self(X)
        if X.shape[0] != X.shape[1]:
            raise ValueError(f"X must be a square kernel matrix; got shape {X.shape}.")
        return np.diagonal(X).copy()


@dataclass(frozen=True, eq=False, repr=False)
class FunctionKernel(Kernel):
    """A kernel computed by a user's function of two sets of rows.

    Parameters
    ----------
    function : callable
        ``function(X, Y)`` returns an array of shape (n, m), symmetric when X is Y.

    Examples
    --------
    >>> from kernelwise.kernels import FunctionKernel
    >>> FunctionKernel(lambda X, Y: X @ Y.T)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    """

    function: Callable[..., Any]

    def __post_init__(self) -> None:
        """Check the parameter."""
        if not callable(self.function):
            raise TypeError(f"function must be callable; got {type(self.function).__name__}.")

    @property
    def is_psd(self) -> bool:
        """Whether the kernel is known to be positive semi-definite."""
        return False

    @property
    def accepts_sparse(self) -> bool:
        """Whether rows may come as a sparse matrix."""
        return True

    def __call__(self, X: Matrix, Y: Matrix | None = None) -> Array:
        X = _rows(X)
        Y = X if Y is None else _rows(Y)
        K = self.function(X, Y)
        if np.iscomplexobj(K):
            raise ValueError("the kernel function must return real numbers; it returned complex.")
        try:
            K = np.array(K.toarray() if sp.issparse(K) else K, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(
                f"the kernel function must return an array of numbers; got {type(K).__name__}."
            ) from None
        expected = (_n_rows(X), _n_rows(Y))
        if K.shape != expected:
            raise ValueError(
                f"the kernel function returned shape {K.shape} for {expected[0]} and "
                f"{expected[1]} rows; it must return shape {expected}."
            )
        if not np.isfinite(K).all():
            raise ValueError("the kernel function returned NaN or infinite values.")
        single = getattr(X, "dtype", None) == np.float32 and getattr(Y, "dtype", None) == np.float32
        return K.astype(np.float32) if single else K

    def diag(self, X: Matrix) -> Array:
        # The function returns whole matrices only: small ones keep the cost linear.
        X = _rows(X)
        blocks = [self(X[i : i + 64], X[i : i + 64]).diagonal() for i in range(0, _n_rows(X), 64)]
        return np.concatenate(blocks) if blocks else np.empty(0)


def _rows(X: Any) -> Any:
    """Accept any sequence of objects, as a user's kernel may compare texts or graphs."""
    if sp.issparse(X) or hasattr(X, "shape"):
        return X
    return np.asarray(X)


def _n_rows(X: Any) -> int:
    if not X.shape:
        raise ValueError("X must be a sequence of rows; got a single object.")
    return int(X.shape[0])
