"""Margin-radius SVM: the experiment of Tables 1 and 2, with every reading of the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar

import numpy as np

from ...data import dataset
from ...experiment import PaperExperiment, Row, Scale, Task, register
from ...protocol import folds, timed
from ...tables import Summary
from .machines import DESCENT, PAPER, STD, as_signs, columns_of, descended, tuned
from .printed import KNOWN, SETS
from .summary import summary

_SMALL = ("ionosphere", "bupa", "sonar", "wdbc", "wpbc")
_GENES = ("central_nervous_system", "leukemia", "prostate_singh")
# The paper's error on wpbc is below the share of the minority class, which needs the column time.
_WITH_LEAKS = ("wpbc",)
_KINDS = (STD, "paper", "product")
_COSTS = (0.1, 1.0, 10.0, 100.0, 500.0, 1000.0)
_ROWS = ("linear", "plain")  # rows of unit norm, and rows as they are
_SPACES = ("quadratic", "kernel")
_FOLDS = 10
_STEPS, _GENE_STEPS = 1000, 200  # most steps of Algorithm 1, and those on thousands of columns
# CPU seconds of a fold: five inner folds with all C, four machines.
_LINEAR = dict(zip(SETS, (3.0, 0.9, 3.2, 2.5, 2.0, 9.2, 2.2, 2.0, 3.5, 6.7), strict=True))
_SECONDS = {
    "linear": _LINEAR,
    "plain": _LINEAR,
    "quadratic": dict(zip(_SMALL, (8.0, 1.2, 9.3, 2.8, 3.5), strict=True)),
    "kernel": dict(zip(_SMALL, (5.0, 7.2, 5.2, 6.5, 4.9), strict=True)),
}


def _task(name: str, space: str, repeat: int, fold: int, *, quick: bool) -> Task:
    genes = name in _GENES
    return {
        "dataset": name,
        "space": space,
        "repeat": repeat,
        "fold": fold,
        "inner_folds": 3 if genes or quick else 5,
        "max_C": 100.0 if genes or quick else 1000.0,
    }


def _n_folds(name: str, space: str, *, quick: bool) -> int:
    """Return the number of folds to run: all, or few where a fold takes long."""
    if not quick or (space in _ROWS and name in (*_SMALL, "musk1")):
        return _FOLDS
    return 3 if space in _SPACES else int(space == "linear")


@register
class Table2(PaperExperiment):
    """Error and number of weighted columns of the SVM and of the margin-radius SVM."""

    name = "margin-radius-table2"
    title = "Margin and radius, Tables 1 and 2: MR-SVM against the SVM"
    paper = PAPER
    description = (
        "Nine of the thirteen data sets: of femalevsmale, stroke, ovarian and prostate as the "
        "authors preprocessed them there is no public copy. prostate_singh is another prostate "
        "set, not the paper's, as a further one of very many columns. Ten folds by class, C from "
        "0.1, 1, 10, 100, 500, 1000 by five inner folds (the smallest on ties; on the three "
        "largest gene sets three folds and C up to 100), missing values and scales from the "
        "training part. STD is the SVM with squared slack in the same space; MR is "
        '`MarginRadiusSVC(radius="paper")`, the relaxation that the paper solves, to a relative '
        "duality gap of 1e-4; product is our radius; descent is the paper's own Algorithm 1, "
        '`optimizer="paper"`, at the C of MR, which stops at the paper\'s absolute gap of 0.01 or '
        f"after {_STEPS:,} steps ({_GENE_STEPS} on the gene sets; first run of the folds only). "
        "wpbc keeps the column time, which reveals much about the class: without it no machine "
        "here beats the majority class, and the paper's machines do.\n\n"
        "Two readings of the rows: scaled to unit norm, which the paper writes it does without "
        "loss of generality, and as they are. The bounds of Theorems 1 and 2 are of the training "
        "part, with the exact smallest ball. Further spaces, only on the small sets and in the "
        "first run: squares and products of the columns, and the empirical map of a Gaussian "
        "kernel, which is the kernel version that the paper leaves to later work."
    )
    reproduces = (
        "Table 1: sizes of the data sets",
        "Table 2: errors, used columns and their share, McNemar's test",
        "section 5: better on 7 sets, worse on 2; 68.6 % of the columns used",
        "Theorems 1 and 2: the bounds of SVM and MR-SVM",
        "Algorithm 1",
    )
    repeats: ClassVar[Mapping[str, int]] = {"full": 3, "quick": 1, "smoke": 1}
    datasets = SETS
    seed_keys = ("dataset", "repeat")
    protocol = 2

    def tasks(self, scale: Scale) -> list[Task]:
        """Return a task for each fold."""
        if scale.name == "smoke":
            found = [("bupa", "linear", 0), ("bupa", "quadratic", 0), ("colon", "plain", 0)]
            return [_task(*each, 0, quick=True) for each in found]
        quick = scale.name == "quick"
        names = SETS if scale.is_full else KNOWN
        linear = [(n, rows, r) for r in range(scale.repeats) for n in names for rows in _ROWS]
        further = [(name, space, 0) for space in _SPACES for name in _SMALL]
        return [
            _task(*each, fold, quick=quick)
            for each in (*linear, *further)
            for fold in range(_n_folds(*each[:2], quick=quick))
        ]

    def cost(self, task: Task) -> float:
        """Return the CPU seconds of a fold of a set in a space."""
        quick = task["inner_folds"] == 3 and task["dataset"] not in _GENES
        return _SECONDS[task["space"]][task["dataset"]] * (0.35 if quick else 1.0)

    def run(self, task: Task, seed: int, data_dir: Path | None) -> Row:
        """Fit all machines on one fold."""
        name, space = task["dataset"], task["space"]
        data = dataset(name, data_dir, drop_leaks=name not in _WITH_LEAKS)
        X, y = data.X, as_signs(data.y)
        train, test = folds(y, _FOLDS, seed)[task["fold"]]
        costs = [cost for cost in _COSTS if cost <= task["max_C"]]
        row: Row = {"n_rows": len(y), "class_sizes": [int(np.sum(y < 0)), int(np.sum(y > 0))]}
        for kind in _KINDS:
            inner = {"n_folds": task["inner_folds"], "seed": seed}
            choose = partial(tuned, kind, partial(columns_of, space), **inner)
            found, row[f"{kind}_seconds"] = timed(choose, X[train], y[train], costs)
            row[f"{kind}_right"] = (found.signs(X[test]) == y[test]).astype(int)
            row[f"{kind}_C"], row[f"{kind}_used"] = found.C, found.machine.n_used
            row[f"{kind}_bounds"] = [min(bound, 1e300) for bound in found.machine.bounds]
            row["n_columns"] = len(found.machine.coef)
        if space in _ROWS and task["repeat"] == 0:
            steps = _GENE_STEPS if name in _GENES or name == "colon" else _STEPS
            columns = columns_of(space).fit(X[train])
            own = descended(columns.transform(X[train]), y[train], row["paper_C"], steps)
            right = own.machine.signs(columns.transform(X[test])) == y[test]
            row[f"{DESCENT}_right"] = right.astype(int)
            row[f"{DESCENT}_used"] = own.machine.n_used
            row[f"{DESCENT}_bounds"] = [min(bound, 1e300) for bound in own.machine.bounds]
            row[f"{DESCENT}_steps"], row[f"{DESCENT}_gap"] = own.n_steps, own.gap
            row[f"{DESCENT}_stopped"] = own.stopped
        return row

    def summarise(self, rows: Sequence[Row]) -> Summary:
        """Return both tables under both readings, the bounds, the tests and further spaces."""
        return summary(rows)
