"""Tests of the columns: whether one helps machines on rows that they have not seen.

    for each fold of three:
        on the other rows: learn the members, choose width and C, solve
        for each column j with at least an equal share of the weight there:
            fbar_j(x) = f(x) with column j averaged over its values in the table
            d_ij = sum over machines of y_i (f(x_i) - fbar_j(x_i))      for the rows i of the fold
    p_j = 2 P(T > mean(d_j) / (sd(d_j) / sqrt(n)))                      T: Student's t

The kernel is a product over the columns, so that the average needs no random draws: the factor
k_j(x_j, s_j) of each support vector s becomes its mean over the table. A column that a fold did
not test adds zeros. The factor two is caution: the folds teach each other, so that an association
of the whole table by chance counts with either sign.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import false_discovery_control
from scipy.stats import t as student

from ..._records import dataclass
from ..._typing import Array, Index
from ..paths.folds import deal
from ..paths.rows import TrainingRows
from .columns import ColumnLayout
from .members import has_equal_share, shares_of
from .parts.hinge import HingeMachines, HingeSettings, fit_hinge


@dataclass(frozen=True)
class ColumnTests:
    """The tests of all columns.

    Parameters
    ----------
    pvalues : ndarray of shape (d,)
        The p-value of each column; one where no fold tested it.
    statistic : ndarray of shape (d,)
        Mean gain over its standard error; zero where no fold tested the column.
    tested : ndarray of shape (d,)
        Whether a fold tested the column.
    """

    pvalues: Array
    statistic: Array
    tested: Any

    def adjusted(self, error_rate: str) -> Array:
        """Return p-values that account for the number of columns.

        Parameters
        ----------
        error_rate : {"fdr", "fwer"}
            The rate to bound: the expected share of false columns among the selected ones, by
            Benjamini and Hochberg, or the probability of any, by Holm.

        Returns
        -------
        adjusted : ndarray of shape (d,)
            A column is selected at level alpha where this is at most alpha.
        """
        if error_rate == "fdr":
            return np.asarray(false_discovery_control(self.pvalues))
        return holm(self.pvalues)


def holm(pvalues: Array) -> Array:
    """Return p-values adjusted by Holm's step-down method."""
    order = np.argsort(pvalues, kind="stable")
    factors = np.arange(len(pvalues), 0, -1)
    adjusted = np.empty(len(pvalues))
    adjusted[order] = np.minimum(1, np.maximum.accumulate(factors * pvalues[order]))
    return adjusted


def column_tests(
    table: TrainingRows,
    layout: ColumnLayout,
    settings: HingeSettings,
    random_state: Any,
    n_folds: int = 3,
) -> ColumnTests:
    """Test every column of the user by the machines of other folds.

    Parameters
    ----------
    table : TrainingRows
        The distinct rows, in their own units. Their weights count rows.
    layout : ColumnLayout
        Which encoded columns make up a column of the user.
    settings : HingeSettings
        The settings of the machines.
    random_state : RandomState
        Deals out the rows.
    n_folds : int, default=3
        The number of folds.

    Returns
    -------
    tests : ColumnTests
        The tests.
    """
    if np.unique(table.classes, return_counts=True)[1].min() < 2:
        raise ValueError("test needs at least two different rows of each class.")
    gains = np.zeros((len(table), layout.n_source))
    is_tested = np.zeros(gains.shape, dtype=bool)
    for held in deal(table.classes, n_folds, random_state):
        rest = np.setdiff1d(np.arange(len(table)), held)
        machines = fit_hinge(table.part(rest), layout, settings, random_state)
        columns = np.flatnonzero(has_equal_share(shares_of(machines.sources, machines.columns)))
        for column in columns.tolist():
            encoded = np.flatnonzero(layout.source == column)
            gains[held, column] = _gains(machines, table, held, encoded)
        is_tested[np.ix_(held, columns)] = True
    return _student(gains, is_tested, table.sample_weight)


def _gains(machines: HingeMachines, table: TrainingRows, held: Index, columns: Index) -> Array:
    """Return how much the decisions on held-out rows lose without some columns, summed up."""
    gains = np.zeros(len(held))
    own, share = machines.table, table.sample_weight / table.sample_weight.sum()
    for kernel, solutions in zip(machines.kernels, machines.solutions, strict=True):
        beta = np.array([solution.beta for solution in solutions]).T
        support = np.flatnonzero(beta.any(axis=1))
        vectors, beta = own.X[support], beta[support]
        alone = _restricted(kernel, columns)
        factor = alone(table.X[np.ix_(held, columns)], vectors[:, columns])
        mean = share @ alone(table.X[:, columns], vectors[:, columns])
        K = kernel(table.X[held], vectors)
        rest = np.divide(K, factor, out=np.zeros_like(K), where=factor > 0)
        losses = K @ beta - rest @ (mean[:, None] * beta)
        gains += (table.Y[held] * losses).sum(axis=1)
    return gains / len(machines.kernels)


def _restricted(kernel: Any, columns: Index) -> Any:
    """Return the factor of the kernel that belongs to some columns."""
    own: dict[str, Any] = {"weights": np.asarray(kernel.weights)[columns]}
    if kernel.categorical is not None:
        own["categorical"] = np.asarray(kernel.categorical)[columns]
    return kernel.with_params(**own)


def _student(gains: Array, is_tested: Any, count: Array) -> ColumnTests:
    """Return Student's test of the mean gain of each column; rows count by their weights."""
    n = float(count.sum())
    mean = count @ gains / n
    deviation = np.sqrt(count @ (gains - mean) ** 2 / max(n - 1, 1))
    n_tested = count @ is_tested
    tested = is_tested.any(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        statistic = np.where(tested & (deviation > 0), mean * np.sqrt(n) / deviation, 0.0)
    one_sided = student.sf(statistic, np.maximum(n_tested - 1, 1))
    pvalues = np.where(tested & (deviation > 0), np.minimum(1, 2 * one_sided), 1.0)
    return ColumnTests(pvalues, statistic, tested)
