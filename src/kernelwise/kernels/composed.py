"""Kernels made of kernels, and the ridge on the diagonal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._parameters import check_number
from .._typing import Array, Matrix
from .base import Kernel, check_rows, prefixed
from .cotangent import Cotangent
from .pairwise import check_weights


def _check_kernels(**kernels: Any) -> None:
    for name, kernel in kernels.items():
        if not isinstance(kernel, Kernel):
            raise TypeError(f"{name} must be a Kernel; got {type(kernel).__name__}.")


@dataclass(frozen=True, eq=False, repr=False)
class _Pair(Kernel):
    """A kernel made of two."""

    left: Kernel
    right: Kernel

    def __post_init__(self) -> None:
        """Check the parts."""
        _check_kernels(left=self.left, right=self.right)

    @property
    def is_psd(self) -> bool:
        """Whether the kernel is known to be positive semi-definite."""
        return self.left.is_psd and self.right.is_psd

    @property
    def reads_values(self) -> bool:
        """Whether rows are kernel values against all rows, not features."""
        return self.left.reads_values or self.right.reads_values

    @property
    def accepts_sparse(self) -> bool:
        """Whether rows may come as a sparse matrix."""
        return self.left.accepts_sparse and self.right.accepts_sparse


@dataclass(frozen=True, eq=False, repr=False)
class Sum(_Pair):
    """Sum of two kernels, also written ``left + right``.

    Parameters
    ----------
    left : Kernel
        The first kernel.
    right : Kernel
        The second kernel.

    Examples
    --------
    >>> from kernelwise.kernels import Linear, RBF
    >>> (Linear() + RBF())([[1.0]], [[1.0]])
    array([[2.]])
    """

    def __call__(self, X: Matrix, Y: Matrix | None = None) -> Array:
        return self.left(X, Y) + self.right(X, Y)

    def diag(self, X: Matrix) -> Array:
        return self.left.diag(X) + self.right.diag(X)

    def _vjp(self, X: Matrix, dK: Cotangent, dtype: Any, K: Array | None) -> dict[str, Any]:
        return prefixed("left", self.left.vjp(X, dK, dtype=dtype)) | prefixed(
            "right", self.right.vjp(X, dK, dtype=dtype)
        )


@dataclass(frozen=True, eq=False, repr=False)
class Product(_Pair):
    """Product of two kernels, entry by entry, also written ``left * right``.

    Parameters
    ----------
    left : Kernel
        The first kernel.
    right : Kernel
        The second kernel.

    Examples
    --------
    >>> from kernelwise.kernels import Linear, RBF
    >>> (Linear() * RBF())([[2.0]], [[2.0]])
    array([[4.]])
    """

    def __call__(self, X: Matrix, Y: Matrix | None = None) -> Array:
        return self.left(X, Y) * self.right(X, Y)

    def diag(self, X: Matrix) -> Array:
        return self.left.diag(X) * self.right.diag(X)

    def _vjp(self, X: Matrix, dK: Cotangent, dtype: Any, K: Array | None) -> dict[str, Any]:
        # dK * K is not of low rank: from here on the cotangent is dense, as K is.
        full = dK.block(0, dK.n_rows)
        by_left = Cotangent.of(full * self.right(X))
        by_right = Cotangent.of(full * self.left(X))
        return prefixed("left", self.left.vjp(X, by_left, dtype=dtype)) | prefixed(
            "right", self.right.vjp(X, by_right, dtype=dtype)
        )


@dataclass(frozen=True, eq=False, repr=False)
class Scaled(Kernel):
    """A kernel times a number, also written ``scale * kernel``.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    scale : float, default=1.0
        The factor, not negative.

    Examples
    --------
    >>> from kernelwise.kernels import RBF
    >>> (3 * RBF())([[1.0]], [[1.0]])
    array([[3.]])
    """

    kernel: Kernel
    scale: float = 1.0

    def __post_init__(self) -> None:
        """Check the parameters."""
        _check_kernels(kernel=self.kernel)
        check_number(self.scale, "scale")

    @property
    def is_psd(self) -> bool:
        """Whether the kernel is known to be positive semi-definite."""
        return self.kernel.is_psd

    @property
    def reads_values(self) -> bool:
        """Whether rows are kernel values against all rows, not features."""
        return self.kernel.reads_values

    @property
    def accepts_sparse(self) -> bool:
        """Whether rows may come as a sparse matrix."""
        return self.kernel.accepts_sparse

    def __call__(self, X: Matrix, Y: Matrix | None = None) -> Array:
        out = self.kernel(X, Y)
        return out * out.dtype.type(self.scale)

    def diag(self, X: Matrix) -> Array:
        return self.scale * self.kernel.diag(X)

    def _vjp(self, X: Matrix, dK: Cotangent, dtype: Any, K: Array | None) -> dict[str, Any]:
        inner = self.kernel.vjp(X, dK, dtype=dtype)
        scaled = {name: self.scale * value for name, value in inner.items()}
        by_scale = float(np.sum(dK.block(0, dK.n_rows) * self.kernel(X)))
        return {"scale": by_scale, **prefixed("kernel", scaled)}


@dataclass(frozen=True, eq=False, repr=False)
class Normalized(Kernel):
    """A kernel scaled to a unit diagonal: k(x, z) / sqrt(k(x, x) k(z, z)), the cosine.

    Parameters
    ----------
    kernel : Kernel
        A kernel with a positive diagonal; rows with k(x, x) = 0 get zeros.

    Examples
    --------
    >>> from kernelwise.kernels import Linear, Normalized
    >>> Normalized(Linear())([[1.0, 0.0]], [[5.0, 5.0]]).round(4)
    array([[0.7071]])
    """

    kernel: Kernel

    def __post_init__(self) -> None:
        """Check the parameters."""
        _check_kernels(kernel=self.kernel)

    @property
    def is_psd(self) -> bool:
        """Whether the kernel is known to be positive semi-definite."""
        return self.kernel.is_psd

    @property
    def reads_values(self) -> bool:
        """Whether rows are kernel values against all rows, not features."""
        return self.kernel.reads_values

    @property
    def accepts_sparse(self) -> bool:
        """Whether rows may come as a sparse matrix."""
        return self.kernel.accepts_sparse

    def _inverse_norms(self, X: Matrix) -> Array:
        squares = self.kernel.diag(X)
        if (squares < 0).any():
            raise ValueError("Normalized needs a kernel without negative values on its diagonal.")
        positive = squares > 0
        return np.divide(1, np.sqrt(squares), out=np.zeros_like(squares), where=positive)

    def __call__(self, X: Matrix, Y: Matrix | None = None) -> Array:
        K = self.kernel(X, Y)
        left = self._inverse_norms(X)
        right = left if Y is None else self._inverse_norms(Y)
        out = K * left[:, None].astype(K.dtype)
        out *= right.astype(K.dtype)
        return out

    def diag(self, X: Matrix) -> Array:
        return (self._inverse_norms(X) > 0).astype(np.float64)

    def _vjp(self, X: Matrix, dK: Cotangent, dtype: Any, K: Array | None) -> dict[str, Any]:
        # N_ij = K_ij / sqrt(K_ii K_jj): the derivative by K_ij scales the cotangent, the one by
        # K_ii is minus a row sum.
        inverse = self._inverse_norms(X)
        full = dK.block(0, dK.n_rows)
        through_norms = (full * self(X)).sum(axis=1) * inverse**2
        inner = Cotangent(
            np.empty((dK.n_rows, 0)),
            dense=full * inverse[:, None] * inverse,
            diagonal=-through_norms,
        )
        return prefixed("kernel", self.kernel.vjp(X, inner, dtype=dtype))


@dataclass(frozen=True, eq=False, repr=False)
class Ridge(Kernel):
    """A number on the diagonal of K(X) only, and zero between different sets of rows.

    It expresses squared slack: the L2-SVM with C is the hard-margin machine of
    ``kernel + Ridge(1 / C)``. Like scikit-learn's WhiteKernel it distinguishes rows by their
    position, not by their values.

    Parameters
    ----------
    value : float or array-like of shape (d,), default=1.0
        The ridge; with weights, one number per feature or one for all.
    weights : array-like of shape (d,), default=None
        Makes the ridge ``sum_k weights_k value_k``, so that it follows learned weights.

    Examples
    --------
    >>> from kernelwise.kernels import Linear, Ridge
    >>> (Linear() + Ridge(0.5))([[1.0], [2.0]])
    array([[1.5, 2. ],
           [2. , 4.5]])
    """

    value: Any = 1.0
    weights: Array | None = None

    def __post_init__(self) -> None:
        """Check the parameters and freeze the arrays."""
        object.__setattr__(self, "weights", check_weights(self.weights))
        if np.ndim(self.value) == 0:
            check_number(self.value, "value")
            return
        object.__setattr__(self, "value", check_weights(self.value, "value"))
        if self.weights is None or self.weights.shape != self.value.shape:
            raise ValueError("value is a vector, so weights must be a vector of the same length.")

    @property
    def accepts_sparse(self) -> bool:
        """Whether rows may come as a sparse matrix."""
        return True

    @property
    def level(self) -> float:
        """The number on the diagonal."""
        if self.weights is None:
            return float(self.value)
        return float(np.sum(self.weights * self.value))

    def __call__(self, X: Matrix, Y: Matrix | None = None) -> Array:
        X = check_rows(X)
        if Y is not None:
            Y = check_rows(Y, "Y")
            return np.zeros((X.shape[0], Y.shape[0]), dtype=np.result_type(X.dtype, Y.dtype))
        return np.diag(np.full(X.shape[0], self.level, dtype=X.dtype))

    def diag(self, X: Matrix) -> Array:
        return np.full(check_rows(X).shape[0], self.level)

    def _vjp(self, X: Matrix, dK: Cotangent, dtype: Any, K: Array | None) -> dict[str, Any]:
        trace = dK.trace()
        if self.weights is None:
            return {"value": trace}
        by_value = trace * (self.weights if np.ndim(self.value) else self.weights.sum())
        by_weights = trace * np.broadcast_to(self.value, self.weights.shape)
        return {"value": by_value, "weights": by_weights}
