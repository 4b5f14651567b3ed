"""RelevanceSVC, RelevanceSVR and the methods that are used on large tables, on one thread each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

OURS, LIGHTGBM = "kernelwise", "LightGBM"
HISTOGRAMS, NYSTROEM = "HistGradientBoosting", "Nystroem + linear SVM"


def _ours() -> Any:
    from kernelwise import RelevanceSVC

    return RelevanceSVC(verbose=False, random_state=0)


def _ours_numbers() -> Any:
    from kernelwise import RelevanceSVR

    return RelevanceSVR(verbose=False, random_state=0)


def _lightgbm() -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=1, verbose=-1)


def _lightgbm_numbers() -> Any:
    from lightgbm import LGBMRegressor

    return LGBMRegressor(n_jobs=1, verbose=-1)


def _histograms() -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(random_state=0)


def _histograms_numbers() -> Any:
    from sklearn.ensemble import HistGradientBoostingRegressor

    return HistGradientBoostingRegressor(random_state=0)


def _nystroem() -> Any:
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import SGDClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(
        StandardScaler(), Nystroem(n_components=300, random_state=0), SGDClassifier(random_state=0)
    )


CLASSIFIERS: dict[str, Callable[[], Any]] = {
    OURS: _ours, LIGHTGBM: _lightgbm, HISTOGRAMS: _histograms, NYSTROEM: _nystroem,
}  # fmt: skip
REGRESSORS: dict[str, Callable[[], Any]] = {
    OURS: _ours_numbers, LIGHTGBM: _lightgbm_numbers, HISTOGRAMS: _histograms_numbers,
}  # fmt: skip
