"""Dual-objective feature scaling (WRBF): Table 1 with the statistics of section 5, Figures 1, 2."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from benchmarks.engine import Drawing

from ...experiment import Row, Task, register
from ...protocol import correlation, signed_rank, timed
from ...rows import mean_of, only, values_of
from ...tables import (
    Cell,
    Check,
    Claim,
    Column,
    Part,
    Summary,
    Table,
    against,
    compared,
    tabulate,
)
from .noisy_sets import (
    SETS,
    TABLE_1,
    NoisySetsExperiment,
    noisy_split,
    pair_means,
    paper_machine,
    sets_of,
)

_CORRELATION, _Z = 0.646, -5.05  # sections 5.3 and 5.2
_FEWEST = 5  # repeats for a verdict


@register
class Table1(NoisySetsExperiment):
    """Accuracy and dual objective of RBF and WRBF on 42 noisy sets."""

    name = "dual-objective-table1"
    title = "Dual objective, Table 1 and Figure 2: WRBF against RBF on 42 noisy sets"
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
    protocol = 2

    def run(self, task: Task, seed: int, data_dir: Path | None) -> Row:
        """Fit both machines on one split."""
        X, y, X_test, y_test = noisy_split(task, seed, data_dir)
        row: Row = {"n_test": len(y_test)}
        for name, model in {"rbf": paper_machine(max_iter=1), "wrbf": paper_machine()}.items():
            row[f"{name}_seconds"] = timed(model.fit, X, y)[1]
            row[f"{name}_correct"] = int(np.sum(model.predict(X_test) == y_test))
            row[f"{name}_accuracy"] = 100 * row[f"{name}_correct"] / len(y_test)
            row[f"{name}_dual"] = model.dual_objective_
        X, y, X_test, y_test = noisy_split(task, seed, data_dir, in_order=True)
        ordered = paper_machine(max_iter=1).fit(X, y)
        row["ordered_dual"] = ordered.dual_objective_
        row["ordered_accuracy"] = 100 * float(ordered.score(X_test, y_test))
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
            ["two-sided p of r", "< 0.0001", _p_text(_correlation_p(rows)) if known else ""],
            ["signed-rank z of the noisy sets' accuracies", f"{_Z}", f"{_z(rows):.3f}"],
            ["runs", "4200", f"{len(rows)}"],
        ]
        return Table("Sections 5.2 and 5.3", columns, cells)

    def _checks(self, rows: Sequence[Row]) -> list[Check]:
        away = [_rbf_distance(name, mine) for name, mine in sets_of(rows).items()]
        accuracy, dual = (max(values) for values in zip(*away, strict=True))
        minutes = 70 * float(np.mean([mean_of(mine, "cpu") for mine in sets_of(rows).values()]))
        checks = [
            Check("RBF accuracy: furthest from the paper, points", accuracy, "<=", 3, 1),
            Check("RBF dual: furthest from the paper, %", dual, "<=", 7, 1),
            Check("correlation of gain and reduction", _gain_correlation(rows), ">", 0.5),
            Check("signed-rank z", _z(rows), "<", -4),
            Check("CPU minutes of 4200 runs, by the mean run", minutes, "<", 40, 0),
        ]
        enough = _fewest_repeats(rows) >= _FEWEST
        return checks if enough else [replace(check, value=None) for check in checks]

    def _remarks(self, rows: Sequence[Row]) -> list[str]:
        away = {
            name: mean_of(mine, "wrbf_dual") / TABLE_1[name].wrbf_dual - 1
            for name, mine in sets_of(rows).items()
        }
        low, high = min(away, key=away.__getitem__), max(away, key=away.__getitem__)
        gains = _mean_gains(rows)
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
        for name, mine in sets_of(rows).items():
            style = {"s": 8, "alpha": 0.5, "rasterized": True, "linewidths": 0, "label": name}
            pairs.scatter(*(values_of(mine, f"{k}_correct") for k in ("rbf", "wrbf")), **style)
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


_RUNS_NOTE = "± over all runs of a set, with six kinds of noise."


def _accuracies(rows: Sequence[Row]) -> Table:
    """Return the left part of Table 1: Total is the number of test rows over all runs."""

    def cells(name: str, own: Sequence[Row]) -> list[Cell]:
        printed = TABLE_1[name]
        return [
            *against(printed.wrbf, values_of(own, "wrbf_accuracy")),
            *against(printed.rbf, values_of(own, "rbf_accuracy")),
            *(printed.total, sum(values_of(own, "n_test"))),
            *against(printed.gain, _gains(own)[1]),
        ]

    total = [Column("paper", 0, "Total"), Column("ours", 0, "Total")]
    columns = [*compared("WRBF", 1), *compared("RBF", 1), *total, *compared("WRBF - RBF", 1)]
    parts = [(columns, cells)]
    return tabulate("Table 1: accuracy, %", "data set", sets_of(rows), parts, _RUNS_NOTE)


def _duals(rows: Sequence[Row]) -> Table:
    """Return the right part of Table 1."""

    def cells(name: str, own: Sequence[Row]) -> list[Cell]:
        printed = TABLE_1[name]
        return [
            *against(printed.wrbf_dual, values_of(own, "wrbf_dual")),
            *against(printed.rbf_dual, values_of(own, "rbf_dual")),
            *against(printed.reduction, _gains(own)[0]),
        ]

    columns = [each for group in ("WRBF", "RBF", "reduction") for each in compared(group, 2)]
    parts = [(columns, cells)]
    return tabulate("Table 1: dual objective", "data set", sets_of(rows), parts, _RUNS_NOTE)


def _dual_off(key: str, name: str, own: Sequence[Row]) -> float:
    """Return how far a mean dual is from that of the RBF column, in percent."""
    return 100 * (mean_of(own, key) / TABLE_1[name].rbf_dual - 1)


def _in_order(rows: Sequence[Row]) -> Table:
    """Return the RBF column for noise from the first features of the noise set."""
    parts: list[Part] = [
        (
            compared("accuracy", 1),
            lambda name, own: against(TABLE_1[name].rbf, values_of(own, "ordered_accuracy")),
        ),
        (
            compared("dual", 2),
            lambda name, own: against(TABLE_1[name].rbf_dual, values_of(own, "ordered_dual")),
        ),
        (
            [Column(each, 1, "dual off, %", signed=True) for each in ("drawn", "in order")],
            lambda *own: [_dual_off(key, *own) for key in ("rbf_dual", "ordered_dual")],
        ),
    ]
    note = (
        "The second reading of the noise: features of the noise set in the order of its file, from "
        "the first one on, where the tables above draw them at random. The dual depends on which "
        "features those are: the first of ionosphere, for instance, hardly vary. This reading was "
        "looked for after the first was seen to be 7 % off; a third, whole rows of the noise set, "
        "gave much smaller duals in a trial on two sets and was not pursued."
    )
    title = "RBF with noise columns in the order of the file"
    return tabulate(title, "data set", sets_of(rows), parts, note)


def _mean_gains(rows: Sequence[Row]) -> dict[str, float]:
    """Return the mean gain in accuracy of each set."""
    return {
        name: mean_of(own, "wrbf_accuracy") - mean_of(own, "rbf_accuracy")
        for name, own in sets_of(rows).items()
    }


def _verdicts(rows: Sequence[Row]) -> list[Claim]:
    gains, r, z = _mean_gains(rows).values(), _gain_correlation(rows), _z(rows)
    off = {
        reading: max(abs(_dual_off(key, *own)) for own in sets_of(rows).items())
        for reading, key in {"noise columns drawn": "rbf_dual", "in order": "ordered_dual"}.items()
    }
    return [
        Claim(
            "WRBF is at least as accurate as RBF on all noisy sets",
            "gains of 0 to 5.8 points",
            {"": f"{min(gains):+.1f} to {max(gains):+.1f} points"},
            {"": min(gains) >= 0},
        ),
        Claim("the difference is significant", f"z = {_Z}", {"": f"z = {z:.2f}"}, {"": z < -1.96}),
        Claim(
            "gain in accuracy and reduction of the dual are strongly related (r > 0.5)",
            f"r = {_CORRELATION}",
            {"": "too little measured" if r is None else f"r = {r:.3f}"},
            {"": r is not None and r > 0.5},
        ),
        Claim.judged(
            "RBF dual objective of each set (within 7 %)",
            "68.98 to 253.95",
            off,
            lambda percent: f"at most {percent:.1f} % off",
            lambda percent: percent <= 7,
        ),
    ]


def _cloud(rows: Sequence[Row]) -> list[str]:
    """Return a remark on the cloud that the paper sees in its Figure 2."""
    mine = only(rows, dataset="breast_cancer_wisconsin", noise="voting")
    if not mine:
        return []
    rbf, wrbf = (mean_of(mine, f"{name}_correct") for name in ("rbf", "wrbf"))
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


def _p_text(p: float) -> str:
    """Return p as text; the smallest ones are zero in float64."""
    return "< 1e-300" if p < 1e-300 else f"{p:.2g}"


def _correlation_p(rows: Sequence[Row]) -> float:
    return correlation(*_gains(rows)).pvalue


def _z(rows: Sequence[Row]) -> float:
    means = (pair_means(rows, f"{name}_accuracy") for name in ("rbf", "wrbf"))
    return signed_rank(*means).statistic


def _rbf_distance(name: str, own: Sequence[Row]) -> tuple[float, float]:
    """Return the distance of the RBF column from the paper's: points, and percent of the dual."""
    points = abs(mean_of(own, "rbf_accuracy") - TABLE_1[name].rbf)
    return points, abs(_dual_off("rbf_dual", name, own))
