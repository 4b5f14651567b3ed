"""Targets on tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean

from benchmarks.engine import Row

from ..targets import Grouped, Overall, Reading, Target, points
from .comparison import Comparison
from .contenders import OURS
from .measures import LABELS
from .suites import CLEAN, NOISY, Generated, Imbalanced, Mixed, OnTables, Regression, Small

Read = Callable[[Sequence[Row]], float | None]
# By suite: the name on the page, the measures, and the peers.
_GAINS: dict[OnTables, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    Small(): ("small tables", ("auc", "log_loss"), ("catboost", "lightgbm", "logistic", "forest")),
    Mixed(): (
        "mixed tables", ("auc", "log_loss"),
        ("catboost", "lightgbm", "lightgbm_stopped", "histogram", "forest"),
    ),
    Imbalanced(): (
        "rare classes", ("balanced_accuracy", "auc"),
        ("svc_grid", "logistic", "forest", "balanced_forest"),
    ),
    Regression(): ("regression", ("r2",), ("catboost", "lightgbm", "xgboost", "forest", "ridge")),
}  # fmt: skip
_ENTROPY = {"nothing 300 x 30": 0.6931, "nothing 100 x 500": 0.6931}


def _mean_gain(other: str, measure: str) -> Read:
    def read(rows: Sequence[Row]) -> float | None:
        found = Comparison(rows).gain(CLEAN, OURS, other, measure)
        return None if found is None else found.mean.value

    return read


def _lost_to_noise(measure: str) -> Read:
    def read(rows: Sequence[Row]) -> float | None:
        found = Comparison(rows).changed(NOISY, CLEAN, OURS, measure)
        return None if found is None else found.mean.value

    return read


def _excess_on_noise(rows: Sequence[Row]) -> list[Reading]:
    own = [row for row in rows if row["contender"] == OURS]
    found = {name: [r["log_loss"] for r in own if r["dataset"] == name] for name in _ENTROPY}
    return [Reading(name, fmean(v) / _ENTROPY[name]) for name, v in found.items() if v]


def _miscoverage(rows: Sequence[Row]) -> float | None:
    found = [row["coverage"] for row in rows if "coverage" in row and row["condition"] == CLEAN]
    return abs(100 * fmean(found) - 90) if found else None


def _thousandths(number: float) -> str:
    return f"{number:+.3f}"


def _gains(suite: OnTables) -> list[Target]:
    title, measures, peers = _GAINS[suite]
    found: list[Target] = []
    for measure in measures:
        lower = measure == "log_loss"
        found += [
            Overall(
                f"{title}: mean {LABELS[measure]} minus that of {suite.methods[peer].label}",
                suite.name, 0, _mean_gain(peer, measure), "" if lower else " points",
                at_least=not lower, form=_thousandths if lower else points,
            )
            for peer in peers
        ]  # fmt: skip
    return found


TARGETS: tuple[Target, ...] = (
    *(target for suite in _GAINS for target in _gains(suite)),
    *(
        Overall(
            f"{title}: mean {measure} with noise columns minus that without", suite, -0.7,
            _lost_to_noise(key), " points", form=points,
        )
        for title, suite, measure, key in (
            ("small tables", Small.name, "AUC", "auc"),
            ("mixed tables", Mixed.name, "AUC", "auc"),
            ("regression", Regression.name, "R²", "r2"),
        )
    ),
    Grouped(
        "nothing to learn: log loss over the entropy", Generated.name, 1.05, _excess_on_noise,
        at_least=False, form=lambda value: f"{value:.3f}",
    ),
    *(
        Overall(
            f"{title}: mean coverage, distance from 90 %", suite, 2, _miscoverage, " points",
            at_least=False,
        )
        for title, suite in (("sets", Small.name), ("intervals", Regression.name))
    ),
)  # fmt: skip
