"""The contenders: a label and a factory each.

A new one needs an entry here and nothing else: ``python -m benchmarks quality-accuracy --only
contender=NAME`` runs it on all splits, and the page shows it.
"""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kernelwise import (
    AdaptiveKernelSVC,
    DualObjectiveSVC,
    FeatureDiscriminationSVC,
    MarginRadiusSVC,
    RelevanceSVC,
)

from .. import rounds
from .names import BOOSTING, ENSEMBLE, FOREST, GRID, PLAIN, SINGLE

_COSTS = (0.1, 1.0, 10.0, 100.0, 1000.0)
_FOLDS = 5


@dataclass(frozen=True)
class Setting:
    """The facts that a factory may use: number of columns, seed, and whether to be quick."""

    p: int
    seed: int = 0
    quick: bool = False


@dataclass(frozen=True)
class NamedEstimator:
    """A label for the tables, and a factory; `ours` compiles at its first fit."""

    label: str
    make: Callable[[Setting], Any]
    ours: bool = False


def _grid(setting: Setting) -> Any:
    widths = np.logspace(-4, 0, 3 if setting.quick else 9)
    costs = _COSTS[1:2] if setting.quick else _COSTS
    return GridSearchCV(SVC(), {"C": costs, "gamma": widths}, cv=_FOLDS)


def _kbest_grid(setting: Setting) -> Any:
    # The columns are standardised in every fold, so that 1 / k is "scale" for the k that are kept.
    grid = [
        {
            "selectkbest__k": [kept],
            "svc__C": _COSTS[1:2] if setting.quick else _COSTS,
            "svc__gamma": [multiple / kept for multiple in (0.3, 1.0, 3.0)],
        }
        for kept in (max(1, setting.p // 4), max(1, setting.p // 2), setting.p)
    ]
    return GridSearchCV(make_pipeline(StandardScaler(), SelectKBest(), SVC()), grid, cv=_FOLDS)


def _forest(setting: Setting) -> Any:
    return RandomForestClassifier(10 if setting.quick else 300, random_state=setting.seed)


def _boosting(setting: Setting) -> Any:
    steps = 5 if setting.quick else 100
    return HistGradientBoostingClassifier(max_iter=steps, random_state=setting.seed)


def _ours(label: str, estimator: Callable[..., Any], **parameters: object) -> NamedEstimator:
    return NamedEstimator(label, lambda setting: estimator(**parameters), ours=True)


CONTENDERS: dict[str, NamedEstimator] = {
    PLAIN: NamedEstimator("`SVC()`", lambda setting: SVC()),
    GRID: NamedEstimator("`GridSearchCV(SVC)` of 45 points", _grid),
    "kbest_grid": NamedEstimator("`SelectKBest` + `SVC` of 45 points", _kbest_grid),
    FOREST: NamedEstimator("`RandomForestClassifier(300)`", _forest),
    BOOSTING: NamedEstimator("`HistGradientBoostingClassifier()`", _boosting),
    "adaptive": _ours("`AdaptiveKernelSVC()`", AdaptiveKernelSVC),
    "dual": _ours("`DualObjectiveSVC()`", DualObjectiveSVC),
    "radius_margin": _ours(
        "`DualObjectiveSVC(criterion='radius_margin')`",
        DualObjectiveSVC, criterion="radius_margin",
    ),
    "margin_radius": _ours("`MarginRadiusSVC()`", MarginRadiusSVC),
    "discrimination": _ours(
        "`FeatureDiscriminationSVC(kernel='rbf', space='inputs', eta='cv')`",
        FeatureDiscriminationSVC, kernel="rbf", space="inputs", eta="cv",
    ),
    SINGLE: _ours("`RelevanceSVC(ensemble=False)`", RelevanceSVC, ensemble=False),
    ENSEMBLE: _ours("`RelevanceSVC()`", RelevanceSVC),
}  # fmt: skip


@cache
def warm_up(contender: str) -> None:
    """Let a contender of ours load or compile what it needs: once per process, and untimed."""
    for n, p in ((60, 4), (300, 40)):  # few and many columns may be compiled separately
        X = np.random.default_rng(0).normal(size=(n, p))
        for classes in (2, 3):
            CONTENDERS[contender].make(Setting(p)).fit(X, np.arange(n) % classes)


@contextmanager
def quiet() -> Iterator[None]:
    """Hide expected warnings: classes smaller than a fold, and constant columns."""
    with rounds.quiet(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Features .* are constant", UserWarning)
        warnings.filterwarnings("ignore", "invalid value encountered in divide", RuntimeWarning)
        yield
