"""The bare call of each of the five estimators, its paper's setting, and plain machines."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

import kernelwise
from kernelwise import (
    AdaptiveKernelSVC,
    DualObjectiveSVC,
    FeatureDiscriminationSVC,
    GeneralizedBiasSVC,
    GeodesicNeighborFeatures,
    MarginRadiusSVC,
    SVCSearchCV,
)

from ..data import Table, read, with_noise
from ..measure import Effort
from ..names import FAST_GRID
from ..rounds import Round, judge, stratified
from ..suite import Results, Row, Suite, Task
from ..summaries import Mean, accuracies, compared, cpu_per_fit, gains
from ..text import seconds, table
from .noisy import QUICK_SETS, generator, shape

# The defaults were chosen on hepatitis, wpbc, bupa, glass, iris, ecoli, voting, echocardiogram, on
# noisy versions of these and on generated tables: none of them is here.
_SETS = (
    "sonar", "ionosphere", "biomed", "wine", "breast_cancer_wisconsin", "wdbc", "pima",
    "sonar+biomed", "wine+sonar", "pima+wdbc", "musk1",
)  # fmt: skip
_PER_CLASS = (5, 20)  # training rows of each digit
_SPLITS = 10
_ALL = slice(None)  # all columns in the bias
_POWERS = 10.0 ** np.arange(-3, 4)


def _margin_radius_paper(folds: int) -> Any:
    model = MarginRadiusSVC(radius="paper", unit_norm=True)
    return GridSearchCV(model, {"C": [0.1, 1.0, 10.0, 100.0, 500.0, 1000.0]}, cv=folds)


def _discrimination_paper() -> Any:
    weights = {"eta_units": "raw", "normalization": "trace", "space": "components"}
    return FeatureDiscriminationSVC(etas=_POWERS, max_iter=20_000, **weights)


def _dual_paper() -> Any:
    model = DualObjectiveSVC(gamma=1.0, optimizer="paper", weights="per_class")
    return make_pipeline(MinMaxScaler((-1, 1)), model)


def _adaptive_paper() -> Any:
    # Where classes overlap no margin is reached: 1000 sweeps, or they would go on for hours.
    how = {"solver": "adatron", "stop": "margin", "tol": 0.01, "max_iter": 1000}
    return AdaptiveKernelSVC(criterion="bound", **how)


# For each method: its estimator, the setting of its paper, and the bare call.
_METHODS: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "DualObjectiveSVC": (_dual_paper, DualObjectiveSVC),
    "AdaptiveKernelSVC": (_adaptive_paper, AdaptiveKernelSVC),
    "MarginRadiusSVC": (lambda: _margin_radius_paper(5), MarginRadiusSVC),
    "FeatureDiscriminationSVC": (_discrimination_paper, FeatureDiscriminationSVC),
    "GeneralizedBiasSVC": (
        lambda: GeneralizedBiasSVC(_ALL, solver="paper"),
        lambda: GeneralizedBiasSVC(_ALL),
    ),
}
_GEODESIC = "GeneralizedBiasSVC, geodesic neighbours"


def _plain(X: np.ndarray) -> dict[str, Any]:
    grid = {"C": [0.1, 1.0, 10.0, 100.0, 1000.0], "gamma": 2.0 ** np.arange(-4, 5) / X.shape[1]}
    return {
        "SVC": SVC(),
        "linear": SVC(kernel="linear"),
        FAST_GRID: SVCSearchCV(kernelwise.SVC(), grid, cv=5),
    }


def _models(X: np.ndarray) -> dict[str, Any]:
    found = _plain(X)
    for name, (paper, bare) in _METHODS.items():
        found |= {f"{name}, paper": paper(), name: bare()}
    return found


def _geodesic(X: np.ndarray) -> dict[str, Any]:
    paper = GeneralizedBiasSVC(GeodesicNeighborFeatures(), solver="paper")
    return {
        "SVC": SVC(),
        f"{_GEODESIC}, paper": paper,
        _GEODESIC: GeneralizedBiasSVC(GeodesicNeighborFeatures()),
    }


def _rounds(name: str, splits: int) -> list[Round]:
    clean, _, noise = name.partition("+")
    found = []
    for repeat, (train, test) in enumerate(stratified(read(clean).y, splits)):
        data = with_noise(clean, noise or None, generator(repeat, clean, noise))
        found.append(Round.of(data, train, test))
    return found


def _digits(per_class: int, splits: int) -> list[Round]:
    """Return splits with a few training rows of each digit, and 500 test rows."""
    X, y = load_digits(return_X_y=True)
    found = []
    for repeat in range(splits):
        order = np.random.default_rng(repeat).permutation(len(y))
        train = np.concatenate([order[y[order] == digit][:per_class] for digit in range(10)])
        test = np.setdiff1d(order, train, assume_unique=True)[:500]
        found.append(Round.of(Table(X, y), train, test))
    return found


class Defaults(Suite):
    """The five estimators as they are called bare, and as their papers set them."""

    name = "learners-defaults"
    title = "The bare call of each method, and its paper's setting"
    needs_folder = True
    seconds = 120.0

    def cases(self, quick: bool) -> list[Task]:
        sets = [{"dataset": name, "per_class": 0} for name in (QUICK_SETS if quick else _SETS)]
        return sets + [
            {"dataset": "digits", "per_class": n} for n in _PER_CLASS[: 1 if quick else 2]
        ]

    def measure(self, case: Task, effort: Effort) -> Row:
        splits, few = (1 if effort.quick else _SPLITS), case["per_class"]
        rounds = _digits(few, splits) if few else _rounds(case["dataset"], splits)
        make = _geodesic if few else _models
        times = judge(lambda X, number: make(X), rounds)
        return shape(rounds[0].X, rounds[0].y) | {"times": times}

    def section(self, results: Results) -> str:
        rows = [row for row in results.rows if not row["per_class"]]
        digits = [row for row in results.rows if row["per_class"]]
        splits = len(results.rows[0]["times"]["SVC"]["accuracy"])
        text = (
            f"{len(rows)} sets with {splits} splits each into 80 % training and 20 % test rows, "
            "standardised by the training rows; a set after + doubles the columns with noise of "
            "that set. None of them was used to choose a default. The paper's setting: "
            "`DualObjectiveSVC` with fixed steps and gamma = 1 on columns in [-1, 1]; "
            "`AdaptiveKernelSVC` with the Adatron, its printed stop (at most 1000 sweeps) and the "
            "bound; "
            "`MarginRadiusSVC` with the paper's radius, rows of unit norm and C by folds; "
            "`FeatureDiscriminationSVC` with raw measures, trace normalisation and components of "
            "the kernel (at most 20,000 steps per machine); `GeneralizedBiasSVC` with all columns "
            "in the bias, free. Means over the sets ± their standard error; differences in "
            "points.\n\n"
        )
        return text + _totals(rows) + f"\n\n{_losers(rows)}\n\n{_of_digits(digits)}"


def _totals(rows: list[Row]) -> str:
    cells = []
    for name in ("SVC", "linear", FAST_GRID):
        cells.append([f"`{name}`" if name != "linear" else "`SVC(kernel='linear')`", "", ""])
        cells[-1] += [Mean.of(accuracies(rows, name)).text(1)]
        cells[-1] += ["" if name == "SVC" else compared(rows, name, "SVC"), "", ""]
        cells[-1] += [seconds(cpu_per_fit(rows, name))]
    for name in _METHODS:
        paper = f"{name}, paper"
        cells.append([f"`{name}()`", Mean.of(accuracies(rows, paper)).text(1)])
        cells[-1] += [seconds(cpu_per_fit(rows, paper)), Mean.of(accuracies(rows, name)).text(1)]
        cells[-1] += [compared(rows, name, other) for other in ("SVC", paper, FAST_GRID)]
        cells[-1] += [seconds(cpu_per_fit(rows, name))]
    header = ["method", "paper", "CPU", "bare call", "- `SVC()`", "- paper", "- grid", "CPU"]
    return table(header, cells, left=1)


def _losers(rows: Iterable[Row]) -> str:
    """Return the accuracy of each bare call by set."""
    cells = []
    names = ("SVC", FAST_GRID, *_METHODS)
    for row in rows:
        cells.append([row["dataset"], *(f"{accuracies([row], name)[0]:.1f}" for name in names)])
    header = ["set", "`SVC()`", "grid", *(f"`{name}()`" for name in _METHODS)]
    return "By set:\n\n" + table(header, cells, left=1)


def _of_digits(rows: list[Row]) -> str:
    cells = []
    for row in rows:
        found = [f"{accuracies([row], name)[0]:.1f}" for name in _geodesic(np.empty((0, 1)))]
        cells.append(
            [f"{row['per_class']} per digit", *found, f"{gains([row], _GEODESIC, 'SVC')[0]:+.1f}"]
        )
    header = ["training rows", "`SVC()`", "paper", "bare call", "- `SVC()`, points"]
    return (
        "`GeneralizedBiasSVC(GeodesicNeighborFeatures())` on digits, whose features know what the "
        "kernel does not:\n\n" + table(header, cells, left=1)
    )
