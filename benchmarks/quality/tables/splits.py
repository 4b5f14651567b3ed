"""Training and test rows of a table, and the numbers that methods without categories get."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .table import TableSpec, load, split_rows

_HALF_FROM = 300  # rows of a small table from which half of them are for testing
_MIN_OF_LEVEL, _MAX_LEVELS = 5, 100  # one-hot columns: rarer levels share one


@dataclass(frozen=True)
class Split:
    """Training and test rows: data frames with categories, or arrays of numbers."""

    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray

    @property
    def n_classes(self) -> int:
        return int(self.y.max()) + 1


def draw(spec: TableSpec, seed: int, *, halves: bool = False, noise: int = 0) -> Split:
    """Split a table by class, 70 : 30, or in halves if it has enough rows.

    Parameters
    ----------
    spec : TableSpec
        The table.
    seed : int
        Number of the split.
    halves : bool, default=False
        Whether half of the rows are for testing where there are at least 300.
    noise : int, default=0
        Columns of standard normal noise to append; -1 appends as many as the table has.

    Returns
    -------
    split : Split
        Data frames.
    """
    table = load(spec)
    n, X = len(table.y), table.X
    share = 0.5 if halves and n >= _HALF_FROM else 0.3
    train, test = split_rows(table.y, seed, test_size=share)
    if noise:
        count = X.shape[1] if noise < 0 else noise
        rng = np.random.default_rng([seed, *spec.name.encode()])
        columns = rng.standard_normal((n, count))
        X = X.assign(**{f"noise{k}": columns[:, k] for k in range(count)})
    return Split(X.iloc[train], table.y[train], X.iloc[test], table.y[test])


def categories(X: Any) -> list[str]:
    """Return the names of the columns that are categories."""
    return [name for name in X.columns if str(X[name].dtype) == "category"]


def one_hot(split: Split) -> Split:
    """Return the split as standardised numbers.

    Missing numbers become the median of the training rows, with a column that says so; categories
    become one column per level, the rare levels together, and a missing one is a level.
    """
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    words = categories(split.X)
    numbers = [name for name in split.X.columns if name not in words]
    encoder = OneHotEncoder(
        min_frequency=_MIN_OF_LEVEL, max_categories=_MAX_LEVELS, sparse_output=False,
        handle_unknown="infrequent_if_exist",
    )  # fmt: skip
    steps = make_column_transformer(
        (SimpleImputer(strategy="median", add_indicator=True), numbers), (encoder, words)
    )
    pipeline = make_pipeline(steps, StandardScaler())
    X = pipeline.fit_transform(_as_objects(split.X, words))
    return replace(split, X=X, X_test=pipeline.transform(_as_objects(split.X_test, words)))


def _as_objects(X: Any, words: list[str]) -> Any:
    """Return categories as text, a missing one as "missing"."""
    return X.assign(**{name: X[name].astype("object").fillna("missing") for name in words})
