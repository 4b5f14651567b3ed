"""Data sets from the folder that KERNELWISE_DATA names, and their noisy versions."""

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from benchmarks.engine import ExperimentError
from reproduction.datasets import Dataset, load_dataset, make_noisy
from reproduction.datasets.files import VARIABLE

_BUNDLED = {"wine": "load_wine", "fisher_iris": "load_iris", "diagnostic": "load_breast_cancer"}


@dataclass(frozen=True)
class Table:
    """Numbers, with NaN for missing ones, and classes coded 0, 1, ..."""

    X: np.ndarray
    y: np.ndarray


def folder() -> Path:
    """Return the folder of the data sets; fail with instructions if it is not set."""
    value = os.environ.get(VARIABLE)
    if not value:
        raise ExperimentError(
            f"set {VARIABLE} to the folder of the papers' data sets, one NAME.csv.gz each with the "
            "class in the last column; without it only --quick runs, on scikit-learn's data sets"
        )
    if not Path(value).is_dir():
        raise ExperimentError(f"{VARIABLE} is {value!r}, which is not a folder")
    return Path(value)


@cache
def read(name: str) -> Table:
    """Read a set of numbers; those of scikit-learn need no folder."""
    if name in _BUNDLED:
        from sklearn import datasets

        return Table(*getattr(datasets, _BUNDLED[name])(return_X_y=True))
    found = load(name, drop_leaks=False)
    if found.n_categories.max() > 2:
        raise ValueError(f"{name} has a categorical column with more than two values")
    return Table(found.X, np.unique(found.y, return_inverse=True)[1])


def load(name: str, *, drop_leaks: bool) -> Dataset:
    """Load a set from the folder."""
    path = folder() / f"{name}.csv.gz"
    if not path.is_file():
        raise ExperimentError(f"the folder that {VARIABLE} names has no {path.name}")
    return load_dataset(name, data_dir=path.parent, drop_leaks=drop_leaks)


def with_noise(name: str, noise: str | None, rng: np.random.Generator) -> Table:
    """Double the columns of a set with noise from the set `noise`; None adds none."""
    table = read(name)
    if noise is None:
        return table
    return Table(make_noisy(table.X, source=read(noise).X, random_state=rng), table.y)


def imputed(X: np.ndarray, rows: np.ndarray | slice = slice(None)) -> np.ndarray:
    """Replace missing numbers by the mean of their column over some rows."""
    return np.where(np.isnan(X), np.nanmean(X[rows], axis=0), X)


def standardised(X: np.ndarray, rows: np.ndarray | slice = slice(None)) -> np.ndarray:
    """Impute and standardise every column by its mean and deviation over some rows."""
    X = imputed(X, rows)
    deviation = X[rows].std(axis=0)
    return (X - X[rows].mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
