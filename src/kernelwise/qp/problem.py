"""The problem and its solution, as plain data.

    min 1/2 b'Kb - p'b   s.t.   A b = c,   lo <= b <= hi

in signed form: b = alpha * y, so that K is the same for all machines. With the Lagrangian
L = objective + nu'(A b - c) the multiplier nu is the intercept when A is a row of ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from .._typing import Array
from .gram import Gram, StoredGram

_DTYPES = (np.dtype(np.float32), np.dtype(np.float64))


def plain(vector: Any) -> Array:
    """Return a vector as the one kind of array that compiled code is compiled for.

    Parameters
    ----------
    vector : array-like of shape (n,)
        Any numbers.

    Returns
    -------
    plain : ndarray of shape (n,)
        The same in float64, contiguous and writeable; a copy only where it was not.
    """
    out = np.asarray(vector, dtype=np.float64)
    flags = out.flags
    return out if flags.c_contiguous and flags.writeable else out.copy(order="C")


@dataclass(frozen=True)
class DualQP:
    """A box-constrained quadratic program with linear equalities, in signed form.

    Parameters
    ----------
    K : ndarray of shape (n, n) or Gram
        The kernel matrix, stored or lazy.
    p : ndarray of shape (n,)
        The linear term.
    lo : ndarray of shape (n,)
        The lower bounds; -inf is allowed.
    hi : ndarray of shape (n,)
        The upper bounds; inf is allowed. ``lo = hi`` holds a row out of the problem.
    A : ndarray of shape (l, n), default=None
        The equalities; None is one row of ones.
    c : ndarray of shape (l,), default=None
        Their right sides; None is zeros.
    is_psd : bool, default=True
        Whether K is positive semi-definite; asked of K itself when it is lazy. Without it
        there is no duality gap.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.qp import SMO, DualQP
    >>> y = np.array([1.0, 1.0, -1.0])
    >>> qp = DualQP(np.eye(3), p=y, lo=np.minimum(0, y), hi=np.maximum(0, y))
    >>> SMO().solve(qp).beta.round(3)
    array([ 0.5,  0.5, -1. ])
    """

    K: Array | Gram
    p: Array
    lo: Array
    hi: Array
    A: Any = None
    c: Any = None
    is_psd: bool = True
    gram: Gram = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check that the parts fit, and give the defaults."""
        given = {"p": plain(self.p), "lo": plain(self.lo), "hi": plain(self.hi)}
        self._put(self.K, given)
        if not (given["lo"] <= given["hi"]).all():  # nor is NaN below or above anything
            raise ValueError("lo must not exceed hi, and neither may be NaN.")
        if not np.isfinite(given["p"]).all():
            raise ValueError("p must be finite.")
        self.__dict__.update(self._equalities(self.n))

    @classmethod
    def of_parts(
        cls, K: Array | Gram, p: Array, lo: Array, hi: Array, is_psd: bool = True
    ) -> DualQP:
        """Return the problem with sum b = 0, of vectors of which only the lengths are checked.

        Parameters
        ----------
        K : ndarray of shape (n, n) or Gram
            The kernel matrix.
        p : ndarray of shape (n,)
            The linear term; it and the bounds must be what `plain` returns.
        lo, hi : ndarray of shape (n,)
            The bounds, of which none is below the other.
        is_psd : bool, default=True
            Whether K is positive semi-definite.

        Returns
        -------
        qp : DualQP
            The problem.
        """
        made = object.__new__(cls)
        made.__dict__["is_psd"] = is_psd
        made._put(K, {"p": p, "lo": lo, "hi": hi})
        made.__dict__.update(_sum_is_zero(made.n))
        return made

    def _put(self, K: Array | Gram, vectors: dict[str, Array]) -> None:
        """Set K and the vectors, which must be as long."""
        if isinstance(K, np.ndarray) and K.dtype not in _DTYPES:
            K = K.astype(np.float64)
        n = K.shape[0]
        if len(K.shape) != 2 or K.shape[1] != n:
            raise ValueError(f"K must be square; got shape {tuple(K.shape)}.")
        for name, value in vectors.items():
            if value.shape != (n,):
                raise ValueError(f"{name} must have shape ({n},), as K has; got {value.shape}.")
        gram = StoredGram(K, self.is_psd) if isinstance(K, np.ndarray) else K
        self.__dict__.update(vectors, K=K, gram=gram)

    def _equalities(self, n: int) -> dict[str, Any]:
        """Check A and c; the defaults need no check."""
        if self.A is None and self.c is None:
            return _sum_is_zero(n)
        known = {}
        if self.A is None:
            A = np.ones((1, n))
            known["sums_to_constant"] = True
        else:
            A = np.asarray(self.A, dtype=np.float64)
            if A.ndim != 2 or A.shape[1] != n:
                raise ValueError(f"A must have shape (l, {n}); got {A.shape}.")
        c = np.zeros(A.shape[0]) if self.c is None else np.asarray(self.c, dtype=np.float64)
        if c.shape != (A.shape[0],):
            raise ValueError(f"c must have shape ({A.shape[0]},), as A has rows; got {c.shape}.")
        for given, values in ((self.A, A), (self.c, c)):
            if given is not None and not np.isfinite(values).all():
                raise ValueError("A and c must be finite.")
        return known | {"A": A, "c": c}

    def sibling(self, p: Array, lo: Array, hi: Array) -> DualQP:
        """Return a problem of the same K and equalities, without a check of what differs.

        Parameters
        ----------
        p : ndarray of shape (n,)
            The linear term; it and the bounds must be what `plain` returns.
        lo, hi : ndarray of shape (n,)
            The bounds, of which none is below the other.

        Returns
        -------
        qp : DualQP
            The other problem.
        """
        other = object.__new__(DualQP)
        other.__dict__.update(self.__dict__, p=p, lo=lo, hi=hi)
        other.__dict__.pop("largest_bound", None)
        return other

    def of_kernel(self, K: Array | Gram) -> DualQP:
        """Return the same problem of another kernel matrix, without a check.

        Parameters
        ----------
        K : ndarray of shape (n, n) or Gram
            The kernel matrix, in float32 or float64 where it is stored.

        Returns
        -------
        qp : DualQP
            The other problem.
        """
        other = object.__new__(DualQP)
        gram = StoredGram(K, self.is_psd) if isinstance(K, np.ndarray) else K
        other.__dict__.update(self.__dict__, K=K, gram=gram)
        other.__dict__.pop("size", None)
        return other

    @property
    def n(self) -> int:
        """Number of variables."""
        return len(self.p)

    @cached_property
    def sums_to_constant(self) -> bool:
        """Whether the one equality is sum b = c, the form that SMO solves."""
        return self.A.shape[0] == 1 and bool((self.A == 1).all())

    @cached_property
    def size(self) -> float:
        """Largest entry of K's diagonal, in absolute value."""
        return float(np.abs(self.gram.diag()).max(initial=0.0))

    @cached_property
    def largest_bound(self) -> float:
        """Largest finite bound, in absolute value."""
        largest = max(-self.lo.min(initial=0.0), self.hi.max(initial=0.0))
        if largest == np.inf:
            finite = (bound[np.isfinite(bound)] for bound in (self.lo, self.hi))
            largest = max(np.abs(bound).max(initial=0.0) for bound in finite)
        return float(largest)

    def gradient(self, beta: Array) -> Array:
        """Compute K b - p.

        Parameters
        ----------
        beta : ndarray of shape (n,)
            A point.

        Returns
        -------
        gradient : ndarray of shape (n,)
            The gradient of the objective.
        """
        return self.gram.matvec(beta) - self.p

    def objective(self, beta: Array, gradient: Array | None = None) -> float:
        """Compute 1/2 b'Kb - p'b.

        Parameters
        ----------
        beta : ndarray of shape (n,)
            A point.
        gradient : ndarray of shape (n,), default=None
            K b - p where it is known.

        Returns
        -------
        objective : float
            The objective.
        """
        gradient = self.gradient(beta) if gradient is None else gradient
        return float(0.5 * beta @ (gradient - self.p))

    def kkt_violation(self, beta: Array, nu: Array, gradient: Array | None = None) -> float:
        """Compute the largest violation of the optimality conditions, in units of the margin.

        Parameters
        ----------
        beta : ndarray of shape (n,)
            A feasible point.
        nu : ndarray of shape (l,)
            The multipliers.
        gradient : ndarray of shape (n,), default=None
            K b - p where it is known.

        Returns
        -------
        violation : float
            Zero at the optimum.
        """
        from . import _box

        gradient = self.gradient(beta) if gradient is None else gradient
        residual = plain(gradient + self.A.T @ nu)
        return float(_box.kkt_violation(plain(beta), residual, self.lo, self.hi))

    def reach(self, beta: Array, gradient: Array) -> tuple[float, float]:
        """Compute the least gradient of what can rise and the largest of what can fall.

        Parameters
        ----------
        beta : ndarray of shape (n,)
            A feasible point.
        gradient : ndarray of shape (n,)
            K b - p there.

        Returns
        -------
        least, most : float
            At the optimum ``most <= least``; ``most - least`` is LIBSVM's stop test.
        """
        from . import _box

        least, most = _box.reach(plain(beta), plain(gradient), self.lo, self.hi)
        return float(least), float(most)

    def intercept(self, beta: Array, gradient: Array) -> float:
        """Compute the multiplier of sum b = c, as LIBSVM does.

        Parameters
        ----------
        beta : ndarray of shape (n,)
            A feasible point.
        gradient : ndarray of shape (n,)
            K b - p there.

        Returns
        -------
        nu : float
            Minus the mean gradient of the free variables; without any, the middle of what
            the bounded ones allow.
        """
        from . import _box

        return float(_box.intercept(plain(beta), plain(gradient), self.lo, self.hi))

    def duality_gap(self, beta: Array, nu: Array, gradient: Array | None = None) -> float:
        """Compute how far the objective is from its minimum, at most.

        For a positive semi-definite K and any x in the box, with r = t (K b + A'nu) - p,

            objective(x) >= -1/2 t^2 b'Kb - t nu'c + sum_i min(lo_i r_i, hi_i r_i).

        t = 1 unless bounds are infinite: then it is the least that leaves those terms finite.

        Parameters
        ----------
        beta : ndarray of shape (n,)
            A feasible point.
        nu : ndarray of shape (l,)
            The multipliers.
        gradient : ndarray of shape (n,), default=None
            K b - p where it is known.

        Returns
        -------
        gap : float
            Zero at the optimum; NaN when K is not known to be positive semi-definite.
        """
        if not self.gram.is_psd:
            return float("nan")
        from . import _box

        gradient = self.gradient(beta) if gradient is None else gradient
        pull, constant = plain(self.A.T @ nu), float(nu @ self.c)
        point = plain(beta), plain(gradient)
        return float(_box.duality_gap(*point, pull, self.p, self.lo, self.hi, constant))

    def project(self, beta: Array) -> Array:
        """Return the nearest point that satisfies the bounds and the equality.

        Parameters
        ----------
        beta : ndarray of shape (n,)
            Any point.

        Returns
        -------
        feasible : ndarray of shape (n,)
            The nearest feasible point.
        """
        from . import _box

        if len(self.c) == 0:
            return np.clip(beta, self.lo, self.hi)
        if not self.sums_to_constant:
            raise ValueError("project needs the one equality sum b = c.")
        return _feasible(*_box.project_to_sum(plain(beta), self.lo, self.hi, self.c[0]))

    def snap(self, beta: Array) -> Array:
        """Put what rounding left an ulp off its bound onto it: it would pin the intercept.

        Parameters
        ----------
        beta : ndarray of shape (n,)
            A feasible point.

        Returns
        -------
        snapped : ndarray of shape (n,)
            The point, with its sum kept to rounding.
        """
        from . import _box

        snapped = np.array(beta, dtype=np.float64)
        _box.snap(snapped, self.lo, self.hi)
        return snapped

    def repair(self, beta: Array) -> Array:
        """Make a point feasible by moving its non-zeros alone, where that is possible.

        A warm start keeps its zeros: each row that leaves zero would have to be computed.

        Parameters
        ----------
        beta : ndarray of shape (n,)
            Any point.

        Returns
        -------
        feasible : ndarray of shape (n,)
            A feasible point.
        """
        from . import _box

        if not self.sums_to_constant:
            return self.project(beta)
        return _feasible(*_box.repair(plain(beta), self.lo, self.hi, self.c[0]))

    def start(self) -> Array:
        """Return a feasible point with few non-zeros.

        Returns
        -------
        feasible : ndarray of shape (n,)
            Zeros, where they are feasible.
        """
        # Nearly every problem; to find that out in compiled code takes longer.
        if self.c[0] == 0 and self.lo.max(initial=0.0) <= 0 <= self.hi.min(initial=0.0):
            return np.zeros(self.n)
        from . import _box

        return _feasible(*_box.first_point(self.lo, self.hi, self.c[0]))


def _sum_is_zero(n: int) -> dict[str, Any]:
    return {"A": np.ones((1, n)), "c": np.zeros(1), "sums_to_constant": True}


def _feasible(beta: Array, exists: bool) -> Array:
    if not exists:
        raise ValueError("no point satisfies both the bounds and sum b = c.")
    return beta
