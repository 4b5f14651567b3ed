"""The machines of the margin-radius experiments, and their C by inner folds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import Normalizer, PolynomialFeatures, StandardScaler

from kernelwise._typing import Array
from kernelwise.qp.squared_hinge import squared_hinge
from kernelwise.svm import MarginRadiusSVC
from kernelwise.svm.error_bounds import margin_bounds
from kernelwise.transform import EmpiricalKernelMap

from ...experiment import Row
from ...protocol import folds, mcnemar, unconverged_allowed
from ...rows import grouped

PAPER = (
    "H. Do, A. Kalousis, M. Hilario, Feature weighting using margin and radius based error bound "
    "optimization in SVMs, ECML PKDD 2009"
)
STD = "STD"  # the squared-hinge SVM; other machines are named by the radius of MarginRadiusSVC
DESCENT = "descent"  # the paper's radius with the paper's own Algorithm 1


class LinearMachine(NamedTuple):
    """A fitted linear machine."""

    coef: Array
    intercept: float
    n_used: int  # columns with a weight
    importances: Array  # by which columns are ranked
    bounds: tuple[float, float] = (np.nan, np.nan)  # R^2 / gamma^2 and (R^2 + |xi|^2) / gamma^2

    def signs(self, X: Array) -> Array:
        """Return the predictions, -1 or +1."""
        return np.where(X @ self.coef + self.intercept > 0, 1.0, -1.0)


class TunedMachine(NamedTuple):
    """A machine with C by inner folds, and the pipeline that makes its columns."""

    columns: Pipeline
    machine: LinearMachine
    C: float

    def signs(self, X: Array) -> Array:
        """Return the predictions for rows before the pipeline."""
        return self.machine.signs(self.columns.transform(X))


def columns_of(space: str) -> Pipeline:
    """Return the pipeline of a space: "linear", "plain", "quadratic" or "kernel".

    All is fitted to training rows. Rows have unit norm but in "plain"; those of a Gaussian kernel
    have it of their own.
    """
    steps = {
        "linear": [Normalizer()],
        "plain": [],
        "quadratic": [PolynomialFeatures(2, include_bias=False), Normalizer()],
        "kernel": [EmpiricalKernelMap("rbf")],
    }
    return make_pipeline(SimpleImputer(), StandardScaler(), *steps[space])


def standard_columns() -> Pipeline:
    """Return the pipeline for elimination: gaps filled with means, standardised columns."""
    return make_pipeline(SimpleImputer(), StandardScaler())


def path(kind: str, X: Array, y: Array, costs: Sequence[float]) -> list[LinearMachine]:
    """Fit a kind of machine at each C, in ascending order, each from the one before."""
    if kind != STD:
        found = MarginRadiusSVC(radius=kind).C_path(X, y, costs)
        return [_weighted(model) for model in found.estimators]
    machines, start = [], None
    for C in costs:
        minimum = squared_hinge(X, y, np.full(len(y), float(C)), start)
        start, size = minimum.violators, np.abs(minimum.coef)
        machines.append(
            LinearMachine(minimum.coef, minimum.intercept, int(np.count_nonzero(size)), size)
        )
    return machines


def _weighted(model: MarginRadiusSVC) -> LinearMachine:
    used = len(model.support_features_)
    return LinearMachine(
        model.coef_[0], float(model.intercept_[0]), used, model.feature_importances_
    )


def final(kind: str, X: Array, y: Array, C: float) -> LinearMachine:
    """Fit a machine at one C, with the bounds of its margin and radius."""
    if kind != STD:
        return _with_bounds(MarginRadiusSVC(radius=kind, C=C).fit(X, y), X, y)
    machine = path(kind, X, y, [C])[0]
    norm = np.linalg.norm(machine.coef)
    return machine._replace(bounds=_bounds(X @ X.T, y, X @ machine.coef + machine.intercept, norm))


def _with_bounds(model: MarginRadiusSVC, X: Array, y: Array) -> LinearMachine:
    K, norm = (X * model.feature_weights_) @ X.T, 1 / model.margin_[0]
    return _weighted(model)._replace(bounds=_bounds(K, y, model.decision_function(X), norm))


def _bounds(K: Array, y: Array, decisions: Array, norm: Any) -> tuple[float, float]:
    """Return the bounds of a machine in the space of its kernel, in which ||w|| is ``norm``."""
    columns = as_signs(y)[:, None], decisions[:, None]
    first, slack = margin_bounds(K, *columns, np.array([1 / norm]))
    return float(first[0]), float(slack[0])


class Descended(NamedTuple):
    """A machine of Algorithm 1, and how it ended."""

    machine: LinearMachine
    n_steps: int
    gap: float  # relative
    stopped: bool  # at the paper's gap, not for want of steps


def descended(X: Array, y: Array, C: float, max_steps: int) -> Descended:
    """Fit the paper's radius by Algorithm 1, from equal weights."""
    model = MarginRadiusSVC(radius="paper", optimizer="paper", C=C, max_iter=max_steps)
    with unconverged_allowed():
        model.fit(X, y)
    gap = float(model.duality_gap_[0])
    return Descended(_with_bounds(model, X, y), model.n_iter_, gap, not model.fit_status_)


def tuned(
    kind: str,
    make_columns: Callable[[], Pipeline],
    X: Array,
    y: Array,
    costs: Sequence[float],
    *,
    n_folds: int,
    seed: int,
) -> TunedMachine:
    """Choose C by inner folds, the smallest on ties, and fit to all rows."""
    wrong = np.zeros(len(costs), dtype=int)
    for train, held in folds(y, n_folds, seed):
        columns = make_columns().fit(X[train])
        Z, held_out = columns.transform(X[train]), columns.transform(X[held])
        for j, machine in enumerate(path(kind, Z, y[train], costs)):
            wrong[j] += np.sum(machine.signs(held_out) != y[held])
    C = costs[int(np.argmin(wrong))]
    columns = make_columns().fit(X)
    return TunedMachine(columns, final(kind, columns.transform(X), y, C), C)


def as_signs(y: Array) -> Array:
    """Return two classes as -1 and +1."""
    return np.where(y == np.unique(y)[1], 1.0, -1.0)


def by_repeat(rows: Sequence[Row]) -> list[list[Row]]:
    """Return the folds of each repeat, in which every row of the data is tested once."""
    ordered = sorted(rows, key=lambda row: row["fold"])
    return list(grouped(ordered, "repeat").values())


Right = Callable[[Row], Sequence[int]]


def errors(rows: Sequence[Row], right: Right) -> list[float]:
    """Return the error in percent over the folds of each repeat."""
    return [
        100 * (1 - float(np.mean(np.concatenate([right(row) for row in repeat]))))
        for repeat in by_repeat(rows)
    ]


def compare_right(rows: Sequence[Row], first: Right, second: Right) -> tuple[float, float] | None:
    """Return McNemar's test on the folds of a repeat: medians over the repeats.

    The first number is the excess of correct rows of the second.
    """
    verdicts = [
        mcnemar(*(np.concatenate([right(row) for row in repeat]) for right in (first, second)))
        for repeat in by_repeat(rows)
    ]
    if not verdicts:
        return None
    won, p = np.median(verdicts, axis=0)
    return float(won), float(p)
