"""Margin-radius SVM: Tables 1 and 2, with a better radius and in two further spaces."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np

from ...data import dataset
from ...engine.tables import Cell, Column, Spread, Summary, Table, against, compared, grouped
from ...experiment import Experiment, Row, Scale, Task, register
from ...protocol import folds
from .machines import (
    PAPER,
    STD,
    Right,
    as_signs,
    columns_of,
    compare_right,
    errors,
    tuned,
)


class Table2Row(NamedTuple):
    """A row of Tables 1 and 2."""

    rows: int
    columns: int
    classes: tuple[int, int]
    std: float
    mr: float
    used: float
    verdict: str


PRINTED = {
    "ionosphere": Table2Row(351, 34, (126, 225), 11.71, 11.14, 28.3, "+"),
    "bupa": Table2Row(345, 6, (145, 200), 32.35, 32.35, 5.9, "="),
    "sonar": Table2Row(208, 60, (97, 111), 24.5, 23.0, 44.3, "+"),
    "wdbc": Table2Row(569, 32, (357, 212), 1.96, 2.50, 16.7, "-"),
    "wpbc": Table2Row(198, 34, (151, 47), 18.95, 17.37, 24.8, "+"),
    "musk1": Table2Row(476, 166, (269, 207), 13.62, 13.83, 68.1, "="),
    "colon": Table2Row(62, 2000, (40, 22), 15.00, 16.67, 2000, "="),
    "central_nervous_system": Table2Row(60, 7129, (21, 39), 38.33, 31.67, 6442, "+"),
    "leukemia": Table2Row(72, 7128, (25, 47), 1.43, 1.43, 6922, "="),
}
_SMALL = ("ionosphere", "bupa", "sonar", "wdbc", "wpbc")
_GENES = ("central_nervous_system", "leukemia")
# The paper's error on wpbc is below the share of the minority class, which needs the column time.
_WITH_LEAKS = ("wpbc",)
_KINDS = (STD, "paper", "product")
_COSTS = (0.1, 1.0, 10.0, 100.0, 500.0, 1000.0)
_SPACES = ("quadratic", "kernel")
_FOLDS = 10
# CPU seconds of a fold: five inner folds with all C, three machines.
_SECONDS = {
    "linear": dict(zip(PRINTED, (1.5, 0.7, 1.7, 1.1, 0.8, 4.5, 2.9, 2.0, 3.2), strict=True)),
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


@register
class Table2(Experiment):
    """Error and number of weighted columns of the SVM and of the margin-radius SVM."""

    name = "margin-radius-table2"
    title = "Margin and radius, Tables 1 and 2: MR-SVM against the SVM"
    paper = PAPER
    description = (
        "Nine of the thirteen data sets; the others (femalevsmale, stroke, ovarian, prostate) "
        "have no public copy. Ten folds by class, C from 0.1, 1, 10, 100, 500, 1000 by five inner "
        "folds (the smallest on ties; on the two largest gene sets three folds and C up to 100), "
        "missing values and scales from the training part, rows of unit norm. STD is the SVM with "
        "squared slack in the same space; paper and product are `MarginRadiusSVC(radius=...)`: "
        "the relaxation that the paper solves, and ours. Every machine is solved to a relative "
        "duality gap of 1e-4; the paper stops at an absolute gap of 0.01. wpbc keeps the column "
        "time, which reveals much about the class: without it no machine here beats the majority "
        "class, and the paper's machines do.\n\n"
        "Further spaces, only on the small sets and in the first run of the folds: squares and "
        "products of the columns, and the empirical map of a Gaussian kernel, which is the kernel "
        "version that the paper leaves to later work."
    )
    repeats: ClassVar[Mapping[str, int]] = {"full": 3, "quick": 1, "smoke": 1}
    datasets = tuple(PRINTED)
    seed_keys = ("dataset", "repeat")

    def tasks(self, scale: Scale) -> list[Task]:
        """Return a task for each fold."""
        if scale.name == "smoke":
            found = [("bupa", "linear", 0), ("bupa", "quadratic", 0), ("colon", "linear", 0)]
            return [_task(*each, 0, quick=True) for each in found]
        quick = scale.name == "quick"
        linear = [(name, "linear", r) for r in range(scale.repeats) for name in PRINTED]
        further = [(name, space, 0) for space in _SPACES for name in _SMALL]
        first = 3 if quick else _FOLDS  # folds of the further spaces
        return [_task(*each, fold, quick=quick) for each in linear for fold in range(_FOLDS)] + [
            _task(*each, fold, quick=quick) for each in further for fold in range(first)
        ]

    def cost(self, task: Task) -> float:
        """Return the CPU seconds of a fold of a set in a space."""
        quick = task["inner_folds"] == 3 and task["dataset"] not in _GENES
        return _SECONDS[task["space"]][task["dataset"]] * (0.35 if quick else 1.0)

    def run(self, task: Task, seed: int, data_dir: Path | None) -> Row:
        """Fit all machines on one fold."""
        data = dataset(task["dataset"], data_dir, drop_leaks=task["dataset"] not in _WITH_LEAKS)
        X, y = data.X, as_signs(data.y)
        train, test = folds(y, _FOLDS, seed)[task["fold"]]
        costs = [cost for cost in _COSTS if cost <= task["max_C"]]
        row: Row = {"n_rows": len(y), "class_sizes": [int(np.sum(y < 0)), int(np.sum(y > 0))]}
        for kind in _KINDS:
            begin = time.thread_time()
            found = tuned(
                kind,
                lambda: columns_of(task["space"]),
                X[train],
                y[train],
                costs,
                n_folds=task["inner_folds"],
                seed=seed,
            )
            row[f"{kind}_seconds"] = round(time.thread_time() - begin, 4)
            row[f"{kind}_right"] = (found.signs(X[test]) == y[test]).astype(int)
            row[f"{kind}_C"], row[f"{kind}_used"] = found.C, found.machine.n_used
            row["n_columns"] = len(found.machine.coef)
        return row

    def summarise(self, rows: Sequence[Row]) -> Summary:
        """Return both tables, the tests, and the further spaces."""
        linear = _sets([row for row in rows if row["space"] == "linear"])
        tables = [
            _sizes(linear),
            _table_2(linear),
            _used(linear),
            _tests(linear),
            _further_spaces(rows),
        ]
        tables = [table for table in tables if table.rows]
        return Summary(tables, (), _remarks(linear) if linear else [])


def _sets(rows: Sequence[Row]) -> dict[str, list[Row]]:
    return grouped(rows, "dataset", PRINTED)


def _right(kind: str) -> Right:
    return lambda row: row[f"{kind}_right"]


def _sizes(sets: Mapping[str, list[Row]]) -> Table:
    columns = [Column("data set")] + [
        Column(who, 0, what) for what in ("rows", "columns", "classes") for who in ("paper", "ours")
    ]
    cells: list[list[Cell]] = []
    for name, mine in sets.items():
        printed, own = PRINTED[name], mine[0]
        classes = ["/".join(map(str, sorted(s))) for s in (printed.classes, own["class_sizes"])]
        sizes = [printed.rows, own["n_rows"], printed.columns, own["n_columns"]]
        cells.append([name, *sizes, *classes])
    note = (
        "The paper counts patient number and class as columns of wdbc, and one of the two as a "
        "column of wpbc."
    )
    return Table("Table 1", columns, cells, note)


def _table_2(sets: Mapping[str, list[Row]]) -> Table:
    cells = [
        [
            name,
            *against(PRINTED[name].std, errors(mine, _right(STD))),
            *against(PRINTED[name].mr, errors(mine, _right("paper"))),
            Spread.of(errors(mine, _right("product"))),
        ]
        for name, mine in sets.items()
    ]
    columns = [
        Column("data set"),
        *compared("STD", 1),
        *compared("MR", 1),
        Column("product", 1),
    ]
    return Table("Table 2: error, %", columns, cells, "± over the runs of the ten folds.")


def _used(sets: Mapping[str, list[Row]]) -> Table:
    cells = [
        [
            name,
            mine[0]["n_columns"],
            PRINTED[name].used,
            *(Spread.of([row[f"{kind}_used"] for row in mine]) for kind in ("paper", "product")),
            *(float(np.median([row[f"{kind}_C"] for row in mine])) for kind in _KINDS),
        ]
        for name, mine in sets.items()
    ]
    columns = [
        Column("data set"),
        Column("all", 0),
        Column("paper", 1, "weighted"),
        Column("MR", 1, "weighted"),
        Column("product", 1, "weighted"),
        *(Column(name, 1, "C") for name in (STD, "MR", "product")),
    ]
    note = "± over the folds; C is the median of the values that the inner folds choose."
    return Table("Table 2: columns with a weight", columns, cells, note)


def least_p(printed: Table2Row) -> float:
    """Return the least p that McNemar's exact test can have for the printed errors."""
    apart = round(abs(printed.std - printed.mr) * printed.rows / 100)
    return min(1.0, 2.0 ** (1 - apart))


def _tests(sets: Mapping[str, list[Row]]) -> Table:
    cells: list[list[Cell]] = []
    for name, mine in sets.items():
        printed = PRINTED[name]
        cells.append([name, printed.verdict, least_p(printed)])
        for kind in ("paper", "product"):
            cells[-1].extend(compare_right(mine, _right(STD), _right(kind)) or (None, None))
    columns = [
        Column("data set"),
        Column("verdict", 0, "paper"),
        Column("least p", 3, "paper"),
        Column("won", 1, "MR", signed=True),
        Column("p", 3, "MR"),
        Column("won", 1, "product", signed=True),
        Column("p", 3, "product"),
    ]
    note = (
        "won: rows that only it classifies correctly, minus those that only STD does; medians "
        "over the runs. least p: the p value if all rows by which the printed errors differ are "
        "won or lost and no other row changes."
    )
    return Table("McNemar's exact test against STD", columns, cells, note)


def _further_spaces(rows: Sequence[Row]) -> Table:
    cells: list[list[Cell]] = []
    for name, mine in _sets([row for row in rows if row["repeat"] == 0]).items():
        done = {row["fold"] for row in mine if row["space"] != "linear"}
        for space in ("linear", *_SPACES):
            part = [row for row in mine if row["space"] == space and row["fold"] in done]
            test = compare_right(part, _right(STD), _right("product"))
            if test is None:
                continue
            error = [errors(part, _right(kind))[0] for kind in _KINDS]
            keys = ("n_columns", "paper_used", "product_used")
            sizes = [float(np.mean([row[key] for row in part])) for key in keys]
            cells.append([f"{name}, {space}", *error, test[1], *sizes])
    columns = [
        Column("data set, space"),
        *(Column(name, 1, "error") for name in (STD, "MR", "product")),
        Column("p", 3),
        Column("columns", 0),
        Column("MR", 1, "weighted"),
        Column("product", 1, "weighted"),
    ]
    note = (
        "p: McNemar's exact test of product against STD in the same space; folds of the first run."
    )
    return Table("Further spaces: error, %", columns, cells, note)


def _remarks(sets: Mapping[str, list[Row]]) -> list[str]:
    mean = {
        kind: {name: float(np.mean(errors(mine, _right(kind)))) for name, mine in sets.items()}
        for kind in _KINDS
    }
    better, clear = {}, {}
    for kind in ("paper", "product"):
        better[kind] = sum(mean[kind][name] < mean[STD][name] for name in sets)
        verdicts = [compare_right(mine, _right(STD), _right(kind)) for mine in sets.values()]
        clear[kind] = sum(v is not None and v[1] < 0.05 for v in verdicts)
    apart = {kind: np.mean([mean[kind][n] - mean[STD][n] for n in sets]) for kind in clear}
    claimed = np.mean([PRINTED[name].mr - PRINTED[name].std for name in sets])
    said = sum(PRINTED[name].verdict != "=" for name in sets)
    possible = sum(PRINTED[n].verdict != "=" and least_p(PRINTED[n]) < 0.05 for n in sets)
    share = {
        kind: np.mean(
            [np.mean([r[f"{kind}_used"] / r["n_columns"] for r in s]) for s in sets.values()]
        )
        for kind in clear
    }
    printed = np.mean([PRINTED[n].used / PRINTED[n].columns for n in sets])
    return [
        f"The paper's relaxation has a lower error than STD on {better['paper']} of {len(sets)} "
        f"sets, {apart['paper']:+.1f} points on average, and differs from it with p < 0.05 on "
        f"{clear['paper']}; product on {better['product']}, {apart['product']:+.1f} points, and "
        f"{clear['product']}. The paper's own errors differ by {claimed:+.1f} points on average.",
        f"The paper calls {said} of these differences significant. By its printed errors at most "
        f"{possible} can be significant in McNemar's exact test (column least p).",
        f"On average {100 * share['paper']:.0f} % of the columns have a weight (product: "
        f"{100 * share['product']:.0f} %), in the paper {100 * printed:.0f} %. There is an optimum "
        "with at most as many weights as training rows: 2000 of 2000 on 62 rows suggest a run "
        "that was stopped before the other weights reached zero.",
    ]
