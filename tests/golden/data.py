"""The tables of the golden fits: scikit-learn's bundled sets and seeded generators."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_circles,
    make_classification,
    make_moons,
)
from sklearn.preprocessing import scale

N_ROWS = 12  # rows per table that decision values are stored of


@dataclass(frozen=True)
class Data:
    """Training rows with their classes and weights, and other rows to decide."""

    X: Any
    y: Any
    rows: Any
    sample_weight: Any


def _parted(X, y, n, rows=None):
    """Return the first ``n`` rows of a fixed shuffle to train on, and some of the others."""
    order = np.random.default_rng(7).permutation(len(y))
    X, y = X[order], y[order]
    weights = np.random.default_rng(8).integers(0, 5, size=n) / 2.0
    return Data(X[:n], y[:n], X[n : n + N_ROWS] if rows is None else rows, weights)


TABLES = {}


def table(make):
    """Register a table under the name of the function that makes it."""
    TABLES[make.__name__] = cache(make)
    return TABLES[make.__name__]


@table
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return _parted(scale(X), y, 190)


@table
def cancer_raw():
    return _parted(*load_breast_cancer(return_X_y=True), 120)


@table
def iris():
    X, y = load_iris(return_X_y=True)
    noise = np.random.default_rng(0).normal(size=(150, 2))
    return _parted(np.hstack([scale(X), noise]), y, 110)


@table
def names():
    data = iris()
    names = np.array(["setosa", "versicolor", "virginica"])
    return Data(data.X, names[data.y], data.rows, data.sample_weight)


@table
def wine():
    X, y = load_wine(return_X_y=True)
    return _parted(scale(X), y, 130)


@table
def wine_raw():
    return _parted(*load_wine(return_X_y=True), 130)


@table
def digits():
    X, y = load_digits(return_X_y=True)
    return _parted(X / 16.0, y, 200)


@table
def digits_large():
    X, y = load_digits(return_X_y=True)
    return _parted(X / 16.0, y, 700)


@table
def noisy():
    X, y = make_classification(
        212, 20, n_informative=4, n_redundant=2, flip_y=0.1, class_sep=0.8, random_state=1
    )
    return _parted(scale(X), y, 200)


@table
def noisy3():
    X, y = make_classification(
        192, 15, n_informative=5, n_redundant=0, n_classes=3, flip_y=0.05, random_state=2
    )
    return _parted(scale(X), y, 180)


@table
def many3():
    X, y = make_classification(
        632, 12, n_informative=6, n_redundant=0, n_classes=3, flip_y=0.05, random_state=3
    )
    return _parted(scale(X), y, 620)


@table
def large():
    X, y = make_classification(1312, 10, n_informative=5, flip_y=0.05, random_state=4)
    return _parted(scale(X), y, 1300)


@table
def big():
    X, y = make_classification(4512, 10, n_informative=6, flip_y=0.05, random_state=17)
    return _parted(scale(X), y, 4500)


@table
def big3():
    X, y = make_classification(
        4212, 8, n_informative=6, n_redundant=0, n_classes=3, flip_y=0.02, random_state=18
    )
    return _parted(scale(X), y, 4200)


@table
def digits_all():
    X, y = load_digits(return_X_y=True)
    return _parted(X / 16.0, y, 1780)


@table
def wide():
    X, y = make_classification(52, 300, n_informative=6, shuffle=False, random_state=5)
    return _parted(X, y, 40)


@table
def wide3():
    X, y = make_classification(
        72, 200, n_informative=8, n_classes=3, n_redundant=0, shuffle=False, random_state=6
    )
    return _parted(X, y, 60)


@table
def imbalanced():
    X, y = make_classification(
        212, 8, n_informative=4, weights=[0.9], flip_y=0.02, class_sep=0.7, random_state=7
    )
    return _parted(scale(X), y, 200)


@table
def moons():
    X, y = make_moons(172, noise=0.2, random_state=8)
    return _parted(X, y, 160)


@table
def circles():
    X, y = make_circles(172, noise=0.1, factor=0.5, random_state=9)
    return _parted(X, y, 160)


@table
def separable():
    X, y = make_classification(92, 5, n_redundant=0, class_sep=3.0, flip_y=0, random_state=10)
    return _parted(X, y, 80)


@table
def tiny():
    X = np.array([[0.0, 1.0], [1.0, 0.5], [2.0, 3.0], [3.5, 2.0], [0.5, 0.2]])
    return Data(X, np.array([0, 0, 1, 1, 0]), X[::-1] + 0.25, np.array([1.0, 2.0, 1.0, 0.5, 1.0]))


@table
def tiny3():
    rng = np.random.default_rng(11)
    X = np.repeat(np.eye(3), 4, axis=0) * 2 + rng.normal(size=(12, 3)) / 2
    return Data(X, np.repeat([0, 1, 2], 4), X[::-1] + 0.25, np.arange(12) % 3 + 0.5)


@table
def duplicates():
    """Return rows that come several times, some of them with both classes."""
    X, y = load_iris(return_X_y=True)
    X, y = X[50:], y[50:] - 1
    order = np.random.default_rng(12).integers(0, 40, size=120)
    labels = y[order * 2].copy()
    labels[::9] = 1 - labels[::9]
    return Data(X[order * 2], labels, X[1 : 2 * N_ROWS : 2], order % 3 + 0.5)


@table
def constant():
    """Return rows with constant and equal columns."""
    data = noisy()

    def widened(X):
        return np.column_stack([X[:, :6], np.ones(len(X)), X[:, 0], np.zeros(len(X))])

    return Data(widened(data.X), data.y, widened(data.rows), data.sample_weight)


@table
def sparse():
    X, y = make_classification(132, 40, n_informative=6, random_state=13)
    X = sp.csr_array(np.where(np.abs(X) > 0.8, X, 0.0))
    return _parted(X, y, 120)


@table
def sparse3():
    X, y = make_classification(
        132, 30, n_informative=6, n_redundant=0, n_classes=3, random_state=14
    )
    X = sp.csr_array(np.where(np.abs(X) > 0.6, X, 0.0))
    return _parted(X, y, 120)


@table
def counts():
    X, y = load_digits(return_X_y=True)
    return _parted(X, y, 150)


@table
def missing():
    """Return rows with gaps, most of them in one column."""

    def gaps(X, seed):
        rng = np.random.default_rng(seed)
        X = np.where(rng.random(X.shape) < 0.05, np.nan, X)
        X[::3, 1] = np.nan
        return X

    data = noisy()
    return Data(gaps(data.X, 15), data.y, gaps(data.rows, 16), data.sample_weight)


@table
def missing3():
    data = wine_raw()
    X, rows = data.X.copy(), data.rows.copy()
    X[::5, 2] = rows[::4, 2] = X[3::7, 9] = np.nan
    return Data(X, data.y, rows, data.sample_weight)


@table
def precomputed():
    """Return the values of a kernel between the rows of another table."""
    data = noisy()

    def kernel(A, B):
        return np.exp(-0.05 * ((A[:, None] - B[None]) ** 2).sum(axis=2))

    return Data(kernel(data.X, data.X), data.y, kernel(data.rows, data.X), data.sample_weight)


@table
def precomputed3():
    data = wine()
    return Data(
        (1 + data.X @ data.X.T / 13) ** 2,
        data.y,
        (1 + data.rows @ data.X.T / 13) ** 2,
        data.sample_weight,
    )


@table
def frame():
    """Return a table of numbers with gaps, texts, dates and a number per row."""
    data = iris()

    def columns(X, seed):
        rng = np.random.default_rng(seed)
        numbers = pd.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])])
        numbers.iloc[::6, 2] = np.nan
        numbers["colour"] = np.array(["red", "green", "blue"], dtype=object)[
            rng.integers(3, size=len(X))
        ]
        numbers["day"] = pd.Timestamp("2020-02-27") + pd.to_timedelta(
            rng.integers(900, size=len(X)), unit="D"
        )
        numbers["number"] = np.arange(len(X)) + 1000
        return numbers

    return Data(columns(data.X, 19), data.y, columns(data.rows, 20), data.sample_weight)
