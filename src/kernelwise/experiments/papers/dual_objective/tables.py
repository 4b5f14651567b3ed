"""Dual-objective feature scaling (WRBF): Table 1 with the statistics of section 5, Figures 1, 2."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from ...engine.tables import Cell, Check, Claim, Column, Drawing, Summary, Table, against, compared
from ...experiment import Experiment, Row, Scale, Task, register
from ...protocol import correlation, random_split, signed_rank
from .noisy_sets import (
    PAPER,
    SECONDS,
    SETS,
    TABLE_1,
    noisy,
    noisy_tasks,
    pair_means,
    paper_machine,
    sets_of,
    values_of,
)

_CORRELATION, _Z = 0.646, -5.05  # sections 5.3 and 5.2
_FEWEST = 5  # repeats for a verdict


@register
class Table1(Experiment):
    """Accuracy and dual objective of RBF and WRBF on 42 noisy sets."""

    name = "dual-objective-table1"
    title = "Dual objective, Table 1 and Figure 2: WRBF against RBF on 42 noisy sets"
    paper = PAPER
    description = (
        "Each of 7 sets gets as many noise columns as it has, drawn from each of the other sets: "
        "42 noisy sets with 100 random splits each, C = 1, gamma = 1. RBF has equal weights, WRBF "
        "the weights after 100 gradient steps of 0.001 on the dual objective.\n\n"
        "The paper leaves much open. We chose the following because it reproduces the RBF column: "
        "every entry of a noise column is a separate draw; all columns are scaled to [-1, 1] over "
        "the whole set; 20 % test rows, rounded down; missing values are replaced by means; "
        "several classes are one-vs-rest with weights per class (our choice: the paper is "
        "silent), and their duals are summed. Negative weights are clipped, and the printed "
        "gradient, which is twice the true one, is used."
    )
    reproduces = (
        "Table 1: accuracies, Total, WRBF - RBF, duals, reduction",
        "Figure 2: correctly classified instances of 4200 runs",
        "section 5.2: z = -5.05",
        "section 5.3: r = 0.646, N = 4200, p < 0.0001",
    )
    repeats: ClassVar[Mapping[str, int]] = {"full": 100, "quick": 5, "smoke": 1}
    datasets = SETS
    protocol = 2

    def tasks(self, scale: Scale) -> list[Task]:
        """Return the 42 pairs for each repeat."""
        return noisy_tasks(scale)

    def cost(self, task: Task) -> float:
        """Return the CPU seconds of a set."""
        return SECONDS[task["dataset"]]

    def run(self, task: Task, seed: int, data_dir: Path | None) -> Row:
        """Fit both machines on one split."""
        X, y = noisy(task["dataset"], task["noise"], seed, data_dir)
        train, test = random_split(len(y), 0.2, seed)
        row: Row = {"n_test": len(test)}
        for name, model in {"rbf": paper_machine(max_iter=1), "wrbf": paper_machine()}.items():
            begin = time.thread_time()
            model.fit(X[train], y[train])
            row[f"{name}_seconds"] = round(time.thread_time() - begin, 4)
            row[f"{name}_correct"] = int(np.sum(model.predict(X[test]) == y[test]))
            row[f"{name}_accuracy"] = 100 * row[f"{name}_correct"] / len(test)
            row[f"{name}_dual"] = model.dual_objective_
        X, _ = noisy(task["dataset"], task["noise"], seed, data_dir, in_order=True)
        ordered = paper_machine(max_iter=1).fit(X[train], y[train])
        row["ordered_dual"] = ordered.dual_objective_
        row["ordered_accuracy"] = 100 * float(ordered.score(X[test], y[test]))
        return row

    def summarise(self, rows: Sequence[Row]) -> Summary:
        """Return Table 1 in two parts, and the statistics of sections 5.2 and 5.3."""
        tables = [_accuracies(rows), _duals(rows), _in_order(rows), self._statistics(rows)]
        return Summary(tables, self._checks(rows), self._remarks(rows), _verdicts(rows))

    def _statistics(self, rows: Sequence[Row]) -> Table:
        r, columns = _gain_correlation(rows), [Column("statistic"), Column("paper"), Column("ours")]
        known = r is not None
        cells: list[list[Cell]] = [
            [
                "r of accuracy gain and dual reduction",
                f"{_CORRELATION}",
                f"{r:.3f}" if known else "",
            ],
            ["two-sided p of r", "< 0.0001", f"{_correlation_p(rows):.2g}" if known else ""],
            ["signed-rank z of the noisy sets' accuracies", f"{_Z}", f"{_z(rows):.3f}"],
            ["runs", "4200", f"{len(rows)}"],
        ]
        return Table("Sections 5.2 and 5.3", columns, cells)

    def _checks(self, rows: Sequence[Row]) -> list[Check]:
        repeats = _fewest_repeats(rows)
        away = [_rbf_distance(rows, name) for name in sets_of(rows)]
        accuracy, dual = (max(values) for values in zip(*away, strict=True))
        minutes = (
            float(np.mean([np.mean(values_of(rows, name, "cpu")) for name in sets_of(rows)])) * 70
        )
        checks = [
            Check("RBF accuracy: furthest from the paper, points", accuracy, "<=", 3, 1),
            Check("RBF dual: furthest from the paper, %", dual, "<=", 7, 1),
            Check("correlation of gain and reduction", _gain_correlation(rows), ">", 0.5),
            Check("signed-rank z", _z(rows), "<", -4),
            Check("CPU minutes of 4200 runs, by the mean run", minutes, "<", 40, 0),
        ]
        return checks if repeats >= _FEWEST else [replace(check, value=None) for check in checks]

    def _remarks(self, rows: Sequence[Row]) -> list[str]:
        away = {
            name: np.mean(values_of(rows, name, "wrbf_dual")) / TABLE_1[name].wrbf_dual - 1
            for name in sets_of(rows)
        }
        low, high = min(away, key=away.__getitem__), max(away, key=away.__getitem__)
        gains = {
            name: np.mean(values_of(rows, name, "wrbf_accuracy"))
            - np.mean(values_of(rows, name, "rbf_accuracy"))
            for name in away
        }
        most = max(gains, key=gains.__getitem__)
        return [
            f"The WRBF duals differ from the paper's by {100 * away[low]:+.0f} % ({low}) to "
            f"{100 * away[high]:+.0f} % ({high}): 100 fixed steps are far from the minimum, so the "
            "value depends on the scale of the gradient (`dual-objective-steps` has the table "
            "along the step size).",
            f"WRBF gains most on {most}: {gains[most]:+.1f} points; it gains on "
            f"{sum(gain > 0 for gain in gains.values())} of {len(gains)} sets. The paper prints a "
            "gain of 4.8 for voting, although its own columns give 4.6.",
            *_cloud(rows),
            "The paper names Wilcoxon's rank-sum test; the statistic here is that of the "
            "signed-rank test, because the values are paired.",
            f"The {len(rows)} runs share 7 data sets, and splits of one set overlap: the paper's p "
            "values and ours treat them as independent.",
        ]

    def figures(self, rows: Sequence[Row]) -> list[Drawing]:
        """Draw Figure 2, and gain against reduction."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(9, 4.2), layout="constrained")
        pairs, gain = figure.subplots(1, 2)
        for name in sets_of(rows):
            mine = [row for row in rows if row["dataset"] == name]
            style = {"s": 8, "alpha": 0.5, "rasterized": True, "linewidths": 0, "label": name}
            rbf, wrbf = ([row[f"{k}_correct"] for row in mine] for k in ("rbf", "wrbf"))
            pairs.scatter(rbf, wrbf, **style)
            gain.scatter(*_gains(mine), **style)
        limit = [0, max(max(row["rbf_correct"], row["wrbf_correct"]) for row in rows)]
        pairs.plot(limit, limit, "k--", linewidth=0.8)
        pairs.set(xlabel="RBF, correct test rows", ylabel="WRBF, correct test rows")
        gain.set(xlabel="reduction of the dual objective", ylabel="gain in accuracy, points")
        gain.axhline(0, color="k", linewidth=0.8, linestyle="--")
        figure.legend(*pairs.get_legend_handles_labels(), loc="outside lower center", ncols=4)
        wins = sum(row["wrbf_correct"] > row["rbf_correct"] for row in rows)
        losses = sum(row["wrbf_correct"] < row["rbf_correct"] for row in rows)
        caption = (
            "Left, the paper's Figure 2: test rows that RBF and WRBF classify correctly in each "
            f"of {len(rows)} runs; WRBF is better in {wins} and worse in {losses}. Right: the gain "
            "in accuracy of a run against the reduction of its dual objective."
        )
        return [Drawing("scatter", caption, figure)]


def _accuracies(rows: Sequence[Row]) -> Table:
    """Return the left part of Table 1: Total is the number of test rows over all runs."""
    cells: list[list[Cell]] = []
    for name in sets_of(rows):
        printed, own = TABLE_1[name], [row for row in rows if row["dataset"] == name]
        gains = [row["wrbf_accuracy"] - row["rbf_accuracy"] for row in own]
        cells.append(
            [
                name,
                *against(printed.wrbf, [row["wrbf_accuracy"] for row in own]),
                *against(printed.rbf, [row["rbf_accuracy"] for row in own]),
                printed.total,
                sum(row["n_test"] for row in own),
                *against(printed.gain, gains),
            ]
        )
    columns = [Column("data set"), *compared("WRBF", 1), *compared("RBF", 1)]
    columns += [Column("paper", 0, "Total"), Column("ours", 0, "Total")]
    columns += compared("WRBF - RBF", 1)
    note = "± over all runs of a set, with six kinds of noise."
    return Table("Table 1: accuracy, %", columns, cells, note)


def _duals(rows: Sequence[Row]) -> Table:
    """Return the right part of Table 1."""
    cells: list[list[Cell]] = []
    for name in sets_of(rows):
        printed, own = TABLE_1[name], [row for row in rows if row["dataset"] == name]
        cells.append(
            [
                name,
                *against(printed.wrbf_dual, [row["wrbf_dual"] for row in own]),
                *against(printed.rbf_dual, [row["rbf_dual"] for row in own]),
                *against(printed.reduction, _gains(own)[0]),
            ]
        )
    columns = [Column("data set")]
    for group in ("WRBF", "RBF", "reduction"):
        columns += compared(group, 2)
    note = "± over all runs of a set, with six kinds of noise."
    return Table("Table 1: dual objective", columns, cells, note)


def _in_order(rows: Sequence[Row]) -> Table:
    """Return the RBF column for noise from the first features of the noise set."""
    cells: list[list[Cell]] = []
    for name in sets_of(rows):
        printed, values = TABLE_1[name], values_of(rows, name, "ordered_dual")
        cells.append(
            [
                name,
                *against(printed.rbf, values_of(rows, name, "ordered_accuracy")),
                *against(printed.rbf_dual, values),
                100 * (float(np.mean(values_of(rows, name, "rbf_dual"))) / printed.rbf_dual - 1),
                100 * (float(np.mean(values)) / printed.rbf_dual - 1),
            ]
        )
    columns = [Column("data set"), *compared("accuracy", 1), *compared("dual", 2)]
    columns += [Column("drawn", 1, "dual off, %", signed=True)]
    columns += [Column("in order", 1, "dual off, %", signed=True)]
    note = (
        "The second reading of the noise: features of the noise set in the order of its file, from "
        "the first one on, where the tables above draw them at random. The dual depends on which "
        "features those are: the first of ionosphere, for instance, hardly vary. This reading was "
        "looked for after the first was seen to be 7 % off; a third, whole rows of the noise set, "
        "gave much smaller duals in a trial on two sets and was not pursued."
    )
    return Table("RBF with noise columns in the order of the file", columns, cells, note)


def _verdicts(rows: Sequence[Row]) -> list[Claim]:
    gains = {
        name: float(np.mean(values_of(rows, name, "wrbf_accuracy")))
        - float(np.mean(values_of(rows, name, "rbf_accuracy")))
        for name in sets_of(rows)
    }
    r, z = _gain_correlation(rows), _z(rows)
    away = max(_rbf_distance(rows, name)[1] for name in gains)
    ordered = max(
        100 * abs(np.mean(values_of(rows, name, "ordered_dual")) / TABLE_1[name].rbf_dual - 1)
        for name in gains
    )
    return [
        Claim(
            "WRBF is at least as accurate as RBF on all noisy sets",
            "gains of 0 to 5.8 points",
            {"": f"{min(gains.values()):+.1f} to {max(gains.values()):+.1f} points"},
            {"": min(gains.values()) >= 0},
        ),
        Claim("the difference is significant", f"z = {_Z}", {"": f"z = {z:.2f}"}, {"": z < -1.96}),
        Claim(
            "gain in accuracy and reduction of the dual are strongly related (r > 0.5)",
            f"r = {_CORRELATION}",
            {"": "too little measured" if r is None else f"r = {r:.3f}"},
            {"": r is not None and r > 0.5},
        ),
        Claim(
            "RBF dual objective of each set (within 7 %)",
            "68.98 to 253.95",
            {
                "noise columns drawn": f"at most {away:.1f} % off",
                "in order": f"at most {ordered:.1f} % off",
            },
            {"noise columns drawn": away <= 7, "in order": bool(ordered <= 7)},
        ),
    ]


def _cloud(rows: Sequence[Row]) -> list[str]:
    """Return a remark on the cloud that the paper sees in its Figure 2."""
    mine = [r for r in rows if (r["dataset"], r["noise"]) == ("breast_cancer_wisconsin", "voting")]
    if not mine:
        return []
    rbf, wrbf = (np.mean([row[f"{name}_correct"] for row in mine]) for name in ("rbf", "wrbf"))
    return [
        "The cloud that the paper sees around (100, 130) in Figure 2 is here "
        f"breast_cancer_wisconsin with noise from voting, around ({rbf:.0f}, {wrbf:.0f})."
    ]


def _fewest_repeats(rows: Sequence[Row]) -> int:
    """Return the smallest number of repeats of any noisy set."""
    counts = Counter((row["dataset"], row["noise"]) for row in rows)
    return min(counts.values()) if len(counts) == len(SETS) * (len(SETS) - 1) else 0


def _gains(rows: Sequence[Row]) -> tuple[list[float], list[float]]:
    """Return the reduction of the dual and the gain in accuracy of each run (section 5.3)."""
    reduction = [row["rbf_dual"] - row["wrbf_dual"] for row in rows]
    return reduction, [row["wrbf_accuracy"] - row["rbf_accuracy"] for row in rows]


def _gain_correlation(rows: Sequence[Row]) -> float | None:
    reduction, gain = _gains(rows)
    if len(rows) < 3 or np.ptp(reduction) == 0 or np.ptp(gain) == 0:
        return None
    return correlation(reduction, gain).statistic


def _correlation_p(rows: Sequence[Row]) -> float:
    return correlation(*_gains(rows)).pvalue


def _z(rows: Sequence[Row]) -> float:
    return signed_rank(
        pair_means(rows, "rbf_accuracy"), pair_means(rows, "wrbf_accuracy")
    ).statistic


def _rbf_distance(rows: Sequence[Row], name: str) -> tuple[float, float]:
    """Return the distance of the RBF column from the paper's: points, and percent of the dual."""
    accuracy = abs(np.mean(values_of(rows, name, "rbf_accuracy")) - TABLE_1[name].rbf)
    dual = abs(np.mean(values_of(rows, name, "rbf_dual")) / TABLE_1[name].rbf_dual - 1)
    return float(accuracy), float(100 * dual)
