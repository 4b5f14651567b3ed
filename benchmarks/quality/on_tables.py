"""Suites that compare methods on tables: small, mixed and imbalanced ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from kernelwise.experiments import Row

from ..measure import Effort, rounded
from ..suite import Results, Suite, Task
from ..text import digits, table
from .comparison import POINTS, Comparison
from .measures import measures
from .opponents import CALIBRATED, OPPONENTS, OURS, TODAY, Setting
from .tables import CHOOSE, REPORT, TableSpec, draw, of_role

CLEAN, NOISY = "clean", "noise"
QUICK_TABLE = TableSpec("wine", "scikit-learn/wine", "target")
_QUICK_PEERS = ("logistic", "histogram")  # need no further package
_LABELS = {
    "accuracy": "accuracy", "balanced_accuracy": "balanced accuracy", "auc": "AUC",
    "average_precision": "average precision", "log_loss": "log loss",
}  # fmt: skip
# Share of the rarest class, and AUC in percent, below which a table is hard.
_RARE, _NOISY = 0.25, 75
_SECONDS = {"catboost": 5.0, "svc_grid": 10.0, CALIBRATED: 3.0, "forest": 1.0}


@dataclass(frozen=True)
class Condition:
    """How a table is changed, and how many splits each method runs on."""

    noise: int  # columns to append, -1 for as many as there are
    splits: dict[str, int]


class OnTables(Suite):
    """One fit of one method on one split of a table."""

    is_timed = False
    family: ClassVar[str]
    role: ClassVar[str] = REPORT
    halves: ClassVar[bool] = False
    balanced: ClassVar[bool] = False
    conditions: ClassVar[dict[str, Condition]]
    shown: ClassVar[tuple[str, ...]] = ("accuracy", "auc", "log_loss")
    intro: ClassVar[str] = ""

    def cases(self, quick: bool) -> list[Task]:
        if quick:
            names = (OURS, *_QUICK_PEERS)
            return [self._case(QUICK_TABLE.name, CLEAN, 0, contender) for contender in names]
        return [
            self._case(name, condition, split, contender)
            for condition, how in self.conditions.items()
            for contender, splits in how.splits.items()
            for name in of_role(self.family, self.role)
            for split in range(splits)
        ]

    @staticmethod
    def _case(name: str, condition: str, split: int, contender: str) -> Task:
        return {"dataset": name, "condition": condition, "split": split, "contender": contender}

    def cost(self, task: Task) -> float:
        return _SECONDS.get(task["contender"], 0.3)

    def check_data(self, tasks: Sequence[Task], data_dir: Path | None) -> dict[str, str]:
        """Fail at once if the older version is wanted and no interpreter has it."""
        if any(task["contender"] in (TODAY, CALIBRATED) for task in tasks):
            from .today import interpreter

            interpreter()
        return {}

    def measure(self, case: Task, effort: Effort) -> Row:
        spec = QUICK_TABLE if effort.quick else of_role(self.family, self.role)[case["dataset"]]
        noise = 0 if effort.quick else self.conditions[case["condition"]].noise
        split = draw(spec, case["split"], halves=self.halves, noise=noise)
        setting = Setting(case["split"], effort.quick, self.balanced)
        judged = OPPONENTS[case["contender"]].judge(split, setting)
        shares = np.bincount(split.y) / len(split.y)
        return {
            **measures(split.y_test, judged),
            "fit_seconds": rounded(judged.fit_seconds),
            "predict_seconds": rounded(judged.predict_seconds),
            "n": len(split.y),
            "n_test": len(split.y_test),
            "p": split.X.shape[1],
            "classes": split.n_classes,
            "rarest": rounded(float(shares.min())),
        }

    def section(self, results: Results) -> str:
        found = Comparison(results.rows)
        parts = [f"{self.intro} {_hard(found)}"]
        for condition in found.conditions():
            parts.append(self._means(found, condition))
        parts.append(self._by_table(found))
        return "\n\n".join(part for part in parts if part)

    def _means(self, found: Comparison, condition: str) -> str:
        names = _in_order(found.contenders(condition))
        values = [[OPPONENTS[name].label, *self._values(found, condition, name)] for name in names]
        gains = [
            [OPPONENTS[name].label, *self._gains(found, condition, name)]
            for name in names
            if name != OURS
        ]
        labels = [_LABELS[measure] for measure in self.shown]
        means = table(["method", *labels, "CPU of a fit, s"], values, left=1)
        header = ["", *(cell for label in labels for cell in (label, "won", "worst table"))]
        title = "As they are" if condition == CLEAN else "With noise columns"
        ours = OPPONENTS[OURS].label
        text = f"### {title} ({len(found.tables(condition))} tables)\n\n{means}"
        if not gains:
            return text
        return (
            f"{text}\n\n{ours} minus each of the others, and the tables on which it is better:\n\n"
            + table(header, gains, left=1)
        )

    def _values(self, found: Comparison, condition: str, name: str) -> list[str]:
        """Return the means of a method over the tables."""
        seconds = found.mean(condition, name, "fit_seconds")
        values = [_number(measure, found.mean(condition, name, measure)) for measure in self.shown]
        return [*values, "" if seconds is None else digits(seconds, 2)]

    def _gains(self, found: Comparison, condition: str, name: str) -> list[str]:
        """Return the differences to a method, the tables won, and the worst one."""
        line = []
        for measure in self.shown:
            gain = found.gain(condition, OURS, name, measure)
            if gain is None:
                line += ["", "", ""]
                continue
            places = 2 if measure in POINTS else 3
            sign = "+" if gain.mean.value >= 0 else ""
            worst, value = gain.worst
            line += [
                f"{sign}{gain.mean.text(places)}", f"{gain.wins} of {len(gain.by_table)}",
                f"{worst} {value:+.{places - 1}f}",
            ]  # fmt: skip
        return line

    def _by_table(self, found: Comparison) -> str:
        condition = found.conditions()[0]
        measure = self.shown[1]
        names = [c for c in _in_order(found.contenders(condition)) if c != CALIBRATED]
        header = ["table", "n", "p", "classes", "rarest", *(OPPONENTS[c].label for c in names)]
        cells = []
        for each in found.tables(condition):
            shape = found.shapes[each]
            values = [_number(measure, found.value(condition, each, c, measure)) for c in names]
            size = [shape["n"], shape["p"], shape["classes"], f"{100 * shape['rarest']:.0f} %"]
            cells.append([each, *size, *values])
        return f"### {_LABELS[measure]} by table\n\n{table(header, cells, left=1)}"


def _hard(found: Comparison) -> str:
    """Return how many tables have a rare class, or are noisy for every method."""
    tables = found.tables(CLEAN)
    rare = {name for name in tables if found.shapes[name]["rarest"] < _RARE}
    noisy = {
        name
        for name in tables
        if max(found.value(CLEAN, name, c, "auc") or 0 for c in found.contenders(CLEAN)) < _NOISY
    }
    return (
        f"Of the {len(tables)} tables {len(rare)} have a class with less than {100 * _RARE:.0f} % "
        f"of the rows; on {len(noisy)} no method has an AUC of {_NOISY} %; {len(rare | noisy)} are "
        "one or the other."
    )


def _in_order(names: Sequence[str]) -> list[str]:
    """Return methods in the order of `OPPONENTS`, ours first."""
    return [name for name in OPPONENTS if name in names]


def _number(measure: str, value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.1f}" if measure in POINTS else f"{value:.3f}"


_SMALL = {
    OURS: 3, TODAY: 3, CALIBRATED: 3, "catboost": 2, "lightgbm": 3, "xgboost": 3, "logistic": 3,
    "forest": 3, "xrfm": 3,
}  # fmt: skip
_SMALL_NOISY = {OURS: 2, TODAY: 2, "lightgbm": 2, "logistic": 2, "forest": 2}
_MIXED = {
    OURS: 3, TODAY: 2, "lightgbm": 3, "lightgbm_stopped": 3, "histogram": 3, "catboost": 1,
    "forest": 3, "logistic": 3,
}  # fmt: skip
# Few test rows are of the rare class: three splits leave a standard error of 0.6 points.
_IMBALANCED = dict.fromkeys((OURS, TODAY, "svc_grid", "logistic", "forest", "balanced_forest"), 10)


class Small(OnTables):
    """Tables of up to 2,000 rows."""

    name = "quality-small"
    title = "Small tables: accuracy, ranking and probabilities"
    family = "small"
    halves = True
    conditions: ClassVar = {CLEAN: Condition(0, _SMALL), NOISY: Condition(-1, _SMALL_NOISY)}
    intro = (
        "Tables of 150 to 1,500 rows, half of them for testing (30 % where there are fewer than "
        "300). With noise columns each table has as many columns of noise as of its own."
    )


class Mixed(OnTables):
    """Tables of thousands of rows with categories and gaps."""

    name = "quality-mixed"
    title = "Categories, gaps and thousands of rows"
    family = "mixed"
    conditions: ClassVar = {
        CLEAN: Condition(0, _MIXED), NOISY: Condition(20, {OURS: 1, "lightgbm": 1}),
    }  # fmt: skip
    intro = (
        "Tables of 2,000 to 10,000 rows, 30 % of them for testing. Boosting gets categories and "
        "gaps as they are; forest, logistic regression and the version before get one column per "
        "level. The noise is 20 columns."
    )


class Imbalanced(OnTables):
    """Rare classes, with weights that make the classes equal."""

    name = "quality-imbalanced"
    title = "Rare classes"
    family = "imbalanced"
    balanced = True
    conditions: ClassVar = {CLEAN: Condition(0, _IMBALANCED)}
    shown = ("balanced_accuracy", "auc", "average_precision")
    intro = (
        'Every method with `class_weight="balanced"` or, for the second forest, samples with '
        "equal classes. The grid maximises balanced accuracy. 30 % of the rows are for testing; "
        "each table is split 10 times. On the first 3 splits, which were measured before the "
        "others were added, the balanced accuracy was 0.45 ± 0.63 below that of "
        "`LogisticRegression`: the two cannot be told apart by it."
    )


class SmallChoose(Small):
    """Small tables to choose with, which are never reported."""

    name = "quality-choose-small"
    title = "Small tables to choose with"
    role = CHOOSE


class MixedChoose(Mixed):
    """Mixed tables to choose with, which are never reported."""

    name = "quality-choose-mixed"
    title = "Mixed tables to choose with"
    role = CHOOSE


class ImbalancedChoose(Imbalanced):
    """Tables with rare classes to choose with, which are never reported."""

    name = "quality-choose-imbalanced"
    title = "Rare classes to choose with"
    role = CHOOSE
