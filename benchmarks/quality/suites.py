"""Suites that compare methods on tables: small, mixed, imbalanced, generated, and of numbers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import ClassVar

import numpy as np

from benchmarks.engine import Row

from ..measure import Effort, rounded
from ..suite import Results, Suite, Task
from ..text import digits, table
from .comparison import Comparison
from .contenders import CLASSIFIERS, OURS, REGRESSORS, Method, Setting
from .generated import PROBLEMS, make
from .measures import IN_PERCENT, LABELS, LEVEL, coverage, of_classes, of_numbers
from .tables import FAMILIES, Split, TableSpec, draw

CLEAN, NOISY = "clean", "noise"
QUICK_TABLES = {
    "classes": TableSpec("wine", "scikit-learn/wine", "target"),
    "numbers": TableSpec("diabetes", "scikit-learn/diabetes", "target", numbers=True),
}
_QUICK_PEERS = ("logistic", "histogram", "ridge")  # need no further package
# Share of the rarest class, and AUC in percent, below which a table is hard.
_RARE, _NOISY = 0.25, 75
_SECONDS = {"catboost": 5.0, "svc_grid": 10.0, "forest": 1.0}
_MAX_SPLITS = 10


@dataclass(frozen=True)
class Condition:
    """How a table is changed, and how many splits each method runs on."""

    noise: int  # columns to append, -1 for as many as there are
    splits: dict[str, int]


class OnTables(Suite):
    """One fit of one method on one split of a table."""

    is_timed = False
    kind: ClassVar[str] = "classes"
    family: ClassVar[str]
    halves: ClassVar[bool] = False
    balanced: ClassVar[bool] = False
    conditions: ClassVar[dict[str, Condition]]
    shown: ClassVar[tuple[str, ...]] = ("accuracy", "auc", "log_loss")
    listed: ClassVar[str] = "auc"  # the measure that is listed table by table
    intro: ClassVar[str] = ""

    @property
    def methods(self) -> Mapping[str, Method]:
        return REGRESSORS if self.kind == "numbers" else CLASSIFIERS

    def names(self) -> Collection[str]:
        """Return the names of the tables."""
        return [spec.name for spec in FAMILIES[self.family]]

    def cases(self, quick: bool) -> list[Task]:
        if quick:
            names = [name for name in self.methods if name in (OURS, *_QUICK_PEERS)]
            return [self._case(QUICK_TABLES[self.kind].name, CLEAN, 0, name) for name in names]
        return [
            self._case(name, condition, split, contender)
            for condition, how in self.conditions.items()
            for contender, splits in how.splits.items()
            for name in self.names()
            for split in range(splits)
        ]

    @staticmethod
    def _case(name: str, condition: str, split: int, contender: str) -> Task:
        return {"dataset": name, "condition": condition, "split": split, "contender": contender}

    def cost(self, task: Task) -> float:
        return _SECONDS.get(task["contender"], 0.3)

    def draw(self, case: Task, quick: bool) -> Split:
        """Return the split of a case."""
        specs = [QUICK_TABLES[self.kind]] if quick else FAMILIES[self.family]
        spec = next(spec for spec in specs if spec.name == case["dataset"])
        noise = 0 if quick else self.conditions[case["condition"]].noise
        return draw(spec, case["split"], halves=self.halves, noise=noise)

    def measure(self, case: Task, effort: Effort) -> Row:
        split = self.draw(case, effort.quick)
        setting = Setting(case["split"], effort.quick, self.balanced)
        found = self.methods[case["contender"]].run(split, setting)
        measures = of_numbers if self.kind == "numbers" else of_classes
        row: Row = {
            **measures(split.y_test, found),
            "fit_seconds": rounded(found.fit_seconds),
            "predict_seconds": rounded(found.predict_seconds),
            "n": len(split.y),
            "n_test": len(split.y_test),
            "p": split.X.shape[1],
        }
        if self.kind == "classes":
            shares = np.bincount(split.y) / len(split.y)
            row |= {"classes": split.n_classes, "rarest": rounded(float(shares.min()))}
        if case["contender"] == OURS and not self.balanced:
            row |= coverage(split.y_test, found.model, split.X_test)
        return row

    def section(self, results: Results) -> str:
        found = Comparison(results.rows)
        parts = [f"{self.intro} {self._hard(found)}".strip()]
        for condition in found.conditions():
            parts.append(self._means(found, condition))
        parts += [self._coverage(results.rows), self._by_table(found)]
        return "\n\n".join(part for part in parts if part)

    def _means(self, found: Comparison, condition: str) -> str:
        names = self._in_order(found.contenders(condition))
        labels = [LABELS[measure] for measure in self.shown]
        values = [[self.methods[n].label, *self._values(found, condition, n)] for n in names]
        gains = [
            [self.methods[name].label, *self._gains(found, condition, name)]
            for name in names
            if name != OURS and OURS in names
        ]
        means = table(["method", *labels, "CPU of a fit, s"], values, left=1)
        title = "As they are" if condition == CLEAN else "With noise columns"
        text = f"### {title} ({len(found.tables(condition))} tables)\n\n{means}"
        if not gains:
            return text
        header = ["", *(cell for label in labels for cell in (label, "won", "worst table"))]
        return (
            f"{text}\n\n{self.methods[OURS].label} minus each of the others, and the tables on "
            f"which it is better:\n\n{table(header, gains, left=1)}"
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
            places = 2 if measure in IN_PERCENT else 3
            sign = "+" if gain.mean.value >= 0 else ""
            worst, value = gain.worst
            line += [
                f"{sign}{gain.mean.text(places)}", f"{gain.wins} of {len(gain.by_table)}",
                f"{worst} {value:+.{places - 1}f}",
            ]  # fmt: skip
        return line

    def _coverage(self, rows: Sequence[Row]) -> str:
        """Return how often our sets or intervals hold the truth."""
        own = [r for r in rows if "coverage" in r and r["condition"] == CLEAN]
        if not own:
            return ""
        shares = _by_table(own, "coverage")
        call, size = (
            ("predict_set", "{:.2f} classes")
            if self.kind == "classes"
            else ("predict_interval", "{:.2f} standard deviations of the target")
        )
        return (
            f"At a confidence level of {100 * LEVEL:.0f} % `{call}` holds the truth of "
            f"{100 * fmean(shares):.1f} % of the test rows, on average over the tables "
            f"({100 * min(shares):.0f} to {100 * max(shares):.0f} % by table); the mean size is "
            f"{size.format(fmean(_by_table(own, 'size')))}."
        )

    def _by_table(self, found: Comparison) -> str:
        condition = found.conditions()[0]
        names = self._in_order(found.contenders(condition))
        shape = ["n", "p", *(["classes", "rarest"] if self.kind == "classes" else [])]
        header = ["table", *shape, *(self.methods[name].label for name in names)]
        cells = []
        for each in found.tables(condition):
            known = found.shapes[each]
            size = [known["n"], known["p"]]
            if self.kind == "classes":
                size += [known["classes"], f"{100 * known['rarest']:.0f} %"]
            values = (found.value(condition, each, name, self.listed) for name in names)
            cells.append([each, *size, *(_number(self.listed, value) for value in values)])
        return f"### {LABELS[self.listed]} by table\n\n{table(header, cells, left=1)}"

    def _hard(self, found: Comparison) -> str:
        """Return how many tables have a rare class, or are noisy for every method."""
        if self.kind == "numbers":
            return ""
        tables = found.tables(CLEAN)
        rare = {name for name in tables if found.shapes[name]["rarest"] < _RARE}
        names = found.contenders(CLEAN)
        noisy = {
            each
            for each in tables
            if max(found.value(CLEAN, each, name, "auc") or 0 for name in names) < _NOISY
        }
        return (
            f"Of the {len(tables)} tables {len(rare)} have a class with less than "
            f"{100 * _RARE:.0f} % of the rows; on {len(noisy)} no method has an AUC of {_NOISY} %; "
            f"{len(rare | noisy)} are one or the other."
        )

    def _in_order(self, names: Sequence[str]) -> list[str]:
        """Return methods in the order of the registry, ours first."""
        return [name for name in self.methods if name in names]


def _by_table(rows: Sequence[Row], key: str) -> list[float]:
    """Return the mean of an entry for each table."""
    found: dict[str, list[float]] = {}
    for row in rows:
        found.setdefault(row["dataset"], []).append(row[key])
    return [fmean(values) for values in found.values()]


def _number(measure: str, value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.1f}" if measure in IN_PERCENT else f"{value:.3f}"


class Small(OnTables):
    """Tables of up to 2,000 rows."""

    name = "quality-small"
    title = "Small tables: accuracy, ranking and probabilities"
    family = "small"
    halves = True
    conditions: ClassVar = {
        CLEAN: Condition(
            0,
            {OURS: 3, "catboost": 2, "svc_grid": 1}
            | dict.fromkeys(("lightgbm", "xgboost", "logistic", "forest", "xrfm"), 3),
        ),
        NOISY: Condition(-1, dict.fromkeys((OURS, "lightgbm", "logistic", "forest"), 2)),
    }
    intro = (
        "Tables of 150 to 1,500 rows, half of them for testing (30 % if there are fewer than 300). "
        "With noise columns each table has as many columns of noise as real ones."
    )


class Mixed(OnTables):
    """Tables of thousands of rows with categories and gaps."""

    name = "quality-mixed"
    title = "Categories, gaps and thousands of rows"
    family = "mixed"
    conditions: ClassVar = {
        CLEAN: Condition(
            0,
            dict.fromkeys((OURS, "lightgbm", "lightgbm_stopped", "histogram"), 3)
            | {"catboost": 1, "forest": 3, "logistic": 3},
        ),
        NOISY: Condition(20, {OURS: 1, "lightgbm": 1}),
    }
    intro = (
        "Tables of 2,000 to 10,000 rows, 30 % of them for testing. Boosting gets categories and "
        "gaps as they are; forest and logistic regression get one column per level. The noise is "
        "20 columns."
    )


class Imbalanced(OnTables):
    """Rare classes, with weights that make the classes equal."""

    name = "quality-imbalanced"
    title = "Rare classes"
    family = "imbalanced"
    balanced = True
    # Few test rows are of the rare class: three splits leave a standard error of 0.6 points.
    conditions: ClassVar = {
        CLEAN: Condition(
            0,
            dict.fromkeys((OURS, "svc_grid", "logistic", "forest", "balanced_forest"), _MAX_SPLITS),
        )
    }
    shown = ("balanced_accuracy", "auc", "average_precision")
    intro = (
        'Every method with `class_weight="balanced"` or, for the second forest, samples with '
        "equal classes. The grid maximises balanced accuracy. 30 % of the rows are for testing; "
        f"each table is split {_MAX_SPLITS} times."
    )


class Regression(OnTables):
    """Tables with a numeric target."""

    name = "quality-regression"
    title = "Regression"
    kind = "numbers"
    family = "numbers"
    halves = True
    needs_folder = True
    conditions: ClassVar = {
        CLEAN: Condition(0, dict.fromkeys(REGRESSORS, 3) | {"catboost": 2}),
        NOISY: Condition(-1, dict.fromkeys((OURS, "lightgbm", "forest", "ridge"), 2)),
    }
    shown = ("r2", "mae")
    listed = "r2"
    intro = (
        "Tables of 47 to 4,000 rows, half of them for testing (30 % if there are fewer than 300). "
        "R² is on the test rows; the mean absolute error is in standard deviations of the target. "
        "With noise columns each table has as many columns of noise as real ones."
    )


class Generated(OnTables):
    """Generated tables, whose rule is known."""

    name = "quality-generated"
    title = "Generated tables: nothing to learn, pairs, balls"
    conditions: ClassVar = {
        CLEAN: Condition(0, dict.fromkeys((OURS, "lightgbm", "forest", "logistic"), 6))
    }
    listed = "log_loss"
    intro = (
        "Tables whose rule is known. The log loss of a method that knows that there is nothing to "
        "learn is the entropy, 0.693 for two equal classes."
    )

    def names(self) -> Collection[str]:
        return list(PROBLEMS)

    def draw(self, case: Task, quick: bool) -> Split:
        if quick:
            return super().draw(case, quick)
        return make(case["dataset"], case["split"])

    def _hard(self, found: Comparison) -> str:
        return "\n\n" + "\n".join(f"- {name}: {each.text}" for name, each in PROBLEMS.items())
