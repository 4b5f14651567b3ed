"""Margin-radius SVM: the bound of Theorem 2 at equal C, and how tight inequality (4) is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np

from kernelwise._typing import Array
from kernelwise.criteria.radius_margin import solve_ball, squared_radius
from kernelwise.qp import SMO
from kernelwise.svm import MarginRadiusSVC

from ...data import dataset
from ...experiment import PaperExperiment, Row, Scale, Task, crossed, register
from ...rows import grouped, only
from ...tables import Cell, Claim, Column, Summary, Table, spread_text
from .directions import ROWS
from .machines import PAPER, STD, as_signs, columns_of, final
from .printed import KNOWN

COSTS = (0.1, 1.0, 10.0, 100.0, 500.0, 1000.0)
_STD_COSTS = (0.001, 0.01, *COSTS)  # the units of C differ: STD may be best at a smaller one
_KINDS = {STD: "STD", "paper": "MR", "product": "product"}


@register
class Bounds(PaperExperiment):
    """Theorem 2 of three machines at the same C, and inequality (4) at their weights."""

    name = "margin-radius-bounds"
    title = "Margin and radius: the bound at equal C, and the tightness of inequality (4)"
    paper = PAPER
    description = (
        "All rows of a set, the paper's grid of C, and for STD also 0.001 and 0.01. The bound of "
        "Theorem 2, (R² + |xi|²) / gamma², has the smallest ball around any centre in the space of "
        "the machine's weights; the theorem's ball is around the origin, which is larger. Beside "
        "the bounds stands the ratio of both sides of inequality (4), the squared radius of the "
        "ball in the weighted space over the bound sum mu_k R_k² that the paper puts in its place: "
        "1 is tight."
    )
    reproduces = ("Theorem 2 at equal C and at the best C", "inequality (4): its tightness")
    repeats: ClassVar[Mapping[str, int]] = {"full": 1, "quick": 1, "smoke": 1}
    seconds = 3.0
    datasets = KNOWN

    def tasks(self, scale: Scale) -> list[Task]:
        """Return a task for each set and reading of the rows."""
        names = KNOWN if scale.is_full else ("bupa", "sonar")
        return crossed(dataset=names, space=ROWS)

    def run(self, task: Task, seed: int, data_dir: Path | None) -> Row:
        """Fit all machines at every C."""
        data = dataset(task["dataset"], data_dir, drop_leaks=task["dataset"] != "wpbc")
        X, y = columns_of(task["space"]).fit_transform(data.X), as_signs(data.y)
        row: Row = {
            f"{kind}_bounds": [
                min(final(kind, X, y, C).bounds[1], 1e300)
                for C in (_STD_COSTS if kind == STD else COSTS)
            ]
            for kind in _KINDS
        }
        row["equal_tight"] = tightness(X, np.full(X.shape[1], 1 / X.shape[1]))
        for kind in ("paper", "product"):
            models = [MarginRadiusSVC(radius=kind, C=C).fit(X, y) for C in COSTS]
            row[f"{kind}_tight"] = [tightness(X, model.feature_weights_) for model in models]
        return row

    def summarise(self, rows: Sequence[Row]) -> Summary:
        """Return the bounds, counts of the tighter ones, and the tightness."""
        tables = [
            _table(own, title) for kind, title in ROWS.items() if (own := only(rows, space=kind))
        ]
        return Summary(tables, (), (), _verdicts(rows))


def tightness(X: Array, weights: Array) -> float:
    """Return the squared radius of the ball of weighted columns over sum mu_k R_k^2."""
    K = (X * weights) @ X.T
    ball = solve_ball(K, SMO(tol=1e-8 * float(np.diagonal(K).max()), exact=False), None)
    rho = float(weights @ (np.ptp(X, axis=0) / 2) ** 2)
    return float(squared_radius(ball)) / rho


def _at_equal(row: Row, kind: str) -> list[bool]:
    """Return for each C whether the bound is below that of STD."""
    equal = row[f"{STD}_bounds"][len(_STD_COSTS) - len(COSTS) :]
    return [own < other for own, other in zip(row[f"{kind}_bounds"], equal, strict=True)]


def _table(rows: Sequence[Row], title: str) -> Table:
    columns = [Column("data set")]
    columns += [Column(name, 0, "best bound") for name in _KINDS.values()]
    columns += [Column(name, 0, "tighter at equal C") for name in ("MR", "product")]
    columns += [Column(name, 2, "tightness of (4)") for name in ("equal weights", "MR", "product")]
    cells: list[list[Cell]] = []
    for row in rows:
        line: list[Cell] = [row["dataset"], *(min(row[f"{kind}_bounds"]) for kind in _KINDS)]
        line += [f"{sum(_at_equal(row, k))} of {len(COSTS)}" for k in ("paper", "product")]
        line += [row["equal_tight"]]
        line += [float(np.mean(row[f"{kind}_tight"])) for kind in ("paper", "product")]
        cells.append(line)
    return Table(f"Theorem 2 and inequality (4), {title}", columns, cells)


def _verdicts(rows: Sequence[Row]) -> list[Claim]:
    read = {
        f"{_KINDS[kind]}, {ROWS[space]}": (kind, own)
        for space, own in grouped(rows, "space", ROWS).items()
        for kind in ("paper", "product")
    }
    equal = {n: [x for r in own for x in _at_equal(r, kind)] for n, (kind, own) in read.items()}
    best = {
        n: [min(r[f"{kind}_bounds"]) < min(r[f"{STD}_bounds"]) for r in own]
        for n, (kind, own) in read.items()
    }
    tight = {n: [x for r in own for x in r[f"{k}_tight"]] for n, (k, own) in read.items()}
    return [
        Claim.judged(
            "optimising margin and radius gives a tighter bound (Theorem 2, at equal C: every set "
            "and C of the paper's grid)",
            "the thesis of the paper; no figures",
            equal,
            lambda found: f"tighter in {sum(found)} of {len(found)} cases",
            all,
        ),
        Claim.judged(
            "optimising margin and radius gives a tighter bound (Theorem 2, each at its best C, on "
            "every set)",
            "the thesis of the paper; no figures",
            best,
            lambda found: f"tighter on {sum(found)} of {len(found)} sets",
            all,
        ),
        Claim.judged(
            "R_mu² <= sum mu_k R_k² (inequality 4); the tighter, the closer to the problem that "
            "is meant",
            "an inequality; its tightness is not measured",
            tight,
            lambda found: f"ratio {spread_text(found, 2)}, {min(found):.2f} to {max(found):.2f}",
            lambda found: max(found) <= 1 + 1e-6,
        ),
    ]
