"""The recipe of small tables against that of larger ones, at the sizes where one gives way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

import numpy as np

from kernelwise.experiments import Row

from ..measure import Effort, rounded
from ..suite import Results, Suite, Task
from ..summaries import Mean
from ..text import digits, table
from .measures import measures
from .on_tables import QUICK_TABLE
from .opponents import OPPONENTS, OURS, Setting
from .tables import REPORT, Split, draw, of_role
from .tables.splits import categories

SMALL, LARGER = "small", "larger"
WHOLE, NUMBERS = "as they are", "numbers alone"
_ROWS = (250, 500, 1000, 2000)
_SPLITS = 3
_FEWEST_NUMBERS = 3  # columns of numbers that a table without its categories must have
# Rows of the table that a fit is made to believe in: few enough and many enough for a recipe.
_BELIEVED = {SMALL: 100, LARGER: 1000}
_POINTS = {"accuracy": 100, "auc": 100, "log_loss": 1}


def some_rows(split: Split, rows: int, kind: str, seed: int) -> Split | None:
    """Return a split with so many training rows; None where the table is too small."""
    from sklearn.model_selection import train_test_split

    X, X_test = split.X, split.X_test
    if kind == NUMBERS:
        names = [name for name in X.columns if name not in categories(X)]
        if len(names) < _FEWEST_NUMBERS or len(names) == X.shape[1]:
            return None
        X, X_test = X[names], X_test[names]
    if len(X) < rows:
        return None
    kept = np.arange(len(X))
    if rows < len(X):
        kept, _ = train_test_split(kept, train_size=rows, stratify=split.y, random_state=seed)
    kept = np.sort(kept)
    return replace(split, X=X.iloc[kept], y=split.y[kept], X_test=X_test)


class Recipes(Suite):
    """Fits of both recipes to the same rows."""

    name = "quality-recipes"
    title = "Where the recipe of larger tables begins"
    is_timed = False
    seconds = 2.0

    def cases(self, quick: bool) -> list[Task]:
        if quick:
            return [{"dataset": QUICK_TABLE.name, "kind": WHOLE, "rows": 100, "split": 0}]
        return [
            {"dataset": name, "kind": kind, "rows": rows, "split": split}
            for rows in _ROWS
            for kind in (WHOLE, NUMBERS)
            for name in of_role("mixed", REPORT)
            for split in range(_SPLITS)
        ]

    def measure(self, case: Task, effort: Effort) -> Row:
        from kernelwise.svm.relevance.limits import as_part

        spec = QUICK_TABLE if effort.quick else of_role("mixed", REPORT)[case["dataset"]]
        whole = draw(spec, case["split"])
        split = some_rows(whole, case["rows"], case["kind"], case["split"])
        if split is None:
            return {"found": {}}
        found = {}
        for recipe, believed in _BELIEVED.items():
            with as_part(len(split.y) / believed):
                judged = OPPONENTS[OURS].judge(split, Setting(case["split"], effort.quick))
            found[recipe] = measures(split.y_test, judged) | {
                "fit_seconds": rounded(judged.fit_seconds)
            }
        return {"found": found}

    def section(self, results: Results) -> str:
        rows = [row for row in results.rows if row["found"]]
        groups = dict.fromkeys((row["kind"], row["rows"]) for row in rows)
        cells = [
            _line(kind, size, [r for r in rows if (r["kind"], r["rows"]) == (kind, size)])
            for kind, size in sorted(groups, key=lambda group: (group[0] != WHOLE, group[1]))
        ]
        return (
            "Tables with categories get the [parts of larger tables]"
            "(relevance.md#the-method) from 500 training rows on, and others from 1,000 on. Here "
            "both recipes are fitted to the same rows, of the mixed tables above as they are and "
            "without their categories. These took no part in the choice of the limits. "
            f"Differences are of the larger recipe to the small one, means over the tables of "
            f"{_SPLITS} splits each with their standard errors; a minus in the log loss is a "
            "gain.\n\n"
            + table(
                ["tables", "rows", "number", "accuracy", "AUC", "log loss", "time of a fit"],
                cells,
                left=1,
            )
        )


def _line(kind: str, size: int, rows: Sequence[Row]) -> list[str]:
    """Return the cells of one kind of tables and one number of rows."""
    names = list(dict.fromkeys(row["dataset"] for row in rows))
    own = {name: [row["found"] for row in rows if row["dataset"] == name] for name in names}
    cells = [kind, f"{size:,}", str(len(names))]
    for measure, factor in _POINTS.items():
        gains = [
            factor * fmean(each[LARGER][measure] - each[SMALL][measure] for each in found)
            for found in own.values()
        ]
        cells.append(_signed(Mean.of(gains), 2 if factor == 100 else 3))
    times = [sum(row["found"][recipe]["fit_seconds"] for row in rows) for recipe in _BELIEVED]
    return [*cells, f"{digits(times[1] / times[0])} times"]


def _signed(mean: Mean, places: int) -> str:
    return ("+" if mean.value >= 0 else "") + mean.text(places)
