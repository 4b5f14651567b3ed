"""Margin-radius SVM: how many columns Algorithm 1 keeps, by the way it is completed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np

from kernelwise.svm import MarginRadiusSVC

from ...data import dataset
from ...experiment import PaperExperiment, Row, Scale, Task, crossed, register
from ...rows import grouped, only
from ...tables import Cell, Claim, Column, Summary, Table, spread_text
from .completions import MOMENTS, completed
from .machines import PAPER, as_signs, columns_of
from .printed import KNOWN, PRINTED, PRINTED_SHARE

COMPLETIONS = {
    "boundary": "first boundary",
    "reduced": "SimpleMKL's reduced gradient",
    "projection": "projection",
}
ROWS = {"linear": "rows of unit norm", "plain": "rows as they are"}
COSTS = (1.0, 10.0, 100.0)
_FAR = 1000  # columns from which a run has fewer steps
_STEPS, _GENE_STEPS = 200, 20


@register
class Completions(PaperExperiment):
    """The columns that three completions of Algorithm 1 keep, step by step."""

    name = "margin-radius-completions"
    title = "Margin and radius: Algorithm 1 completed in three ways"
    paper = PAPER
    description = (
        "Algorithm 1 as printed ascends and leaves the simplex. Three completions, all with the "
        "best step and the paper's stop, an absolute duality gap of 0.01: the projected gradient "
        "up to the first boundary, which removes one column per step at most; the reduced gradient "
        "of SimpleMKL, which the paper cites for its optimisation, and which goes on past "
        "boundaries; and the projection of the whole step onto the simplex. All rows of a set, C "
        f"of 1, 10 and 100, at most {_STEPS} steps ({_GENE_STEPS} from {_FAR} columns on). The "
        "optimum is the library's, to a relative gap of 1e-6. The paper gives neither the "
        "direction nor its steps."
    )
    reproduces = ("Algorithm 1: three completions of its direction",)
    repeats: ClassVar[Mapping[str, int]] = {"full": 1, "quick": 1, "smoke": 1}
    seconds = 5.0
    datasets = KNOWN

    def tasks(self, scale: Scale) -> list[Task]:
        """Return a task for each set, reading of the rows and C."""
        names = {"full": KNOWN, "quick": ("bupa", "sonar"), "smoke": ("bupa",)}[scale.name]
        costs = COSTS if scale.name != "smoke" else COSTS[:1]
        return crossed(dataset=names, space=ROWS, C=costs)

    def cost(self, task: Task) -> float:
        """Return the CPU seconds of a set: more columns, more machines."""
        return self.seconds * (1 + PRINTED[task["dataset"]].columns / 100)

    def run(self, task: Task, seed: int, data_dir: Path | None) -> Row:
        """Run all completions, and find the optimum."""
        data = dataset(task["dataset"], data_dir, drop_leaks=task["dataset"] != "wpbc")
        X, y = columns_of(task["space"]).fit_transform(data.X), as_signs(data.y)
        best = MarginRadiusSVC(radius="paper", C=task["C"], tol=1e-6).fit(X, y)
        scale = float(np.ptp(X, axis=0).max() / 2) ** 2  # J of scaled columns is larger by this
        row: Row = {"n_columns": X.shape[1], "optimum_used": len(best.support_features_)}
        most = _GENE_STEPS if X.shape[1] >= _FAR else _STEPS
        for name in COMPLETIONS:
            found = completed(name, X, y, task["C"], most)
            row[f"{name}_along"] = found.used
            row[f"{name}_used"] = int(np.count_nonzero(found.point.weights))
            row[f"{name}_steps"], row[f"{name}_stopped"] = found.n_steps, found.stopped
            row[f"{name}_excess"] = found.point.value / scale / best.objective_[0] - 1
        return row

    def summarise(self, rows: Sequence[Row]) -> Summary:
        """Return the columns step by step, and the share that is used."""
        tables = [
            _table(own, C, reading)
            for C in COSTS
            for kind, reading in ROWS.items()
            if (own := only(rows, C=C, space=kind))
        ]
        return Summary(tables, (), _remarks(rows), _verdicts(rows))


def _table(rows: Sequence[Row], C: float, reading: str) -> Table:
    columns = [Column("data set"), Column("all", 0), Column("paper", 1), Column("optimum", 0)]
    moments = [moment for moment in MOMENTS if moment in (1, 5, 20)]
    for title in COMPLETIONS.values():
        columns += [Column(f"after {moment}", 0, title) for moment in moments]
        columns += [Column("end", 0, title), Column("steps", 0, title)]
        columns += [Column("J above, %", 2, title)]
    cells: list[list[Cell]] = []
    for row in rows:
        line: list[Cell] = [row["dataset"], row["n_columns"], PRINTED[row["dataset"]].used]
        line.append(row["optimum_used"])
        for name in COMPLETIONS:
            along = dict(zip(MOMENTS, row[f"{name}_along"], strict=False))
            line += [along.get(moment) for moment in moments]
            line += [row[f"{name}_used"], row[f"{name}_steps"], 100 * row[f"{name}_excess"]]
        cells.append(line)
    note = (
        "Columns with a weight after some steps and at the end; J above: the objective at the end "
        "relative to the optimum. The paper's figure is at the C of its inner folds."
    )
    return Table(f"Columns with a weight, C = {C:g}, {reading}", columns, cells, note)


def _shares(rows: Sequence[Row], name: str) -> list[float]:
    return [100 * row[f"{name}_used"] / row["n_columns"] for row in rows]


def _verdicts(rows: Sequence[Row]) -> list[Claim]:
    read = grouped(rows, ("space", "C"), [(space, C) for space in ROWS for C in COSTS])
    found = {
        f"{title}, {ROWS[space]}, C = {C:g}": _shares(own, name)
        for (space, C), own in read.items()
        for name, title in COMPLETIONS.items()
    }
    return [
        Claim.judged(
            "part of the columns that Algorithm 1 uses, by the way it is completed (within 10 "
            "points of the paper's own figures for the same sets)",
            f"{PRINTED_SHARE:.1f} % over these {len(KNOWN)} sets",
            found,
            lambda own: f"{spread_text(own)} %",
            lambda own: abs(float(np.mean(own)) - PRINTED_SHARE) <= 10,
        )
    ]


def _remarks(rows: Sequence[Row]) -> list[str]:
    parts = []
    for name, title in COMPLETIONS.items():
        stopped = sum(row[f"{name}_stopped"] for row in rows)
        parts.append(
            f"{title}: {np.mean(_shares(rows, name)):.0f} % of the columns, the paper's gap in "
            f"{stopped} of {len(rows)} runs"
        )
    best = np.mean([100 * row["optimum_used"] / row["n_columns"] for row in rows])
    return [f"{'; '.join(parts)}; optimum: {best:.0f} %."]
