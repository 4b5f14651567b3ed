"""Kernels k(x, z) = profile(t) of one number t = gamma * sum_k w_k term(x_k, z_k).

A new kernel says what it is: its term, by its base class, its profile, and the profile's slope. How
sums, matrices and gradients are computed is written in `sides`, `fill` and `contraction`.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from .._parameters import as_real, check_number
from .._typing import Array, Matrix
from .base import Kernel, check_rows
from .contraction import contract
from .cotangent import Cotangent
from .fill import kernel_matrix, open_reader
from .sides import DotProducts, L1Distances, SquaredDistances, WeightedSum


def check_weights(weights: Any, name: str = "weights") -> Array | None:
    """Return the weights as a read-only float64 vector, or None."""
    if weights is None:
        return None
    try:
        weights = np.array(as_real(weights, name))
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a vector of numbers; got {weights!r}.") from None
    if weights.ndim != 1 or weights.size == 0:
        raise ValueError(f"{name} must be a vector, one number per feature; got {weights.shape}.")
    if not 0 <= weights.min() <= weights.max() < np.inf:  # which NaN fails as well
        raise ValueError(f"{name} must be finite and not negative.")
    weights.flags.writeable = False
    return weights


def check_mask(categorical: Any) -> Any:
    """Return which features are categories as a read-only vector of bools; None for no category."""
    if categorical is None:
        return None
    mask = np.array(categorical)
    if mask.dtype != bool or mask.ndim != 1 or mask.size == 0:
        raise ValueError(
            f"categorical must be a vector of booleans, one per feature; got {categorical!r}."
        )
    if not mask.any():
        return None  # a kernel of numbers, equal to one that was never told of categories
    mask.flags.writeable = False
    return mask


@dataclass(frozen=True, eq=False, repr=False)
class PairwiseKernel(Kernel):
    """Base of the kernels of one weighted sum over the features."""

    gamma: float = 1.0
    weights: Array | None = None

    #: The weighted sum that the profile is applied to.
    term: ClassVar[WeightedSum]
    #: Which features are categories; only the Laplacian has them.
    categorical: ClassVar[Any] = None
    #: Whether the profile has a parameter ``coef0`` that is added to t.
    has_constant: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Check the parameters and freeze the weights."""
        check_number(self.gamma, "gamma")
        object.__setattr__(self, "weights", check_weights(self.weights))

    @abstractmethod
    def profile(self, t: Array) -> Array:
        """Compute the kernel from t.

        Parameters
        ----------
        t : ndarray
            The weighted sums, times gamma.

        Returns
        -------
        k : ndarray
            The kernel's values.
        """

    @abstractmethod
    def slope(self, t: Array) -> Array:
        """Compute the derivative of the profile by t.

        Parameters
        ----------
        t : ndarray
            The weighted sums, times gamma.

        Returns
        -------
        slope : ndarray
            The derivative.
        """

    @property
    def accepts_sparse(self) -> bool:
        """Whether rows may come as a sparse matrix."""
        return self.term.accepts_sparse

    @property
    def has_unit_diagonal(self) -> bool:
        """Whether the kernel of every row with itself is known to be one."""
        return self.term.is_distance

    def scales(self, d: int) -> Array:
        """Return gamma * weights, one number per feature.

        Parameters
        ----------
        d : int
            Number of features of the rows.

        Returns
        -------
        scales : ndarray of shape (d,)
            The factors of the terms.
        """
        if self.weights is None:
            return np.full(d, float(self.gamma))
        if self.weights.shape[0] != d:
            raise ValueError(
                f"weights has {self.weights.shape[0]} entries, but X has {d} features; "
                "give one weight per feature."
            )
        return self.gamma * self.weights

    def categories(self, d: int) -> Any:
        """Return which features are categories.

        Parameters
        ----------
        d : int
            Number of features of the rows.

        Returns
        -------
        is_category : ndarray of shape (d,)
            True for a feature whose term is one where two values differ, else zero.
        """
        if self.categorical is None:
            return np.zeros(d, dtype=bool)
        if len(self.categorical) != d:
            raise ValueError(
                f"categorical has {len(self.categorical)} entries, but X has {d} features; "
                "give one boolean per feature."
            )
        return self.categorical

    def check_pair(self, X: Matrix, Y: Matrix | None) -> tuple[Matrix, Matrix | None, Any]:
        """Check two sets of rows, and choose the precision of their kernel.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            The first rows.
        Y : {array-like, sparse matrix} of shape (m, d) or None
            The second rows.

        Returns
        -------
        X, Y : {ndarray, sparse matrix}
            The rows in float32 or float64; None stays None.
        dtype : dtype
            Single precision where all rows have it, otherwise double.
        """
        X = check_rows(X)
        Y = None if Y is None else check_rows(Y, "Y")
        if Y is not None and X.shape[1] != Y.shape[1]:
            raise ValueError(f"X has {X.shape[1]} features, but Y has {Y.shape[1]}.")
        if not self.accepts_sparse and (sp.issparse(X) or sp.issparse(Y)):
            raise TypeError(f"{type(self).__name__} takes dense rows only; X is sparse.")
        single = X.dtype == np.float32 and (Y is None or Y.dtype == np.float32)
        return X, Y, np.float32 if single else np.float64

    def __call__(self, X: Matrix, Y: Matrix | None = None) -> Array:
        """Evaluate the kernel between the rows of X and of Y.

        Shapes: ``X`` (n, d). ``Y`` (m, d): the second rows; None is X itself. Returns ``K`` (n, m).
        """
        return kernel_matrix(self, *self.check_pair(X, Y))

    def diag(self, X: Matrix) -> Array:
        return self.term.diag(self, X)

    def reader(self, X: Matrix, dtype: Any, threads: int = 1) -> Any:
        X = check_rows(X)
        if sp.issparse(X):
            return super().reader(X, dtype, threads)
        return open_reader(self, X, dtype, threads)

    def _vjp(self, X: Matrix, dK: Cotangent, dtype: Any, K: Array | None) -> dict[str, Any]:
        contraction, total = contract(self, X, dK, dtype, K)
        gradient = self.gradients(contraction)
        return gradient | {"coef0": total} if self.has_constant else gradient

    def gradients(self, contraction: Array) -> dict[str, Any]:
        """Return the gradients by weights and gamma.

        Parameters
        ----------
        contraction : ndarray of shape (d,)
            The derivative by gamma times the weight of each feature.

        Returns
        -------
        gradient : dict
            The gradients by name.
        """
        weights = np.ones(len(contraction)) if self.weights is None else self.weights
        return {"weights": self.gamma * contraction, "gamma": float(weights @ contraction)}


class SquaredDistanceKernel(PairwiseKernel):
    """Base of the kernels of t = gamma sum_k w_k (x_k - z_k)^2; tagged positive semi-definite.

    A subclass writes ``profile(t)``, the kernel's value, and ``slope(t)``, its derivative.

    Parameters
    ----------
    gamma : float, default=1.0
        Inverse width.
    weights : array-like of shape (d,), default=None
        One weight per feature, not negative; None means ones.
    """

    term = SquaredDistances()


class L1Kernel(PairwiseKernel):
    """Base of the kernels of ``gamma sum_k w_k |x_k - z_k|``; tagged positive semi-definite.

    A subclass writes ``profile(t)``, the kernel's value, and ``slope(t)``, its derivative.

    Parameters
    ----------
    gamma : float, default=1.0
        Inverse width.
    weights : array-like of shape (d,), default=None
        One weight per feature, not negative; None means ones.
    """

    term = L1Distances()


class DotKernel(PairwiseKernel):
    """Base of the kernels of t = gamma sum_k w_k x_k z_k; tagged positive semi-definite.

    A subclass writes ``profile(t)``, the kernel's value, and ``slope(t)``, its derivative.

    Parameters
    ----------
    gamma : float, default=1.0
        Scale of the dot product.
    weights : array-like of shape (d,), default=None
        One weight per feature, not negative; None means ones.
    """

    term = DotProducts()
