"""Accuracy of all contenders on the same splits of public data sets."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from statistics import fmean
from typing import ClassVar

import numpy as np

from kernelwise.experiments import Drawing

from ..measure import Effort, rounded
from ..suite import Results, Row, Suite, Task
from ..summaries import Mean, signed_rank
from ..text import digits, table
from .contenders import CONTENDERS, Setting, quiet, warm_up
from .data import draw
from .figures import by_set_figure, noise_figure
from .names import (
    BOOSTING,
    FOREST,
    FORMS,
    GRID,
    NOISE,
    PLAIN,
    QUICK_SETS,
    SEEDS,
    SETS,
    SIGNS_CONDITION,
    cases,
)
from .summaries import SetResults, by_set, cost, counts, gains, of

# CPU seconds of a fit with hundreds of rows.
_SECONDS = {GRID: 1.5, "kbest_grid": 3.0, FOREST: 0.5, "discrimination": 0.8}


class Accuracy(Suite):
    """One fit of one contender on one split of a set, with or without noise."""

    name = "quality-accuracy"
    title = "Accuracy on 18 sets, with and without noise"
    is_timed = False
    needs_folder = True
    seeds: ClassVar[tuple[int, ...]] = SEEDS["report"]

    def cases(self, quick: bool) -> list[Task]:
        return [
            {"dataset": name, "condition": condition, "seed": seed, "contender": contender}
            for contender in CONTENDERS
            for name, condition in cases(QUICK_SETS if quick else SETS)
            for seed in self.seeds[: 1 if quick else None]
        ]

    def cost(self, task: Task) -> float:
        return _SECONDS.get(task["contender"], 0.15)

    def measure(self, case: Task, effort: Effort) -> Row:
        split = draw(case["dataset"], case["condition"], case["seed"])
        n, p = split.X.shape
        contender = CONTENDERS[case["contender"]]
        model = contender.make(Setting(p, case["seed"], effort.quick))
        with quiet():
            if contender.ours:
                warm_up(case["contender"])
            begin = time.process_time()
            model.fit(split.X, split.y)
            seconds = time.process_time() - begin
            accuracy = np.mean(model.predict(split.X_test) == split.y_test)
        return {
            "accuracy": rounded(float(accuracy)),
            "fit_seconds": rounded(seconds),
            "n": n,
            "p": p,
            "classes": len(np.unique(split.y)),
            "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        }

    def section(self, results: Results) -> str:
        sets = by_set(results.rows)
        present = [name for name in CONTENDERS if any(name in each.found for each in sets)]
        parts = [
            _state(results.rows, sets, present),
            _against_grid(sets, present),
            _against_others(sets, present),
            _signs(sets, present),
            _by_set(sets, present),
        ]
        return "\n\n".join(part for part in parts if part)

    def figures(self, rows: Sequence[Row]) -> list[Drawing]:
        sets = by_set(rows)
        drawings = [noise_figure(sets), by_set_figure(sets)]
        return [drawing for drawing in drawings if drawing is not None]


class Choose(Accuracy):
    """The same on the splits with which choices are made, which are never reported."""

    name = "quality-choose"
    title = "Accuracy on the splits to choose with"
    seeds = SEEDS["choose"]


def _difference(found: dict[str, float]) -> str:
    """Return by how many points a contender is better, with standard error and p over the sets."""
    if not found:
        return ""
    mean = Mean.of(found.values())
    sign = "+" if mean.value >= 0 else ""
    test = signed_rank(list(found.values()))
    return f"{sign}{mean.text()}" + (f" ({test})" if test.startswith("p") else "")


def _signed(value: float | None) -> str:
    return "" if value is None else f"{round(value, 1) + 0.0:+.1f}"  # no -0.0


def _percent(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


def _state(rows: Sequence[Row], sets: Sequence[SetResults], present: Sequence[str]) -> str:
    """Return the numbers of splits and sets, what is missing, and the dates."""
    seeds = sorted({row["seed"] for row in rows})
    sizes = ", ".join(
        f"{len(of(sets, name))} {name}" for name in [*NOISE, SIGNS_CONDITION] if of(sets, name)
    )
    text = f"Splits {seeds[0]} to {seeds[-1]} ({len(seeds)} per set); sets: {sizes}."
    counted = {name: counts(sets, name) for name in present}
    lacking = [
        f"{CONTENDERS[name].label} {done} of {all_}"
        for name, (done, all_) in counted.items()
        if done < all_
    ]
    if lacking:
        text += f" **Not complete**, in splits: {'; '.join(lacking)}."
    dates: dict[str, list[str]] = {}
    for name in present:
        last = max(row["date"] for row in rows if row["contender"] == name)
        dates.setdefault(last, []).append(CONTENDERS[name].label)
    if len(dates) == 1:
        return f"{text} Last measured on {next(iter(dates))}."
    last = "; ".join(f"{', '.join(names)} {date}" for date, names in dates.items())
    return f"{text} Last measured: {last}."


def _against_grid(sets: Sequence[SetResults], present: Sequence[str]) -> str:
    if GRID not in present:
        return ""
    cells = []
    for name in present:
        found = ["" if name == GRID else _difference(gains(sets, c, name, GRID)) for c in NOISE]
        ratio = cost([each for each in sets if each.condition in NOISE], name)
        cells.append([CONTENDERS[name].label, *found, "" if ratio is None else digits(ratio, 2)])
    absolute = ", ".join(
        f"{fmean(found):.1f} {condition}"
        for condition in NOISE
        if (found := [a for s in of(sets, condition) if (a := s.accuracy(GRID)) is not None])
    )
    return (
        "### Against the grid\n\nMean over the sets of the paired difference to the accuracy of "
        "the grid, in points, ± its standard error over the sets, and p over the sets. The mean "
        f"accuracy of the grid is {absolute}. CPU is the mean over the sets of the CPU time of a "
        "fit relative to the grid's, on a machine that was not otherwise idle.\n\n"
        + table(["contender", *NOISE, "CPU"], cells, left=1)
    )


def _against_others(sets: Sequence[SetResults], present: Sequence[str]) -> str:
    forms = [name for name in FORMS if name in present]
    others = [name for name in (FOREST, BOOSTING, PLAIN) if name in present]
    if not forms or not others:
        return ""
    cells = [
        [
            CONTENDERS[form].label, CONTENDERS[other].label,
            *(_difference(gains(sets, condition, form, other)) for condition in NOISE),
        ]
        for form in forms
        for other in others
    ]  # fmt: skip
    return "### Against the other peers\n\nThe same differences.\n\n" + table(
        ["", "minus", *NOISE], cells, left=2
    )


def _signs(sets: Sequence[SetResults], present: Sequence[str]) -> str:
    shown = [each for each in of(sets, "doubled") if each.dataset == "sonar"]
    shown += of(sets, SIGNS_CONDITION)
    if not shown:
        return ""
    titles = [each.dataset + (" + noise" if each.condition == "doubled" else "") for each in shown]
    cells = [
        [CONTENDERS[name].label, *(_percent(each.accuracy(name)) for each in shown)]
        for name in present
    ]
    return (
        "### Problems that need feature selection\n\nAccuracy in percent on sonar with as many "
        "noise columns, and on products of signs among otherwise irrelevant inputs (20 and 10 "
        "standard normal inputs, 300 training rows, 2000 test rows).\n\n"
        + table(["contender", *titles], cells, left=1)
    )


def _by_set(sets: Sequence[SetResults], present: Sequence[str]) -> str:
    forms = [name for name in FORMS if name in present]
    if GRID not in present or not forms:
        return ""
    by_case = {(each.dataset, each.condition): each for each in sets}
    worst = gains(sets, "clean", forms[-1], GRID)
    cells = []
    for clean in sorted(of(sets, "clean"), key=lambda each: worst.get(each.dataset, 0.0)):
        line: list[object] = [clean.dataset, *clean.shape.values()]
        for condition in NOISE:
            each = by_case.get((clean.dataset, condition))
            line.append(_percent(each.accuracy(GRID)) if each else "")
            line += [_signed(each.gain(form, GRID)) if each else "" for form in forms]
        cells.append(line)
    header = ["set", "n", "p", "classes"]
    for condition in NOISE:
        header += [f"{condition}: grid", *(f"{FORMS[form]} - grid" for form in forms)]
    return (
        "### By set\n\nAccuracy of the grid in percent and the differences to it in points, the "
        "worst clean sets first; n training rows, p columns without noise.\n\n"
        + table(header, cells, left=1)
    )
