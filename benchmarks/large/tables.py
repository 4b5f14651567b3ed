"""Generated tables of any number of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import expit

Table = tuple[Any, np.ndarray]
TEST_ROWS = 100_000  # further rows on which methods are scored
_TURNED = 0.05  # share of the checkerboard's labels that are turned
_LEVELS = (200, 200, 100, 100, 50, 50, 20, 20, 10, 5)  # levels of each category


def classification(n: int, seed: int) -> Table:
    """Return two classes of `make_classification`, 10 of 50 columns informative."""
    from sklearn.datasets import make_classification

    X, y = make_classification(n, 50, n_informative=10, random_state=seed)
    return X.astype(np.float32), y


def checkerboard(n: int, seed: int) -> Table:
    """Return an 8 x 8 checkerboard in two of 20 uniform columns, some labels turned."""
    random = np.random.default_rng(seed)
    X = random.uniform(size=(n, 20)).astype(np.float32)
    y = (np.floor(8 * X[:, 0]) + np.floor(8 * X[:, 1])).astype(int) % 2
    return X, np.where(random.random(n) < _TURNED, 1 - y, y)


def spirals(n: int, seed: int) -> Table:
    """Return two noisy arms of a spiral, and 18 columns of noise."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, n)
    angle = 3 * np.pi * np.sqrt(random.random(n))
    X = random.normal(size=(n, 20))
    X[:, 0] = angle * np.cos(angle + np.pi * y) + 0.7 * X[:, 0]
    X[:, 1] = angle * np.sin(angle + np.pi * y) + 0.7 * X[:, 1]
    return X.astype(np.float32), y


def mixture(n: int, seed: int) -> Table:
    """Return ten classes of three Gaussians each in 10 of 30 columns."""
    random = np.random.default_rng(seed)
    centres = 1.2 * random.normal(size=(10, 3, 10))
    y, which = random.integers(0, 10, n), random.integers(0, 3, n)
    X = random.normal(size=(n, 30)).astype(np.float32)
    X[:, :10] += centres[y, which].astype(np.float32)
    return X, y


def categories(n: int, seed: int) -> Table:
    """Return ten categories of up to 200 levels and ten numbers, with effects and interactions."""
    import pandas as pd

    random = np.random.default_rng(seed)
    codes = [random.integers(0, levels, n) for levels in _LEVELS]
    numbers = random.normal(size=(n, 10)).astype(np.float32)
    score = sum(
        0.5 * random.normal(size=levels)[code] for levels, code in zip(_LEVELS, codes, strict=True)
    )
    score = score + numbers[:, 0] * random.normal(size=_LEVELS[2])[codes[2]]
    score += 1.5 * np.sin(2 * numbers[:, 1]) + numbers[:, 2] * numbers[:, 3]
    score += random.normal(size=(_LEVELS[8], _LEVELS[9]))[codes[8], codes[9]]
    X = pd.DataFrame(numbers, columns=[f"number {j}" for j in range(10)])
    for j, (levels, code) in enumerate(zip(_LEVELS, codes, strict=True)):
        names = pd.CategoricalDtype([f"level {k}" for k in range(levels)])
        X[f"category {j}"] = pd.Categorical.from_codes(code, dtype=names)
    return X, (random.random(n) < expit(2 * score)).astype(int)


def friedman(n: int, seed: int) -> Table:
    """Return a number: Friedman's function of five of 20 uniform columns, with noise."""
    from sklearn.datasets import make_friedman1

    X, y = make_friedman1(n, 20, noise=1.0, random_state=seed)
    return X.astype(np.float32), y


TABLES: dict[str, Callable[[int, int], Table]] = {
    "classification": classification,
    "mixture": mixture,
    "checkerboard": checkerboard,
    "spirals": spirals,
    "categories": categories,
    "friedman": friedman,
}
NUMBERS = {"friedman"}  # tables whose target is a number
