"""Probabilities where there is nothing to learn, and the coverage of prediction sets."""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import fmean

import numpy as np

from kernelwise.experiments import Row

from ..measure import Effort, rounded
from ..suite import Results, Suite, Task
from ..summaries import Mean
from ..text import digits, table
from .measures import columns, log_loss
from .on_tables import QUICK_TABLE
from .tables import REPORT, draw, of_role

# Rows, columns and classes of noise; the classes are equal in number.
NOISE = {
    "100 x 500": (100, 500, 2),
    "300 x 30": (300, 30, 2),
    "1,000 x 10": (1000, 10, 2),
    "100 x 500, three classes": (100, 500, 3),
}
_QUICK_NOISE = ("300 x 30",)
_TEST_ROWS = 2000
LEVELS = (0.8, 0.9)


class PureNoise(Suite):
    """The log loss of RelevanceSVC on classes that nothing predicts."""

    name = "quality-pure-noise"
    title = "Probabilities where there is nothing to learn"
    is_timed = False
    seconds = 1.0

    def cases(self, quick: bool) -> list[Task]:
        problems, seeds = (_QUICK_NOISE, 1) if quick else (tuple(NOISE), 6)
        return [{"problem": name, "seed": seed} for name in problems for seed in range(seeds)]

    def measure(self, case: Task, effort: Effort) -> Row:
        from kernelwise import RelevanceSVC

        n, p, classes = NOISE[case["problem"]]
        rng = np.random.default_rng([case["seed"], n, p, classes])
        X, X_test = rng.standard_normal((n, p)), rng.standard_normal((_TEST_ROWS, p))
        y, y_test = (rng.permutation(np.arange(size) % classes) for size in (n, _TEST_ROWS))
        found = RelevanceSVC().fit(X, y).predict_proba(X_test)
        return {"log_loss": rounded(log_loss(y_test, found)), "classes": classes}

    def section(self, results: Results) -> str:
        cells = [
            [name, Mean.of(found).text(3), digits(entropy, 3), f"{fmean(found) / entropy:.3f}"]
            for name, found, entropy in by_problem(results.rows)
        ]
        return (
            "Columns of standard normal noise and classes drawn independently of them, "
            f"{_TEST_ROWS:,} test rows; the best log loss is the entropy of the classes.\n\n"
            + table(["rows x columns", "log loss", "entropy", "ratio"], cells, left=1)
        )


def by_problem(rows: Iterable[Row]) -> list[tuple[str, list[float], float]]:
    """Return the log losses of each problem of noise, and the entropy of its classes."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["problem"], []).append(row)
    return [
        (name, [row["log_loss"] for row in own], math.log(own[0]["classes"]))
        for name, own in found.items()
    ]


class Coverage(Suite):
    """How often the sets of `predict_set` hold the true class, and how large they are."""

    name = "quality-coverage"
    title = "Coverage of prediction sets"
    is_timed = False
    seconds = 1.0

    def cases(self, quick: bool) -> list[Task]:
        names = (QUICK_TABLE.name,) if quick else tuple(of_role("small", REPORT))
        return [{"dataset": name, "split": k} for name in names for k in range(1 if quick else 2)]

    def measure(self, case: Task, effort: Effort) -> Row:
        from kernelwise import RelevanceSVC

        spec = QUICK_TABLE if effort.quick else of_role("small", REPORT)[case["dataset"]]
        split = draw(spec, case["split"], halves=True)
        model = RelevanceSVC().fit(split.X, split.y)
        found: Row = {"classes": split.n_classes, "n_test": len(split.y_test)}
        for level in LEVELS:
            sets = columns(model.predict_set(split.X_test, confidence_level=level))
            own = sets[np.arange(len(split.y_test)), split.y_test]
            found[f"coverage_{level:g}"] = rounded(float(own.mean()))
            found[f"size_{level:g}"] = rounded(float(sets.sum(axis=1).mean()))
        return found

    def section(self, results: Results) -> str:
        tables: dict[str, list[Row]] = {}
        for row in results.rows:
            tables.setdefault(row["dataset"], []).append(row)
        cells = [
            [name, rows[0]["classes"], *(_entry(rows, level) for level in LEVELS)]
            for name, rows in tables.items()
        ]
        means = [coverage(results.rows, level) for level in LEVELS]
        cells.append(["mean", "", *(f"{100 * mean:.1f} %" for mean in means if mean is not None)])
        header = ["table", "classes", *(f"{100 * level:.0f} % asked for" for level in LEVELS)]
        return (
            "Share of the test rows whose class is in the set that `predict_set` gives, and the "
            "mean number of classes in a set, on the small tables.\n\n"
            + table(header, cells, left=1)
        )


def _entry(rows: list[Row], level: float) -> str:
    share, size = (fmean(row[f"{key}_{level:g}"] for row in rows) for key in ("coverage", "size"))
    return f"{100 * share:.1f} % ({size:.2f})"


def coverage(rows: Iterable[Row], level: float) -> float | None:
    """Return the mean coverage over the tables."""
    tables: dict[str, list[float]] = {}
    for row in rows:
        tables.setdefault(row["dataset"], []).append(row[f"coverage_{level:g}"])
    return fmean(map(fmean, tables.values())) if tables else None
