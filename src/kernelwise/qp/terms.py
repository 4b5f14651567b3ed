"""The terms of a dual problem apart from its kernel matrix: linear term, kinks, bounds, equalities.

    min 1/2 b'Kb - p'b + kink'|b|   s.t.   A b = c,   lo <= b <= hi

Everything that does not read K is here: checks, feasibility, and the builders of the bounds of
support vector machines.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import isfinite, isinf
from typing import Any

import numpy as np

from .. import _native
from .._parameters import as_real
from .._typing import Array


def plain(vector: Any) -> Array:
    """Return a vector in the one memory layout that compiled code accepts.

    ``vector`` (n,): any numbers. Returns ``plain`` (n,): the same in float64, contiguous and
    writeable; a copy only where it was not.
    """
    out = np.asarray(vector, dtype=np.float64)
    flags = out.flags
    return out if flags.c_contiguous and flags.writeable else out.copy(order="C")


@dataclass(frozen=True, eq=False, init=False)
class Terms:
    """The linear term, kinks, bounds and equalities of a dual problem, checked when they are made.

    Parameters
    ----------
    p : array-like of shape (n,)
        The linear term.
    lo : array-like of shape (n,)
        The lower bounds; -inf is allowed.
    hi : array-like of shape (n,)
        The upper bounds; inf is allowed. ``lo = hi`` holds a row out of the problem.
    A : array-like of shape (l, n), default=None
        The equalities; None is one row of ones.
    c : array-like of shape (l,), default=None
        Their right-hand sides; None is zeros.
    kink : array-like of shape (n,), default=None
        What each unit of ``|b_i|`` costs, at least zero; None is no cost at all.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.qp import SMO, DualQP, Terms
    >>> unit = Terms.c_svc([1.0, 1.0, -1.0])
    >>> [SMO().solve(DualQP(np.eye(3), unit.scaled(C))).beta.round(3).tolist() for C in (1.0, 2.0)]
    [[0.5, 0.5, -1.0], [0.667, 0.667, -1.333]]
    """

    p: Array
    lo: Array
    hi: Array
    A: Array
    c: Array
    kink: Array | None = None

    def __init__(
        self, p: Any, lo: Any, hi: Any, A: Any = None, c: Any = None, kink: Any = None
    ) -> None:
        p, lo, hi = (plain(as_real(v, name)) for v, name in ((p, "p"), (lo, "lo"), (hi, "hi")))
        if p.ndim != 1:
            raise ValueError(f"p must be a vector; got shape {p.shape}.")
        for name, bound in (("lo", lo), ("hi", hi)):
            if bound.shape != p.shape:
                raise ValueError(f"{name} must have shape {p.shape}, as p has; got {bound.shape}.")
        if not (lo <= hi).all():  # which NaN fails as well
            raise ValueError("lo must not exceed hi, and neither may be NaN.")
        if not np.isfinite(p).all():
            raise ValueError("p must be finite.")
        is_plain = A is None and c is None
        A, c = _equalities(A, c, len(p))
        kink = None if kink is None else _checked_kink(kink, "kink", p.shape)
        self.__dict__.update(p=p, lo=lo, hi=hi, A=A, c=c, kink=kink)
        if is_plain:  # known without a look at its entries
            self.__dict__["sums_to_constant"] = True

    @classmethod
    def _of_codes(cls, y: Array, lo: Array, hi: Array, *, bias: bool) -> Terms:
        """Return terms of checked codes and costs, which leave nothing else to check."""
        A, c = _one_sum(len(y)) if bias else (_no_equality(len(y)), np.zeros(0))
        made = object.__new__(cls)
        known = {"sums_to_constant": bias, "allows_zero": True}
        made.__dict__.update(known, p=plain(y), lo=lo, hi=hi, A=A, c=c)
        return made

    @classmethod
    def c_svc(cls, y: Any, C: Any = 1.0, *, bias: bool = True) -> Terms:
        """Build the terms of the C-SVC: 0 <= alpha_i <= C_i and, with a bias, sum alpha_i y_i = 0.

        Parameters
        ----------
        y : array-like of shape (n,)
            Codes -1 and +1; 0 leaves a row out of the machine.
        C : float or array-like of shape (n,), default=1.0
            The cost, one for all rows or one per row; infinite for a hard margin. Give the cost
            factors of the rows here where `scaled` supplies C.
        bias : bool, default=True
            Whether the machine has an intercept; without one there is no equality.

        Returns
        -------
        terms : Terms
            The terms in b = alpha * y.
        """
        y, inside = _codes(y, ndim=1)
        costs = checked_costs(C, len(y))
        lo, hi = _bounds(y, inside, costs)
        made = cls._of_codes(y, lo, hi, bias=bias)
        largest = float(costs.max(initial=0.0))
        if inside is True and isfinite(largest):
            made.__dict__["largest_bound"] = largest
        elif costs.ndim == 0 and isinf(largest):  # no bound but zero is finite
            made.__dict__["largest_bound"] = 0.0
        return made

    @classmethod
    def c_svcs(cls, Y: Any, C: Any = 1.0, *, bias: bool = True) -> list[Terms]:
        """Build the terms of one C-SVC per column of codes.

        Parameters
        ----------
        Y : array-like of shape (n, n_machines)
            Codes -1 and +1; 0 leaves a row out of a machine.
        C : float or array-like of shape (n,), default=1.0
            The cost, one for all rows or one per row.
        bias : bool, default=True
            Whether the machines have an intercept.

        Returns
        -------
        terms : list of Terms
            The terms of each machine.
        """
        Y, inside = _codes(Y, ndim=2)
        p = np.ascontiguousarray(Y.T)
        lo, hi = _bounds(p, inside if inside is True else inside.T, checked_costs(C, len(Y)))
        return [cls._of_codes(*parts, bias=bias) for parts in zip(p, lo, hi, strict=True)]

    @classmethod
    def epsilon_svr(cls, y: Any, C: Any = 1.0, epsilon: Any = 0.1, *, bias: bool = True) -> Terms:
        """Build the terms of the epsilon-SVR: -C_i <= b_i <= C_i and, with a bias, sum b_i = 0.

        Parameters
        ----------
        y : array-like of shape (n,)
            The targets.
        C : float or array-like of shape (n,), default=1.0
            The cost, one for all rows or one per row; zero leaves a row out.
        epsilon : float or array-like of shape (n,), default=0.1
            The deviation that costs nothing, one for all rows or one per row.
        bias : bool, default=True
            Whether the machine has an intercept; without one there is no equality.

        Returns
        -------
        terms : Terms
            The terms in b = alpha - alpha*, with y as the linear term and epsilon as the kink.
        """
        y = as_real(y, "y")
        if y.ndim != 1 or not np.isfinite(y).all():
            raise ValueError("y must be a vector of finite numbers.")
        hi = np.broadcast_to(checked_costs(C, len(y)), y.shape)
        A = None if bias else _no_equality(len(y))
        return cls(y, -hi, hi, A, kink=_checked_kink(epsilon, "epsilon", y.shape))

    @classmethod
    def one_class(cls, n: int, nu: float, weights: Any = None) -> Terms:
        """Build the terms of the one-class machine: 0 <= b_i <= w_i and sum b = nu sum w.

        Bounds are those of LIBSVM: they do not shrink as the rows become many.

        Parameters
        ----------
        n : int
            The number of rows.
        nu : float
            The fraction of the rows beyond the boundary, at most: 0 < nu <= 1.
        weights : array-like of shape (n,), default=None
            The weight of each row; zero leaves a row out. None is ones.

        Returns
        -------
        terms : Terms
            The terms; the offset rho is minus the multiplier.
        """
        weights = np.ones(n) if weights is None else as_real(weights, "weights")
        if weights.shape != (n,) or not (np.isfinite(weights) & (weights >= 0)).all():
            raise ValueError(f"weights must be a vector of {n} finite numbers of at least 0.")
        if not 0 < nu <= 1:
            raise ValueError(f"nu must satisfy 0 < nu <= 1; got {nu!r}.")
        return cls(np.zeros(n), np.zeros(n), weights, c=[nu * weights.sum()])

    @classmethod
    def enclosing_ball(cls, diagonal: Array) -> Terms:
        """Build the terms of the smallest ball around the rows: sum l = 1 and l >= 0.

        Parameters
        ----------
        diagonal : ndarray of shape (n,), of float64
            The diagonal of the kernel matrix.

        Returns
        -------
        terms : Terms
            The terms, with half of the diagonal as the linear term.
        """
        if not np.isfinite(diagonal).all():
            raise ValueError("p must be finite.")
        made = object.__new__(cls)  # nothing is left to check
        known = {"sums_to_constant": True, "largest_bound": 1.0}
        made.__dict__.update(known, p=diagonal / 2, **_unit_box(len(diagonal)))
        return made

    def scaled(self, C: float) -> Terms:
        """Return the terms with all bounds multiplied by C.

        Parameters
        ----------
        C : float
            A positive factor; with an infinite one, bounds of zero stay zero.

        Returns
        -------
        terms : Terms
            The terms, with the same p, A, c and kink.
        """
        if not C >= 0:  # which NaN fails as well
            raise ValueError(f"lo must not exceed hi: bounds cannot be multiplied by {C!r}.")
        if isinf(C):  # 0 * inf is not a number
            lo, hi = (np.where(b == 0, 0.0, np.copysign(C, b)) for b in (self.lo, self.hi))
        else:
            lo, hi = C * self.lo, C * self.hi
        made = object.__new__(Terms)  # nothing is left to check
        known = {"sums_to_constant": self.sums_to_constant, "allows_zero": self.allows_zero}
        made.__dict__.update(known, p=self.p, lo=lo, hi=hi, A=self.A, c=self.c, kink=self.kink)
        return made

    @property
    def n(self) -> int:
        """Number of variables."""
        return len(self.p)

    @cached_property
    def sums_to_constant(self) -> bool:
        """Whether the one equality is sum b = c, the form that SMO solves."""
        return self.A.shape[0] == 1 and bool((self.A == 1).all())

    @cached_property
    def allows_zero(self) -> bool:
        """Whether zeros satisfy the bounds and the equalities, as in nearly every problem."""
        fits = self.lo.max(initial=0.0) <= 0 <= self.hi.min(initial=0.0)
        return bool(fits and not self.c.any())

    @cached_property
    def largest_bound(self) -> float:
        """Largest finite bound, in absolute value."""
        largest = max(-self.lo.min(initial=0.0), self.hi.max(initial=0.0))
        if largest == np.inf:
            finite = (bound[np.isfinite(bound)] for bound in (self.lo, self.hi))
            largest = max(np.abs(bound).max(initial=0.0) for bound in finite)
        return float(largest)

    def reach(self, beta: Array, gradient: Array) -> tuple[float, float]:
        """Compute the extreme gradients of the variables that can still move.

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
        return _native.reach(plain(beta), plain(gradient), self.lo, self.hi, self.kink)

    def slopes(self, beta: Array, gradient: Array) -> tuple[Array, Array]:
        """Compute the slopes of the objective where each variable rises, and where it falls.

        Parameters
        ----------
        beta : ndarray of shape (n,)
            A point.
        gradient : ndarray of shape (n,)
            K b - p there.

        Returns
        -------
        rising, falling : ndarray of shape (n,)
            The gradient itself, but for kinks.
        """
        return slopes(beta, gradient, self.kink)

    def free(self, beta: Array) -> Any:
        """Return which variables are strictly between their bounds, and not at a kink.

        Parameters
        ----------
        beta : ndarray of shape (n,)
            A feasible point.

        Returns
        -------
        free : ndarray of shape (n,), of bool
            The variables.
        """
        free = (beta > self.lo) & (beta < self.hi)
        return free if self.kink is None else free & (beta != 0)

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
            Minus the mean slope of the free variables; without any, the middle of the interval
            that the others allow.
        """
        return _native.intercept(plain(beta), plain(gradient), self.lo, self.hi, self.kink)

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
        if len(self.c) == 0:
            return np.clip(beta, self.lo, self.hi)
        if not self.sums_to_constant:
            raise ValueError("project needs the one equality sum b = c.")
        feasible = np.empty(self.n)
        exists = _native.project_to_sum(plain(beta), self.lo, self.hi, self.c[0], feasible)
        return _checked(feasible, exists)

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
        if not self.sums_to_constant:
            return self.project(beta)
        feasible = np.empty(self.n)
        exists = _native.repair(plain(beta), self.lo, self.hi, self.c[0], feasible)
        return _checked(feasible, exists)

    def snap(self, beta: Array) -> Array:
        """Move variables that rounding left an ulp off a bound, or off a kink, onto it.

        Such a variable would count as free and determine the intercept.

        Parameters
        ----------
        beta : ndarray of shape (n,)
            A feasible point.

        Returns
        -------
        snapped : ndarray of shape (n,)
            The point, with its sum kept to rounding.
        """
        snapped = np.array(beta, dtype=np.float64)
        _native.snap(snapped, self.lo, self.hi, self.kink)
        return snapped

    def start(self) -> Array:
        """Return a feasible point with few non-zeros.

        Returns
        -------
        feasible : ndarray of shape (n,)
            Zeros, where they are feasible.
        """
        if self.allows_zero:
            return np.zeros(self.n)
        feasible = np.empty(self.n)
        return _checked(feasible, _native.first_point(self.lo, self.hi, self.c[0], feasible))


def slopes(b: Array, gradient: Array, kink: Array | None) -> tuple[Array, Array]:
    """Compute the slopes of the objective where each variable rises, and where it falls.

    Shapes: all (n,).
    """
    if kink is None:
        return gradient, gradient
    return gradient + np.where(b >= 0, kink, -kink), gradient + np.where(b > 0, kink, -kink)


def _checked_kink(kink: Any, name: str, shape: tuple[int, ...]) -> Array:
    kink = as_real(kink, name)
    if kink.shape not in ((), shape):
        raise ValueError(f"{name} must be a number or have shape {shape}; got {kink.shape}.")
    if not (np.isfinite(kink) & (kink >= 0)).all():
        raise ValueError(f"{name} must be finite and at least 0.")
    return plain(np.broadcast_to(kink, shape))


def _checked(feasible: Array, exists: bool) -> Array:
    if not exists:
        raise ValueError("no point satisfies both the bounds and sum b = c.")
    return feasible


@lru_cache(maxsize=16)
def _one_sum(n: int) -> tuple[Array, Array]:
    """Return A and c of sum b = 0; problems of one size share them, and need no check."""
    A, c = np.ones((1, n)), np.zeros(1)
    A.flags.writeable = c.flags.writeable = False
    return A, c


@lru_cache(maxsize=16)
def _unit_box(n: int) -> dict[str, Array]:
    """Return the bounds 0 <= b <= 1 and sum b = 1, which problems of one size share."""
    found = {"lo": np.zeros(n), "hi": np.ones(n), "A": _one_sum(n)[0], "c": np.ones(1)}
    for each in found.values():
        each.flags.writeable = False
    return found


def _no_equality(n: int) -> Array:
    return np.empty((0, n))


def _equalities(A: Any, c: Any, n: int) -> tuple[Array, Array]:
    """Check A and c, and fill in the defaults, which need no check."""
    ones, zero = _one_sum(n)
    if (A is None or A is ones) and (c is None or c is zero):
        return ones, zero
    A = ones if A is None else as_real(A, "A")
    if A.ndim != 2 or A.shape[1] != n:
        raise ValueError(f"A must have shape (l, {n}); got {A.shape}.")
    c = np.zeros(A.shape[0]) if c is None else as_real(c, "c")
    if c.shape != (A.shape[0],):
        raise ValueError(f"c must have shape ({A.shape[0]},), as A has rows; got {c.shape}.")
    if not (np.isfinite(A).all() and np.isfinite(c).all()):
        raise ValueError("A and c must be finite.")
    return A, c


def _codes(y: Any, ndim: int) -> tuple[Array, Any]:
    """Return the codes, and which of them are in the machine: True where all are."""
    y = as_real(y, "y")
    size = np.abs(y)
    inside = size == 1
    if y.ndim == ndim and inside.all():
        return y, True
    if y.ndim != ndim or not (inside | (size == 0)).all():
        form = "a vector" if ndim == 1 else "columns"
        raise ValueError(f"y must be {form} of -1, 0 (row not in the machine) and +1.")
    return y, inside


def _bounds(y: Array, inside: Any, C: Array) -> tuple[Array, Array]:
    """Return the lower and upper bounds of b = alpha * y."""
    # 0 * inf is not a number: rows outside the machine have no bounds to multiply.
    bound = y * C if inside is True else np.multiply(y, C, out=np.zeros_like(y), where=inside)
    return np.minimum(0, bound), np.maximum(0, bound)


def checked_costs(C: Any, n: int) -> Array:
    """Return one cost for all rows, or one per row.

    Shapes: ``C`` (n,). ``n``: number of rows. Returns ``C`` () or (n,).
    """
    C = as_real(C, "C")
    if C.shape not in ((), (n,)):
        raise ValueError(f"C must be a number or a vector of {n}, as y is; got shape {C.shape}.")
    if not (C >= 0).all():
        raise ValueError("C must be a number of at least 0.")
    return C
