"""A loaded data set, and the encoder of its categorical columns."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._typing import Array, Matrix


@dataclass(frozen=True, eq=False)
class Dataset:
    """A data set as numbers, with the names of its columns, classes and categories.

    Parameters
    ----------
    name : str
        Its name in :func:`list_datasets`.
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

    Examples
    --------
    >>> from kernelwise.datasets import load_dataset
    >>> wine = load_dataset("wine")
    >>> wine.X.shape, wine.target_names
    ((178, 13), ('0', '1', '2'))
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

        Parameters
        ----------
        missing : {"mean", "keep"}, default="mean"
            How to treat missing numbers: "mean" fills in the mean of the column, "keep" leaves
            NaN. A missing category is always replaced by the most frequent one.

        Returns
        -------
        encoder : ColumnTransformer
            Two categories become one column of 0 and 1, more become one column each.

        Examples
        --------
        >>> from sklearn.pipeline import make_pipeline
        >>> from sklearn.preprocessing import StandardScaler
        >>> from sklearn.svm import SVC
        >>> from kernelwise.datasets import load_dataset
        >>> wine = load_dataset("wine")
        >>> model = make_pipeline(wine.encoder(), StandardScaler(), SVC())
        >>> model.fit(wine.X, wine.y).score(wine.X, wine.y)
        1.0
        """
        if self.X.ndim == 1:
            raise ValueError(f"{self.name} is text: use a vectorizer, such as TfidfVectorizer.")
        return make_encoder(self.n_categories, missing=missing)

    def of_classes(self, labels: ArrayLike) -> Dataset:
        """Return only the rows of some classes.

        Parameters
        ----------
        labels : array-like
            Classes to keep, as `y` spells them.

        Returns
        -------
        dataset : Dataset
            The same columns; the rows keep their order.

        Examples
        --------
        >>> from kernelwise.datasets import load_dataset
        >>> load_dataset("digits").of_classes([0, 3]).X.shape
        (361, 64)
        """
        wanted = np.unique(labels)
        unknown = np.setdiff1d(wanted, self.y)
        if len(unknown):
            raise ValueError(f"labels={unknown.tolist()} are not classes of {self.name}.")
        rows = np.isin(self.y, wanted)
        names = tuple(map(str, wanted.tolist()))
        return replace(self, X=self.X[rows], y=self.y[rows], target_names=names)

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with categorical columns, and the labels in column `target`.

        Raises ValueError for sparse counts.

        Returns
        -------
        frame : pandas.DataFrame
            The rows of `X` and `y`.
        """
        pandas = need_pandas("a data frame")
        if self.X.ndim == 1:
            return pandas.DataFrame({"text": self.X, "target": self.y})
        if not isinstance(self.X, np.ndarray):
            raise ValueError(f"{self.name} is a sparse matrix, too wide for a frame: use X and y.")
        columns = dict(zip(self.feature_names, self.X.T, strict=True))
        for name, words in self.categories.items():
            codes = np.nan_to_num(columns[name], nan=-1).astype(int)
            columns[name] = pandas.Categorical.from_codes(codes, categories=list(words))
        return pandas.DataFrame(columns | {"target": self.y})


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


def need_pandas(what: str) -> Any:
    """Import pandas, or say how to install it."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError(f"{what} needs pandas: pip install 'kernelwise[cli]'.") from error
    return pandas
