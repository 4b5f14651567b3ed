"""RelevanceSVC and the methods that are used on large tables, each on one thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

OURS, CELLS, EXACT = "RelevanceSVC", "RelevanceSVC, cells", "RelevanceSVC, exact"
BEFORE = "RelevanceSVC, 288e5fa"  # of the interpreter that --today names
LIGHTGBM = "LightGBM"
HISTOGRAMS, NYSTROEM = "HistGradientBoosting", "Nystroem + linear SVM"


def _ours() -> Any:
    from kernelwise import RelevanceSVC

    return RelevanceSVC(verbose=False)


def _cells() -> Any:
    from kernelwise import RelevanceSVC

    return RelevanceSVC(large="cells", verbose=False)


def _exact() -> Any:
    from kernelwise import RelevanceSVC

    return RelevanceSVC(large="exact", verbose=False)


def _lightgbm() -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=1, verbose=-1)


def _histograms() -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(random_state=0)


def _nystroem() -> Any:
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import SGDClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(
        StandardScaler(), Nystroem(n_components=300, random_state=0), SGDClassifier(random_state=0)
    )


MAKE: dict[str, Callable[[], Any]] = {
    OURS: _ours,
    CELLS: _cells,
    EXACT: _exact,
    LIGHTGBM: _lightgbm,
    HISTOGRAMS: _histograms,
    NYSTROEM: _nystroem,
}
