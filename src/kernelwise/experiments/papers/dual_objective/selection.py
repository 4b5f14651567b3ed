"""WRBF as a feature selector against others, which the paper leaves to later work."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import RFE, f_classif, mutual_info_classif
from sklearn.svm import LinearSVC

from ...._typing import Array
from ....svm import SVC, DualObjectiveSVC
from ...engine.tables import Cell, Column, Spread, Summary, Table
from ...experiment import Experiment, Row, Scale, Task, register
from ...protocol import random_split
from .noisy_sets import PAPER, SECONDS, SETS, noisy, noisy_tasks, pair_means, paper_machine, sets_of

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
    "L-BFGS": lambda X, y, seed: DualObjectiveSVC().fit(X, y).feature_importances_,
    "F test": _by_f_test,
    "information": lambda X, y, seed: mutual_info_classif(X, y, random_state=seed),
    "SVM-RFE": _by_rfe,
    "forest": lambda X, y, seed: (
        RandomForestClassifier(200, random_state=seed).fit(X, y).feature_importances_
    ),
}
ALL = "all columns"


@register
class ColumnSelection(Experiment):
    """An SVM on the columns that several selectors keep."""

    name = "dual-objective-selection"
    title = "Dual objective: WRBF as a feature selector"
    paper = PAPER
    description = (
        "The noisy sets of Table 1: half of the columns are noise. Each selector ranks the columns "
        "by the training rows, the better half is kept, and `SVC()` is fitted to it. WRBF: the "
        "weights of the paper's 100 steps, shared by the classes; L-BFGS: `DualObjectiveSVC()`; F "
        "test, information: each column alone (ANOVA, mutual information); SVM-RFE: recursive "
        "elimination by a linear SVM; forest: importances of 200 trees."
    )
    repeats: ClassVar[Mapping[str, int]] = {"full": 5, "quick": 1, "smoke": 1}
    datasets = SETS

    def tasks(self, scale: Scale) -> list[Task]:
        """Return the 42 pairs for each repeat."""
        return noisy_tasks(scale)

    def cost(self, task: Task) -> float:
        """Return the CPU seconds of a set: the forest takes as long as the paper's steps."""
        return 2 * SECONDS[task["dataset"]] + 0.6

    def run(self, task: Task, seed: int, data_dir: Path | None) -> Row:
        """Select by all methods on one split."""
        X, y = noisy(task["dataset"], task["noise"], seed, data_dir)
        train, test = random_split(len(y), 0.2, seed)
        n_real = X.shape[1] // 2
        row: Row = {ALL: 100 * float(SVC().fit(X[train], y[train]).score(X[test], y[test]))}
        for name, rank in SELECTORS.items():
            begin = time.thread_time()
            order = np.argsort(-rank(X[train], y[train], seed), kind="stable")
            row[f"{name}_seconds"] = round(time.thread_time() - begin, 4)
            kept = np.sort(order[:n_real])
            model = SVC().fit(X[train][:, kept], y[train])
            row[name] = 100 * float(model.score(X[test][:, kept], y[test]))
            row[f"{name}_real"] = 100 * float(np.mean(kept < n_real))
        return row

    def summarise(self, rows: Sequence[Row]) -> Summary:
        """Return accuracies, real columns kept and times."""
        columns = [Column("data set"), *(Column(name, 1) for name in (ALL, *SELECTORS))]
        cells: list[list[Cell]] = [
            [
                name,
                *(
                    Spread.of([row[key] for row in rows if row["dataset"] == name])
                    for key in (ALL, *SELECTORS)
                ),
            ]
            for name in sets_of(rows)
        ]
        accuracies = Table(
            "Accuracy of SVC() on the columns kept, %", columns, cells, "± over all runs of a set."
        )
        return Summary([accuracies, _means(rows)], (), _remarks(rows))


def _means(rows: Sequence[Row]) -> Table:
    columns = [Column("selector"), Column("accuracy, %", 1), Column("real columns, %", 1)]
    columns.append(Column("CPU s", 3))
    cells: list[list[Cell]] = [[ALL, float(pair_means(rows, ALL).mean()), 50.0, None]]
    for name in SELECTORS:
        keys = (name, f"{name}_real", f"{name}_seconds")
        cells.append([name, *(float(pair_means(rows, key).mean()) for key in keys)])
    note = (
        "Means over the noisy sets. real columns: the part of the columns kept that is not noise."
    )
    return Table("Means over the noisy sets", columns, cells, note)


def _remarks(rows: Sequence[Row]) -> list[str]:
    mean = {name: float(pair_means(rows, name).mean()) for name in SELECTORS}
    above = sum(value > mean["WRBF"] for value in mean.values())
    return [
        f"An SVM on the half of the columns that WRBF keeps is {mean['WRBF']:.1f} % accurate, on "
        f"all columns {pair_means(rows, ALL).mean():.1f} %; {above} of the other "
        f"{len(mean) - 1} selectors are better than WRBF."
    ]
