"""Targets on tables that took no part in any choice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean

from kernelwise.experiments import Row

from ..targets import Grouped, Overall, Reading, Target, count, points
from .comparison import Comparison
from .noise_category import below_signal, selected_more_often
from .on_tables import CLEAN, NOISY
from .opponents import CALIBRATED, OPPONENTS, OURS, TODAY
from .probabilities import by_problem, coverage
from .tables.mixed import RARE

_SMALL, _MIXED, _IMBALANCED = "quality-small", "quality-mixed", "quality-imbalanced"
_PEERS = ("catboost", "lightgbm", "xgboost", "logistic", "forest", "xrfm")
_BALANCED_PEERS = ("svc_grid", "logistic", "forest", "balanced_forest")
_BEYOND_NOISE = 2.0  # standard errors of an accuracy
Read = Callable[[Sequence[Row]], float | None]


def _mean_gain(other: str, measure: str, condition: str = CLEAN) -> Read:
    def read(rows: Sequence[Row]) -> float | None:
        found = Comparison(rows).gain(condition, OURS, other, measure)
        return None if found is None else found.mean.value

    return read


def _gain_of_rare(rows: Sequence[Row]) -> float | None:
    found = Comparison(rows)
    rare = {name for name, shape in found.shapes.items() if shape["rarest"] < RARE}
    gain = found.gain(CLEAN, OURS, "lightgbm", "auc", rare)
    return None if gain is None else gain.mean.value


def _by_table(other: str, measure: str) -> Callable[[Sequence[Row]], list[Reading]]:
    def read(rows: Sequence[Row]) -> list[Reading]:
        found = Comparison(rows).gain(CLEAN, OURS, other, measure)
        return [] if found is None else [Reading(*item) for item in found.by_table.items()]

    return read


def _beyond_noise(rows: Sequence[Row]) -> list[Reading]:
    """Return by how many standard errors the accuracy differs from today's, by table."""
    found = Comparison(rows)
    gain = found.gain(CLEAN, OURS, TODAY, "accuracy")
    if gain is None:
        return []
    return [
        Reading(name, value / max(found.noise_of(CLEAN, name, OURS), 1e-9))
        for name, value in gain.by_table.items()
    ]


def _lost_to_noise(measure: str) -> Read:
    def read(rows: Sequence[Row]) -> float | None:
        found = Comparison(rows).changed(NOISY, CLEAN, OURS, measure)
        return None if found is None else found.mean.value

    return read


def _ratio(other: str, measure: str) -> Read:
    def read(rows: Sequence[Row]) -> float | None:
        found = Comparison(rows).ratio(CLEAN, OURS, other, measure)
        return None if found is None else found.value

    return read


def _log_losses(peers: tuple[str, ...]) -> Callable[[Sequence[Row]], list[Reading]]:
    def read(rows: Sequence[Row]) -> list[Reading]:
        found = Comparison(rows)
        gains = {name: found.gain(CLEAN, OURS, name, "log_loss") for name in peers}
        return [
            Reading(OPPONENTS[name].label, gain.mean.value)
            for name, gain in gains.items()
            if gain is not None
        ]

    return read


def _to_best(measure: str) -> Read:
    """Return the gain over the peer with the best mean, plus its standard error."""

    def read(rows: Sequence[Row]) -> float | None:
        found = Comparison(rows)
        means = {name: found.mean(CLEAN, name, measure) for name in _BALANCED_PEERS}
        known = {name: value for name, value in means.items() if value is not None}
        if not known:
            return None
        gain = found.gain(CLEAN, OURS, max(known, key=lambda name: known[name]), measure)
        if gain is None or len(gain.by_table) < 2:  # one table has no standard error
            return None
        return gain.mean.value + gain.mean.error

    return read


def _excess_on_noise(rows: Sequence[Row]) -> list[Reading]:
    return [Reading(name, fmean(found) / entropy) for name, found, entropy in by_problem(rows)]


def _miscoverage(rows: Sequence[Row]) -> float | None:
    found = coverage(rows, 0.9)
    return None if found is None else abs(100 * found - 90)


def _label(name: str) -> str:
    return OPPONENTS[name].label


def _gains(
    suite: str, measure: str, goals: dict[str, float], text: str, *, lower: bool = False
) -> tuple[Target, ...]:
    return tuple(
        Overall(
            f"{text} minus that of {_label(name)}", suite, goal, _mean_gain(name, measure),
            "" if lower else " points", at_least=not lower, form=_thousandths if lower else points,
        )
        for name, goal in goals.items()
    )  # fmt: skip


def _thousandths(number: float) -> str:
    return f"{number:+.3f}"


_SMALL_TARGETS: tuple[Target, ...] = (
    *_gains(
        _SMALL, "auc", {TODAY: 2, "lightgbm": 1, "logistic": 1, "catboost": 0.5},
        "small tables: mean AUC",
    ),
    *_gains(_SMALL, "accuracy", {TODAY: 0}, "small tables: mean accuracy"),
    Grouped(
        "small tables: accuracy minus that of the version before, in standard errors", _SMALL,
        -_BEYOND_NOISE, _beyond_noise, "", form=points,
    ),
    *(
        Overall(
            f"small tables: {text} with as many noise columns minus that without", _SMALL, -0.7,
            _lost_to_noise(measure), " points", form=points,
        )
        for measure, text in (("accuracy", "accuracy"), ("auc", "AUC"))
    ),
    Overall(
        "small tables: log loss over that of the version before in `CalibratedClassifierCV`",
        _SMALL, 0.97, _ratio(CALIBRATED, "log_loss"), at_least=False,
    ),
    Grouped(
        "small tables: mean log loss minus that of each peer", _SMALL, 0, _log_losses(_PEERS), "",
        at_least=False, form=_thousandths,
    ),
    Overall(
        "small tables: CPU time of a fit over that of the version before, which has no "
        "probabilities", _SMALL, 1.7, _ratio(TODAY, "fit_seconds"), at_least=False,
    ),
    Grouped(
        "pure noise: log loss over the entropy", "quality-pure-noise", 1.05, _excess_on_noise,
        at_least=False, form=lambda value: f"{value:.3f}",
    ),
    Overall(
        "prediction sets: mean coverage, distance from 90 %", "quality-coverage", 2, _miscoverage,
        " points", at_least=False,
    ),
)  # fmt: skip

_MIXED_PEERS = dict.fromkeys(
    ("lightgbm", "histogram", "catboost", "forest", "lightgbm_stopped"), 0.0
)
_MIXED_TARGETS: tuple[Target, ...] = (
    *_gains(_MIXED, "accuracy", _MIXED_PEERS, "mixed tables: mean accuracy"),
    *_gains(_MIXED, "auc", _MIXED_PEERS, "mixed tables: mean AUC"),
    *_gains(_MIXED, "log_loss", _MIXED_PEERS, "mixed tables: mean log loss", lower=True),
    *(
        Grouped(
            f"mixed tables: {text} minus that of LightGBM, on every table", _MIXED, -0.5,
            _by_table("lightgbm", measure), " points", form=points,
        )
        for measure, text in (("accuracy", "accuracy"), ("auc", "AUC"))
    ),
    Overall(
        f"mixed tables with a class under {100 * RARE:.0f} %: mean AUC minus that of LightGBM",
        _MIXED, 1.5, _gain_of_rare, " points", form=points,
    ),
    Overall(
        "mixed tables: AUC with 20 noise columns minus that without", _MIXED, -0.7,
        _lost_to_noise("auc"), " points", form=points,
    ),
    Overall(
        "mixed tables: CPU time of a fit over that of LightGBM", _MIXED, 6,
        _ratio("lightgbm", "fit_seconds"), at_least=False,
    ),
    Overall(
        "mixed tables: CPU time of a fit over that of the version before", _MIXED, 0.5,
        _ratio(TODAY, "fit_seconds"), at_least=False,
    ),
)  # fmt: skip

_CATEGORY = "quality-category"
_CATEGORY_TARGETS: tuple[Target, ...] = (
    Overall(
        "a category of noise: repeats in which its share is below that of the signal", _CATEGORY,
        20, lambda rows: float(below_signal(rows)), " of 20", form=count,
    ),
    Overall(
        "a category of noise: repeats in which it is selected, minus those of a number of noise",
        _CATEGORY, 0, selected_more_often, "", at_least=False, form=points,
    ),
)  # fmt: skip

_IMBALANCED_TARGETS: tuple[Target, ...] = (
    *_gains(
        _IMBALANCED, "balanced_accuracy", dict.fromkeys(_BALANCED_PEERS, 0.0),
        "rare classes: mean balanced accuracy",
    ),
    *(
        Overall(
            f"rare classes: mean {text} minus that of the best peer, plus one standard error",
            _IMBALANCED, 0, _to_best(measure), " points", form=points,
        )
        for measure, text in (("auc", "AUC"), ("average_precision", "average precision"))
    ),
)  # fmt: skip

TABLE_TARGETS = _SMALL_TARGETS + _MIXED_TARGETS + _CATEGORY_TARGETS + _IMBALANCED_TARGETS
