"""The radius-margin bound, and the smallest ball around the rows.

    R^2 ||w||^2,   R^2 = max_l sum l_i K_ii - l'Kl  (sum l = 1, l >= 0),   ||w||^2 = sum alpha

Squared slack is the kernel K + I/C, for which the margin is hard and the bound holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._parameters import as_matrix, as_vector, check_number
from .._typing import Array, Gram, Matrix
from ..kernels import Cotangent, Kernel, LazyGram
from ..kernels.prepared import PreparedRows
from ..qp import SMO, DualQP, Solution, enclosing_ball
from ..qp.gram import as_gram
from ..qp.problem import ridged
from .base import CriterionValue
from .labelled import LabelledCriterion
from .labels import CodedLabels, starts


def radius(K: Array | Gram, *, tol: float = 1e-6) -> float:
    """Compute the radius of the smallest ball around the rows, in the kernel's space.

    Parameters
    ----------
    K : ndarray of shape (n, n) or Gram
        The kernel matrix.
    tol : float, default=1e-6
        The tolerance of the optimality conditions, relative to the largest entry of K.

    Returns
    -------
    radius : float
        The radius.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.criteria import radius
    >>> X = np.array([[-3.0], [0.0], [1.0]])
    >>> round(radius(X @ X.T), 6)
    2.0
    """
    check_number(tol, "tol")
    gram = as_gram(as_matrix(K))
    size = float(np.abs(gram.diag()).max(initial=0.0))
    if size == 0:
        return 0.0
    return float(np.sqrt(max(0.0, squared_radius(solve_ball(gram, SMO(tol=tol * size))))))


def margin(K: Array | Gram, beta: Any) -> float:
    """Compute the margin 1 / ||w|| of a machine, in the kernel's space.

    Parameters
    ----------
    K : ndarray of shape (n, n) or Gram
        The kernel matrix.
    beta : array-like of shape (n,)
        The signed dual coefficients alpha * y.

    Returns
    -------
    margin : float
        The distance between the decision surface and the points with decision value 1; infinite
        where all coefficients are zero.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.criteria import margin
    >>> X = np.array([[-2.0], [2.0]])
    >>> margin(X @ X.T, [-0.125, 0.125])
    2.0
    """
    gram = as_gram(as_matrix(K))
    beta = as_vector(beta, "beta", gram.shape[0])
    square = float(beta @ gram.matvec(beta))
    return 1 / float(np.sqrt(square)) if square > 0 else float("inf")


def solve_ball(K: Array | Gram, solver: SMO, start: Solution | None = None) -> Solution:
    """Solve for the smallest ball around the rows.

    Shapes: ``K`` (n, n). Returns ``solution``, the ball; its coefficients are those of the
    centre.
    """
    return solver.solve(enclosing_ball(K), start=start)


def squared_radius(ball: Solution) -> float:
    """Return the squared radius of a solved ball: twice its dual objective.

    ``ball``: the result of `solve_ball`.
    """
    return -2 * ball.objective


@dataclass(frozen=True)
class RadiusMargin(LabelledCriterion):
    """The radius-margin bound of the L2-SVM, summed over the machines.

    Parameters
    ----------
    C : float, default=1.0
        The cost of squared slack, C/2 sum xi^2; infinite for a hard margin.
    solver : SMO, default=SMO(budget=0)
        The solver of the machines and the ball.
    threads : int, default=1
        Threads over the machines.
    ball : bool, default=True
        Whether the radius is that of the smallest ball around the rows. False takes R = 1, an
        upper bound of the radius where k(x, x) = 1 and there is no ridge.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.criteria import RadiusMargin
    >>> X, y = np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0])
    >>> round(RadiusMargin(C=np.inf).evaluate(X @ X.T, y).value, 6)
    1.0
    """

    ball: bool = True

    slack = "squared"

    def _evaluate(
        self, K: Array | Gram, labels: CodedLabels, start: Any, gradient: bool
    ) -> CriterionValue:
        cost = self.C * labels.weights
        gram = as_gram(ridged(self.dense(K, labels.largest_weight), cost))
        return self._of_ridged(gram, labels, cost, start, gradient)

    def _of_ridged(
        self, gram: Gram, labels: CodedLabels, cost: Array, start: Any, gradient: bool
    ) -> CriterionValue:
        """Evaluate the bound at a matrix that has its ridge."""
        terms = labels.hard_terms
        begin, first = ([], None) if start is None else start
        begin = starts(begin or None, labels.n_machines)

        def solve(j: int) -> Solution:
            return self.solver.solve(DualQP(gram, terms[j]), start=begin[j])

        machines = tuple(self._solve_all(solve, range(labels.n_machines)))
        # Twice the dual objective: like R^2 it has an error of second order in the tolerance.
        norm = -2 * sum(machine.objective for machine in machines)
        ball = solve_ball(gram, self.solver, first) if self.ball else None
        square = 1.0 if ball is None else squared_radius(ball)
        carry = (machines, ball)
        if not gradient:
            return CriterionValue(square * norm, None, machines=machines, carry=carry)
        cotangent = _cotangent(machines, ball, square, norm)

        def by_C() -> float:
            return 0.0 if np.isinf(self.C) else -float(cotangent.diag() @ (1 / cost)) / self.C

        return CriterionValue(square * norm, cotangent, by_C, machines, carry)

    def prepared(self, kernel: Kernel, X: Matrix, labels: CodedLabels) -> PreparedBound | None:
        if self.threads > 1 or not self.ball or sp.issparse(X):
            return None
        gram = LazyGram(kernel, X)
        is_single = self.dtype(gram, labels.largest_weight) == np.float32
        if not (is_single and self._has_room_for(gram)):
            return None
        rows = PreparedRows.of(kernel, gram.X, labels.n_machines + 1)
        return None if rows is None else PreparedBound(rows, labels)


class PreparedBound:
    """The bound of a kernel on rows that are prepared for many weights and costs.

    ``labels``: their codes and cost factors.
    """

    def __init__(self, rows: PreparedRows, labels: CodedLabels) -> None:
        self._rows, self._labels = rows, labels

    def evaluate(
        self, kernel: Any, criterion: RadiusMargin, start: Any
    ) -> tuple[CriterionValue, dict[str, Any]] | None:
        """Evaluate the bound, and its derivative by the parameters of the kernel.

        ``kernel``: the kernel, of the kind that the rows are prepared for. ``criterion``: the
        bound, with its C. ``start``: the ``carry`` of an evaluation at a similar kernel. Returns
        ``found``, None where only the general way leads.
        """
        cost = criterion.C * self._labels.weights
        K = self._rows.matrix(kernel, 1 / cost) if cost.min() > 0 else None
        if K is None:
            return None
        found = criterion._of_ridged(as_gram(K), self._labels, cost, start, True)
        assert found.cotangent is not None
        assert found.cotangent.scale is not None
        return found, kernel.gradients(
            self._rows.contract(found.cotangent.factors, found.cotangent.scale)
        )


def _cotangent(machines: Any, ball: Solution | None, square: float, norm: float) -> Cotangent:
    """Return -R^2 sum_j b_j b_j' + ||w||^2 (diag(l) - l l')."""
    factors = [machine.beta for machine in machines]
    scale = [-square] * len(machines)
    if ball is None:
        return Cotangent(np.column_stack(factors), np.array(scale))
    columns = np.empty((len(ball.beta), len(factors) + 1))
    for column, own in zip(columns.T, [*factors, ball.beta], strict=True):
        column[...] = own
    return Cotangent(columns, np.array([*scale, -norm]), diagonal=norm * ball.beta)
