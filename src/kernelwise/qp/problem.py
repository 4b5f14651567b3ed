"""The dual problem of a support vector machine: a kernel matrix and the terms around it.

    min 1/2 b'Kb - p'b   s.t.   A b = c,   lo <= b <= hi

in signed form: b = alpha * y, so that K is the same for all machines. With the Lagrangian
L = objective + nu'(A b - c) the multiplier nu is the intercept when A is a row of ones.
"""

from __future__ import annotations

from dataclasses import dataclass

from .. import _native
from .._typing import Array, Gram
from .gram import as_gram
from .terms import Terms, plain


@dataclass(frozen=True, eq=False, init=False)
class DualQP:
    """A box-constrained quadratic program with linear equalities, in signed form.

    It only pairs a matrix with terms: another kernel or another C is another call.

    Parameters
    ----------
    gram : ndarray of shape (n, n) or Gram
        The kernel matrix K, stored or lazy. An array counts as positive semi-definite; wrap it in
        ``StoredGram(K, is_psd=False)`` where it is not.
    terms : Terms
        The linear term, bounds and equalities.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.qp import SMO, DualQP, Terms
    >>> y = np.array([1.0, 1.0, -1.0])
    >>> qp = DualQP(np.eye(3), Terms(p=y, lo=np.minimum(0, y), hi=np.maximum(0, y)))
    >>> SMO().solve(qp).beta.round(3)
    array([ 0.5,  0.5, -1. ])
    """

    gram: Gram
    terms: Terms

    def __init__(self, gram: Array | Gram, terms: Terms) -> None:
        if not isinstance(terms, Terms):
            raise TypeError(f"terms must be Terms, such as Terms.c_svc(y, C); got {terms!r}.")
        gram = as_gram(gram)
        shape, n = gram.shape, len(terms.p)
        if len(shape) != 2 or shape[0] != shape[1]:
            raise ValueError(f"K must be square; got shape {tuple(shape)}.")
        if shape[0] != n:
            raise ValueError(f"K has {shape[0]} rows, but the linear term has {n} entries.")
        self.__dict__.update(gram=gram, terms=terms)

    @property
    def p(self) -> Array:
        """The linear term."""
        return self.terms.p

    @property
    def lo(self) -> Array:
        """The lower bounds."""
        return self.terms.lo

    @property
    def hi(self) -> Array:
        """The upper bounds."""
        return self.terms.hi

    @property
    def A(self) -> Array:
        """The equalities, one per row."""
        return self.terms.A

    @property
    def c(self) -> Array:
        """The right-hand sides of the equalities."""
        return self.terms.c

    @property
    def n(self) -> int:
        """Number of variables."""
        return len(self.terms.p)

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
        gradient = self.gradient(beta) if gradient is None else gradient
        residual = plain(gradient + self.A.T @ nu)
        return float(_native.kkt_violation(plain(beta), residual, self.lo, self.hi))

    def duality_gap(self, beta: Array, nu: Array, gradient: Array | None = None) -> float:
        """Compute an upper bound on the distance of the objective from its minimum.

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
        gradient = self.gradient(beta) if gradient is None else gradient
        pull, constant = plain(self.A.T @ nu), float(nu @ self.c)
        point = plain(beta), plain(gradient)
        return float(_native.duality_gap(*point, pull, self.p, self.lo, self.hi, constant))
