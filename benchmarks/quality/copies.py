"""Leaving out a row with all its copies, or one copy: what each costs where copies are many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

import numpy as np

from kernelwise.experiments import Row

from ..measure import Effort, rounded
from ..suite import Results, Suite, Task
from ..summaries import Mean
from ..text import table
from .measures import auc, log_loss
from .tables import CHOOSE, Split, TableSpec, draw

ALL, ONE = "all copies", "one copy"
_WEIGHTS = {ALL: np.inf, ONE: 1.0}  # of a row that is left out
# Number of questions and of answers to each: the fewer, the more copies.
_ANSWERS = {"3 x 3": (3, 3), "4 x 3": (4, 3), "4 x 4": (4, 4), "5 x 4": (5, 4)}
_ROWS, _TEST_ROWS, _SEEDS = 600, 3000, 4
_TABLES = {
    spec.name: spec
    for spec in (
        TableSpec("flare-F", "keel-imbalanced/flare-F", "target == 'positive'", role=CHOOSE),
        TableSpec(
            "digit one", "keel-imbalanced/led7digit-0-2-4-5-6-7-8-9_vs_1", "target == 'positive'",
            role=CHOOSE,
        ),
    )
}  # fmt: skip


def answers(problem: str, seed: int) -> Split:
    """Return answers to a few questions, and a class that they, and pairs of them, make likely."""
    n_questions, n_answers = _ANSWERS[problem]
    rng = np.random.default_rng([seed, n_questions, n_answers])
    X = rng.integers(n_answers, size=(_ROWS + _TEST_ROWS, n_questions))
    effects = rng.standard_normal((n_questions, n_answers))
    pairs = rng.standard_normal((n_answers, n_answers))
    score = effects[np.arange(n_questions), X].sum(axis=1) + pairs[X[:, 0], X[:, 1]]
    y = (score + rng.logistic(size=len(X)) > np.median(score)).astype(int)
    numbers = X.astype(float)
    return Split(numbers[:_ROWS], y[:_ROWS], numbers[_ROWS:], y[_ROWS:])


def relevance_leaving_out(weight: float) -> Any:
    """Return a RelevanceSVC that leaves out so much of a row: one copy, or all of them."""
    from kernelwise import RelevanceSVC

    class LeavesOut(RelevanceSVC):
        def _settings(self, table: Any, threads: int) -> Any:
            return replace(super()._settings(table, threads), copy_weight=weight)

    return LeavesOut()


class Copies(Suite):
    """One fit that leaves out all copies of a row, or one of them."""

    name = "quality-copies"
    title = "Copies of rows"
    is_timed = False
    seconds = 0.3

    def cases(self, quick: bool) -> list[Task]:
        problems = ("3 x 3",) if quick else (*_ANSWERS, *_TABLES)
        return [
            {"problem": problem, "seed": seed, "left_out": left_out}
            for problem in problems
            for seed in range(1 if quick else _SEEDS)
            for left_out in _WEIGHTS
        ]

    def measure(self, case: Task, effort: Effort) -> Row:
        name, seed = case["problem"], case["seed"]
        split = answers(name, seed) if name in _ANSWERS else draw(_TABLES[name], seed)
        model = relevance_leaving_out(_WEIGHTS[case["left_out"]]).fit(split.X, split.y)
        found = model.predict_proba(split.X_test)
        return {
            "distinct": rounded(_distinct(split)),
            "auc": rounded(auc(split.y_test, found)),
            "log_loss": rounded(log_loss(split.y_test, found)),
        }

    def section(self, results: Results) -> str:
        cells = [_line(name, results.rows) for name in _in_order(results.rows)]
        return (
            "Leave-one-out decisions choose costs, sigmoids and weights of the parts. A row may be "
            "left out with all its copies, as if new rows were never copies of known ones, or one "
            f"copy at a time. {_ROWS} rows of answers to a few questions (questions x answers; "
            "the class depends on each answer and on the first two together, with noise), and two "
            "tables to choose with. `RelevanceSVC` leaves out one copy where fewer than half of "
            "the rows are different, and else all copies. Differences are one copy minus all "
            "copies.\n\n"
            + table(
                ["table", "different rows", f"log loss, {ALL}", "difference", f"AUC, {ALL}",
                 "difference, points"],
                cells, left=1,
            )
        )  # fmt: skip


def _distinct(split: Split) -> float:
    """Return the share of training rows that are different, class included."""
    rows = np.asarray(split.X, dtype=object).tolist()
    different = {(*map(str, row), label) for row, label in zip(rows, split.y.tolist(), strict=True)}
    return len(different) / len(split.y)


def _in_order(rows: Sequence[Row]) -> list[str]:
    """Return the problems, the one with the most copies first."""
    shares: dict[str, list[float]] = {}
    for row in rows:
        shares.setdefault(row["problem"], []).append(row["distinct"])
    return sorted(shares, key=lambda name: fmean(shares[name]))


def _line(name: str, rows: Sequence[Row]) -> list[str]:
    """Return the entries of a problem: the values of one rule, and the paired differences."""
    own = [row for row in rows if row["problem"] == name]
    found = {rule: {r["seed"]: r for r in own if r["left_out"] == rule} for rule in _WEIGHTS}
    seeds = [seed for seed in found[ALL] if seed in found[ONE]]
    line = [name, f"{100 * fmean(row['distinct'] for row in own):.0f} %"]
    for measure, factor, places in (("log_loss", 1, 3), ("auc", 100, 1)):
        first = fmean(factor * found[ALL][seed][measure] for seed in seeds)
        gaps = [factor * (found[ONE][s][measure] - found[ALL][s][measure]) for s in seeds]
        line += [f"{first:.{places}f}", Mean.of(gaps).text(places + 1)]
    return line
