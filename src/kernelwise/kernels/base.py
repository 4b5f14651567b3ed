"""The base of all kernels: immutable values that are called, differentiated, added, multiplied."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from .._blocks import square_block
from .._parameters import as_real
from .._typing import Array, Index, Matrix, RowReader
from .cotangent import Cotangent

BLOCK_ROWS = 128  # rows of a block that stays in the second-level cache for some thousand columns


def check_rows(X: Matrix, name: str = "X") -> Matrix:
    """Return X as a 2-D float32 or float64 array, or as a CSR matrix."""
    if sp.issparse(X):
        if X.dtype.kind == "c":
            raise ValueError(f"{name} must be real, but it is complex.")
        return X.tocsr() if X.dtype.kind == "f" else X.tocsr().astype(np.float64)
    if not (isinstance(X, np.ndarray) and X.dtype == np.float32):
        X = as_real(X, name)
    if X.ndim != 2:
        raise ValueError(f"{name} must be a 2-D array of rows; got {X.ndim} dimension(s).")
    return X


@dataclass(frozen=True, eq=False)
class Kernel(ABC):
    """Base of all kernels: an immutable function k(x, z) of two rows.

    Weights w >= 0 multiply a feature's own term: ``w_k (x_k - z_k)^2``, ``w_k x_k z_k``, or
    ``w_k |x_k - z_k|`` in the L1 kernel. Float32 rows give a float32 kernel, all else float64.
    """

    @abstractmethod
    def __call__(self, X: Matrix, Y: Matrix | None = None) -> Array:
        """Evaluate the kernel between the rows of X and of Y (of X itself when Y is None)."""

    @abstractmethod
    def diag(self, X: Matrix) -> Array:
        """Evaluate the kernel of each row with itself.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            The rows.

        Returns
        -------
        diagonal : ndarray of shape (n,)
            The diagonal of ``kernel(X)``.
        """

    @property
    def is_psd(self) -> bool:
        """Whether the kernel is known to be positive semi-definite."""
        return True

    @property
    def accepts_sparse(self) -> bool:
        """Whether rows may come as a sparse matrix."""
        return False

    @property
    def has_unit_diagonal(self) -> bool:
        """Whether the kernel of every row with itself is known to be one."""
        return False

    @property
    def reads_values(self) -> bool:
        """Whether rows are kernel values against all rows, not features."""
        return False

    def vjp(
        self,
        X: Matrix,
        dK: Cotangent | Array,
        *,
        dtype: Any = np.float64,
        K: Array | None = None,
    ) -> dict[str, Any]:
        """Pull the cotangent of a criterion back to the kernel's parameters.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            The rows at which ``kernel(X)`` was evaluated.
        dK : Cotangent or ndarray of shape (n, n)
            The derivative of the criterion by each entry of ``kernel(X)``.
        dtype : dtype, default=numpy.float64
            The precision of the work; float32 halves its cost where float32 can hold the distances.
        K : ndarray of shape (n, n), default=None
            ``kernel(X)`` where it is known, which saves time for kernels exp(-t).

        Returns
        -------
        gradient : dict
            The derivative by each differentiable parameter, under its name in ``get_params``.
            Where ``weights`` is None, its gradient is taken at weights of one.
        """
        X = check_rows(X)
        cotangent = Cotangent.of(dK)
        n = X.shape[0] if cotangent.rows is None else len(cotangent.rows)
        if cotangent.n_rows != n:
            raise ValueError(f"dK has {cotangent.n_rows} rows, but X gives {n} of them.")
        if cotangent.rows is not None:
            rows = cotangent.rows
            X = X[np.ix_(rows, rows)] if self.reads_values else X[rows]
            cotangent, K = cotangent.everywhere(), self._slopes_of(K, rows)
        return self._vjp(X, cotangent, np.dtype(dtype), K)

    def _vjp(self, X: Matrix, dK: Cotangent, dtype: Any, K: Array | None) -> dict[str, Any]:
        return {}

    #: Whether k = exp(-t) for one weighted sum t, so that the slope is minus the value.
    is_exponential: ClassVar[bool] = False

    def _slopes_of(self, K: Array | None, rows: Index) -> Array | None:
        """Return the block of K for some rows, where its entries are minus the slopes."""
        if K is None or not self.is_exponential:
            return None
        return square_block(K, rows)

    def reader(self, X: Matrix, dtype: Any, threads: int = 1) -> RowReader:
        """Open the kernel of these rows for reading by a solver, row by row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            The rows.
        dtype : dtype
            The precision of the entries.
        threads : int, default=1
            Threads that fill rows.

        Returns
        -------
        reader : RowReader
            Fills rows of the kernel into the solver's memory.
        """
        from .fill import GatheringReader

        return GatheringReader(lambda rows: self(X[rows], X), X.shape[0])

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name.

        Parameters
        ----------
        deep : bool, default=True
            Whether to add those of inner kernels, as ``inner__name``.

        Returns
        -------
        params : dict
            The parameters.
        """
        params = {field.name: getattr(self, field.name) for field in fields(self)}
        if deep:
            for name, value in list(params.items()):
                if isinstance(value, Kernel):
                    inner = value.get_params()
                    params.update({f"{name}__{key}": inner[key] for key in inner})
        return params

    def with_params(self, **params: Any) -> Kernel:
        """Return a kernel with some parameters changed; this one stays as it is.

        Parameters
        ----------
        **params : dict
            New values by name; ``inner__name`` reaches into inner kernels.

        Returns
        -------
        kernel : Kernel
            The new kernel.
        """
        own = {name: value for name, value in params.items() if "__" not in name}
        nested: dict[str, dict[str, Any]] = {}
        for name, value in params.items():
            if "__" in name:
                outer, inner = name.split("__", 1)
                nested.setdefault(outer, {})[inner] = value
        known = _field_names(type(self))
        unknown = (own.keys() | nested.keys()) - known
        if unknown:
            raise ValueError(
                f"{type(self).__name__} has no parameter {sorted(unknown)}; it has {sorted(known)}."
            )
        for outer, values in nested.items():
            inner = own.get(outer, getattr(self, outer))
            if not isinstance(inner, Kernel):
                raise ValueError(f"{outer} of {type(self).__name__} has no parameters of its own.")
            own[outer] = inner.with_params(**values)
        return type(self)(**{name: getattr(self, name) for name in known} | own)

    def __reduce__(self) -> Any:
        # Constructed again, so that its arrays are read-only.
        return type(self), tuple(getattr(self, field.name) for field in fields(self))

    def __sklearn_clone__(self) -> Kernel:
        return self  # immutable: the same value serves every copy of an estimator

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        mine, theirs = self.get_params(deep=False), other.get_params(deep=False)
        return all(_same(mine[name], theirs[name]) for name in mine)

    def __hash__(self) -> int:
        return hash(type(self).__name__)

    def __repr__(self) -> str:
        shown = (
            f"{field.name}={_short(getattr(self, field.name))}"
            for field in fields(self)
            if not _same(getattr(self, field.name), field.default)
        )
        return f"{type(self).__name__}({', '.join(shown)})"

    def __add__(self, other: Kernel) -> Kernel:
        from .composed import Sum

        return Sum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Kernel | float) -> Kernel:
        from .composed import Product, Scaled

        if isinstance(other, Kernel):
            return Product(self, other)
        return Scaled(self, float(other))

    __rmul__ = __mul__


@cache
def _field_names(kind: type[Kernel]) -> frozenset[str]:
    """Return the names of the parameters of a kernel."""
    return frozenset(field.name for field in fields(kind))


def _same(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return a is not None and b is not None and np.array_equal(a, b)
    return bool(type(a) is type(b) and a == b)


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray) and value.size > 6:
        return f"<{value.size} values>"
    return repr(value)


def prefixed(name: str, gradient: Mapping[str, Any]) -> dict[str, Any]:
    """Name an inner kernel's gradient as ``get_params`` names its parameters."""
    return {f"{name}__{key}": value for key, value in gradient.items()}
