"""The cost of learning feature weights, in fits of scikit-learn's SVC."""

from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

from kernelwise import DualObjectiveSVC

from ..data import split, to_interval, with_noise
from ..measure import Contender, Effort, compare
from ..problems import classification
from ..suite import Results, Row, Suite, Task
from ..text import digits, seconds, span, spread, table
from .noisy import PROTOCOL, TWO_CLASSES, generator, pairs, shape

SYNTHETIC = "make_classification"


def _synthetic(n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = classification(n, p)
    return np.hstack([X, np.random.default_rng(0).normal(size=X.shape)]), y


def _noisy(name: str, noise: str) -> tuple[np.ndarray, np.ndarray]:
    rng = generator(0, name, noise)
    noisy = with_noise(name, noise, rng)
    X = to_interval(noisy.X)
    train, _ = split(len(X), rng)
    return X[train], noisy.y[train]


class Steps(Suite):
    """100 updates of the paper, and the default, against one cold fit on the same rows."""

    name = "learners-steps"
    title = "Cost of learning the weights"
    needs_folder = True
    seconds = 10.0

    def cases(self, quick: bool) -> list[Task]:
        cases = [{"dataset": SYNTHETIC, "noise": "normal"}]
        for name, noise in [("diagnostic", "wine")] if quick else pairs(quick):
            first = next(other for other in PROTOCOL if other != name)
            if quick or name in TWO_CLASSES or noise == first:  # several classes: one noise
                cases.append({"dataset": name, "noise": noise})
        return cases

    def measure(self, case: Task, effort: Effort) -> Row:
        if case["dataset"] == SYNTHETIC:
            X, y = _synthetic(*((200, 5) if effort.quick else (2000, 20)))
            gamma: Any = "scale"
        else:
            (X, y), gamma = _noisy(case["dataset"], case["noise"]), 1.0
        models: dict[str, Callable[[], Any]] = {
            "SVC": lambda: SVC(gamma=gamma),
            "paper": lambda: DualObjectiveSVC(gamma=gamma, optimizer="paper"),
            "default": lambda: DualObjectiveSVC(gamma=gamma),
        }
        if len(np.unique(y)) > 2:
            models["one-vs-rest SVC"] = lambda: OneVsRestClassifier(SVC(gamma=gamma))
        contenders = {
            name: Contender(lambda model: model.fit(X, y), prepare=model)
            for name, model in models.items()
        }
        times, fitted = compare(contenders, effort)
        for name in ("paper", "default"):
            times[name]["solves"] = fitted[name].n_solves_
        return shape(X, y) | {"times": times}

    def section(self, results: Results) -> str:
        cells = []
        for row in results.rows:
            times = row["times"]
            ovr, paper, default = times.get("one-vs-rest SVC"), times["paper"], times["default"]
            cells.append(
                [
                    row["dataset"], row["noise"], *(f"{row[k]:,}" for k in ("n", "p", "classes")),
                    spread(times["SVC"]), "" if ovr is None else seconds(ovr["median"]),
                    spread(paper), digits(paper["ratio"]),
                    spread(default), digits(default["ratio"]), default["solves"],
                ]
            )  # fmt: skip
        two = [row for row in results.rows if row["classes"] == 2]

        def ratios(name: str) -> str:
            found = [row["times"][name]["ratio"] for row in two]
            return f"{span(found)} (median {digits(median(found))})"

        header = ["set", "noise", "n", "p", "classes", "`SVC`", "one-vs-rest"]
        header += ["100 updates", "fits", "default", "fits", "solves"]
        return (
            "Times of `optimizer='paper'` with its 100 updates (102 solves with the first and the "
            "last one) and of the default, also in cold fits of `SVC` on the same rows with equal "
            "weights; medians ± half the inter-quartile range. The first set is "
            "`make_classification` with as many columns of normal noise, standardised and at "
            "`gamma='scale'`; the others are the noisy sets above at gamma = 1. With two classes "
            f"100 updates take {ratios('paper')} fits, and the default takes {ratios('default')}. "
            "With several classes the machines are one-vs-rest here and one-vs-one in `SVC`, so a "
            "one-vs-rest `SVC` is timed too.\n\n" + table(header, cells, left=2)
        )
