"""Targets on tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean

from benchmarks.engine import Row

from ..targets import Grouped, Overall, Reading, Target, points
from .comparison import Comparison, Ratio
from .contenders import ORACLE, OURS
from .generated import AMONG, ENTROPY
from .suites import (
    CLEAN,
    NOISY,
    Functions,
    Generated,
    Imbalanced,
    Large,
    Mixed,
    OnTables,
    Regression,
    Small,
)

# By suite: the name on the page, and the largest ratio of our error to that of each peer.
_RATIOS: dict[OnTables, tuple[str, dict[str, float]]] = {
    Small(): (
        "small tables", {"catboost": 0.96, "lightgbm": 0.96, "forest": 1.0, "logistic": 1.0},
    ),
    Mixed(): (
        "mixed tables", {"catboost": 0.96, "lightgbm": 0.96, "lightgbm_stopped": 1.0},
    ),
    Large(): ("large tables", {"catboost": 0.96, "lightgbm": 0.96, "lightgbm_stopped": 1.0}),
    Imbalanced(): (
        "rare classes", {"svc_grid": 1.0, "logistic": 1.0, "balanced_forest": 1.0},
    ),
    Regression(): ("regression", {"catboost": 0.92, "lightgbm": 0.92, "ridge": 1.0}),
}  # fmt: skip
_ORACLE_ROWS = 600  # from which we should come near a model that knows the columns


def _number(value: float) -> str:
    return f"{value:.3f}"


def _of_ratio(other: str, read: Callable[[Ratio], float], condition: str = CLEAN) -> Callable:
    def found(rows: Sequence[Row]) -> float | None:
        ratio = Comparison(rows).ratio(condition, OURS, other)
        return None if ratio is None else read(ratio)

    return found


def _tables_of_ratio(other: str, measure: str) -> Callable[[Sequence[Row]], list[Reading]]:
    def found(rows: Sequence[Row]) -> list[Reading]:
        ratio = Comparison(rows).ratio(CLEAN, OURS, other, measure)
        return [] if ratio is None else [Reading(k, v) for k, v in ratio.by_table.items()]

    return found


def _below_oracle(rows: Sequence[Row]) -> list[Reading]:
    gain = Comparison(rows).gain(CLEAN, OURS, ORACLE, "accuracy")
    sizes = {row["dataset"]: row["n"] for row in rows}
    found = {} if gain is None else gain.by_table
    return [Reading(k, v) for k, v in found.items() if k in AMONG and sizes[k] >= _ORACLE_ROWS]


def _excess_on_noise(rows: Sequence[Row]) -> list[Reading]:
    own = [row for row in rows if row["contender"] == OURS]
    found = {name: [r["log_loss"] for r in own if r["dataset"] == name] for name in ENTROPY}
    return [Reading(name, fmean(v) / ENTROPY[name]) for name, v in found.items() if v]


def _friedman(rows: Sequence[Row]) -> list[Reading]:
    """Return the mean R² on Friedman's functions by number of columns."""
    own = [r for r in rows if r["contender"] == OURS and r["dataset"].startswith("fri_")]
    sizes = sorted({row["p"] for row in own})
    return [Reading(f"{p} columns", fmean(r["r2"] for r in own if r["p"] == p)) for p in sizes]


def _miscoverage(rows: Sequence[Row]) -> float | None:
    found = [row["coverage"] for row in rows if "coverage" in row and row["condition"] == CLEAN]
    return abs(100 * fmean(found) - 90) if found else None


def _ratios(suite: OnTables) -> list[Target]:
    title, goals = _RATIOS[suite]
    return [
        Overall(
            f"{title}: error over that of {suite.methods[peer].label}, geometric mean", suite.name,
            goal, _of_ratio(peer, lambda ratio: ratio.mean), "", at_least=False, form=_number,
        )
        for peer, goal in goals.items()
    ]  # fmt: skip


TARGETS: tuple[Target, ...] = (
    *(target for suite in _RATIOS for target in _ratios(suite)),
    Overall(
        "regression: error over that of CatBoost, median", Regression.name, 0.96,
        _of_ratio("catboost", lambda ratio: ratio.median), "", at_least=False, form=_number,
    ),
    *(
        Overall(
            f"{title}: error over that of CatBoost, worst table", suite.name, 1.08,
            _of_ratio("catboost", lambda ratio: ratio.worst[1]), "", at_least=False, form=_number,
        )
        for suite, title in ((Mixed(), "mixed tables"), (Large(), "large tables"))
    ),
    Grouped(
        "large tables: log loss over that of LightGBM with early stopping", Large.name, 1.0,
        _tables_of_ratio("lightgbm_stopped", "log_loss"), "", at_least=False, form=_number,
    ),
    *(
        Overall(
            f"{title} with noise columns: error over that of LightGBM", suite, 0.92,
            _of_ratio("lightgbm", lambda ratio: ratio.mean, NOISY), "", at_least=False,
            form=_number,
        )
        for title, suite in (
            ("small tables", Small.name), ("mixed tables", Mixed.name),
            ("regression", Regression.name),
        )
    ),
    Grouped(
        "columns among noise, 600 rows and more: accuracy minus that with the right columns alone",
        Generated.name, -3, _below_oracle, " points", form=points,
    ),
    Grouped(
        "nothing to learn: log loss over the entropy", Generated.name, 1.02, _excess_on_noise,
        at_least=False, form=_number,
    ),
    Grouped(
        "Friedman's functions: mean R² by number of columns", Functions.name, 0.95, _friedman, "",
        form=_number,
    ),
    *(
        Overall(
            f"{title}: mean coverage, distance from 90 %", suite, 2, _miscoverage, " points",
            at_least=False,
        )
        for title, suite in (("sets", Small.name), ("intervals", Regression.name))
    ),
    *(
        Overall(
            f"{title}: CPU of a fit over that of CatBoost, geometric mean", suite.name, 1.0,
            lambda rows: (
                None
                if (ratio := Comparison(rows).ratio(CLEAN, OURS, "catboost", "fit_seconds")) is None
                else ratio.mean
            ),
            at_least=False,
        )
        for suite, (title, goals) in _RATIOS.items()
        if "catboost" in goals
    ),
)  # fmt: skip
