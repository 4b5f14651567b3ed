"""Criteria that select a point of a path, for machines with signed coefficients b on m rows.

    span      error of f(x_i) - b_i S_i^2, the decisions without row i, and their smooth margins
    bound     R^2 sum(alpha) / m with R^2 = max K_ii, or R that of the smallest ball
    soft      (R^2 |w|^2 + |xi|^2) / m with the smallest ball
    held out  error and smooth margins of rows that the machines were not fitted to

The smooth margins break ties of the error, which is a count.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import expit

from ..._typing import Array, Codes, Index
from ...criteria import span
from ...criteria.radius_margin import solve_ball, squared_radius
from ...qp import SMO, Solution
from ...qp.gram import StoredGram
from .cost_path import decision_values
from .rows import TrainingRows
from .solvers import functional_margin


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


_SLOPE = 5.0  # slope in the smooth error 1 / (1 + exp(slope * margin))
_BALL_TOL = 1e-6  # tolerance of the smallest ball, relative to the largest entry of K


class SelectionCriterion(ABC):
    """Scores the machines of a point; the lowest score is selected.

    ``rows``: the rows of the path. ``bias``: whether the machines have an intercept.
    """

    def __init__(self, rows: TrainingRows, *, bias: bool = True) -> None:
        self.rows, self.bias = rows, bias

    @property
    def codes(self) -> Array:
        """The codes of the machines to solve, one column per machine."""
        return self.rows.Y

    def starts(self, beta: Sequence[Array | None]) -> list[Array] | None:
        """Return where the machines start, from coefficients of the rows' table, one per class.

        None stands for a machine without any; without any at all there is no start.
        """
        if all(each is None for each in beta):
            return None
        zeros = np.zeros(len(self.rows.place))
        own = [self.rows.gather(zeros if each is None else each) for each in beta]
        return own * (self.codes.shape[1] // len(own))  # in each fold, where there are any

    def radius(self, K: Array) -> float:
        """Return R, from the largest entry of the diagonal."""
        return float(np.sqrt(np.diagonal(K).max(initial=0.0)))

    def sizes(self, solutions: Sequence[Solution], radius: float) -> dict[str, float]:
        """Return the bound and the margin."""
        return bound_and_margin(solutions, self.codes, radius, self.rows.sample_weight.sum())

    @abstractmethod
    def evaluate(self, K: Array, C: float, solutions: Sequence[Solution]) -> dict[str, Any]:
        """Return the score, the errors that it is made of, and decisions without each row."""

    def score(self, decisions: Array, rows: Any = slice(None)) -> tuple[float, float]:
        """Return the error of decision values, and the error plus the mean smooth error.

        With several classes a margin is half of the lead of the own class over the best other.
        """
        weight = self.rows.sample_weight[rows]
        if self.rows.Y.shape[1] == 1:
            margins = self.rows.Y[rows, 0] * decisions[:, 0]
        else:
            is_own, values = self._is_own[:, rows], decisions.T  # machine by machine: it is faster
            own = np.where(is_own, values, -np.inf).max(axis=0)
            margins = 0.5 * (own - np.where(is_own, -np.inf, values).max(axis=0))
        total = float(weight.sum())
        error = float(weight @ (margins <= 0)) / total
        return error, error + float(weight @ expit(-_SLOPE * margins)) / total

    @cached_property
    def _is_own(self) -> Any:
        return np.ascontiguousarray(self.rows.Y.T > 0)


class BoundCriterion(SelectionCriterion):
    """Scores by R^2 sum(alpha) / m (Cristianini, Campbell and Shawe-Taylor 1998, section 4).

    ``rows``: the rows of the path. ``bias``: whether the machines have an intercept. ``ball``:
    whether R is the radius of the smallest ball around the rows.
    """

    def __init__(self, rows: TrainingRows, *, bias: bool = True, ball: bool = False) -> None:
        super().__init__(rows, bias=bias)
        self.ball = ball
        self._last_ball: Solution | None = None

    def radius(self, K: Array) -> float:
        """Return R; the search for a ball starts from the ball of the previous kernel."""
        size = float(np.diagonal(K).max(initial=0.0))
        if not self.ball or size == 0:
            return super().radius(K)
        solver = SMO(tol=_BALL_TOL * size, exact=False)
        self._last_ball = solve_ball(K, solver, self._last_ball)
        return float(np.sqrt(max(0.0, squared_radius(self._last_ball))))

    def evaluate(self, K: Array, C: float, solutions: Sequence[Solution]) -> dict[str, Any]:
        """Return nothing: the score is the bound."""
        return {}


class SoftMarginCriterion(BoundCriterion):
    """Scores by (R^2 |w|^2 + |xi|^2) / m, with R of the smallest ball: for soft margins.

    The slack xi is in units of the margin, as |w|^2 = 1 / gamma^2 multiplies both parts.
    """

    def sizes(self, solutions: Sequence[Solution], radius: float) -> dict[str, float]:
        """Return the bound and the margin."""
        found = super().sizes(solutions, radius)
        products = np.array([s.gradient for s in solutions]) + self.codes.T
        beta = np.array([s.beta for s in solutions])
        decisions = products + np.array([s.nu for s in solutions]) if self.bias else products
        slack = np.maximum(0, 1 - self.codes.T * decisions)
        weight = self.rows.sample_weight
        total = radius**2 * float((beta * products).sum()) + float((slack**2 @ weight).sum())
        return found | {"bound": total / float(weight.sum())}


class SpanCriterion(SelectionCriterion):
    """Scores by the span estimate of the leave-one-out error; one copy of a row is left out."""

    def evaluate(self, K: Array, C: float, solutions: Sequence[Solution]) -> dict[str, Any]:
        """Return the score and the error of the decision values without each row, and these."""
        bound, gram = C * self.rows.cost_factor, StoredGram(K)
        try:
            squared = [span(gram, s.beta, bound, bias=self.bias) for s in solutions]
        except ValueError as reason:
            raise ValueError(
                "criterion='span' needs a kernel that is positive semi-definite, and this one "
                "is not; use criterion='cv'."
            ) from reason
        left_out = self._left_out(C, solutions, np.array(squared))
        error, score = self.score(left_out)
        return {"score": score, "loo_error": error, "left_out": left_out}

    def decisions(self, solutions: Sequence[Solution]) -> Array:
        """Return the decision values on all rows, one row per machine."""
        decisions = np.array([s.gradient for s in solutions]) + self.codes.T
        return decisions + np.array([s.nu for s in solutions]) if self.bias else decisions

    @cached_property
    def _share(self) -> Array:
        """The share of each row's weight that is left out."""
        share: Array = np.minimum(1, 1 / self.rows.sample_weight)
        return share

    def _left_out(self, C: float, solutions: Sequence[Solution], squared: Array) -> Array:
        """Return the decision values without each row, one column per machine."""
        beta, rows = np.array([s.beta for s in solutions]), self.rows
        lost = _lost(np.abs(beta), C * rows.cost_factor, self._share) * squared
        return (self.decisions(solutions) - np.sign(beta) * lost).T


def _lost(alpha: Array, bound: Array, share: Array) -> Array:
    """Return the part of a row's coefficient that is lost with a share of the row's weight.

    The rest of the row bears what it can, up to its own bound; a row that goes whole loses all.
    """
    if (share >= 1).all():
        return alpha
    kept = np.multiply(bound, 1 - share, out=np.zeros(len(share)), where=share < 1)
    return np.maximum(0, alpha - kept)


class HeldOutCriterion(SelectionCriterion):
    """Scores by rows that are held out; those have the bounds zero, so that all folds share K.

    ``rows``: the rows of the path. ``folds``: the rows that are held out together; each fold has
    machines of its own. ``bias``: whether the machines have an intercept.
    """

    def __init__(self, rows: TrainingRows, folds: list[Index], *, bias: bool = True) -> None:
        super().__init__(rows, bias=bias)
        self.folds = folds
        parts = []
        for fold in folds:
            parts.append(rows.Y.copy())
            parts[-1][fold] = 0
        self._codes = np.hstack(parts)

    @property
    def codes(self) -> Array:
        """The codes of the machines to solve, one column per fold and machine."""
        return self._codes

    def sizes(self, solutions: Sequence[Solution], radius: float) -> dict[str, float]:
        """Return nothing: no machine has all rows."""
        return {}

    def evaluate(self, K: Array, C: float, solutions: Sequence[Solution]) -> dict[str, Any]:
        """Return the score and the error on held-out rows, and all decisions if every row is."""
        n, k = self.rows.Y.shape
        decisions = np.zeros((n, k))
        for number, solution in enumerate(solutions):
            fold, j = divmod(number, k)
            held = self.folds[fold]
            decisions[held, j] = decision_values(solution, self.codes[:, number])[held]
        held = np.sort(np.concatenate(self.folds))
        error, score = self.score(decisions[held], held)
        left_out = decisions if len(held) == n else None
        return {"score": score, "held_out_error": error, "left_out": left_out}


def bound_and_margin(
    solutions: Sequence[Solution], Y: Codes | Array, radius: float, m: float
) -> dict[str, float]:
    """Return the bound R^2 sum(alpha) / m, summed over machines, and their least margins."""
    beta = np.array([s.beta for s in solutions])
    products = np.array([s.gradient for s in solutions]) + Y.T
    total = float(np.abs(beta).sum())
    square = float(np.einsum("ij,ij->i", beta, products).max())  # ||w||^2 = b'Kb
    margin = 1 / np.sqrt(square) if square > 0 else np.inf
    least = min(functional_margin(z, codes) for z, codes in zip(products, Y.T, strict=True))
    return {
        "bound": radius**2 * total / m,
        "margin": float(margin),
        "functional_margin": least,
    }


def selection_criterion(
    name: str,
    rows: TrainingRows,
    *,
    bias: bool,
    n_folds: int,
    validation_fraction: float,
    random_state: Any,
) -> SelectionCriterion:
    """Return the criterion of a name, as `AdaptiveKernelSVC` has them."""
    if name == "cv":
        folds = deal(rows.classes, min(n_folds, len(rows)), random_state)
        return HeldOutCriterion(rows, folds, bias=bias)
    if name == "validation":
        held = hold_out(rows.classes, validation_fraction, random_state)
        return HeldOutCriterion(rows, [held], bias=bias)
    if name == "span":
        return SpanCriterion(rows, bias=bias)
    if name == "radius_margin":
        return SoftMarginCriterion(rows, bias=bias, ball=True)
    return BoundCriterion(rows, bias=bias, ball=name == "radius")
