"""Suites that compare methods on tables: small to large, of numbers, generated, unbalanced."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import ClassVar

import numpy as np

from benchmarks.engine import Row

from ..measure import Effort, rounded
from ..suite import Results, Suite, Task
from ..text import behind, digits, table
from .comparison import Comparison
from .contenders import CLASSIFIERS, ORACLE, OURS, REGRESSORS, Method, Setting
from .generated import AMONG, PROBLEMS, make
from .measures import IN_PERCENT, LABELS, LEVEL, coverage, of_classes, of_numbers
from .tables import FAMILIES, Split, TableSpec, draw

CLEAN, NOISY = "clean", "noise"
QUICK_TABLES = {
    "classes": TableSpec("wine", "scikit-learn/wine", "target"),
    "numbers": TableSpec("diabetes", "scikit-learn/diabetes", "target", numbers=True),
}
_QUICK_PEERS = ("logistic", "histogram", "ridge")  # need no further package
_SECONDS = {"catboost": 5.0, "svc_grid": 10.0, OURS: 2.0, ORACLE: 2.0}
_MAX_SPLITS = 5


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
    only: ClassVar[Mapping[str, Collection[str]]] = {}  # the only tables of a method
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
            if name in self.only.get(contender, [name])
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
        parts = [self.intro, *(self._means(found, each) for each in found.conditions())]
        parts += [self._coverage(results.rows), self._by_table(found)]
        return "\n\n".join(part for part in parts if part)

    def _means(self, found: Comparison, condition: str) -> str:
        """Return the means of the methods, and the ratio of our error to theirs."""
        header = ["method", *(LABELS[measure] for measure in self.shown), "CPU of a fit, s"]
        header += ["our error / its", "median", "lower on", "worst table"]
        cells = []
        for name in self._in_order(found.contenders(condition)):
            values = [_number(each, found.mean(condition, name, each)) for each in self.shown]
            seconds = digits(found.mean(condition, name, "fit_seconds") or 0, 2)
            cells.append([self.methods[name].label, *values, seconds])
            ratio = None if name == OURS else found.ratio(condition, OURS, name)
            if ratio is None:
                cells[-1] += [""] * 4
                continue
            worst, value = ratio.worst
            cells[-1] += [
                f"{ratio.mean:.3f} ± {ratio.spread:.3f}", f"{ratio.median:.3f}",
                f"{ratio.wins} of {len(ratio.by_table)}", f"{worst} {value:.2f}",
            ]  # fmt: skip
        title = "As they are" if condition == CLEAN else "With noise columns"
        count = len(found.tables(condition))
        return f"### {title} ({count} tables)\n\n{table(header, cells, left=1)}"

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
        return behind(f"{LABELS[self.listed]} by table", table(header, cells, left=1))

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
    title = "Small tables"
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
    """Tables of thousands of rows, most with categories and gaps."""

    name = "quality-mixed"
    title = "Categories, gaps and thousands of rows"
    family = "mixed"
    needs_folder = True
    conditions: ClassVar = {
        CLEAN: Condition(
            0,
            dict.fromkeys((OURS, "lightgbm", "lightgbm_stopped"), 3)
            | {"catboost": 1, "forest": 1, "logistic": 1},
        ),
        NOISY: Condition(20, {OURS: 1, "lightgbm": 1}),
    }
    intro = (
        "Tables of 2,000 to 10,000 rows, 30 % of them for testing. Boosting gets categories and "
        "gaps as they are; forest and logistic regression get one column per level. The noise is "
        "20 columns."
    )


class Large(OnTables):
    """Tables of tens of thousands of rows, many with several classes."""

    name = "quality-large"
    title = "Tens of thousands of rows"
    family = "large"
    needs_folder = True
    conditions: ClassVar = {
        CLEAN: Condition(0, dict.fromkeys((OURS, "lightgbm", "lightgbm_stopped", "catboost"), 1))
    }
    # CatBoost takes ten minutes and more if there are many classes.
    only: ClassVar = {
        "catboost": (
            "adult", "connect_4", "magic", "police-stops", "voters", "car-crashes",
            "insured-wives", "all-lecturers",
        )
    }  # fmt: skip
    listed = "log_loss"
    intro = (
        "Tables of 19,000 to 50,000 rows (larger ones are sampled), 30 % of them for testing, one "
        "split. PMLB's categories are integer codes, and are given as numbers."
    )


class Imbalanced(OnTables):
    """Rare classes, with weights that make the classes equal."""

    name = "quality-imbalanced"
    title = "Rare classes"
    family = "imbalanced"
    balanced = True
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
    conditions: ClassVar = {
        CLEAN: Condition(0, {OURS: 2, "catboost": 1, "lightgbm": 2, "forest": 1, "ridge": 2}),
        NOISY: Condition(-1, dict.fromkeys((OURS, "lightgbm", "ridge"), 1)),
    }
    shown = ("r2", "rmse")
    listed = "rmse"
    intro = (
        "Tables of 148 to 4,000 rows, half of them for testing (30 % if there are fewer than 300). "
        "The error is the root mean squared error on the test rows, in standard deviations of the "
        "target. With noise columns each table has as many columns of noise as real ones."
    )


class Functions(OnTables):
    """PMLB's tables with a numeric target, Friedman's functions among them."""

    name = "quality-pmlb"
    title = "Regression: PMLB and Friedman's functions"
    kind = "numbers"
    family = "pmlb"
    needs_folder = True
    conditions: ClassVar = {CLEAN: Condition(0, dict.fromkeys((OURS, "lightgbm", "ridge"), 1))}
    shown = ("r2", "rmse")
    listed = "r2"
    intro = (
        "PMLB's sets with odd numbers, 30 % of the rows for testing. Half of them helped to choose "
        "settings, so they are no evidence; the names of Friedman's functions say collinearity, "
        "rows and columns, of which five matter."
    )


class Generated(OnTables):
    """Generated tables, whose rule is known."""

    name = "quality-generated"
    title = "Generated tables: nothing to learn, ordered classes, columns among noise"
    conditions: ClassVar = {
        CLEAN: Condition(0, dict.fromkeys((OURS, ORACLE, "lightgbm", "logistic"), 2))
    }
    only: ClassVar = {ORACLE: AMONG}
    listed = "accuracy"
    intro = (
        "Tables whose rule is known, with 2,000 further rows for testing; two of each. If there "
        "is nothing to learn, the log loss of a method that knows it is the entropy, .693 for two "
        "equal classes."
    )

    def names(self) -> Collection[str]:
        return list(PROBLEMS)

    def draw(self, case: Task, quick: bool) -> Split:
        if quick:
            return super().draw(case, quick)
        return make(case["dataset"], case["split"])

    def section(self, results: Results) -> str:
        rules = "\n".join(f"- {name}: {each.text}" for name, each in PROBLEMS.items())
        return f"{super().section(results)}\n\n{rules}"
