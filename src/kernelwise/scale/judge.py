"""The judge: which kernels, widths and costs the trees have, by rows that they do not see.

Some rows are held out, whole groups of them where there are groups, and

    score = error + mean of 1 / (1 + exp(5 * margin))        on the held-out rows

1. Each member has one tree, which is scored.
2. Members within a quarter of the best walk over gamma * {1/3, 1, 3} and C * {0.01 .. 100}, one
   coordinate at a time, as long as the score falls.
3. The trees of the best mean decision vote: all of the best member, all but one of them and one of
   the second, or all but two and one each of the second and the third.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.special import expit

from .._typing import Array, Index
from ..kernels.pairwise import PairwiseKernel
from .cells import CellSettings
from .forest import CellTable, fit_forest
from .sampling import sample_rows

JUDGE_ROWS = 30_000  # rows that the judge looks at
_HELD_OUT = 0.2  # share of them that is held out
_NEAR = 1.25  # score, relative to the best, up to which a member walks
_SLOPE = 5.0  # slope of the smooth error over the margin
_ROUNDS = 2  # rounds of a walk over both coordinates
_GAMMA_STEP, _GAMMA_STEPS = 3.0, 1  # factor of a step, and the most steps either way
_C_STEP, _C_STEPS = 10.0, 2


@dataclass(frozen=True)
class Choice:
    """What the judge chose.

    Parameters
    ----------
    members : tuple of CellSettings
        The kernel and cost of each tree. The seeds of the trees were `seed`, `seed + 1` and so on.
    score : float
        Their score on held-out rows.
    held_out : ndarray
        The places of the held-out rows in the table.
    decisions : ndarray of shape (n_held_out, k)
        The mean decisions of the trees on them.
    """

    members: tuple[CellSettings, ...]
    score: float
    held_out: Index
    decisions: Array


def held_out_score(decisions: Array, codes: Array, weight: Array) -> float:
    """Return the error plus the smooth error.

    Parameters
    ----------
    decisions : ndarray of shape (n, k)
        The decisions.
    codes : ndarray of shape (n, k)
        Codes -1 and +1; of several columns, +1 in that of the own class alone.
    weight : ndarray of shape (n,)
        How much each row counts.

    Returns
    -------
    score : float
        Between zero and two. With several classes a margin is half of the lead of the own class
        over the best other.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.scale.judge import held_out_score
    >>> codes = np.array([[1.0], [-1.0]])
    >>> round(held_out_score(0 * codes, codes, np.ones(2)), 3)
    1.5
    >>> round(held_out_score(codes, codes, np.ones(2)), 3)
    0.007
    """
    if codes.shape[1] == 1:
        margins = codes[:, 0] * decisions[:, 0]
    else:
        own = np.where(codes > 0, decisions, -np.inf).max(axis=1)
        margins = 0.5 * (own - np.where(codes > 0, -np.inf, decisions).max(axis=1))
    return float(weight @ ((margins <= 0) + expit(-_SLOPE * margins)) / weight.sum())


def judge_members(
    table: CellTable,
    members: Sequence[CellSettings],
    seed: int,
    *,
    cell_size: int,
    n_trees: int = 3,
    groups: Any = None,
    threads: int = 1,
    max_rows: int = JUDGE_ROWS,
) -> Choice:
    """Choose the kernel and cost of each tree on held-out rows.

    Parameters
    ----------
    table : CellTable
        The rows.
    members : sequence of CellSettings
        Kernels and costs to begin with.
    seed : int
        Picks rows and trees.
    cell_size : int
        The largest number of rows of a cell.
    n_trees : int, default=3
        The number of trees that will vote.
    groups : ndarray of shape (n,), default=None
        The number of each row's group, which is held out whole; None holds out single rows.
    threads : int, default=1
        Threads over cells.
    max_rows : int, default=30000
        Rows that are looked at.

    Returns
    -------
    choice : Choice
        The kernel and cost of each tree, and how well they do.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.kernels import RBF
    >>> from kernelwise.scale.cells import CellSettings
    >>> from kernelwise.scale.forest import CellTable
    >>> from kernelwise.scale.judge import judge_members
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> codes = np.where(X[:, :1] * X[:, 1:] > 0, 1.0, -1.0)
    >>> table = CellTable(X, codes, np.ones(500), np.arange(500))
    >>> choice = judge_members(table, [CellSettings(RBF(), 1.0)], seed=0, cell_size=200)
    >>> len(choice.members), choice.score < 0.3
    (3, True)
    """
    some = sample_rows(table.numbers, max_rows, seed)
    units = (table.numbers if groups is None else groups)[some]
    is_held_out = _least_keys(units, seed + n_trees)  # no tree has this seed
    seen, unseen = some[~is_held_out], some[is_held_out]
    if not (table.price[seen].any() and table.price[unseen].any()):
        raise ValueError("The judge needs rows to hold out and rows to fit, in different groups.")
    trial = _Trial(table.part(seen), table.part(unseen), seed, cell_size, threads)
    scores = [trial.score([member]) for member in members]
    walked = [
        trial.walk(member) if score <= _NEAR * min(scores) else member
        for member, score in zip(members, scores, strict=True)
    ]
    ranked = sorted(walked, key=lambda member: trial.score([member]))
    votes = min(possible_votes(ranked, n_trees), key=trial.score)
    return Choice(tuple(votes), trial.score(votes), unseen, trial.decisions(votes))


def _least_keys(units: Any, seed: int) -> Any:
    """Return which rows belong to the fifth of all units, at least one, that has the least keys."""
    different, place = np.unique(units, return_inverse=True)
    held_out = np.zeros(len(different), dtype=bool)
    size = max(1, round(_HELD_OUT * len(different)))
    held_out[sample_rows(different, size, seed)] = True
    return held_out[place]


def possible_votes(ranked: Sequence[CellSettings], n_trees: int) -> list[list[CellSettings]]:
    """Return which trees may vote.

    Parameters
    ----------
    ranked : sequence of CellSettings
        The members, the best one first.
    n_trees : int
        The number of trees.

    Returns
    -------
    votes : list of list
        The member of each tree: the best one, with up to two of the next ones for the last trees.
    """
    return [
        [ranked[0]] * (n_trees - others) + list(ranked[1 : 1 + others])
        for others in range(min(len(ranked), n_trees, 3))
    ]


@dataclass(frozen=True)
class _Trial:
    """Trees on the rows that are seen, each fitted once, and their scores on the others."""

    seen: CellTable
    unseen: CellTable
    seed: int
    cell_size: int
    threads: int
    _known: dict[tuple[int, int], Array] = field(default_factory=dict)
    _kept: list[CellSettings] = field(default_factory=list)  # keeps the keys, which are ids, alive

    def decisions(self, trees: Sequence[CellSettings]) -> Array:
        """Return the mean decisions of trees on the held-out rows; the seeds ascend."""
        own = [self._decisions_of(member, number) for number, member in enumerate(trees)]
        mean: Array = np.mean(own, axis=0)
        return mean

    def _decisions_of(self, member: CellSettings, number: int) -> Array:
        key = (id(member), number)
        if key not in self._known:
            self._kept.append(member)
            forest, _ = fit_forest(
                self.seen, [member], [self.seed + number], self.cell_size, threads=self.threads
            )
            self._known[key] = forest.decision_values(self.unseen.X, threads=self.threads)
        return self._known[key]

    def score(self, trees: Sequence[CellSettings]) -> float:
        """Return the score of the mean of trees."""
        return held_out_score(self.decisions(trees), self.unseen.codes, self.unseen.price)

    def walk(self, member: CellSettings) -> CellSettings:
        """Change gamma and C in turn, as long as the score falls."""
        points = {(0, 0): member}
        best = (0, 0)
        for _ in range(_ROUNDS):
            for step, limit in (((1, 0), _GAMMA_STEPS), ((0, 1), _C_STEPS)):
                best = self._climb(points, best, step, limit)
        return points[best]

    def _climb(
        self,
        points: dict[tuple[int, int], CellSettings],
        best: tuple[int, int],
        step: tuple[int, int],
        limit: int,
    ) -> tuple[int, int]:
        """Go along one coordinate, up and then down, and return the best point."""
        start = points[0, 0]
        for sign in (1, -1):
            while True:
                new = (best[0] + sign * step[0], best[1] + sign * step[1])
                if max(abs(new[0]) * step[0], abs(new[1]) * step[1]) > limit:
                    break
                if new not in points:
                    points[new] = scaled(start, _GAMMA_STEP ** new[0], _C_STEP ** new[1])
                if self.score([points[new]]) >= self.score([points[best]]):
                    break
                best = new
        return best


def scaled(member: CellSettings, gamma: float, C: float) -> CellSettings:
    """Return a member whose gamma and C are multiplied by factors."""
    if not isinstance(member.kernel, PairwiseKernel):
        raise TypeError("A kernel without gamma has no width to choose.")
    kernel = replace(member.kernel, gamma=gamma * member.kernel.gamma)
    return replace(member, kernel=kernel, C=C * member.C)
