"""Seeded problems of every odd kind; a number stands for one problem.

Numbers up to `N_PROBLEMS` are one run of the zoo. A problem has a kind of table, a scale, labels,
weights, a kernel and C, each drawn from what users may bring.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.random import Generator

from kernelwise._typing import Array

N_PROBLEMS = 2000
_LEARNERS_FROM = 1200  # problems of the learners alone, on every kind of table
_FAMILY_FROM = 1500  # problems of regression, of one class, and of a nu
_SEED = 20260

FAMILY = ("SVR", "NuSVR", "OneClassSVM", "NuSVC")
LEARNERS = (
    "AdaptiveKernelSVC",
    "DualObjectiveSVC",
    "FeatureDiscriminationSVC",
    "GeneralizedBiasSVC",
    "MarginRadiusSVC",
    "RelevanceSVC",
)


@dataclass(frozen=True)
class Problem:
    """A table with labels or targets, and the estimator to fit to it.

    Parameters
    ----------
    number : int
        The number.
    kind : str
        The kind of table.
    X, y : ndarray
        The table, and its labels or targets.
    sample_weight : ndarray or None
        Weights of the rows.
    estimator : str
        The name of the estimator.
    params : dict
        Its parameters.
    """

    number: int
    kind: str
    X: Array
    y: Array
    sample_weight: Array | None
    estimator: str
    params: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        weighted = ", weighted" if self.sample_weight is not None else ""
        return (
            f"problem {self.number}: {self.estimator}({self.params}) on {self.kind} "
            f"{self.X.shape}, {len(np.unique(self.y))} classes{weighted}"
        )


def problem(number: int) -> Problem:
    """Return a problem by its number."""
    random = np.random.default_rng([_SEED, number])
    kind = list(TABLES)[number % len(TABLES)]
    n = int(random.choice([12, 30, 60, 120, 250]))
    n_classes = int(random.choice([2, 2, 2, 3, 4, 8, 50]))
    n = max(n, 4 * n_classes)
    X, y = TABLES[kind](random, n, n_classes)
    X = X * _scale(random, X.shape[1])
    if number >= _FAMILY_FROM:
        return _of_family(number, kind, X, y, random)
    is_svc = number % 4 and number < _LEARNERS_FROM
    estimator = "SVC" if is_svc else str(random.choice(LEARNERS))
    params = _svc(random, X) if estimator == "SVC" else {}
    return Problem(number, kind, X, y, _weights(random, len(y), y), estimator, params)


def _of_family(number: int, kind: str, X: Array, y: Array, random: Generator) -> Problem:
    estimator, params = FAMILY[number // len(TABLES) % len(FAMILY)], _svc(random, X)
    weights = _weights(random, len(y), y)
    own, targets = _targets(random, estimator, y, weights)
    if "nu" in own and estimator != "NuSVR":
        del params["C"]
    return Problem(number, kind, X, targets, weights, estimator, params | own)


def _targets(
    random: Generator, estimator: str, y: Array, weights: Array | None
) -> tuple[dict[str, Any], Array]:
    """Draw the parameters beside the kernel and C, and targets from classes."""
    nu = float(random.choice([0.001, 0.1, 0.5, 0.9]))
    unit, offset = 10.0 ** random.uniform(-3, 3), random.choice([0.0, 0.0, 1e3])
    targets = unit * (y + 0.3 * random.normal(size=len(y)) + offset)
    if random.random() < 0.2:  # many equal targets
        targets = np.round(targets)
    match estimator:
        case "SVR":
            epsilon = unit * random.choice([0.0, 0.01, 0.3, 100.0])
            return {"epsilon": float(epsilon), "tol": 1e-3 * unit}, targets
        case "NuSVR":
            return {"nu": nu, "tol": 1e-3 * unit}, targets
        case "NuSVC":
            codes = (y > np.median(y)) | (y == y.max())
            share = np.average(codes, weights=weights)
            share = 2 * min(share, 1 - share)
            return {"nu": float(share * max(nu, 0.1))}, codes.astype(int)
    return {"nu": nu}, y


def _svc(random: Generator, X: Array) -> dict[str, Any]:
    """Draw a kernel and C."""
    kernel = str(random.choice(["linear", "rbf", "rbf", "laplacian", "poly", "sigmoid"]))
    params: dict[str, Any] = {"kernel": kernel, "C": float(10 ** random.uniform(-6, 8))}
    if kernel in ("poly", "sigmoid"):
        params |= {"coef0": float(random.choice([0.0, 1.0])), "degree": int(random.integers(2, 4))}
    if kernel != "linear":
        params["gamma"] = ["scale", "auto", float(10 ** random.uniform(-3, 2))][random.integers(3)]
    return params


def _scale(random: Generator, n_columns: int) -> Array:
    """Draw the units of the columns: mostly ordinary, sometimes absurd, sometimes each its own."""
    exponent = random.choice([0, 0, 0, 0, 3, -3, 9, -9, 30, 150, -150])
    own = random.uniform(-4, 4, size=n_columns) if random.random() < 0.2 else np.zeros(n_columns)
    scales: Array = 10.0 ** (exponent + own)
    return scales


def _weights(random: Generator, n: int, y: Array) -> Array | None:
    """Draw weights: none, many sizes, or some of them zero but never a whole class."""
    choice = random.integers(5)
    if choice < 3:
        return None
    weights: Array = random.uniform(0.1, 10, size=n)
    if choice == 4:
        weights[random.random(n) < 0.3] = 0.0
        for label in np.unique(y):
            weights[np.flatnonzero(y == label)[:2]] = 1.0
    return weights


def _labels(random: Generator, scores: Array, n_classes: int) -> Array:
    """Return classes of about equal size, by the order of the scores, with some noise."""
    noisy = scores + random.normal(scale=0.3 * scores.std() + 1e-12, size=len(scores))
    place = np.argsort(np.argsort(noisy, kind="stable"), kind="stable")
    labels: Array = place * n_classes // len(scores)
    return labels


def _plain(random: Generator, n: int, n_classes: int) -> tuple[Array, Array]:
    X = random.normal(size=(n, int(random.integers(1, 15))))
    return X, _labels(random, X[:, 0] * X[:, -1], n_classes)


def _duplicates(random: Generator, n: int, n_classes: int) -> tuple[Array, Array]:
    X, y = _plain(random, n, n_classes)
    copies = random.integers(0, max(2, n // 3), size=n)
    copies[:n_classes] = [int(np.flatnonzero(y == label)[0]) for label in range(n_classes)]
    return X[copies], y[copies]


def _contradictory(random: Generator, n: int, n_classes: int) -> tuple[Array, Array]:
    X, y = _plain(random, n, n_classes)
    return np.vstack([X, X[: n // 2]]), np.concatenate([y, (y[: n // 2] + 1) % n_classes])


def _collinear(random: Generator, n: int, n_classes: int) -> tuple[Array, Array]:
    X, y = _plain(random, n, n_classes)
    return np.hstack([X, X @ random.normal(size=(X.shape[1], 4)), X[:, :1], np.ones((n, 1))]), y


def _one_hot(random: Generator, n: int, n_classes: int) -> tuple[Array, Array]:
    levels = random.integers(0, 6, size=(n, 3))
    X = np.hstack([np.eye(6)[column] for column in levels.T])
    return X, _labels(random, levels.sum(axis=1) + random.uniform(size=n), n_classes)


def _heavy_tails(random: Generator, n: int, n_classes: int) -> tuple[Array, Array]:
    X = random.standard_cauchy(size=(n, 5))
    return X, _labels(random, np.arctan(X[:, 0]) + np.arctan(X[:, 1]), n_classes)


def _rare_class(random: Generator, n: int, n_classes: int) -> tuple[Array, Array]:
    X = random.normal(size=(1000, 4))
    y = np.zeros(1000, dtype=np.int64)
    y[np.argmax(X[:, 0])] = 1
    return X, y


def _wide(random: Generator, n: int, n_classes: int) -> tuple[Array, Array]:
    n = min(n, max(40, 4 * n_classes))
    X = random.normal(size=(n, 300))
    return X, _labels(random, X[:, :3].sum(axis=1), n_classes)


def _shifted(random: Generator, n: int, n_classes: int) -> tuple[Array, Array]:
    X, y = _plain(random, n, n_classes)
    return X + 10.0 ** random.integers(1, 6), y


def _counts(random: Generator, n: int, n_classes: int) -> tuple[Array, Array]:
    X = random.poisson(2.0, size=(n, 6)).astype(float)
    return X, _labels(random, X.sum(axis=1) + random.uniform(size=n), n_classes)


def _separated(random: Generator, n: int, n_classes: int) -> tuple[Array, Array]:
    y = np.arange(n) % n_classes
    return random.normal(scale=0.01, size=(n, 3)) + random.normal(size=(n_classes, 3))[y], y


def _pure_noise(random: Generator, n: int, n_classes: int) -> tuple[Array, Array]:
    return random.normal(size=(n, 4)), np.arange(n) % n_classes


TABLES: dict[str, Callable[[Generator, int, int], tuple[Array, Array]]] = {
    "plain": _plain,
    "duplicates": _duplicates,
    "contradictory labels": _contradictory,
    "collinear columns": _collinear,
    "one-hot columns": _one_hot,
    "heavy tails": _heavy_tails,
    "one row in a thousand": _rare_class,
    "more columns than rows": _wide,
    "far from zero": _shifted,
    "counts": _counts,
    "separated classes": _separated,
    "pure noise": _pure_noise,
}
