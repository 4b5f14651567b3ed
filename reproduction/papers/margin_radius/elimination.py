"""Margin-radius SVM in recursive feature elimination, which the paper proposes for later work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np

from benchmarks.engine import Drawing
from kernelwise._typing import Array, Index

from ...data import dataset
from ...experiment import PaperExperiment, Row, Scale, Task, crossed, register
from ...protocol import folds, signed_rank, timed
from ...rows import grouped, mean_of
from ...tables import Cell, Column, Part, Spread, Summary, Table, tabulate
from .machines import (
    PAPER,
    STD,
    Right,
    TunedMachine,
    as_signs,
    compare_right,
    errors,
    standard_columns,
    tuned,
)
from .printed import KNOWN, SETS

METHODS = ("SVM-RFE", "MR-RFE", "MR-RFE, paper", "MR-RFE, SVM", "MR once, SVM")
_COSTS = (0.01, 0.1, 1.0, 10.0, 100.0)
_FOLDS = 10
_SHOWN = (1, 2, 4, 8, 16, 32)  # sizes in the table
# CPU seconds of a fold.
_SECONDS = dict(zip(SETS, (4.0, 1.5, 4.0, 4.0, 3.0, 12.0, 6.0, 8.0, 5.0, 7.1), strict=True))


def sizes_of(d: int) -> list[int]:
    """Return the sizes at which to stop: all columns, then the powers of two below, down to one."""
    return [d, *(2**k for k in reversed(range(d.bit_length())) if 2**k < d)]


def strongest(importances: Array, size: int) -> Index:
    """Return at most `size` columns of the largest positive importance."""
    order = np.argsort(-importances, kind="stable")[:size]
    return np.sort(order[importances[order] > 0])


class Training:
    """Training rows of an outer fold, and machines on some of their columns."""

    def __init__(self, X: Array, y: Array, n_folds: int, seed: int) -> None:
        self.X, self.y, self.n_folds, self.seed = X, y, n_folds, seed

    def fit(self, kind: str, kept: Index) -> TunedMachine:
        """Fit a machine to these columns, with C by inner folds."""
        X, own = self.X[:, kept], {"n_folds": self.n_folds, "seed": self.seed}
        return tuned(kind, standard_columns, X, self.y, _COSTS, **own)

    def eliminate(self, kind: str) -> list[tuple[Index, TunedMachine]]:
        """Halve the columns repeatedly; return the columns of each size and the machine on them."""
        kept = np.arange(self.X.shape[1])
        model = self.fit(kind, kept)
        stages = [(kept, model)]
        for size in sizes_of(len(kept))[1:]:
            if len(kept) > size:  # a sparse machine may be below already
                kept = kept[strongest(model.machine.importances, size)]
                model = self.fit(kind, kept)
            stages.append((kept, model))
        return stages


@register
class Elimination(PaperExperiment):
    """Test error along the number of columns kept, by SVM-RFE and with margin and radius."""

    name = "margin-radius-rfe"
    title = "Margin and radius in recursive feature elimination"
    paper = PAPER
    description = (
        "The paper proposes its machine for SVM-RFE but measures nothing. Here: ten folds by "
        "class; all selection, filling of gaps with means, scaling and choice of C within the "
        "training part. The columns are halved to powers of two by removing those of least "
        "importance: `|w_k|` for the SVM with squared slack, `feature_importances_` for "
        "`MarginRadiusSVC`, whose columns of weight zero are removed at once. At each size C is "
        "chosen from 0.01 to 100 by inner folds on the remaining columns.\n\n"
        "SVM-RFE: the SVM eliminates and predicts. MR-RFE: `MarginRadiusSVC` does both, with the "
        "radius product; MR-RFE, paper: the same with the radius of the paper. MR-RFE, SVM: an SVM "
        "on the columns of MR-RFE. MR once, SVM: an SVM on the strongest columns of "
        "one `MarginRadiusSVC` on all columns, as by `SelectFromModel`. A size is an upper bound: "
        "MR has fewer columns if fewer have a weight."
    )
    repeats: ClassVar[Mapping[str, int]] = {"full": 2, "quick": 1, "smoke": 1}
    datasets = SETS
    seed_keys = ("dataset", "repeat")
    protocol = 2

    def tasks(self, scale: Scale) -> list[Task]:
        """Return a task for each fold."""
        inner = 5 if scale.is_full else 3
        names = {"full": SETS, "quick": KNOWN, "smoke": ("colon", "wdbc")}[scale.name]
        n_folds = 1 if scale.name == "smoke" else _FOLDS
        return crossed(
            repeat=range(scale.repeats), dataset=names, fold=range(n_folds), inner_folds=[inner]
        )

    def cost(self, task: Task) -> float:
        """Return the CPU seconds of a fold of a set."""
        return _SECONDS[task["dataset"]] * task["inner_folds"] / 5

    def run(self, task: Task, seed: int, data_dir: Path | None) -> Row:
        """Select by all methods on one fold."""
        data = dataset(task["dataset"], data_dir)
        X, y = data.X, as_signs(data.y)
        train, test = folds(y, _FOLDS, seed)[task["fold"]]
        part = Training(X[train], y[train], task["inner_folds"], seed)
        row: Row = {"sizes": sizes_of(X.shape[1])}
        found: dict[str, list[tuple[Index, TunedMachine]]] = {}
        for name, kind in zip(METHODS, (STD, "product", "paper"), strict=False):
            found[name], row[f"{name}_seconds"] = timed(part.eliminate, kind)
        first = found["MR-RFE"][0][1].machine.importances
        once = [strongest(first, size) for size in row["sizes"]]
        found["MR-RFE, SVM"] = _refitted(part, [kept for kept, _ in found["MR-RFE"]])
        found["MR once, SVM"] = _refitted(part, once)
        for name, stages in found.items():
            row[f"{name}_right"] = [
                (model.signs(X[test][:, kept]) == y[test]).astype(int) for kept, model in stages
            ]
            row[f"{name}_kept"] = [min(len(kept), model.machine.n_used) for kept, model in stages]
        return row

    def summarise(self, rows: Sequence[Row]) -> Summary:
        """Return errors at equal numbers of columns, and tests of the pairs."""
        return Summary([_errors(rows), _tests(rows), _whole(rows)], (), _remarks(rows))

    def figures(self, rows: Sequence[Row]) -> list[Drawing]:
        """Draw the error along the number of columns."""
        from matplotlib.figure import Figure

        sets = _sets(rows)
        figure = Figure(figsize=(9, 2.8 * -(-len(sets) // 3)), layout="constrained")
        panels = figure.subplots(-(-len(sets) // 3), min(3, len(sets)), squeeze=False).ravel()
        for axes, (name, mine) in zip(panels, sets.items(), strict=False):
            sizes = mine[0]["sizes"]
            for method in METHODS:
                spreads = [Spread.of(errors(mine, _right(method, size))) for size in sizes]
                mean = [spread.mean for spread in spreads if spread is not None]
                axes.plot(sizes, mean, marker="o", markersize=3, label=method)
            axes.set_xscale("log", base=2)
            axes.set(title=name, xlabel="columns, at most", ylabel="error, %")
        for axes in panels[len(sets) :]:
            axes.remove()
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
        caption = (
            "Test error in percent against the largest number of columns kept, for SVM-RFE, for "
            "recursive elimination with the margin-radius machine, and for an SVM on the columns "
            "of the latter."
        )
        return [Drawing("elimination", caption, figure)]


def _refitted(part: Training, kept: Sequence[Index]) -> list[tuple[Index, TunedMachine]]:
    """Fit an SVM to each selection, unless it is the same as the one before."""
    stages: list[tuple[Index, TunedMachine]] = []
    for columns in kept:
        same = bool(stages) and np.array_equal(stages[-1][0], columns)
        stages.append((columns, stages[-1][1] if same else part.fit(STD, columns)))
    return stages


def _sets(rows: Sequence[Row]) -> dict[str, list[Row]]:
    return grouped(rows, "dataset", SETS)


def _right(method: str, size: int) -> Right:
    return lambda row: row[f"{method}_right"][row["sizes"].index(size)]


def _fold_errors(rows: Sequence[Row], method: str, size: int) -> list[float]:
    right = _right(method, size)
    return [100 * (1 - float(np.mean(right(row)))) for row in rows]


def _sized(rows: Sequence[Row]) -> dict[tuple[str, int], list[Row]]:
    """Return the rows of each set, for each size in the table."""
    return {
        (name, size): mine
        for name, mine in _sets(rows).items()
        for size in _SHOWN
        if size in mine[0]["sizes"]
    }


def _against_first(rows: Sequence[Row], method: str, size: int) -> tuple[float, float] | None:
    return compare_right(rows, _right(METHODS[0], size), _right(method, size))


def _errors(rows: Sequence[Row]) -> Table:
    cells: list[list[Cell]] = [
        [name, size, *(Spread.of(_fold_errors(mine, method, size)) for method in METHODS)]
        for (name, size), mine in _sized(rows).items()
    ]
    columns = [Column("data set"), Column("columns", 0), *(Column(m, 1) for m in METHODS)]
    return Table("Error at equal numbers of columns, %", columns, cells, "± over the folds.")


def _tests(rows: Sequence[Row]) -> Table:
    columns = [Column("data set"), Column("columns", 0)]
    for method in METHODS[1:]:
        columns += [Column("won", 1, method, signed=True), Column("p", 3, method)]
    cells: list[list[Cell]] = []
    for (name, size), mine in _sized(rows).items():
        pairs = [_against_first(mine, method, size) or (None, None) for method in METHODS[1:]]
        cells.append([name, size, *(each for pair in pairs for each in pair)])
    note = (
        "won: rows that only it classifies correctly, minus those that only SVM-RFE does; "
        "McNemar's exact p; medians over the runs of the folds."
    )
    return Table("Against SVM-RFE", columns, cells, note)


def _whole(rows: Sequence[Row]) -> Table:
    def all_columns(mine: Sequence[Row], method: str) -> Spread | None:
        return Spread.of(_fold_errors(mine, method, mine[0]["sizes"][0]))

    parts: list[Part] = [
        (Column("columns", 0), lambda _, mine: mine[0]["sizes"][0]),
        (Column("SVM", 1, "error, %"), lambda _, mine: all_columns(mine, "SVM-RFE")),
        (Column("MR", 1, "error, %"), lambda _, mine: all_columns(mine, "MR-RFE")),
        (Column("MR uses", 1), lambda _, mine: Spread.of([row["MR-RFE_kept"][0] for row in mine])),
        (
            [Column(method, 1, "CPU s") for method in METHODS[:2]],
            lambda _, mine: [mean_of(mine, f"{method}_seconds") for method in METHODS[:2]],
        ),
    ]
    note = "± over the folds; CPU time of the elimination on one fold, including the choice of C."
    return tabulate("Without elimination", "data set", _sets(rows), parts, note)


def _remarks(rows: Sequence[Row]) -> list[str]:
    sets, remarks = _sets(rows), []
    for method in METHODS[1:]:
        gains, clear, cells = [], [0, 0], 0
        for mine in sets.values():
            sizes = [size for size in _SHOWN if size in mine[0]["sizes"]]
            base = [np.mean(_fold_errors(mine, METHODS[0], size)) for size in sizes]
            own = [np.mean(_fold_errors(mine, method, size)) for size in sizes]
            gains.append(float(np.mean(own) - np.mean(base)))
            for size in sizes:
                pair = _against_first(mine, method, size)
                cells += 1
                if pair is not None and pair[1] < 0.05:
                    clear[int(pair[0] > 0)] += 1
        p = signed_rank(gains, np.zeros(len(gains))).pvalue
        remarks.append(
            f"{method}: {np.mean(gains):+.1f} points of error from SVM-RFE over the sizes of the "
            f"table, lower on {sum(gain < 0 for gain in gains)} of {len(gains)} sets (signed-rank "
            f"p = {p:.2f} over the sets); of {cells} pairs {clear[1]} are better and {clear[0]} "
            "worse with p < 0.05, not corrected for their number."
        )
    return remarks
