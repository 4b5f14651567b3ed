"""A loaded data set, and the encoder of its categorical columns."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelwise._typing import Array, Matrix


@dataclass(frozen=True, eq=False)
class Dataset:
    """A data set as numbers, with the names of its columns, classes and categories.

    Parameters
    ----------
    name : str
        Its name in `registry`.
    X : ndarray of shape (n_samples, n_features)
        Numbers, NaN where one is missing. A categorical column has the positions of its values in
        `categories`. Word counts are a sparse CSR matrix, texts an array of strings.
    y : ndarray of shape (n_samples,)
        Labels as the source spells them, or integers if all labels are; numbers for a regression.
    feature_names : tuple of str
        Names of the columns, in the spelling of the source.
    target_names : tuple of str
        The classes in sorted order; empty for a regression.
    categories : dict of str to tuple of str
        For each categorical column, its values in the order of their codes.
    description : str
        Content, origin and licence of the set, and which columns were left out and why.
    source : str
        Where it was read from.
    """

    name: str
    X: Matrix = field(repr=False)
    y: NDArray[Any] = field(repr=False)
    feature_names: tuple[str, ...] = field(repr=False)
    target_names: tuple[str, ...]
    categories: dict[str, tuple[str, ...]] = field(repr=False)
    description: str = field(repr=False)
    source: str

    @property
    def n_categories(self) -> NDArray[np.intp]:
        """Number of categories of each column; 0 for a column of numbers."""
        return np.array([len(self.categories.get(name, ())) for name in self.feature_names], int)

    def encoder(self, *, missing: str = "mean") -> Any:
        """Return a transformer from `X` to plain numbers, to be fitted to training rows.

        Put it into the pipeline that is cross-validated, because it learns the values for missing
        cells from the rows that it is fitted to.
        """
        if self.X.ndim == 1:
            raise ValueError(f"{self.name} is text: use a vectorizer, such as TfidfVectorizer.")
        return make_encoder(self.n_categories, missing=missing)

    def of_classes(self, labels: ArrayLike) -> Dataset:
        """Return only the rows of some classes."""
        wanted = np.unique(labels)
        unknown = np.setdiff1d(wanted, self.y)
        if len(unknown):
            raise ValueError(f"labels={unknown.tolist()} are not classes of {self.name}.")
        rows = np.isin(self.y, wanted)
        names = tuple(map(str, wanted.tolist()))
        return replace(self, X=self.X[rows], y=self.y[rows], target_names=names)


def make_encoder(n_categories: ArrayLike, *, missing: str = "mean") -> Any:
    """Return the encoder of columns with these numbers of categories, 0 for numbers."""
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    if missing not in ("mean", "keep"):
        raise ValueError(f'missing={missing!r} must be "mean" or "keep".')
    steps: list[tuple[str, Any, slice]] = []
    start = 0
    # One step per run of columns of the same kind keeps the columns in order.
    for is_categorical, run in groupby(np.asarray(n_categories).tolist(), key=bool):
        counts = list(run)
        step: Any = "passthrough"
        if is_categorical:
            usual = SimpleImputer(strategy="most_frequent", keep_empty_features=True)
            codes: list[Array] = [np.arange(count, dtype=float) for count in counts]
            step = make_pipeline(
                usual, OneHotEncoder(categories=codes, drop="if_binary", sparse_output=False)
            )
        elif missing == "mean":
            step = SimpleImputer(keep_empty_features=True)
        kind = "words" if is_categorical else "numbers"
        steps.append((f"{kind}_{start}", step, slice(start, start + len(counts))))
        start += len(counts)
    return ColumnTransformer(steps, verbose_feature_names_out=False)
