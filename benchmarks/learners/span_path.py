"""Width and C by the span estimate, against grid searches over the same points."""

from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

import kernelwise
from kernelwise import AdaptiveKernelSVC, SVCSearchCV

from ..data import read
from ..measure import Effort
from ..names import FAST_GRID, GRID
from ..rounds import Round, judge, stratified
from ..suite import Results, Row, Suite, Task
from ..summaries import (
    Mean,
    accuracies,
    agreements,
    compared,
    cpu_per_fit,
    cpu_ratio,
    further,
    gains,
)
from ..text import factor, seconds, table
from .noisy import QUICK_SETS, shape

_SETS = (
    "sonar", "ionosphere", "glass", "iris", "pima", "bupa", "wdbc", "breast_cancer_wisconsin",
    "ecoli", "biomed", "wine", "voting",
)  # fmt: skip
_SPLITS = 5  # splits for all contenders
_FURTHER = 15  # further splits for the span path and the fast search
_COSTS = (0.1, 1.0, 10.0, 100.0, 1000.0)
_LABELS = {
    "span": "`AdaptiveKernelSVC()`",
    "cv": "`criterion='cv'`",
    "bound": "`criterion='bound'`",
    FAST_GRID: "`SVCSearchCV`",
    GRID: "`GridSearchCV`",
}


def _models(X: np.ndarray, *, everybody: bool, quick: bool) -> dict[str, Any]:
    """Return the contenders with the same grid: the default path of these rows."""
    exponents = np.linspace(-2, 3, 3 if quick else 11)
    sigma = np.sqrt(X.var(axis=0).sum()) * 2.0**exponents
    grid = {"C": list(_COSTS), "gamma": 0.5 / sigma**2}
    own = {"widths": 3} if quick else {}
    models = {
        "span": AdaptiveKernelSVC(**own),
        FAST_GRID: SVCSearchCV(kernelwise.SVC(), grid, cv=5),
    }
    if not everybody:
        return models
    return models | {
        "cv": AdaptiveKernelSVC(criterion="cv", **own),
        "bound": AdaptiveKernelSVC(criterion="bound", **own),
        GRID: GridSearchCV(SVC(), grid, cv=5),
    }


class SpanPath(Suite):
    """Width and C by the span path, and by grid searches over the same 55 points."""

    name = "learners-span-path"
    title = "Width and C by the span estimate"
    needs_folder = True
    seconds = 40.0

    def cases(self, quick: bool) -> list[Task]:
        return [{"dataset": name} for name in (QUICK_SETS if quick else _SETS)]

    def measure(self, case: Task, effort: Effort) -> Row:
        data = read(case["dataset"])
        first, more = (1, 1) if effort.quick else (_SPLITS, _FURTHER)
        rounds = [Round.of(data, *parts) for parts in stratified(data.y, first + more)]

        def make(X: np.ndarray, number: int) -> dict[str, Any]:
            return _models(X, everybody=number < first, quick=effort.quick)

        return shape(rounds[0].X, rounds[0].y) | {"times": judge(make, rounds)}

    def section(self, results: Results) -> str:
        rows = results.rows
        splits, later = len(rows[0]["times"][GRID]["cpu"]), further(rows)
        more = len(rows[0]["times"]["span"]["cpu"]) - splits
        equal, both = agreements(rows, FAST_GRID, GRID)
        return (
            f"{len(rows)} sets with {splits} splits each into 80 % training and 20 % test rows by "
            "class; missing values are replaced by the mean and columns standardised by the "
            "training rows. All choose among the same 55 points: 11 widths, the root of the sum "
            "of the variances times 2^-2 to 2^3 by factors of 2^0.5, and C from 0.1 to 1000 by "
            "factors of 10; the searches use 5 folds. `criterion='bound'` is the paper's choice: "
            "a hard margin, R = 1, and the widths alone. Several classes are one-vs-rest in "
            f"`AdaptiveKernelSVC` and one-vs-one in the searches{_two_classes(rows)}. Means over "
            "the sets ± their standard error; CPU time of a fit, including the last one on all "
            "rows, and the ratio of `GridSearchCV`'s time to it, in total and on the worst "
            "set.\n\n"
            f"With test sets of a few dozen rows, {splits} splits are few. `SVCSearchCV` has the "
            f"accuracy of `GridSearchCV` in {equal} of {both} fits, so {more} further splits are "
            "measured with it in place of `GridSearchCV`: on these alone the span path is "
            f"{compared(rows, 'span', FAST_GRID, later)} points from it, and on all "
            f"{splits + more} {compared(rows, 'span', FAST_GRID)}. The next table is of the first "
            f"{splits} splits.\n\n"
            + _totals(rows, slice(0, splits))
            + "\n\nAccuracy by set, and CPU time of `GridSearchCV` divided by that of the method:"
            + f"\n\n{_by_set(rows, slice(0, splits), later, more)}"
        )


def _totals(rows: list[Row], first: slice) -> str:
    cells = []
    for method, label in _LABELS.items():
        cells.append([label, Mean.of(accuracies(rows, method, first)).text()])
        cells[-1] += ["" if method == GRID else compared(rows, method, GRID)]
        cells[-1] += [seconds(cpu_per_fit(rows, method))]
        worst = min(cpu_ratio([row], method, GRID) for row in rows)
        ratios = (cpu_ratio(rows, method, GRID), worst)
        cells[-1] += ["", ""] if method == GRID else map(factor, ratios)
    header = ["method", "accuracy", "- `GridSearchCV`, points", "CPU per fit", "ratio", "worst"]
    return table(header, cells, left=1)


def _by_set(rows: list[Row], first: slice, later: slice, more: int) -> str:
    cells = []
    for row in rows:
        cells.append([row["dataset"], *(f"{row[key]:,}" for key in ("n", "p", "classes"))])
        cells[-1] += [f"{accuracies([row], method, first)[0]:.1f}" for method in _LABELS]
        cells[-1] += [f"{gains([row], 'span', FAST_GRID, later)[0]:+.1f}"]
        cells[-1] += [factor(cpu_ratio([row], method, GRID)) for method in ("span", FAST_GRID)]
    header = ["set", "n", "p", "classes", "span", "cv", "bound", "`SVCSearchCV`", "`GridSearchCV`"]
    header += [f"span - `SVCSearchCV`, {more} further splits"]
    return table([*header, "ratio, span", "ratio, `SVCSearchCV`"], cells, left=1)


def _two_classes(rows: list[Row]) -> str:
    """Return the result on the sets with two classes, whose machines are the same."""
    two = [row for row in rows if row["classes"] == 2]
    if not two:
        return ""
    return (
        f"; on the {len(two)} sets with two classes alone the span path is "
        f"{compared(two, 'span', GRID)} points from `GridSearchCV`, at a ratio of "
        f"{factor(cpu_ratio(two, 'span', GRID))}"
    )
