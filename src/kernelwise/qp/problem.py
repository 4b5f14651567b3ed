"""The dual problem of all machines here, and its solutions with their certificates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _native
from .._parameters import as_matrix
from .._typing import Array, Gram
from .gram import as_gram
from .terms import Terms, checked_costs, plain


@dataclass(frozen=True, eq=False, init=False)
class DualQP:
    """A box-constrained quadratic program with linear equalities, in signed form.

    It is ``min 1/2 b'Kb - p'b + kink'|b|  s.t.  A b = c,  lo <= b <= hi``, and only pairs a matrix
    with terms: another kernel or another C is another call.

    Parameters
    ----------
    gram : ndarray of shape (n, n) or Gram
        The kernel matrix K, stored or lazy. An array counts as positive semi-definite; wrap it in
        ``StoredGram(K, is_psd=False)`` where it is not.
    terms : Terms
        The linear term, kinks, bounds and equalities.

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
    def kink(self) -> Array | None:
        """What each unit of ``|b|`` costs; None is no cost at all."""
        return self.terms.kink

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
            The gradient of the objective without kinks.
        """
        return self.gram.matvec(beta) - self.p

    def objective(self, beta: Array, gradient: Array | None = None) -> float:
        """Compute ``1/2 b'Kb - p'b + kink'|b|``.

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
        smooth = float(0.5 * beta @ (gradient - self.p))
        return smooth if self.kink is None else smooth + float(self.kink @ np.abs(beta))

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
        return float(_native.kkt_violation(plain(beta), residual, self.lo, self.hi, self.kink))

    def duality_gap(self, beta: Array, nu: Array, gradient: Array | None = None) -> float:
        """Compute an upper bound on the distance of the objective from its minimum.

        For a positive semi-definite K and any x in the box, with r = t (K b + A'nu) - p::

            objective(x) >= -1/2 t^2 b'Kb - t nu'c + sum_i min over x_i of r_i x_i + kink_i |x_i|.

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
        point, box = (plain(beta), plain(gradient)), (self.lo, self.hi)
        return float(_native.duality_gap(*point, pull, self.p, *box, constant, self.kink))


@dataclass(frozen=True)
class SolverState:
    """A feasible point on the way to a solution."""

    beta: Array
    gradient: Array  # empty where it is not computed yet
    violation: float
    n_iter: int
    status: str  # empty while the solve goes on

    @classmethod
    def start(cls, beta: Array) -> SolverState:
        """Return the state before anything is computed."""
        return cls(beta, np.empty(0), np.inf, 0, "")


@dataclass(frozen=True)
class Solution:
    """A solution and its certificate.

    Parameters
    ----------
    beta : ndarray of shape (n,)
        The signed dual coefficients.
    nu : ndarray of shape (l,)
        The multipliers of the equalities; the intercept for a support vector machine.
    gradient : ndarray of shape (n,)
        K b - p; a row's decision value is ``gradient + p + A'nu``.
    objective : float
        ``1/2 b'Kb - p'b + kink'|b|``.
    gap : float
        Upper bound on the distance of the objective from its minimum; NaN for indefinite kernels.
    violation : float
        The largest violation of the optimality conditions.
    n_iter : int
        Number of steps.
    status : str
        "converged", "max_iter" (out of steps), "stalled" (no step makes progress) or "degenerate"
        (the multipliers of several equalities are unbounded).
    """

    beta: Array
    nu: Array
    gradient: Array
    objective: float
    gap: float
    violation: float
    n_iter: int
    status: str

    @property
    def converged(self) -> bool:
        """Whether the solver reached its tolerance."""
        return self.status == "converged"

    @classmethod
    def at(
        cls,
        qp: DualQP,
        state: SolverState,
        nu: Array | None = None,
        certificate: Array | None = None,
    ) -> Solution:
        """Certify the final state of a solver.

        Parameters
        ----------
        qp : DualQP
            The problem.
        state : SolverState
            The final state.
        nu : ndarray of shape (l,), default=None
            The multipliers; None computes the one of sum b = c.
        certificate : ndarray of shape (4,), default=None
            The multiplier of sum b = c, objective, gap and violation, where they are known.

        Returns
        -------
        solution : Solution
            The point with its multipliers, objective, gap and violation.
        """
        beta, gradient = state.beta, state.gradient
        if certificate is not None:
            nu = certificate[:1]
            objective, gap, violation = certificate[1:].tolist()
        elif nu is None:
            own, *rest = _native.certify(beta, gradient, qp.p, qp.lo, qp.hi, qp.c[0], qp.kink)
            nu = np.array([own])
            objective, gap, violation = rest
        else:
            objective = qp.objective(beta, gradient)
            gap = qp.duality_gap(beta, nu, gradient)
            violation = qp.kkt_violation(beta, nu, gradient)
        gap = gap if qp.gram.is_psd else float("nan")
        return cls(beta, nu, gradient, objective, gap, violation, state.n_iter, state.status)


def c_svc(
    K: Array | Gram, y: Any, C: Any = 1.0, *, is_psd: bool = True, bias: bool = True
) -> DualQP:
    """Build the C-SVC: hinge loss, 0 <= alpha_i <= C_i, sum alpha_i y_i = 0.

    Parameters
    ----------
    K : ndarray of shape (n, n) or Gram
        The kernel matrix.
    y : array-like of shape (n,)
        Codes -1 and +1; 0 leaves a row out of the machine.
    C : float or array-like of shape (n,), default=1.0
        The cost, one for all rows or one per row.
    is_psd : bool, default=True
        Whether a stored K is positive semi-definite.
    bias : bool, default=True
        Whether the machine has an intercept; without one there is no equality.

    Returns
    -------
    qp : DualQP
        The problem in b = alpha * y.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.qp import SMO, c_svc
    >>> X, y = np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0])
    >>> SMO().solve(c_svc(X @ X.T, y, C=10.0)).beta
    array([-0.5,  0.5])
    """
    terms = Terms.c_svc(y, C, bias=bias)
    return DualQP(as_gram(as_matrix(K, terms.n), is_psd), terms)


def hard_margin(K: Array | Gram, y: Any, *, bias: bool = True) -> DualQP:
    """Build the hard-margin machine: no slack, alpha_i >= 0, sum alpha_i y_i = 0.

    Parameters
    ----------
    K : ndarray of shape (n, n) or Gram
        The kernel matrix. Where it does not separate the classes the problem is unbounded.
    y : array-like of shape (n,)
        Codes -1 and +1; 0 leaves a row out of the machine.
    bias : bool, default=True
        Whether the machine has an intercept; without one there is no equality.

    Returns
    -------
    qp : DualQP
        The problem in b = alpha * y.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.qp import SMO, hard_margin
    >>> X, y = np.array([[-2.0], [2.0]]), np.array([-1.0, 1.0])
    >>> SMO().solve(hard_margin(X @ X.T, y)).beta
    array([-0.125,  0.125])
    """
    return c_svc(K, y, np.inf, bias=bias)


def l2_svm(K: Array, y: Any, C: Any = 1.0) -> DualQP:
    """Build the L2-SVM: squared slack C/2 sum xi^2, the hard margin of K + I/C.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        The kernel matrix; for a lazy one give ``kernel + Ridge(1 / C)`` to `hard_margin`.
    y : array-like of shape (n,)
        Codes -1 and +1; 0 leaves a row out of the machine.
    C : float or array-like of shape (n,), default=1.0
        The cost, one for all rows or one per row.

    Returns
    -------
    qp : DualQP
        The problem in b = alpha * y.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.qp import SMO, l2_svm
    >>> X, y = np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0])
    >>> SMO().solve(l2_svm(X @ X.T, y, C=1.0)).beta.round(4)
    array([-0.3333,  0.3333])
    """
    K = as_matrix(K)
    return hard_margin(ridged(K, checked_costs(C, K.shape[0])), y)


def ridged(K: Array, C: Array) -> Array:
    """Add 1/C to the diagonal of a kernel matrix: squared slack as a kernel.

    Shapes: ``K`` (n, n). ``C`` () or (n,): the cost, one for all rows or one per row. Returns
    ``ridged`` (n, n): a copy of K with the ridge, in float64 unless K is in float32.
    """
    if (C == 0).any():
        raise ValueError("C must be positive.")
    out = np.array(K, dtype=K.dtype if K.dtype == np.float32 else np.float64)
    diagonal = np.einsum("ii->i", out)  # a view that can be written to
    diagonal += (1 / C).astype(out.dtype)
    return out


def enclosing_ball(K: Array | Gram) -> DualQP:
    """Build the smallest ball around the rows: max sum l_i K_ii - l'Kl, sum l = 1, l >= 0.

    At the solution the squared radius is ``2 * nu + l'Kl``.

    Parameters
    ----------
    K : ndarray of shape (n, n) or Gram
        The kernel matrix.

    Returns
    -------
    qp : DualQP
        The problem, with half the objective so that its quadratic term is 1/2 l'Kl.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.qp import SMO, enclosing_ball
    >>> X = np.array([[-3.0], [0.0], [1.0]])
    >>> SMO().solve(enclosing_ball(X @ X.T)).beta.round(4)
    array([0.5, 0. , 0.5])
    """
    gram = as_gram(as_matrix(K))
    return DualQP(gram, Terms.enclosing_ball(gram.diag()))
