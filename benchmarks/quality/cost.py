"""The cost of a fit against a grid search, in one process and on one thread."""

import time

import numpy as np
from sklearn.datasets import make_classification

from kernelwise import RelevanceSVC

from ..measure import Effort, timing, with_ratios
from ..suite import Results, Row, Suite, Task
from ..text import factor, seconds, table
from .contenders import CONTENDERS, NamedEstimator, Setting, quiet, warm_up
from .data import draw
from .names import ENSEMBLE, FORMS, GRID, QUICK_SETS, SEEDS, SETS, SINGLE, UNCALIBRATED
from .summaries import LARGEST, cost_ratio, speed_up

_RUNS = 3  # timed runs of our method; the grid, which is long, runs once
# Ours, with probabilities and without.
_OURS = {
    UNCALIBRATED[SINGLE]: NamedEstimator(
        "`RelevanceSVC(ensemble=False, calibration=None)`",
        lambda setting: RelevanceSVC(ensemble=False, calibration=None),
    ),
    SINGLE: CONTENDERS[SINGLE],
    UNCALIBRATED[ENSEMBLE]: NamedEstimator(
        "`RelevanceSVC(calibration=None)`", lambda setting: RelevanceSVC(calibration=None)
    ),
    ENSEMBLE: CONTENDERS[ENSEMBLE],
}
_SYNTHETIC, _QUICK_SYNTHETIC = (2000, 50, 10), (200, 10, 5)  # rows, columns, informative columns


def synthetic(n: int, p: int, informative: int) -> tuple[np.ndarray, np.ndarray]:
    """Return n training rows of two classes, standardised."""
    X, y = make_classification(n, p, n_informative=informative, random_state=0)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


class Cost(Suite):
    """Times on one split of each set, clean and doubled, and on a synthetic set of many rows."""

    name = "quality-cost"
    title = "Cost against the grid"
    needs_folder = True
    seconds = 5.0

    def cases(self, quick: bool) -> list[Task]:
        sets = QUICK_SETS[:1] if quick else SETS
        found = [
            {"dataset": name, "condition": condition}
            for condition in ("clean", "doubled")
            for name in sets
        ]
        return [*found, {"dataset": "make_classification", "condition": "synthetic"}]

    def measure(self, case: Task, effort: Effort) -> Row:
        if case["condition"] == "synthetic":
            X, y = synthetic(*(_QUICK_SYNTHETIC if effort.quick else _SYNTHETIC))
        else:
            split = draw(case["dataset"], case["condition"], SEEDS["report"][0])
            X, y = split.X, split.y
        walls: dict[str, list[float]] = {}
        cpus: dict[str, list[float]] = {}
        setting, grid = Setting(X.shape[1], quick=effort.quick), {GRID: CONTENDERS[GRID]}
        with quiet():
            for name in FORMS:
                warm_up(name)
            # Ours before the grid, after it, and once more.
            for turn in range(1 if effort.quick else _RUNS):
                for name, timed in (_OURS | grid if turn == 0 else _OURS).items():
                    model = timed.make(setting)
                    wall, cpu = time.perf_counter(), time.process_time()
                    model.fit(X, y)
                    cpus.setdefault(name, []).append(time.process_time() - cpu)
                    walls.setdefault(name, []).append(time.perf_counter() - wall)
        times = with_ratios({name: timing(walls[name], cpus[name]) for name in walls})
        return {"n": len(X), "p": X.shape[1], "classes": len(np.unique(y)), "times": times}

    def section(self, results: Results) -> str:
        rows = results.rows
        cells = []
        for row in rows:
            name = f"{row['dataset']}{' *' if row['n'] > LARGEST else ''}"
            line = [name, row["condition"], f"{row['n']:,}", row["p"], row["classes"]]
            line.append(seconds(row["times"][GRID]["cpu_median"]))
            for form in (name for name in _OURS if name in row["times"]):
                line.append(seconds(row["times"][form]["cpu_median"]))
                line.append(factor(1 / cost_ratio(row, form)))
            cells.append(line)
        header = ["set", "condition", "n", "p", "classes", "grid"]
        forms = [name for name in _OURS if name in rows[0]["times"]]
        for form in forms:
            header += [_OURS[form].label, "grid over it"]
        means = "; ".join(_mean_cost(rows, form) for form in forms)
        return (
            "CPU time of a fit on one split of each set, all in one process: ours is the median of "
            "three runs, the grid runs once between them. The mean of the ratios is over the sets "
            f"with at most {LARGEST} training rows, clean and doubled; the others have a star. "
            f"{means}.\n\n" + table(header, cells, left=2)
        )


def _mean_cost(rows: list[Row], form: str) -> str:
    found = [speed_up(rows, form, synthetic=synthetic) for synthetic in (False, True)]
    few, many = ("not measured" if f is None else f"{1 / f:.3f} (1 / {f:.1f})" for f in found)
    return f"{_OURS[form].label}: mean ratio to the grid {few}, on the synthetic set {many}"
