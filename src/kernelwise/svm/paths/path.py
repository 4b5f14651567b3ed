"""The points of a walk over kernels and costs, and the selected one, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..._typing import Array, Index
from ...qp import Solution
from .kernel_grid import KernelGrid
from .rows import TrainingRows

ROUNDING = 1e-9  # difference of two scores that is rounding, relative to a score above one


def at_lowest(scores: Any) -> Any:
    """Return which scores equal the lowest one but for rounding.

    A criterion that is flat has its lowest value anywhere, by the order in which sums were made:
    the choice among these must not be made by their last digits.

    ``scores`` (n,): the scores; NaN counts as infinite. Returns ``lowest`` (n,), at least one is
    true.

    Examples
    --------
    >>> from kernelwise.svm.paths.path import at_lowest
    >>> at_lowest([0.3, 0.1 + 0.2, 0.5])
    array([ True,  True, False])
    """
    values: Array = np.asarray(scores, dtype=np.float64)
    values = np.where(np.isnan(values), np.inf, values)
    lowest = float(values.min())
    return values <= lowest + slack(lowest)


def slack(score: float) -> float:
    """Return by how much another score may exceed a score, and be equal to it but for rounding."""
    return ROUNDING * max(1.0, abs(score))


@dataclass(frozen=True)
class PathPoint:
    """One kernel and C of a path; NaN stands for numbers that were not computed."""

    value: float
    sigma: float  # the width of a Gaussian kernel
    C: float
    bound: float  # R^2 sum(alpha) / m, summed over the machines
    radius: float  # R
    margin: float  # the least margin 1 / ||w|| of the machines
    # the least 1/2 (min z+ - max z-) of the machines, z the decision values without bias
    functional_margin: float
    loo_error: float  # the span estimate of the leave-one-out error
    held_out_error: float  # the error on held-out rows
    score: float  # the number by which the point is selected; the lowest is best
    n_iter: int  # steps of the solver, over all machines; none where nothing had to be solved
    seconds: float
    solved: bool  # False where the machines of a smaller C were known to stay
    converged: bool  # whether all machines reached the tolerance
    # (m, n_machines), decision values of machines without each row; None where the criterion has
    # none
    left_out: Array | None = field(default=None, repr=False, compare=False)

    @property
    def rank(self) -> tuple[bool, float]:
        """Sort key of the selection: points that converged first, then the score."""
        return not self.converged, np.inf if np.isnan(self.score) else self.score


def simplest_of_best(points: Sequence[PathPoint]) -> int:
    """Return which point is selected.

    Returns ``index``: the best point. Among points that are equal but for rounding it is the one
    with the smallest C, then the one with the widest or simplest kernel, then the first.
    """
    least_short = min(not point.converged for point in points)
    able = [k for k, point in enumerate(points) if point.converged != least_short]
    best = [able[k] for k in np.flatnonzero(at_lowest([points[k].rank[1] for k in able]))]
    return min(best, key=lambda k: (points[k].C, points[k].value))


@dataclass(frozen=True)
class Path:
    """The points of a walk, and the machines of the best one."""

    grid: KernelGrid
    n_costs: int  # points per kernel
    points: tuple[PathPoint, ...]  # the points, kernel by kernel
    best_index: int
    solutions: tuple[Solution, ...]  # its machines, on the rows of the path
    n_solves: int  # the machines that were solved
    n_iter: Index  # (n_machines,), steps of the solver for each column of the criterion's codes

    @property
    def best(self) -> PathPoint:
        """The best point."""
        return self.points[self.best_index]

    @property
    def kernel(self) -> Any:
        """The kernel of the best point."""
        return self.grid.kernels[self.best_index // self.n_costs]

    def warnings(self) -> list[tuple[str, type[Warning]]]:
        """Return the warning about points that did not converge, where there are any."""
        n_short, n_points = sum(not point.converged for point in self.points), len(self.points)
        if n_short == 0:
            return []
        used = "They were left out of the selection."
        if n_short == n_points:
            used = "The best one is used nevertheless, and may be meaningless."
        text = (
            f"{n_short} of the {n_points} points of the path did not converge within max_iter. "
            f"{used} A hard margin does not exist where classes overlap or equal rows have "
            "different classes: give finite C there; else raise max_iter or tol."
        )
        return [(text, ConvergenceWarning)]

    def coefficients(self, n_machines: int) -> Array:
        """Return the coefficients of the best point's machines, their mean over several folds."""
        beta = np.array([solution.beta for solution in self.solutions])
        mean: Array = beta.reshape(-1, n_machines, beta.shape[1]).mean(axis=0)
        return mean

    def starts(self, rows: TrainingRows) -> list[Array]:
        """Return where the machines of the best point start on the table of the path's rows."""
        return [rows.spread(each) for each in self.coefficients(rows.Y.shape[1])]

    def table(self) -> dict[str, Array]:
        """Return the points as columns of equal length, without those that the path lacks."""
        names = [each.name for each in fields(PathPoint) if each.name != "left_out"]
        columns = {name: np.array([getattr(p, name) for p in self.points]) for name in names}
        value, sigma = columns.pop("value"), columns.pop("sigma")
        head = {} if self.grid.sigma is None else {"sigma": sigma}
        if self.grid.name is not None:
            head[self.grid.name] = value
        return head | columns
