"""Generalised bias (SVM-GB): what the equalities cost, and invariance to linear maps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scipy.stats import ortho_group
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelwise._typing import Array
from kernelwise.svm import GeneralizedBiasSVC

from ...data import dataset
from ...experiment import PaperExperiment, Row, Scale, Task, crossed, register
from ...protocol import random_split, timed, unconverged_allowed
from ...rows import grouped, spread_of
from ...tables import Claim, Column, Part, Summary, spread_text, tabulate
from .machines import PAPER

SETS = ("sonar", "pima", "wdbc", "ionosphere")
COUNTS = (2, 5)  # features in the bias: the first columns
SOLVERS = ("auto", "paper")
_NOT_MUCH = 2.0  # times the machine with the constant alone
_EQUAL = 0.01  # largest difference of decision values that counts as none, in margins


@register
class Computations(PaperExperiment):
    """Times with several equalities against one, and machines of transformed features."""

    name = "generalized-bias-computations"
    title = "Generalised bias, sections 4.1 and 4.2: what equalities cost, and invariance"
    paper = PAPER
    description = (
        "The first 2 or 5 columns of a set as free features of a machine on all its columns, "
        "standardised on a random training half, C = 1 and a Gaussian kernel. Section 4.1 expects "
        "that several equalities do not affect the computations much: the CPU time of a fit over "
        "that with one feature alone, by our dual and by the paper's construction. "
        "Section 4.2 wants machines that do not change when the features are replaced by linear "
        "combinations of them: the largest difference of decision values on the test half, for a "
        "random map with singular values from 0.1 to 10. See `equalities` of the benchmarks for "
        "larger problems. Sets, sizes and limits are our choices: the paper measures neither."
    )
    reproduces = (
        "section 4.1: equality constraints will not affect the computations much",
        "section 4.2: invariance to linear transformations",
    )
    repeats: ClassVar[Mapping[str, int]] = {"full": 10, "quick": 3, "smoke": 1}
    seconds = 0.6
    datasets = SETS
    seed_keys = ("dataset", "repeat")

    def tasks(self, scale: Scale) -> list[Task]:
        """Return a task for each set, number of features and repeat."""
        names = SETS if scale.name != "smoke" else SETS[:1]
        return crossed(repeat=range(scale.repeats), dataset=names, n_features=COUNTS)

    def run(self, task: Task, seed: int, data_dir: Path | None) -> Row:
        """Fit with one feature, with several, and with linear combinations of these."""
        data = dataset(task["dataset"], data_dir)
        train, test = random_split(len(data.y), 0.5, seed, data.y)
        columns = make_pipeline(data.encoder(), StandardScaler()).fit(data.X[train])
        X, new = columns.transform(data.X[train]), columns.transform(data.X[test])
        y, count = data.y[train], task["n_features"]
        left, right = ortho_group(count, seed=seed).rvs(2)
        mixed = left * np.geomspace(0.1, 10, count) @ right
        row: Row = {}
        for solver in SOLVERS:
            one, base = _fitted(X, y, solver, np.eye(X.shape[1])[:, :1])
            own, seconds = _fitted(X, y, solver, np.eye(X.shape[1])[:, :count])
            other, _ = _fitted(X, y, solver, np.eye(X.shape[1])[:, :count] @ mixed)
            row[f"{solver}_ratio"] = seconds / max(base, 1e-4)
            row[f"{solver}_violation"] = float(one.certificate_.violation.max())
            apart = own.decision_function(new) - other.decision_function(new)
            row[f"{solver}_apart"] = float(np.abs(apart).max())
        return row

    def summarise(self, rows: Sequence[Row]) -> Summary:
        """Return times and differences by the number of features."""
        found = {
            f"{name}, {count}": mine
            for (name, count), mine in grouped(rows, ("dataset", "n_features")).items()
        }
        parts: list[Part] = []
        for solver in SOLVERS:
            parts += [
                (Column("times", 1, solver), lambda _, r, s=solver: spread_of(r, f"{s}_ratio")),
                (Column("apart", 5, solver), lambda _, r, s=solver: _largest(r, f"{s}_apart")),
            ]
        table = tabulate("Several features against one", "data set, features", found, parts)
        return Summary([table], (), (), _verdicts(rows))


def _fitted(X: Array, y: Any, solver: str, chosen: Array) -> tuple[GeneralizedBiasSVC, float]:
    """Fit with linear combinations of the columns in the bias; return CPU seconds, too."""
    model = GeneralizedBiasSVC(_Combined(chosen), solver=solver, bias_penalty=0.0, tol=1e-6)
    with unconverged_allowed():
        _, seconds = timed(model.fit, X, y)
    return model, seconds


class _Combined:
    """A function of rows: linear combinations of their columns."""

    def __init__(self, weights: Array) -> None:
        self.weights = weights

    def __call__(self, X: Array) -> Array:
        combined: Array = X @ self.weights
        return combined


def _largest(rows: Sequence[Row], key: str) -> float:
    return max(row[key] for row in rows)


def _verdicts(rows: Sequence[Row]) -> list[Claim]:
    ratios = {
        f"{solver}, {count} features": [row[f"{solver}_ratio"] for row in mine]
        for count, mine in grouped(rows, "n_features", COUNTS).items()
        for solver in SOLVERS
    }
    apart = {solver: [row[f"{solver}_apart"] for row in rows] for solver in SOLVERS}
    return [
        Claim.judged(
            "several equalities do not affect the computations much (section 4.1; at most "
            f"{_NOT_MUCH:g} times one feature, median)",
            "not much",
            ratios,
            lambda own: f"median {np.median(own):.1f}, mean {spread_text(own, 2)} times",
            lambda own: float(np.median(own)) <= _NOT_MUCH,
        ),
        Claim.judged(
            "the machine is invariant to linear transformations of the features (section 4.2; "
            f"decision values within {_EQUAL:g})",
            "invariance by virtual samples",
            apart,
            lambda own: f"at most {max(own):.1e} apart",
            lambda own: max(own) <= _EQUAL,
        ),
    ]
