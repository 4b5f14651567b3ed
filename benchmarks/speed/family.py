"""Cold fits of SVR, NuSVR, NuSVC and OneClassSVM against scikit-learn's, at equal objective."""

from __future__ import annotations

from itertools import product
from statistics import median
from typing import Any

import numpy as np
import sklearn.svm

import kernelwise
from benchmarks.engine import Results, Row, Task

from ..measure import Contender, Effort, compare
from ..problems import classification, quadratic, scale_gamma
from ..suite import Suite
from ..text import digits, factor, seconds, span, spread, table


def numbers(n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    """Return n standardised rows and a noisy number that depends on five columns."""
    X = np.random.default_rng(0).normal(size=(n, p))
    y = 10 * np.sin(X[:, 0] * X[:, 1]) + 5 * (X[:, 2] - 0.5) ** 2 + 5 * X[:, 3] + 3 * X[:, 4]
    y += np.random.default_rng(1).normal(size=n)
    return X, (y - y.mean()) / y.std()


def objective(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    """Return the dual objective of a fitted model, which is minimised."""
    b, name = model.dual_coef_[0], type(model).__name__
    if name == "NuSVC":
        b = b * (model.nu * len(y) / np.abs(b).sum())
    value = 0.5 * quadratic(X[model.support_], b, scale_gamma(X))
    if name in ("SVR", "NuSVR"):
        value -= float(b @ y[model.support_])
    if name == "SVR":
        value += model.epsilon * float(np.abs(b).sum())
    return float(value)


class Family(Suite):
    """Fits of the siblings of SVC."""

    name = "speed-family"
    title = "SVR, NuSVR, NuSVC, OneClassSVM"
    seconds = 15.0

    def cases(self, quick: bool) -> list[Task]:
        sizes = (200,) if quick else (500, 2000, 5000, 10_000)
        columns = (20,) if quick else (20, 100)
        costs = (1,) if quick else (1, 10, 100)
        found: list[Task] = []
        for n, p in product(sizes, columns):
            is_small = n <= 5000
            own = costs if is_small else costs[:2]
            found += [{"estimator": "SVR", "n": n, "p": p, "C": C, "epsilon": 0.1} for C in own]
            if not is_small:
                continue
            if not quick:
                found += [
                    {"estimator": "SVR", "n": n, "p": p, "C": 10, "epsilon": e} for e in (0.01, 0.5)
                ]
            found += [{"estimator": "NuSVR", "n": n, "p": p, "C": C, "nu": 0.5} for C in costs[:2]]
            found += [{"estimator": "NuSVC", "n": n, "p": p, "nu": nu} for nu in (0.2, 0.5)]
            found += [{"estimator": "OneClassSVM", "n": n, "p": p, "nu": nu} for nu in (0.05, 0.5)]
        if not quick:
            found.append({"estimator": "SVR", "n": 20_000, "p": 20, "C": 1, "epsilon": 0.1})
        return found

    def measure(self, case: Task, effort: Effort) -> Row:
        name, n, p = case["estimator"], case["n"], case["p"]
        X, y = classification(n, p) if name == "NuSVC" else numbers(n, p)
        params = {key: case[key] for key in ("C", "epsilon", "nu") if key in case}
        classes = {"kernelwise": getattr(kernelwise, name), "SVC": getattr(sklearn.svm, name)}
        times, models = compare(
            {
                key: Contender(lambda cls=cls: cls(**params).fit(X, y))
                for key, cls in classes.items()
            },
            effort,
        )
        ours = objective(models["kernelwise"], X, y)
        for key, model in models.items():
            theirs = objective(model, X, y)
            excess = float(f"{(ours - theirs) / abs(theirs):.3g}")
            times[key] |= {"objective": theirs, "excess": excess}
        return {"times": times}

    def section(self, results: Results) -> str:
        parts, rows = [], list(results.rows)
        for name in dict.fromkeys(row["estimator"] for row in rows):
            own = [row["times"]["SVC"]["ratio"] for row in rows if row["estimator"] == name]
            middle = digits(median(own))
            parts.append(f"`{name}` {span(own)} times (median {middle}, {len(own)} cases)")
        excess = max(row["times"]["SVC"]["excess"] for row in rows)
        cells = [
            [
                f"`{row['estimator']}`",
                *(f"{row[key]:,}" for key in ("n", "p")),
                ", ".join(f"{key} = {row[key]:g}" for key in ("C", "epsilon", "nu") if key in row),
                spread(row["times"]["kernelwise"]),
                seconds(row["times"]["SVC"]["median"]),
                factor(row["times"]["SVC"]["ratio"]),
                f"{row['times']['SVC']['excess']:.1e}",
            ]
            for row in rows
        ]
        names = ["", "n", "p", "", "kernelwise", "scikit-learn", "ratio", "objective - theirs"]
        return (
            f"Times as fast as scikit-learn's namesake: {', '.join(parts)}. The dual objective of "
            f"kernelwise, which is minimised, is at most {max(excess, 0):.0e} above the other, "
            "relative to it. Targets are a noisy function of five columns.\n\n"
            + table(names, cells, left=1)
        )
