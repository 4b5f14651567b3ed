"""Feature weights on standardised columns, by several criteria, against a grid search."""

from statistics import fmean
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

import kernelwise
from kernelwise import DualObjectiveSVC, SVCSearchCV

from ..data import read, with_noise
from ..measure import Effort
from ..names import FAST_GRID, GRID
from ..rounds import Round, judge, stratified
from ..suite import Results, Row, Suite, Task
from ..summaries import Mean, accuracies, agreements, compared, cpu_ratio
from ..text import factor, table
from .noisy import by_set, generator, pairs, shape

_CLEAN_SPLITS, _NOISY_SPLITS = 12, 2  # splits of a set alone, and with each of six noises
_LABELS = {
    "SVC": "`SVC()`",
    FAST_GRID: "grid search, 45 points",
    "dual": "`DualObjectiveSVC()`",
    "radius_margin": "`criterion='radius_margin'`",
    "span": "`criterion='span'`",
}


def _models(X: np.ndarray, *, with_grid: bool, quick: bool) -> dict[str, Any]:
    grid = {
        "C": [1.0] if quick else [0.1, 1.0, 10.0, 100.0, 1000.0],
        "gamma": 2.0 ** np.arange(-4, 5, 4 if quick else 1) / (X.shape[1] * X.var()),
    }
    models = {
        "dual": DualObjectiveSVC(),
        "radius_margin": DualObjectiveSVC(criterion="radius_margin"),
        "span": DualObjectiveSVC(criterion="span"),
        "SVC": SVC(),
        FAST_GRID: SVCSearchCV(kernelwise.SVC(), grid, cv=5),
    }
    return models | ({GRID: GridSearchCV(SVC(), grid, cv=5)} if with_grid else {})


class Criteria(Suite):
    """Weights by three criteria, with and without noise, against a grid search."""

    name = "learners-criteria"
    title = "Feature weights on standardised columns"
    needs_folder = True
    seconds = 10.0

    def cases(self, quick: bool) -> list[Task]:
        noisy = pairs(quick)
        names = dict.fromkeys(name for name, _ in noisy)
        first = {name: noise for name, noise in reversed(noisy)}
        # The slow grid runs on each set alone and with its first noise.
        return [{"dataset": name, "noise": "", "timed": True} for name in names] + [
            {"dataset": name, "noise": noise, "timed": noise == first[name]}
            for name, noise in noisy
        ]

    def measure(self, case: Task, effort: Effort) -> Row:
        name, noise = case["dataset"], case["noise"] or None
        splits = 1 if effort.quick else _NOISY_SPLITS if noise else _CLEAN_SPLITS
        rounds = []
        for repeat, (train, test) in enumerate(stratified(read(name).y, splits)):
            noisy = with_noise(name, noise, generator(repeat, name, noise or ""))
            rounds.append(Round.of(noisy, train, test))

        def make(X: np.ndarray, number: int) -> dict[str, Any]:
            return _models(X, with_grid=case["timed"] and number == 0, quick=effort.quick)

        return shape(rounds[0].X, rounds[0].y) | {"times": judge(make, rounds)}

    def section(self, results: Results) -> str:
        kinds = {
            "noisy": [row for row in results.rows if row["noise"]],
            "clean": [row for row in results.rows if not row["noise"]],
        }
        timed = [row for row in results.rows if GRID in row["times"]]
        equal, both = agreements(timed, FAST_GRID, GRID)
        counts = {kind: len(rows[0]["times"]["SVC"]["cpu"]) for kind, rows in kinds.items()}
        return (
            "The same sets with every column standardised by the training rows, and without noise "
            f"as well: {len(kinds['noisy'])} noisy sets with {counts['noisy']} splits each, and "
            f"{len(kinds['clean'])} clean ones with {counts['clean']} splits, 80 % training rows "
            "by class. All start from `gamma='scale'` and C = 1. The grid has C from 0.1 to 1000 "
            "by factors of 10 and 2^-4 to 2^4 times that gamma, with 5 folds, and is searched by "
            f"`SVCSearchCV`; on one split of {len(timed)} of the sets `GridSearchCV` ran too, with "
            f"the same accuracy in {equal} of {both}. Means over sets, ± their standard error. The "
            "last columns are the CPU time of `GridSearchCV` on those sets divided by that of the "
            "method, for all sets together and for the worst one.\n\n"
            + _totals(kinds, timed)
            + f"\n\nBy set:\n\n{_by_set(kinds, results.rows)}"
        )


def _totals(kinds: dict[str, list[Row]], timed: list[Row]) -> str:
    cells, header = [], ["method"]
    for kind in kinds:
        header += [kind, "- grid, points"]
    for method, label in _LABELS.items():
        line = [label]
        for rows in kinds.values():
            line.append(Mean.of(accuracies(rows, method)).text())
            line.append("" if method == FAST_GRID else compared(rows, method, FAST_GRID))
        worst = min(cpu_ratio([row], method, GRID) for row in timed)
        cells.append([*line, factor(cpu_ratio(timed, method, GRID)), factor(worst)])
    return table([*header, "CPU of `GridSearchCV`", "worst"], cells, left=1)


def _by_set(kinds: dict[str, list[Row]], rows: list[Row]) -> str:
    shown = ("SVC", FAST_GRID, "dual", "radius_margin")
    cells = []
    for name in by_set(rows):
        own = [[row for row in some if row["dataset"] == name] for some in kinds.values()]
        means = [fmean(accuracies(some, method)) for some in own for method in shown]
        cells.append([name, *(f"{mean:.1f}" for mean in means)])
    header = [f"{kind}: {one}" for kind in kinds for one in ("SVC", "grid", "dual", "r-m")]
    return table(["set", *header], cells, left=1)
