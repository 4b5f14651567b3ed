"""What a point of a path is judged by, for machines with signed coefficients b on m rows.

    span      error of f(x_i) - b_i S_i^2, the decisions without row i, and their smooth margins
    bound     R^2 sum(alpha) / m with R^2 = max K_ii, or R that of the smallest ball
    held out  error and smooth margins of rows that the machines were not fitted to

The smooth margins break the ties of the error, which is a count.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from scipy.special import expit

from ..._typing import Array, Index
from ...criteria import span
from ...criteria.radius_margin import solve_ball, squared_radius
from ...criteria.span import least_spans
from ...qp import SMO, DualQP, Solution, Terms, c_svc
from ...qp.gram import StoredGram, as_gram

Costed: TypeAlias = tuple[float, Sequence[Solution]]  # a C and its machines
_SLOPE = 5.0  # of the smooth error 1 / (1 + exp(slope * margin))
_BALL_TOL = 1e-6  # relative to the largest entry of K
_MANY = 8  # machines a point from which on the least spans of a kernel pay


@dataclass(frozen=True)
class Problem:
    """Distinct rows, and the machines to solve on them.

    Parameters
    ----------
    Y : ndarray of shape (m, n_machines)
        Codes -1 and +1, in float64.
    counts : ndarray of shape (m,)
        How often each row counts: its sample weight.
    price : ndarray of shape (m,)
        What multiplies C: sample weight times class weight.
    bias : bool
        Whether the machines have a bias.
    solver : callable
        ``solver(C)`` returns what solves them.
    """

    Y: Array
    counts: Array
    price: Array
    bias: bool
    solver: Callable[[float], Any]

    def qp(self, K: Any, y: Array, C: float, is_psd: bool) -> DualQP:
        """Build one machine."""
        return c_svc(K, y, C * self.price, is_psd=is_psd, bias=self.bias)

    def qps(self, K: Any, Y: Array, C: float, is_psd: bool) -> list[DualQP]:
        """Build a machine for each column of codes."""
        gram = as_gram(K, is_psd)
        return [DualQP(gram, t) for t in Terms.c_svcs(Y, C * self.price, bias=self.bias)]

    def has_settled(self, solutions: Sequence[Solution], C: float) -> bool:
        """Tell whether no coefficient stands at its bound, so that a larger C changes nothing."""
        limit = (1 - 1e-10) * C * self.price
        return all(s.converged and bool((np.abs(s.beta) < limit).all()) for s in solutions)

    def score(self, decisions: Array, rows: Any = slice(None)) -> tuple[float, float]:
        """Return the error of decision values, and the error plus the mean smooth error.

        With several classes a margin is half of what the own class is ahead of the best other.
        """
        counts = self.counts[rows]
        if self.Y.shape[1] == 1:
            margins = self.Y[rows, 0] * decisions[:, 0]
        else:
            is_own, values = self._is_own[:, rows], decisions.T  # machine by machine: it is faster
            own = np.where(is_own, values, -np.inf).max(axis=0)
            margins = 0.5 * (own - np.where(is_own, -np.inf, values).max(axis=0))
        total = float(counts.sum())
        error = float(counts @ (margins <= 0)) / total
        return error, error + float(counts @ expit(-_SLOPE * margins)) / total

    @cached_property
    def _is_own(self) -> Any:
        return np.ascontiguousarray(self.Y.T > 0)


def decisions_of(solution: Solution, y: Array) -> Array:
    """Return a machine's decision values on all rows."""
    out = solution.gradient + y
    return out + solution.nu[0] if len(solution.nu) else out


class Judge(ABC):
    """Scores the machines of a point; the least score wins.

    Parameters
    ----------
    problem : Problem
        The rows and their codes.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    @property
    def codes(self) -> Array:
        """The codes of what is to be solved, one column a machine."""
        return self.problem.Y

    def radius(self, K: Array) -> float:
        """Return R, from the largest entry of the diagonal."""
        return float(np.sqrt(np.diagonal(K).max(initial=0.0)))

    def sizes(self, solutions: Sequence[Solution], radius: float) -> dict[str, float]:
        """Return the bound and the margin."""
        return sizes(solutions, self.codes, radius, self.problem.counts.sum())

    def floors(self, K: Array, points: Sequence[Costed], beaten: float) -> list[float]:
        """Return what the score of each point cannot be below, loosely where that beats it."""
        return [-np.inf] * len(points)

    @abstractmethod
    def verdict(self, K: Array, C: float, solutions: Sequence[Solution]) -> dict[str, float]:
        """Return the score, and the errors that it is made of."""


class ByBound(Judge):
    """Scores by R^2 sum(alpha) / m (Cristianini, Campbell and Shawe-Taylor 1998, section 4)."""

    def verdict(self, K: Array, C: float, solutions: Sequence[Solution]) -> dict[str, float]:
        """Return nothing: the score is the bound."""
        return {}


class ByRadius(ByBound):
    """The same with the radius of the smallest ball around the rows."""

    _ball: Solution | None = None

    def radius(self, K: Array) -> float:
        """Return R, warm from the ball of the kernel before."""
        size = float(np.diagonal(K).max(initial=0.0))
        if size == 0:
            return 0.0
        self._ball = solve_ball(K, SMO(tol=_BALL_TOL * size, exact=False), self._ball)
        return float(np.sqrt(max(0.0, squared_radius(self._ball))))


class BySpan(Judge):
    """Scores by the span estimate of the leave-one-out error."""

    def verdict(self, K: Array, C: float, solutions: Sequence[Solution]) -> dict[str, float]:
        """Return the score and the error of the decision values without each row."""
        problem, bound = self.problem, C * self.problem.price
        gram = StoredGram(K)
        try:
            squared = [span(gram, s.beta, bound, bias=problem.bias) for s in solutions]
        except ValueError as reason:
            raise ValueError(
                "criterion='span' needs a kernel that is positive semi-definite, and this one "
                "is not; use criterion='cv'."
            ) from reason
        error, score = problem.score(self._left_out(C, solutions, np.array(squared)))
        return {"score": score, "loo_error": error}

    def floors(self, K: Array, points: Sequence[Costed], beaten: float) -> list[float]:
        """Return the scores with spans that are too small.

        Leaving a row out never brings it further inside, so that no spans at all will do. Where
        many machines share K, spans in all other rows are worth computing: what the free support
        vectors of a machine span is a part of that, and no nearer.
        """
        score = self.problem.score
        floors = [score(self._decisions(solutions).T)[1] for _, solutions in points]
        left = [number for number, floor in enumerate(floors) if floor <= beaten]
        if len(left) > 1 and self.codes.shape[1] >= _MANY:
            least = least_spans(K, bias=self.problem.bias)
            for number in left:
                floors[number] = score(self._left_out(*points[number], least))[1]
        return floors

    def _decisions(self, solutions: Sequence[Solution]) -> Array:
        """Return the decision values on all rows, one row a machine."""
        decisions = np.array([s.gradient for s in solutions]) + self.problem.Y.T
        return decisions + np.array([s.nu for s in solutions]) if self.problem.bias else decisions

    def _left_out(self, C: float, solutions: Sequence[Solution], squared: Array) -> Array:
        """Return the decision values without each row, one column a machine."""
        problem, beta = self.problem, np.array([s.beta for s in solutions])
        lost = _lost(np.abs(beta), C * problem.price, problem.counts) * squared
        return (self._decisions(solutions) - np.sign(beta) * lost).T


def _lost(alpha: Array, bound: Array, counts: Array) -> Array:
    """Return what a row's coefficient loses when one of its copies is left out.

    The other copies bear what they can, up to their own bounds; a single row loses all.
    """
    if not (counts > 1).any():
        return alpha
    share = np.where(counts > 1, 1 - 1 / np.maximum(counts, 1), 0)
    kept = np.multiply(bound, share, out=np.zeros(len(share)), where=share > 0)
    return np.maximum(0, alpha - kept)


class ByHeldOut(Judge):
    """Scores by rows held out; those have the bounds zero, so that K is shared.

    Parameters
    ----------
    problem : Problem
        The rows and their codes.
    folds : list of ndarray
        The rows held out together; each fold has machines of its own.
    """

    def __init__(self, problem: Problem, folds: list[Index]) -> None:
        super().__init__(problem)
        self.folds = folds
        parts = []
        for fold in folds:
            parts.append(problem.Y.copy())
            parts[-1][fold] = 0
        self._codes = np.hstack(parts)

    @property
    def codes(self) -> Array:
        """The codes of what is to be solved, one column a machine and fold."""
        return self._codes

    def sizes(self, solutions: Sequence[Solution], radius: float) -> dict[str, float]:
        """Return nothing: the machines are those of parts of the rows."""
        return {}

    def verdict(self, K: Array, C: float, solutions: Sequence[Solution]) -> dict[str, float]:
        """Return the score and the error on held-out rows."""
        n, k = self.problem.Y.shape
        decisions = np.zeros((n, k))
        for number, solution in enumerate(solutions):
            fold, j = divmod(number, k)
            rows = self.folds[fold]
            decisions[rows, j] = decisions_of(solution, self.codes[:, number])[rows]
        rows = np.sort(np.concatenate(self.folds))
        error, score = self.problem.score(decisions[rows], rows)
        return {"score": score, "held_out_error": error}


def sizes(solutions: Sequence[Solution], Y: Array, radius: float, m: float) -> dict[str, float]:
    """Return the bound R^2 sum(alpha) / m, summed over machines, and their least margin."""
    beta = np.array([s.beta for s in solutions])
    products = np.array([s.gradient for s in solutions]) + Y.T
    total = float(np.abs(beta).sum())
    square = float(np.einsum("ij,ij->i", beta, products).max())  # ||w||^2 = b'Kb
    margin = 1 / np.sqrt(square) if square > 0 else np.inf
    return {"bound": radius**2 * total / m, "margin": float(margin)}


def judge_of(svc: Any, problem: Problem, classes: Index, random_state: Any) -> Judge:
    """Return the judge that an estimator's parameters ask for."""
    if svc.criterion == "cv":
        return ByHeldOut(problem, deal(classes, min(svc.n_folds, len(classes)), random_state))
    if svc.criterion == "validation":
        return ByHeldOut(problem, [hold_out(classes, svc.validation_fraction, random_state)])
    judges: dict[str, Callable[[Problem], Judge]]
    judges = {"span": BySpan, "bound": ByBound, "radius": ByRadius}
    return judges[svc.criterion](problem)


def deal(classes: Index, n_folds: int, random_state: Any) -> list[Index]:
    """Deal the rows of each class out to folds in turn; a class may have fewer rows than that."""
    fold_of, dealt = np.empty(len(classes), dtype=np.intp), 0
    for label in np.unique(classes):
        members = random_state.permutation(np.flatnonzero(classes == label))
        fold_of[members] = (dealt + np.arange(len(members))) % n_folds
        dealt += len(members)
    return [np.flatnonzero(fold_of == fold) for fold in range(n_folds)]


def hold_out(classes: Index, fraction: float, random_state: Any) -> Index:
    """Pick the same part of each class, of which at least one row stays."""
    picked = []
    for label in np.unique(classes):
        members = random_state.permutation(np.flatnonzero(classes == label))
        picked.append(members[: min(len(members) - 1, max(1, round(fraction * len(members))))])
    rows = np.sort(np.concatenate(picked))
    if len(rows) == 0:
        raise ValueError("criterion='validation' needs a class with two different rows at least.")
    return rows
