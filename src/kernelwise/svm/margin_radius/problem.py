"""The margin-radius problem of one machine: its value, gradient, Hessian and certificate.

    J(m) = max over a >= 0, y'a = 0 of  sum a - 1/2 sum_k m_k q_k(a)
    q_k(a) = (z_k'b)^2 + r_k sum_i a_i^2 / c_i,   b = a * y

A hard-margin machine with one kernel z_k z_k' + r_k / c per column (paper, eq. 8 to 12). J is
convex; J(t m) = J(m) / t; dJ/dm_k = -q_k / 2; and J = sum a / 2 where a is optimal.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import svd

from ..._typing import Array, Index
from ...qp.squared_hinge import squared_hinge


@dataclass(frozen=True)
class CentredColumns:
    """The columns of a table that vary, centred and divided by a unit."""

    kept: Index  # (k,), which columns vary
    centre: Array  # (k,), the midpoint of each range. It changes nothing but rounding errors
    radius: Array  # (k,), half of each one's range, R_k
    unit: Array  # (k,), divisor of each column: R_k ("product"), or the largest R_k ("paper")
    n_columns: int  # the number of all columns

    @classmethod
    def of(cls, X: Array, own_units: bool) -> CentredColumns:
        """Measure the columns; columns of their own unit, or of a common one."""
        low, high = X.min(axis=0), X.max(axis=0)
        radius = high / 2 - low / 2
        kept = np.flatnonzero(high > low)
        radius = radius[kept]
        with np.errstate(over="ignore", divide="ignore"):
            squares = radius**2
            if not np.isfinite(squares).all() or not np.isfinite(1 / squares).all():
                raise ValueError(
                    "X has columns whose values are too large or too small for the square of their "
                    "range to be computed; scale them first, for instance with StandardScaler."
                )
        unit = radius if own_units else np.full(len(kept), radius.max(initial=0.0))
        return cls(kept, (high / 2 + low / 2)[kept], radius, unit, X.shape[1])

    def apply(self, X: Array) -> Array:
        """Return the columns z."""
        return np.asfortranarray((X[:, self.kept] - self.centre) / self.unit)

    def ridge(self, C: float) -> Array:
        """Return r_k = R_k^2 / C, of the columns z."""
        return (self.radius / self.unit) ** 2 / C

    def everywhere(self, values: Array) -> Array:
        """Scatter values of the kept columns to all columns; zero elsewhere."""
        out = np.zeros(self.n_columns)
        out[self.kept] = values
        return out


@dataclass(frozen=True)
class WeightedPoint:
    """The problem at some weights, solved."""

    weights: Array  # (k,)
    value: float  # J, as the value of the primal problem
    beta: Array  # (n,), the signed dual coefficients a * y
    coef: Array  # (k,), the coefficients of the columns z: the decision value is z'coef + intercept
    intercept: float
    q: Array  # (k,), the q_k; the gradient is -q / 2
    violators: Any  # (n,), the rows inside the margin

    @cached_property
    def total(self) -> float:
        """The sum of a."""
        return float(np.abs(self.beta).sum())

    def gap(self, p: float = 1.0) -> float:
        """Compute the relative duality gap over all weights of lp norm at most one.

        Any a is feasible in the dual max_a sum a - 1/2 |q(a)|_p*, and the best multiple of it has
        the value (sum a)^2 / (2 |q|_p*): a lower bound of J everywhere, here relative to J. The
        ball of p < 1 lies inside that of p = 1, whose bound it gets.
        """
        largest = float(self.q.max(initial=0.0))
        if largest == 0:
            return 0.0
        norm = largest
        if p > 1:
            dual = p / (p - 1)
            norm *= float(((self.q / largest) ** dual).sum() ** (1 / dual))
        return max(0.0, 1 - self.total**2 / (2 * norm * self.value))


@dataclass(frozen=True)
class Problem:
    """The problem of one machine."""

    Z: Array  # (n, k)
    ridge: Array  # (k,), the r_k, positive
    y: Array  # (n,), codes -1 and +1
    cost: Array  # (n,), cost factors c_i of the rows: sample weight times class weight

    @property
    def size(self) -> int:
        """The number of columns."""
        return self.Z.shape[1]

    def at(self, weights: Array, start: Any = None) -> WeightedPoint:
        """Solve the machine at some weights: the L2-SVM with C / sum(m_k R_k^2).

        ``weights`` (k,): the weights m, not all zero. ``start`` (n,): the violators of a similar
        machine.
        """
        used = np.flatnonzero(weights)
        roots = np.sqrt(weights[used])
        rho = float(weights @ self.ridge) if len(used) else 1.0
        machine = squared_hinge(self.Z[:, used] * roots, self.y, self.cost / rho, start)
        beta, coef = machine.alpha * self.y, np.zeros(self.size)
        coef[used] = roots * machine.coef
        q = (beta @ self.Z) ** 2 + self.ridge * float(beta**2 @ (1 / self.cost))
        return WeightedPoint(
            weights, machine.value, beta, coef, machine.intercept, q, machine.violators
        )

    def hessian(self, point: WeightedPoint, columns: Index) -> Array:
        """Compute d2J / dm_k dm_l = V_k'P V_l, on the support rows, for some columns.

        V_k = z_k (z_k'b) + r_k b / c;  A = sum m_k z_k z_k' + rho / c;
        P = A^-1 - A^-1 1 1'A^-1 / (1'A^-1 1). Rows are multiplied by sqrt(c), which makes the
        ridge of A a number, and A is used by the singular vectors of its columns: accurate also
        where the ridge is small.
        """
        rows = np.flatnonzero(point.beta)
        root, beta = np.sqrt(self.cost[rows])[:, None], point.beta[rows]
        Z = self.Z[np.ix_(rows, columns)]
        V = root * Z * (beta @ Z) + np.outer(beta / root[:, 0], self.ridge[columns])
        used = np.flatnonzero(point.weights)
        own = root * self.Z[np.ix_(rows, used)] * np.sqrt(point.weights[used])
        rho = float(point.weights @ self.ridge)
        U, sizes, _ = svd(own, full_matrices=False, check_finite=False)
        right = np.column_stack([V, root])
        inside = U.T @ right
        outside = (right - U @ inside) / np.sqrt(rho)
        half = np.vstack([inside / np.sqrt(rho + sizes**2)[:, None], outside])
        half, last = half[:, :-1], half[:, -1]
        half -= np.outer(last, (last @ half) / float(last @ last))
        return half.T @ half
