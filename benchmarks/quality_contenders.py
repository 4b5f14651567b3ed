"""Who is compared: the registry of contenders, a label and a factory each.

A new one needs an entry here and nothing else: ``python -m benchmarks.quality --only NAME`` runs
it on all splits, and the page shows it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .quality_names import BOOSTING, ENSEMBLE, FOREST, GRID, PLAIN, SINGLE

_COSTS = (0.1, 1.0, 10.0, 100.0, 1000.0)
_FOLDS = 5


@dataclass(frozen=True)
class Setting:
    """What a factory may know: the number of columns, the seed, and whether to be quick."""

    p: int
    seed: int = 0
    quick: bool = False


@dataclass(frozen=True)
class Contender:
    """A label for the tables, and what makes the estimator; `ours` compiles at its first fit."""

    label: str
    make: Callable[[Setting], Any]
    ours: bool = False


def _plain(setting: Setting) -> Any:
    from sklearn.svm import SVC

    return SVC()


def _grid(setting: Setting) -> Any:
    import numpy as np
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVC

    widths = np.logspace(-4, 0, 3 if setting.quick else 9)
    costs = _COSTS[1:2] if setting.quick else _COSTS
    return GridSearchCV(SVC(), {"C": costs, "gamma": widths}, cv=_FOLDS)


def _kbest_grid(setting: Setting) -> Any:
    from sklearn.feature_selection import SelectKBest
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

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
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(10 if setting.quick else 300, random_state=setting.seed)


def _boosting(setting: Setting) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(
        max_iter=5 if setting.quick else 100, random_state=setting.seed
    )


def _our(name: str, **parameters: object) -> Callable[[Setting], Any]:
    def make(setting: Setting) -> Any:
        import kernelwise

        return getattr(kernelwise, name)(**parameters)

    return make


CONTENDERS: dict[str, Contender] = {
    PLAIN: Contender("`SVC()`", _plain),
    GRID: Contender("`GridSearchCV(SVC)` of 45 points", _grid),
    "kbest_grid": Contender("`SelectKBest` + `SVC` of 45 points", _kbest_grid),
    FOREST: Contender("`RandomForestClassifier(300)`", _forest),
    BOOSTING: Contender("`HistGradientBoostingClassifier()`", _boosting),
    "adaptive": Contender("`AdaptiveKernelSVC()`", _our("AdaptiveKernelSVC"), ours=True),
    "dual": Contender("`DualObjectiveSVC()`", _our("DualObjectiveSVC"), ours=True),
    "radius_margin": Contender(
        "`DualObjectiveSVC(criterion='radius_margin')`",
        _our("DualObjectiveSVC", criterion="radius_margin"), ours=True,
    ),
    "margin_radius": Contender("`MarginRadiusSVC()`", _our("MarginRadiusSVC"), ours=True),
    "discrimination": Contender(
        "`FeatureDiscriminationSVC(kernel='rbf', space='inputs', eta='cv')`",
        _our("FeatureDiscriminationSVC", kernel="rbf", space="inputs", eta="cv"), ours=True,
    ),
    SINGLE: Contender(
        "`RelevanceSVC(ensemble=False)`", _our("RelevanceSVC", ensemble=False), ours=True
    ),
    ENSEMBLE: Contender("`RelevanceSVC()`", _our("RelevanceSVC"), ours=True),
}  # fmt: skip


def missing() -> list[str]:
    """Return the contenders that this version of the library does not have."""
    found = []
    for name, contender in CONTENDERS.items():
        try:
            contender.make(Setting(p=1))
        except AttributeError:
            found.append(name)
    return found
