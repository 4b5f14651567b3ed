"""The support vector machines of a classifier: one per pair of classes, with exp(-sum u_j d_j).

Weights u are those of the prior to a power t, scaled so that typical rows are at distance f; t, f
and C are chosen on held-out rows, one after the other. A sigmoid per pair makes probabilities of
decisions, and those of all pairs are coupled (T.-F. Wu, C.-J. Lin and R. C. Weng, "Probability
estimates for multi-class classification by pairwise coupling", JMLR 2004).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from ..._typing import Array, Index
from ...calibration.sigmoids import fit_sigmoid
from ...kernels import Laplacian, LazyGram
from ...qp import SMO, DualQP, Solution, StoredGram, Terms
from .prior import Prior
from .rows import Rows
from .settings import Settings

TOLERANCE = 1e-2  # of the machines, in units of the margin
_BLOCK = 2e7  # kernel values that are computed at a time
_STORED = 5000  # rows up to which the kernel matrix is stored, for machines of several C
_FLOOR = 1e-3  # of a weight relative to the largest, before the power
CLIP = 1e-6  # distance of probabilities of pairs from zero and one
_ALONE = 0.1  # share of a machine's own log loss in its choice, beside that of the mixture


def machine_weights(rows: Rows, prior: Prior, power: float, distance: float) -> Array:
    """Return w^power, scaled so that the mean distance of random rows is as given."""
    kept = prior.kept
    u = np.zeros(len(prior.w))
    u[kept] = np.maximum(prior.w[kept], _FLOOR * prior.w.max()) ** power
    return u * distance / max(rows.typical(u, np.mean, np.random.default_rng(0)), 1e-9)


def pair_tasks(classes: Index, n_classes: int) -> list[tuple[Index, Array]]:
    """Return the rows of each pair of classes and their signs, +1 for the first class.

    For two classes +1 is the second.
    """
    if n_classes == 2:
        return [(np.arange(len(classes)), np.where(classes == 1, 1.0, -1.0))]
    tasks = []
    for a in range(n_classes):
        for b in range(a + 1, n_classes):
            own = np.flatnonzero((classes == a) | (classes == b))
            tasks.append((own, np.where(classes[own] == a, 1.0, -1.0)))
    return tasks


@dataclass(frozen=True)
class Machine:
    """Solved machines of all pairs."""

    rows: Rows  # the support vectors of any machine
    u: Array  # (n_groups,): the weights
    beta: Array  # (n_support, n_pairs): the signed coefficients
    intercept: Array  # (n_pairs,): the intercepts
    support: Index  # (n_support,): the training rows of the support vectors
    solutions: tuple[Solution, ...] = ()  # the certificates, without the pairs that lack a class

    def decide(self, rows: Rows) -> Array:
        """Return one decision per pair, block by block."""
        out = np.empty((len(rows), len(self.intercept)))
        step = max(1, int(_BLOCK / max(len(self.rows), 1)))
        for a in range(0, len(rows), step):
            some = slice(a, a + step)
            K = rows.part(some).exact_laplacian(self.rows, self.u)
            out[some] = K @ self.beta + self.intercept
        return out


class Machines:
    """Machines of one kernel, for several C; each solve starts from the last one.

    The kernel matrix of many rows is computed while it is read, within the memory of the solver.
    """

    def __init__(
        self,
        rows: Rows,
        classes: Index,
        n_classes: int,
        cost_factor: Array,
        u: Array,
        memory: float,
    ) -> None:
        self._rows, self._u, self._price = rows, u, cost_factor
        self._gram = rows.laplacian(rows, u) if len(rows) <= _STORED else None
        self._tasks = pair_tasks(classes, n_classes)
        self._solver = SMO(tol=TOLERANCE, memory=memory, budget=0.0)
        self._start: list[Array | None] = [None] * len(self._tasks)

    def solve(self, C: float) -> Machine:
        """Return the machines of one C."""
        n = len(self._rows)
        beta, intercept = np.zeros((n, len(self._tasks))), np.zeros(len(self._tasks))
        solutions = []
        for j, (own, signs) in enumerate(self._tasks):
            if not len(own) or (signs == signs[0]).all():  # a fold may lack a class
                intercept[j] = signs[0] if len(own) else 0.0
                continue
            qp = DualQP(self._gram_of(own), Terms.c_svc(signs, C * self._price[own]))
            found = self._solver.solve(qp, start=self._start[j])
            self._start[j] = found.beta
            beta[own, j], intercept[j] = found.beta, found.nu[0]
            solutions.append(found)
        support = np.flatnonzero((beta != 0).any(axis=1))
        vectors = self._rows.part(support).bare(gaussian=False)
        return Machine(vectors, self._u, beta[support], intercept, support, tuple(solutions))

    def _gram_of(self, own: Index) -> StoredGram | LazyGram:
        """Return the kernel matrix of some rows."""
        if self._gram is not None:
            whole = len(own) == len(self._rows)
            return StoredGram(self._gram if whole else self._gram[np.ix_(own, own)])
        columns, kept = self._rows.columns, np.flatnonzero(self._u[self._rows.columns.group])
        weights = self._u[columns.group[kept]]
        kernel = Laplacian(weights=weights, categorical=np.asarray(columns.is_category)[kept])
        return LazyGram(kernel, self._rows.Z[np.ix_(own, kept)])


@dataclass(frozen=True)
class PairSigmoids:
    """From decisions of pairs to log-odds of classes."""

    slope: Array  # (n_pairs,): the sigmoids
    intercept: Array
    n_classes: int  # the number of classes

    @classmethod
    def of(
        cls, decisions: Array, classes: Index, n_classes: int, cost_factor: Array
    ) -> PairSigmoids:
        """Fit a sigmoid to each pair's decisions on its own rows."""
        first, second = np.triu_indices(n_classes, 1)
        weight = cost_factor[:, None] * ((classes[:, None] == first) | (classes[:, None] == second))
        sigmoid = fit_sigmoid(decisions, classes[:, None] == first, weight)
        return cls(sigmoid.slope, sigmoid.intercept, n_classes)

    def log_odds(self, decisions: Array) -> Array:
        """Return the log-odds of each class against all others."""
        first, second = np.triu_indices(self.n_classes, 1)
        own = np.clip(expit(self.slope * decisions + self.intercept), CLIP, 1 - CLIP)
        P = np.zeros((len(decisions), self.n_classes, self.n_classes))
        P[:, first, second], P[:, second, first] = own, 1 - own
        p = np.clip(couple(P), CLIP, 1 - CLIP)
        out: Array = np.log(p) - np.log1p(-p)
        return out


def couple(P: Array) -> Array:
    """Return probabilities of classes from those of pairs, P[:, a, b] of a against b.

    They minimise sum_ab (P_ba p_a - P_ab p_b)^2 among those of sum one.
    """
    n, k, _ = P.shape
    back = np.transpose(P, (0, 2, 1))
    i = np.arange(k)
    A = np.zeros((n, k + 1, k + 1))
    A[:, :k, :k] = -back * P
    A[:, i, i] = (back**2 * (1 - np.eye(k))).sum(axis=2) + 1e-9
    A[:, :k, k] = A[:, k, :k] = 1
    b = np.zeros((n, k + 1, 1))
    b[:, k] = 1
    p = np.maximum(np.linalg.solve(A, b)[:, :k, 0], 1e-7)
    out: Array = p / p.sum(axis=1, keepdims=True)
    return out


@dataclass(frozen=True)
class Choice:
    """The power, distance and C of the machines, and their decisions on held-out rows."""

    power: float
    distance: float
    C: float
    decisions: Array


def choose(
    # returns decisions on held-out rows for a power, a distance and C
    decide: Callable[[float, float, float], Array],
    # returns the mean log loss of the mixture of some parts' decisions
    loss: Callable[[Sequence[Array]], float],
    as_log_odds: Callable[[Array], Array],  # turns decisions of pairs into those of classes
    others: Sequence[Array],  # the decisions of the other parts
    settings: Settings,
) -> Choice:
    """Choose power, distance and C, one after the other, by the log loss of the mixture."""

    def value(key: list[float]) -> tuple[float, Array]:
        decisions = decide(*key)
        own = as_log_odds(decisions)
        both = np.log(loss([*others, own])) + _ALONE * np.log(loss([own]))
        return float(both), decisions

    grids = (settings.powers, settings.distances, settings.costs)
    key = [grid[0] for grid in grids]
    best, decisions = value(key)
    for axis, grid in enumerate(grids):
        for x in grid[1:]:
            other = [*key[:axis], x, *key[axis + 1 :]]
            new, own = value(other)
            if new < best:
                best, key, decisions = new, other, own
    return Choice(key[0], key[1], key[2], decisions)
