"""Linear ridge machines on columns and their normal scores, with exact leave-one-out decisions.

    min  |w|^2 + C sum_i p_i (y_i - z_i'w - nu)^2,
    z = sqrt(v / q) (x standardised, normal scores of x)

with q the number of columns of z and the balanced prices p of `ridge`. The relevance v of a column
is in proportion to the energy distance of the classes along it, minus its level by chance, so that
columns of noise are shrunk more than others. Where q is small the
machines are solved in the primal: with Z centred by p and Z'PZ = V diag(e) V', one decomposition
serves every C, and with T = Z V and g = C / (1 + C e)

    f = mean(y) + T g T'P(y - mean(y)),     h_i = p_i (1 / sum p + sum_j g_j T_ij^2)
    F_i = y_i + (f_i - y_i) / (1 - u_i h_i)      u_i: share of row i's weight that is left out

Else they are the machines of `ridge` on the kernel Z Z'.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...._records import dataclass
from ...._typing import Array, Index
from ...base.feature_weights import column_variances
from ..members import energy_relevance
from .normal_scores import NormalScores
from .ridge import balanced_price, choose_ridge, least_log_loss, several_rows
from .rows import PartRows

COSTS = (0.1, 1.0, 10.0, 100.0)
_LEAST_EXCESS = 0.1  # excess of the energy distance over chance below which features are alike
_MIN_REST = 1e-8  # floor on 1 - h, which a row of enormous weight would bring to zero


@dataclass(frozen=True)
class LinearFeatures:
    """Columns side by side with their normal scores, all of deviation one over sqrt(q).

    Parameters
    ----------
    columns : ndarray of shape (q / 2,)
        The columns that vary.
    centre, spread : ndarray of shape (q / 2,)
        Their means and deviations.
    scores : NormalScores
        Their normal scores.
    """

    columns: Index
    centre: Array
    spread: Array
    scores: NormalScores

    @classmethod
    def of(cls, rows: PartRows) -> LinearFeatures:
        """Measure the columns of training rows."""
        own, count = rows.X[:, rows.used], rows.count
        spread = np.sqrt(column_variances(own, count))
        spread[spread == 0] = 1.0
        return cls(rows.used, (count @ own) / count.sum(), spread, rows.scores)

    def apply(self, X: Array) -> Array:
        """Return the features of rows, of shape (n, q)."""
        return self._joined(X, self.scores.apply(X[:, self.columns]))

    def of_training(self, rows: PartRows) -> Array:
        """Return the features of the training rows, whose scores are known."""
        return self._joined(rows.X, rows.scored)

    def _joined(self, X: Array, scored: Array) -> Array:
        Z = np.hstack([(X[:, self.columns] - self.centre) / self.spread, scored])
        return Z / np.sqrt(max(1, Z.shape[1]))


@dataclass(frozen=True)
class LinearPart:
    """Linear ridge machines.

    Parameters
    ----------
    features : LinearFeatures
        The features that they read.
    coef : ndarray of shape (q, k)
        The coefficients of the features.
    intercept : ndarray of shape (k,)
        The intercepts.
    C : float
        The chosen cost.
    left_out : ndarray of shape (m, k)
        Leave-one-out decisions of the training rows.
    importances : ndarray of shape (d,)
        Share of each column in the deviations of the columns' terms.
    """

    features: LinearFeatures
    coef: Array
    intercept: Array
    C: float
    left_out: Array
    importances: Array

    @property
    def name(self) -> str:
        """The kind of part."""
        return "linear"

    def decision_values(self, X: Array) -> Array:
        """Return the decisions on new encoded rows."""
        return self.features.apply(X) @ self.coef + self.intercept

    def additive_values(self, X: Array) -> Array:
        """Return the decisions: columns and their scores are added."""
        return self.decision_values(X)


def fit_linear(rows: PartRows, random_state: Any, *, costs: Sequence[float] = COSTS) -> LinearPart:
    """Fit linear ridge machines; C has the least leave-one-out log loss.

    Parameters
    ----------
    rows : PartRows
        The rows.
    random_state : RandomState
        Picks rows for the choice of C where there are more columns than rows.
    costs : sequence of float, default=(0.1, 1.0, 10.0, 100.0)
        The values of C to choose from.

    Returns
    -------
    part : LinearPart
        The machines.
    """
    features = LinearFeatures.of(rows)
    plain = features.of_training(rows)
    roots = np.sqrt(feature_relevance(rows))
    Z = plain * roots
    if 2 * Z.shape[1] < len(rows):
        C, coef, intercept, left_out = _primal(Z, rows, costs)
    else:
        C, solution = choose_ridge(Z @ Z.T, rows, costs, random_state)
        coef, intercept, left_out = Z.T @ solution.coef, solution.intercept, solution.left_out
    coef = roots[:, None] * coef
    importances = np.zeros(rows.X.shape[1])
    importances[features.columns] = _shares(plain, coef, rows.count)
    return LinearPart(features, coef, intercept, C, left_out, importances)


def feature_relevance(rows: PartRows) -> Array:
    """Return the relevance of each feature, which a column shares with its normal score."""
    own = energy_relevance(rows.energy_ratio, _LEAST_EXCESS, rows.layout.group[rows.used])
    return np.concatenate([own, own])


def _shares(Z: Array, coef: Array, count: Array) -> Array:
    """Return the share of each column: deviation of its own term, column and score together."""
    half = Z.shape[1] // 2
    squares = count @ Z**2
    products = count @ (Z[:, :half] * Z[:, half:])
    own, other = coef[:half], coef[half:]
    variances = (
        squares[:half, None] * own**2
        + squares[half:, None] * other**2
        + 2 * products[:, None] * own * other
    )
    sizes = np.sqrt(np.maximum(variances, 0)).sum(axis=1)
    shares: Array = sizes / (sizes.sum() or 1.0)
    return shares


def _primal(Z: Array, rows: PartRows, costs: Sequence[float]) -> tuple[float, Array, Array, Array]:
    """Return C, coefficients, intercepts and leave-one-out decisions."""
    price, Y = balanced_price(rows), rows.codes
    total = float(price.sum())
    centre, mean = (price @ Z) / total, (price @ Y) / total
    eigenvalues, V = np.linalg.eigh((Z - centre).T @ (price[:, None] * (Z - centre)))
    T = (Z - centre) @ V
    pull = T.T @ (price[:, None] * (Y - mean))
    shrinkages = [C / (1 + C * np.maximum(eigenvalues, 0)) for C in costs]
    found = [_left_out(T, g, pull, mean, price, rows) for g in shrinkages]
    best = least_log_loss(found, rows)
    coef = V @ (shrinkages[best][:, None] * pull)
    return costs[best], coef, mean - centre @ coef, found[best]


def _left_out(
    T: Array, shrinkage: Array, pull: Array, mean: Array, price: Array, rows: PartRows
) -> Array:
    """Return the leave-one-out decisions of one C."""
    Y, total = rows.codes, float(price.sum())
    decisions = mean + T @ (shrinkage[:, None] * pull)
    leverage = rows.left_out_share * price * (1 / total + T**2 @ shrinkage)
    rest = np.maximum(1 - leverage, _MIN_REST)[:, None]
    left_out = Y + (decisions - Y) / rest
    for group in several_rows(rows.groups):
        own = T[group]
        hat = ((own * shrinkage) @ own.T + 1 / total) * price[group]
        gap = decisions[group] - Y[group]
        left_out[group] = Y[group] + np.linalg.solve(np.eye(len(group)) - hat, gap)
    return left_out
