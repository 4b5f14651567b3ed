"""A loaded data set, and the encoder that its columns of words need."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._typing import Array, Matrix


@dataclass(frozen=True, eq=False)
class Dataset:
    """A data set as numbers, with what is needed to read them.

    Parameters
    ----------
    name : str
        Its name in :func:`list_datasets`.
    X : ndarray of shape (n_samples, n_features)
        Numbers, NaN where one is missing. A column of words has their places in `categories`.
        Counts of words are a sparse CSR matrix, and texts an array of strings, one a row.
    y : ndarray of shape (n_samples,)
        Labels as the source spells them, integers where all are; numbers for a regression.
    feature_names : tuple of str
        Names of the columns, in the spelling of the source.
    target_names : tuple of str
        The classes in sorted order; empty for a regression.
    categories : dict of str to tuple of str
        For each column of words, its words in the order of their codes.
    description : str
        What the set is, where it comes from, what was left out and why.
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
        """How many words each column has; 0 for a column of numbers."""
        return np.array([len(self.categories.get(name, ())) for name in self.feature_names], int)

    def encoder(self, *, missing: str = "mean") -> Any:
        """Return a transformer from `X` to plain numbers, to be fitted on training rows.

        It belongs into the pipeline that is cross-validated: what it puts in place of missing cells
        comes from the rows that it is fitted to.

        Parameters
        ----------
        missing : {"mean", "keep"}, default="mean"
            What is done where a number is missing: "mean" puts the mean of its column, "keep"
            leaves NaN. A missing word is replaced by the most frequent one in either case.

        Returns
        -------
        encoder : ColumnTransformer
            Two words give one column of 0 and 1, more words give a column each.

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
        """Return the rows of some classes alone.

        Parameters
        ----------
        labels : array-like
            Classes to keep, as `y` spells them.

        Returns
        -------
        dataset : Dataset
            The same columns, and the rows in their order.

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
        """Return a pandas DataFrame: words as categories, labels in the last column, `target`.

        Sparse counts have none.

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
    """Return the encoder of columns that have so many words each, 0 where they are numbers."""
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    if missing not in ("mean", "keep"):
        raise ValueError(f'missing={missing!r} must be "mean" or "keep".')
    steps: list[tuple[str, Any, slice]] = []
    start = 0
    # Runs of columns of one kind, so that the columns stay in their order.
    for is_words, run in groupby(np.asarray(n_categories).tolist(), key=bool):
        counts = list(run)
        step: Any = "passthrough"
        if is_words:
            usual = SimpleImputer(strategy="most_frequent", keep_empty_features=True)
            codes: list[Array] = [np.arange(count, dtype=float) for count in counts]
            step = make_pipeline(
                usual, OneHotEncoder(categories=codes, drop="if_binary", sparse_output=False)
            )
        elif missing == "mean":
            step = SimpleImputer(keep_empty_features=True)
        kind = "words" if is_words else "numbers"
        steps.append((f"{kind}_{start}", step, slice(start, start + len(counts))))
        start += len(counts)
    return ColumnTransformer(steps, verbose_feature_names_out=False)


def need_pandas(what: str) -> Any:
    """Import pandas, or say what to install."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError(f"{what} needs pandas: pip install 'kernelwise[cli]'.") from error
    return pandas
