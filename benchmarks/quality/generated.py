"""Generated tables whose rule is known: nothing to learn, ordered classes, columns among noise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .tables import Split

_TEST_ROWS = 2000
_BALL = 2.366  # the median of the squared norm of three standard normal columns
_LEVELS = 30
NOISE = "noise"  # beginning of the names of columns that say nothing

Rule = Callable[[np.ndarray, np.random.Generator], tuple[np.ndarray, int]]


@dataclass(frozen=True)
class Problem:
    """A rule for the class of rows of standard normal columns, which it may change.

    The rule returns the classes and the number of the first columns that decide them.
    """

    text: str
    n: int
    p: int
    rule: Rule


def _nothing(classes: int) -> Rule:
    return lambda X, rng: (rng.permutation(np.arange(len(X)) % classes), 0)


def _rare(X: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, int]:
    return rng.permutation(np.arange(len(X)) % 10 == 0), 0


def _linear(X: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, int]:
    noise = 0.5 * rng.normal(size=len(X))
    return X[:, :5] @ np.array([1.0, -1.0, 1.0, -1.0, 1.0]) + noise > 0, 5


def _radial(X: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, int]:
    return (X[:, :3] ** 2).sum(axis=1) < _BALL, 3


def _signs(factors: int) -> Rule:
    return lambda X, rng: (X[:, :factors].prod(axis=1) > 0, factors)


def _groups(X: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, int]:
    """Three factors with three columns each; writes the columns into X."""
    factors = rng.normal(size=(len(X), 3))
    X[:, :9] = np.repeat(factors, 3, axis=1) + 0.5 * X[:, :9]
    return factors @ np.array([1.0, -1.0, 1.0]) + 0.5 * rng.normal(size=len(X)) > 0, 9


def _levels(X: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, int]:
    """Turn the last column into a category of noise."""
    X[:, -1] = rng.integers(_LEVELS, size=len(X))
    return X[:, 0] + rng.normal(size=len(X)) > 0, 1


def _ordered(X: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, int]:
    """Five classes that count how many of four conditions hold."""
    inside = np.abs(X[:, :3]) < np.array([0.5, 0.7, 1.0])
    return inside.sum(axis=1) + (X[:, 3] > X[:, 4]), 5


RULES: dict[str, Rule] = {
    "linear": _linear, "radial": _radial, "XOR": _signs(2), "correlated groups": _groups,
}  # fmt: skip
_NOTHING = {
    "nothing 300 x 30": Problem("nothing to learn", 300, 30, _nothing(2)),
    "nothing 100 x 500": Problem("nothing to learn, more columns than rows", 100, 500, _nothing(2)),
    "nothing, three classes": Problem("nothing to learn", 300, 30, _nothing(3)),
    "nothing, a rare class": Problem("nothing to learn, 10 % of one class", 300, 30, _rare),
}
_FEW = {
    "linear": Problem("five of 30 columns add up, with noise", 300, 30, _linear),
    "ball": Problem("inside a ball in three of 30 columns", 300, 30, _radial),
    "x1 x2 x3": Problem("the sign of the product of three of 10 columns", 300, 10, _signs(3)),
    "groups": Problem("three factors with three noisy copies each among 30", 300, 30, _groups),
    "category of noise": Problem(
        f"one column decides up to noise; two columns and a category of {_LEVELS} levels say "
        "nothing", 400, 4, _levels,
    ),
    **{
        f"ordered, {n:,} rows": Problem("five ordered classes by five of 7 columns", n, 7, _ordered)
        for n in (300, 1000, 4000)
    },
}  # fmt: skip
# Rows, columns of noise for each that matters, and rule.
_AMONG = (
    (150, 10, "linear"), (600, 10, "linear"), (600, 100, "linear"), (600, 10, "ball"),
    (1000, 50, "ball"), (600, 10, "x1 x2"), (2000, 100, "x1 x2"), (5000, 50, "x1 x2"),
)  # fmt: skip
_SHAPES = {"linear": (_linear, 5), "ball": (_radial, 3), "x1 x2": (_signs(2), 2)}
AMONG = {
    f"{kind} + {times} x noise, {n:,} rows": Problem(
        f"{times} columns of noise for each that matters", n, (1 + times) * count, rule
    )
    for n, times, kind in _AMONG
    for rule, count in [_SHAPES[kind]]
}  # fmt: skip
PROBLEMS: dict[str, Problem] = _NOTHING | _FEW | AMONG
ENTROPY = dict(zip(_NOTHING, (0.6931, 0.6931, 1.0986, 0.3251), strict=True))


def make(name: str, seed: int) -> Split:
    """Return training and test rows of a problem; columns of noise say so by their name."""
    import pandas as pd

    problem = PROBLEMS[name]
    rng = np.random.default_rng([seed, *name.encode()])
    X = rng.normal(size=(problem.n + _TEST_ROWS, problem.p))
    classes, relevant = problem.rule(X, rng)
    y = classes.astype(int)
    names = [f"{NOISE if k >= relevant else 'x'}{k}" for k in range(problem.p)]
    frame: Any = pd.DataFrame(X, columns=names)
    if problem.rule is _levels:
        frame[names[-1]] = pd.Categorical(frame[names[-1]].map("level {:.0f}".format))
    n = problem.n
    return Split(frame.iloc[:n], y[:n], frame.iloc[n:], y[n:])


def without_noise(split: Split) -> Split:
    """Return the split with the columns that matter alone."""
    kept = [name for name in split.X.columns if not name.startswith(NOISE)]
    return replace(split, X=split.X[kept], X_test=split.X_test[kept])
