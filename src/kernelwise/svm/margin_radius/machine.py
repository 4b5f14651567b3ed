"""From weights of scaled columns to a machine of the columns as they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._typing import Array, Codes
from ...qp import Solution
from ...qp.squared_hinge import squared_hinge
from .problem import CentredColumns
from .solver import MarginRadiusResult


@dataclass(frozen=True)
class WeightedMachine:
    """A fitted machine, in the units of the columns as they are."""

    weights: Array  # (d,), the weights mu, of sum one; zero where a column is constant or not used
    coef: Array  # (d,)
    # the dual coefficients for the kernel sum_k mu_k x_k z_k, the intercept and the certificate
    solution: Solution
    radius: float  # the radius that the objective has
    margin: float  # the margin in the space of weighted columns
    objective: float  # the objective at the minimum
    # (d,), |w_k| R_k scaled to sum one: the largest contribution of each column to a decision value
    shares: Array
    start: Array  # (k,), the weights of the scaled columns, from which a similar problem starts
    n_solves: int  # the machines solved on the way

    @classmethod
    def of(
        cls,
        learned: MarginRadiusResult,
        columns: CentredColumns,
        squared_radius: float,
        per_unit: bool,
    ) -> WeightedMachine:
        """Undo the scaling of the columns.

        With z_k = x_k / u_k the kernel sum m_k z_k z_k' is t sum mu_k x_k x_k' of weights
        mu_k = m_k / (u_k^2 t) with sum one. ``squared_radius`` is that of the scaled columns;
        ``per_unit`` says that the objective is in the units of the columns.
        """
        point, m = learned.point, learned.point.weights
        relative = m / columns.unit**2
        t = float(relative.sum()) if len(m) else 1.0
        used = m > 0
        norm = float((point.coef[used] ** 2 / m[used]).sum())
        beta, squares = t * point.beta, t * norm
        intercept = point.intercept - float(point.coef / columns.unit @ columns.centre)
        solution = Solution(
            beta=beta,
            nu=np.array([intercept]),
            gradient=np.empty(0),
            objective=squares / 2 - float(np.abs(beta).sum()),
            gap=learned.gap,
            violation=learned.gap,
            n_iter=learned.n_iter,
            status=learned.status,
        )
        size = np.abs(point.coef) * columns.radius / columns.unit
        scale = columns.unit[0] ** 2 if per_unit and len(m) else 1.0
        return cls(
            weights=columns.everywhere(relative / t),
            coef=columns.everywhere(point.coef / columns.unit),
            solution=solution,
            radius=float(np.sqrt(squared_radius / t)),
            margin=float(1 / np.sqrt(squares)) if squares > 0 else np.inf,
            objective=point.value / scale,
            shares=columns.everywhere(size / size.sum() if size.any() else size),
            start=m,
            n_solves=learned.n_solves,
        )

    def decide_without(self, Z: Array, columns: CentredColumns, y: Codes, costs: Array) -> Array:
        """Solve the machine again at its weights, without the rows of code 0.

        ``Z`` (n, k): the scaled columns of the training rows. ``y`` (n,): codes -1, 0 (row left
        out) and +1. ``costs`` (n,): C of each row. Returns ``decisions`` (n,), the decision values
        of all rows.
        """
        m = self.start
        used, kept = np.flatnonzero(m), np.flatnonzero(y)
        rows = Z[:, used] * np.sqrt(m[used])
        t = float((m / columns.unit**2).sum()) if len(m) else 1.0
        rho = self.radius**2 * t if len(used) else 1.0
        solved = squared_hinge(rows[kept], y[kept].astype(np.float64), costs[kept] / rho)
        return rows @ solved.coef + solved.intercept
