"""Leave-one-out without refitting: the span of the support vectors (Vapnik and Chapelle 2000).

Without row i the machine's decision value there is f(x_i) - b_i S_i^2, if the sets of free and
bounded support vectors do not change. S_i is the distance of x_i from the span of the free ones:

    free      S_i^2 = 1 / (A^-1)_ii                 A: the bordered matrix of the free ones
    bounded   S_i^2 = K_ii - (k, 1)' A^-1 (k, 1)

Leaving out a row that is not a support vector changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import expit

from .._parameters import as_matrix, as_vector
from .._typing import Array, Gram, Index
from ..kernels import Cotangent
from ..qp import SMO, DualQP, Solution
from ..qp.gram import as_gram
from ..qp.terms import checked_costs
from .base import CriterionValue
from .free_system import FreeSystem
from .implicit import ImplicitMachine, implicit
from .labelled import LabelledCriterion, SolvedPart
from .labels import CodedLabels, as_codes, starts

# Diagonal entry of the inverse, relative to 1 / K_ii, below which no other row replaces this one.
_LEAST = 1e-12


def span(K: Array | Gram, beta: Any, C: Any = np.inf, *, bias: bool = True) -> Array:
    """Compute the squared span of each support vector.

    Parameters
    ----------
    K : ndarray of shape (n, n) or Gram
        The kernel matrix.
    beta : array-like of shape (n,)
        The signed dual coefficients alpha * y.
    C : float or array-like of shape (n,), default=inf
        The bound of alpha, one for all rows or one per row.
    bias : bool, default=True
        Whether the machine has a bias.

    Returns
    -------
    squared : ndarray of shape (n,)
        The squared spans; zero for rows that are not support vectors.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.criteria import span
    >>> X = np.array([[-1.0], [1.0], [3.0]])
    >>> span(X @ X.T + 1e-6 * np.eye(3), [-0.5, 0.5, 0.0]).round(3)
    array([4., 4., 0.])
    """
    gram = as_gram(as_matrix(K))
    beta = as_vector(beta, "beta", gram.shape[0])
    diag, C = gram.diag(), checked_costs(C, len(beta))
    free, bounded = split(beta, C)
    squared = np.zeros(len(beta))
    if len(free) == 0:
        squared[bounded] = diag[bounded]
        return squared
    system = FreeSystem.of(gram, free, bias=bias)
    inverse = system.inverse_diagonal
    # Without the only free support vector the bias is undetermined, as if none were free.
    alone = inverse * diag[free] <= _LEAST
    squared[free] = np.where(alone, diag[free], 1 / np.where(alone, 1, inverse))
    if len(bounded):
        explained = system.explained(gram.block(bounded, free).T)
        squared[bounded] = np.maximum(0, diag[bounded] - explained)
    return squared


def split(beta: Array, C: Any) -> tuple[Index, Index]:
    """Return the free and the bounded support vectors.

    Shapes: ``beta`` (n,), ``C`` (n,).
    """
    alpha = np.abs(beta)
    limit = (1 - 1e-10) * np.asarray(C, dtype=np.float64)
    support, inside = alpha > 0, alpha < limit
    return np.flatnonzero(support & inside), np.flatnonzero(support > inside)


def loo_decisions(
    K: Array | Gram, decisions: Any, beta: Any, C: Any = np.inf, *, bias: bool = True
) -> Array:
    """Estimate the decision value of each training row by the machine without that row.

    Parameters
    ----------
    K : ndarray of shape (n, n) or Gram
        The kernel matrix.
    decisions : array-like of shape (n,)
        The machine's decision values on the training rows.
    beta : array-like of shape (n,)
        The signed dual coefficients.
    C : float or array-like of shape (n,), default=inf
        The bound of alpha.
    bias : bool, default=True
        Whether the machine has a bias.

    Returns
    -------
    decisions : ndarray of shape (n,)
        The estimated decision values.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.criteria import loo_decisions
    >>> X = np.array([[-1.0], [1.0]])
    >>> loo_decisions(X @ X.T + np.eye(2), [-0.5, 0.5], [-0.5, 0.5], C=0.5)
    array([ 0.5, -0.5])
    """
    gram = as_gram(as_matrix(K))
    beta = as_vector(beta, "beta", gram.shape[0])
    decisions = as_vector(decisions, "decisions", gram.shape[0])
    return decisions - beta * span(gram, beta, C, bias=bias)


def loo_error(
    K: Array | Gram, y: Any, decisions: Any, beta: Any, C: Any = np.inf, *, bias: bool = True
) -> float:
    """Estimate the leave-one-out error of a fitted machine, as a fraction of its rows.

    Parameters
    ----------
    K : ndarray of shape (n, n) or Gram
        The kernel matrix.
    y : array-like of shape (n,)
        Codes -1, 0 (row not in the machine) and +1.
    decisions : array-like of shape (n,)
        The machine's decision values on the training rows.
    beta : array-like of shape (n,)
        The signed dual coefficients.
    C : float or array-like of shape (n,), default=inf
        The bound of alpha.
    bias : bool, default=True
        Whether the machine has a bias.

    Returns
    -------
    error : float
        The fraction of rows on the wrong side when left out; a decision of zero is wrong.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.criteria import loo_error
    >>> X, y = np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0])
    >>> loo_error(X @ X.T + np.eye(2), y, [-0.5, 0.5], [-0.5, 0.5], C=0.5)
    1.0
    """
    gram = as_gram(as_matrix(K))
    y = as_codes(as_vector(y, "y", gram.shape[0]))[:, 0]
    margins = y * loo_decisions(gram, decisions, beta, C, bias=bias)
    return float((margins[y != 0] <= 0).mean())


@dataclass(frozen=True)
class LeaveOneOut(LabelledCriterion):
    """The span estimate of the leave-one-out error of the C-SVC, summed over the machines.

    Parameters
    ----------
    C : float, default=1.0
        The cost of slack.
    solver : SMO, default=SMO()
        The solver of the machines; an exact one, as their solutions are differentiated.
    threads : int, default=1
        Threads over the machines.
    slope : float, default=5.0
        The smooth error of a row is 1 / (1 + exp(slope * margin)). An infinite slope counts errors,
        which has no gradient.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.criteria import LeaveOneOut
    >>> X = np.linspace(-2, 2, 10)[:, None]
    >>> y = np.where(X[:, 0] > 0, 1.0, -1.0)
    >>> LeaveOneOut(C=0.1, slope=np.inf).evaluate(X @ X.T, y, gradient=False).value
    0.0
    """

    solver: SMO = field(default_factory=SMO)
    slope: float = 5.0

    def _evaluate(
        self, K: Array | Gram, labels: CodedLabels, start: Any, gradient: bool
    ) -> CriterionValue:
        if gradient and np.isinf(self.slope):
            raise ValueError("a count of errors has no gradient; give a finite slope.")
        begin, gram = starts(start, labels.n_machines), as_gram(K)
        bound, terms = self.C * labels.weights, labels.terms(self.C)

        def solve(j: int) -> SolvedPart:
            qp = DualQP(gram, terms[j])
            solution = self.solver.solve(qp, start=begin[j])
            return solution, *self._of_machine(gram, solution, qp.p, bound, gradient)

        value, cotangent, by_C, machines = self._total(solve, labels.n_machines, gradient)
        return CriterionValue(value, cotangent, by_C, machines, machines)

    def _of_machine(
        self, K: Gram, solution: Solution, y: Array, bound: Array, gradient: bool
    ) -> tuple[float, Cotangent | None, float]:
        """Return one machine's value, its cotangent, and C times its derivative by C."""
        decisions = solution.gradient + y + solution.nu[0]
        squared = span(K, solution.beta, bound)
        margins = (y * (decisions - solution.beta * squared))[y != 0]
        if np.isinf(self.slope):
            return float((margins <= 0).mean()), None, 0.0
        losses = expit(-self.slope * margins)
        value = float(losses.mean())
        if not gradient:
            return value, None, 0.0
        by_decision = np.zeros(len(y))
        by_decision[y != 0] = -self.slope * losses * (1 - losses) / len(losses)
        by_decision *= y
        machine = ImplicitMachine.of(K, solution, y, *split(solution.beta, bound))
        by_span = -by_decision * solution.beta
        through = implicit(machine, by_decision, by_beta=-by_decision * squared)
        direct = _span_cotangent(machine, squared, by_span)
        return value, Cotangent.total([through.cotangent, direct]), through.by_bounds


def _span_cotangent(machine: ImplicitMachine, squared: Array, by_span: Array) -> Cotangent:
    """Return the cotangent of sum_i by_span_i S_i^2: one outer product per support vector.

    free      d S_i^2 = S_i^4 m' dK m,        m the i-th column of the inverse
    bounded   d S_j^2 = (e_j - v)' dK (e_j - v),   v the coefficients of j's projection
    """
    n, free, bounded = machine.n, machine.free, machine.bounded
    if machine.system is None:
        diagonal = np.zeros(n)
        diagonal[bounded] = by_span[bounded]
        return Cotangent(np.empty((n, 0)), diagonal=diagonal)
    factors = np.zeros((n, len(free) + len(bounded)))
    factors[free, : len(free)] = machine.system.inverse * squared[free]
    if len(bounded):
        columns = machine.K.block(free, bounded)
        factors[free, len(free) :] = -machine.system.project(columns)
    factors[bounded, len(free) + np.arange(len(bounded))] = 1
    moving = np.concatenate([by_span[free], by_span[bounded] * (squared[bounded] > 0)])
    diagonal = np.zeros(n)
    if machine.system.bias and len(free) == 1:  # its squared span is K_ii
        factors[free, 0] = 0
        diagonal[free] = by_span[free]
    return Cotangent(factors, moving, diagonal=diagonal)
