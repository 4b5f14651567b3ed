"""What a fit costs against a grid search: in turns, in one process, on one thread."""

import time
from collections.abc import Iterator

import numpy as np

from .measure import timing, with_ratios
from .quality_contenders import CONTENDERS, Setting, missing
from .quality_data import draw
from .quality_names import ENSEMBLE, GRID, QUICK_SETS, SETS, SINGLE
from .quality_run import quiet, warm_up

_RUNS = 3  # of ours; the grid, which is long, runs once
_SYNTHETIC = (2000, 50, 10)  # rows, columns, informative ones
_QUICK_SYNTHETIC = (200, 10, 5)


def cost(seed: int, quick: bool) -> Iterator[dict]:
    """Time one split of each set, clean and doubled, and a synthetic set with many rows."""
    ours = [name for name in (SINGLE, ENSEMBLE) if name not in missing()]
    with quiet():
        for name in ours:
            warm_up(name)
        for condition in ("clean", "doubled"):
            for name in QUICK_SETS[:1] if quick else SETS:
                one = draw(name, condition, seed)
                yield _row(name, condition, one.X, one.y, ours, quick)
        X, y = synthetic(*(_QUICK_SYNTHETIC if quick else _SYNTHETIC))
        yield _row("make_classification", "synthetic", X, y, ours, quick)


def synthetic(n: int, p: int, informative: int) -> tuple[np.ndarray, np.ndarray]:
    """Return n training rows of two classes, standardised."""
    from sklearn.datasets import make_classification

    X, y = make_classification(n, p, n_informative=informative, random_state=0)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def _row(
    name: str, condition: str, X: np.ndarray, y: np.ndarray, ours: list[str], quick: bool
) -> dict:
    """Time ours before, after and again after the grid."""
    walls: dict[str, list[float]] = {}
    cpus: dict[str, list[float]] = {}
    setting = Setting(X.shape[1], quick=quick)
    for turn in range(1 if quick else _RUNS):
        for contender in [*ours, GRID] if turn == 0 else ours:
            model = CONTENDERS[contender].make(setting)
            wall, cpu = time.perf_counter(), time.process_time()
            model.fit(X, y)
            cpus.setdefault(contender, []).append(time.process_time() - cpu)
            walls.setdefault(contender, []).append(time.perf_counter() - wall)
    case = {"set": name, "condition": condition, "n": X.shape[0], "p": X.shape[1]}
    times = {key: timing(walls[key], cpus[key]) for key in walls}
    return {"case": case | {"classes": len(np.unique(y))}, "times": with_ratios(times)}
