"""WRBF as a feature selector against others, which the paper leaves to later work."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import RFE, f_classif, mutual_info_classif
from sklearn.svm import LinearSVC

from kernelwise._typing import Array
from kernelwise.svm import SVC, DualObjectiveSVC

from ...experiment import Row, Task, register
from ...protocol import timed
from ...rows import spread_of
from ...tables import Column, Summary, Table, tabulate
from .noisy_sets import (
    SECONDS,
    NoisySetsExperiment,
    noisy_split,
    pair_means,
    paper_machine,
    sets_of,
)

Ranking = Callable[[Array, Array, int], Array]


def _by_rfe(X: Array, y: Array, seed: int) -> Array:
    machine = LinearSVC(dual=False, random_state=seed)
    ranks: Array = RFE(machine, n_features_to_select=1, step=0.1).fit(X, y).ranking_
    return -ranks.astype(float)


def _by_f_test(X: Array, y: Array, seed: int) -> Array:
    """Return F of each column; constant ones come last."""
    varies = np.flatnonzero(np.ptp(X, axis=0) > 0)
    scores = np.full(X.shape[1], -1.0)
    with np.errstate(divide="ignore"):  # a column that is constant in every class separates them
        scores[varies] = f_classif(X[:, varies], y)[0]
    return scores


# How columns are ranked by training rows: the larger, the better.
SELECTORS: Mapping[str, Ranking] = {
    "WRBF": lambda X, y, seed: paper_machine(weights="shared").fit(X, y).feature_weights_,
    "L-BFGS": lambda X, y, seed: DualObjectiveSVC(shrinkage=0.0).fit(X, y).feature_importances_,
    "F test": _by_f_test,
    "information": lambda X, y, seed: mutual_info_classif(X, y, random_state=seed),
    "SVM-RFE": _by_rfe,
    "forest": lambda X, y, seed: (
        RandomForestClassifier(200, random_state=seed).fit(X, y).feature_importances_
    ),
}
ALL = "all columns"


@register
class ColumnSelection(NoisySetsExperiment):
    """An SVM on the columns that several selectors keep."""

    name = "dual-objective-selection"
    title = "Dual objective: WRBF as a feature selector"
    description = (
        "The noisy sets of Table 1: half of the columns are noise. Each selector ranks the columns "
        "by the training rows, the better half is kept, and `SVC()` is fitted to it. WRBF: the "
        "weights of the paper's 100 steps, shared by the classes; L-BFGS: `DualObjectiveSVC()`; F "
        "test, information: each column alone (ANOVA, mutual information); SVM-RFE: recursive "
        "elimination by a linear SVM; forest: importances of 200 trees."
    )
    repeats: ClassVar[Mapping[str, int]] = {"full": 5, "quick": 1, "smoke": 1}

    def cost(self, task: Task) -> float:
        """Return the CPU seconds of a set: the forest takes as long as the paper's steps."""
        return 2 * SECONDS[task["dataset"]] + 0.6

    def run(self, task: Task, seed: int, data_dir: Path | None) -> Row:
        """Select by all methods on one split."""
        X, y, X_test, y_test = noisy_split(task, seed, data_dir)
        n_real = X.shape[1] // 2
        row: Row = {ALL: 100 * float(SVC().fit(X, y).score(X_test, y_test))}
        for name, rank in SELECTORS.items():
            scores, row[f"{name}_seconds"] = timed(rank, X, y, seed)
            kept = np.sort(np.argsort(-scores, kind="stable")[:n_real])
            model = SVC().fit(X[:, kept], y)
            row[name] = 100 * float(model.score(X_test[:, kept], y_test))
            row[f"{name}_real"] = 100 * float(np.mean(kept < n_real))
        return row

    def summarise(self, rows: Sequence[Row]) -> Summary:
        """Return accuracies, real columns kept and times."""
        names = (ALL, *SELECTORS)
        columns = [Column(name, 1) for name in names]
        accuracies = tabulate(
            "Accuracy of SVC() on the columns kept, %",
            "data set",
            sets_of(rows),
            [(columns, lambda _, mine: [spread_of(mine, name) for name in names])],
            "± over all runs of a set.",
        )
        return Summary([accuracies, _means(rows)], (), _remarks(rows))


def _means(rows: Sequence[Row]) -> Table:
    def mean(key: str) -> float:
        return float(pair_means(rows, key).mean())

    parts = [
        (Column("accuracy, %", 1), mean),
        (Column("real columns, %", 1), lambda name: 50.0 if name == ALL else mean(f"{name}_real")),
        (Column("CPU s", 3), lambda name: None if name == ALL else mean(f"{name}_seconds")),
    ]
    note = (
        "Means over the noisy sets. real columns: the part of the columns kept that is not noise."
    )
    return tabulate("Means over the noisy sets", "selector", (ALL, *SELECTORS), parts, note)


def _remarks(rows: Sequence[Row]) -> list[str]:
    mean = {name: float(pair_means(rows, name).mean()) for name in SELECTORS}
    above = sum(value > mean["WRBF"] for value in mean.values())
    return [
        f"An SVM on the half of the columns that WRBF keeps is {mean['WRBF']:.1f} % accurate, on "
        f"all columns {pair_means(rows, ALL).mean():.1f} %; {above} of the other "
        f"{len(mean) - 1} selectors are better than WRBF."
    ]
