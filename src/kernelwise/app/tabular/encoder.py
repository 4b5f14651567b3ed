"""Encode a table with columns of all kinds as a matrix of numbers."""

from __future__ import annotations

import warnings
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.validation import check_is_fitted

from ..._models import final_estimator, names_of_weights
from ..._sklearn import atomic_fit
from ..._typing import Array
from ...values.dates import date_parts, have_times
from ...values.numbers import decimal_sign
from ...values.text import Text
from .column_values import as_days, as_floats, as_numbers, as_text, is_text, unit_of
from .columns import MAX_CATEGORIES, MIN_GAPS, Column, describe_columns
from .errors import TableError, quoted
from .profile import read_column, training_profile

_DIGITS = 7  # digits of the column number in the names of intermediate columns
# Parts of a date that get no indicator of missing values: the one of its days serves for all.
_NO_INDICATOR = (": year", ": month", ": day of week", ": hour")


class TableEncoder(TransformerMixin, BaseEstimator):
    """Encode a table with numbers, categories, text and dates as a matrix of numbers.

    `describe_columns` says how each column is encoded. Numbers stay, with the median for missing
    values and an indicator column where at least 5 % of the values are missing; each value of a
    category gets a column; a date becomes year, month, day of week, days and, where it has one,
    hour; text becomes 30 numbers. With ``one_hot=False`` gaps stay, and categories and text stay
    columns of words, for `RelevanceSVC`.

    Parameters
    ----------
    drop : collection of str, default=()
        Columns to leave out.
    keep : collection of str, default=()
        Columns to use although they look like an id.
    category : collection of str, default=()
        Columns that are categories although they hold numbers, such as codes.
    one_hot : bool, default=True
        Whether the outcome is a matrix of numbers. False makes it a data frame with one column per
        category and missing values, which `RelevanceSVC` reads.

    Attributes
    ----------
    kinds_ : dict of str to str
        The kind of each used column.
    unused_ : list of str
        Columns of the training table that are not used.
    sources_ : list of str
        The column of the table that each column of the matrix comes from.
    profile_ : dict
        Ranges, quantiles and levels of the used columns, with which `check_new_rows` compares a
        new table.
    n_features_in_ : int
        Number of columns of the table.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns of the table.

    Notes
    -----
    A table to transform may have its columns in any order. Unknown columns are left out with a
    warning; a missing column is an error. A new category counts as 'other' where the training
    table had rare categories, else as none of the known ones. Numbers may come as text; a value
    that is not a number counts as missing.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernelwise.app.tabular import TableEncoder
    >>> frame = pd.DataFrame({"size": [1, None, 3], "colour": ["red", "blue", "red"]})
    >>> encoder = TableEncoder().fit(frame)
    >>> encoder.transform(frame).tolist()
    [[1.0, 1.0, 0.0], [0.0, 2.0, 1.0], [1.0, 3.0, 0.0]]
    >>> encoder.get_feature_names_out().tolist()
    ['colour=red', 'size', 'size=missing']

    Three colours are a category, which stays one column for an estimator that knows categories:

    >>> frame = pd.DataFrame({"size": [1, None, 3], "colour": ["red", "blue", "green"]})
    >>> TableEncoder(one_hot=False).fit_transform(frame)
       size colour
    0   1.0    red
    1   NaN   blue
    2   3.0  green
    """

    def __init__(
        self,
        drop: Collection[str] = (),
        keep: Collection[str] = (),
        category: Collection[str] = (),
        one_hot: bool = True,
    ) -> None:
        self.drop = drop
        self.keep = keep
        self.category = category
        self.one_hot = one_hot

    @atomic_fit
    def fit(self, X: Any, y: Any = None) -> TableEncoder:
        """Learn the kinds and values of the columns from the training rows.

        Parameters
        ----------
        X : pandas.DataFrame
            The table, without the column of the classes.
        y : object, default=None
            Not used.

        Returns
        -------
        self : TableEncoder
            The encoder itself.
        """
        columns = describe_columns(
            _frame(X),
            drop=self.drop,
            keep=self.keep,
            category=self.category,
            one_hot=self.one_hot,
        )
        used = [column for column in columns if column.used]
        if not columns:
            raise TableError("the table has no columns besides the target.")
        if not used:
            reasons = (f"{column.name!r} ({column.why})" for column in columns)
            raise TableError(f"no column is left to learn from: {', '.join(list(reasons)[:5])}.")
        self.feature_names_in_ = np.array([column.name for column in columns], dtype=object)
        self.n_features_in_ = len(columns)
        self.kinds_ = {column.name: column.kind for column in used}
        self.unused_ = [column.name for column in columns if not column.used]
        self._learn_values(X, used)
        texts = [name for name, kind in self.kinds_.items() if kind == "text"]
        read = {name: self.read_column(X, name) for name in self.kinds_}
        self.profile_ = training_profile(read, texts)
        parts = self._parts(X)
        self.columns_: Any = _transformer(parts).fit(parts) if self.one_hot else None
        self._name_outputs(parts)
        return self

    def transform(self, X: Any) -> Any:
        """Encode the rows as numbers, or as numbers and words.

        Parameters
        ----------
        X : pandas.DataFrame
            The table.

        Returns
        -------
        matrix : ndarray or pandas.DataFrame of shape (n_rows, n_outputs)
            One row per row of the table; an array of numbers without missing values, or with
            ``one_hot=False`` a data frame.
        """
        check_is_fitted(self)
        frame = _frame(X)
        self.require_columns(frame)
        known = set(self.feature_names_in_)
        extra = [str(name) for name in frame.columns if str(name) not in known]
        if extra:
            warnings.warn(
                f"columns that the model does not know are left out: {quoted(extra)}", stacklevel=2
            )
        if not len(frame):
            raise TableError("the table has no rows.")
        if not self.one_hot:
            return self._words_and_numbers(frame)
        with warnings.catch_warnings():  # new categories are expected, see the notes above
            warnings.filterwarnings("ignore", message="Found unknown categories")
            return np.asarray(self.columns_.transform(self._parts(frame)), dtype=float)

    def require_columns(self, X: Any) -> None:
        """Raise unless a table has all columns that are used.

        Parameters
        ----------
        X : pandas.DataFrame
            The table.

        Raises
        ------
        TableError
            If it lacks columns; the message names them.
        """
        names = {str(name) for name in _frame(X).columns}
        missing = [name for name in self.kinds_ if name not in names]
        if missing:
            raise TableError(f"the table lacks columns that the model needs: {quoted(missing)}.")

    def read_column(self, X: Any, name: str) -> Any:
        """Read a used column of a table in the way that the encoding reads it.

        Parameters
        ----------
        X : pandas.DataFrame
            The table.
        name : str
            The column.

        Returns
        -------
        values : ndarray of shape (n_rows,)
            Numbers, or days since 1970 for dates, with NaN for gaps; words with "" for gaps.
        """
        format, decimal = self.formats_.get(name, ""), self.decimals_.get(name, ".")
        unit = self.units_.get(name, 1.0)
        return read_column(X[name], self.kinds_[name], format=format, decimal=decimal, unit=unit)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the columns of the matrix.

        Parameters
        ----------
        input_features : object, default=None
            Not used.

        Returns
        -------
        names : ndarray of str
            Such as "size", "size=missing", "colour=red", "colour=other", "day: month".
        """
        check_is_fitted(self)
        return np.array(self.outputs_, dtype=object)

    def _learn_values(self, X: Any, used: list[Column]) -> None:
        """Learn formats of dates, signs and units of numbers, and pairs of words."""
        self.formats_ = {column.name: column.format for column in used if column.kind == "date"}
        self.first_days_, self.timed_, self.decimals_, self.pairs_ = {}, [], {}, {}
        numbers = [column.name for column in used if column.kind == "number"]
        units = {name: unit_of(X[name]) for name in numbers}
        self.units_ = {name: unit for name, unit in units.items() if unit != 1.0}
        for name, format in self.formats_.items():
            days = as_days(X[name], format)
            self.first_days_[name] = float(np.nanmin(days))
            self.timed_ += [name] if have_times(days) else []
        self.texts_ = {}
        for column in used:
            if column.kind == "text" and self.one_hot:
                self.texts_[column.name] = Text.of(as_text(X[column.name]))
            if column.kind == "number" and is_text(X[column.name]):
                self.decimals_[column.name] = decimal_sign(as_text(X[column.name]))
            if column.kind == "boolean":
                texts = set(as_text(X[column.name]))
                self.pairs_[column.name] = sorted(texts - {""} if column.n_values == 2 else texts)

    def _parts(self, frame: Any) -> Any:
        """Return the used columns as floats and text, with gaps.

        A column's name is the number of its source and the suffix of the output, such as "=yes".
        """
        import pandas as pd

        read_numbers = as_numbers if self.one_hot else as_floats
        parts: dict[str, Any] = {}
        for number, (name, kind) in enumerate(self.kinds_.items()):
            series, key = frame[name], f"{number:{_DIGITS}d}"
            if kind == "number":
                decimal, unit = self.decimals_.get(name, "."), self.units_.get(name, 1.0)
                parts[key] = read_numbers(series, decimal, unit)
            elif kind == "boolean":
                pair = self.pairs_[name]
                parts[f"{key}={pair[1]}"] = _zero_or_one(as_text(series), pair)
            elif kind == "date":
                days = as_days(series, self.formats_[name])
                own = date_parts(days, self.first_days_[name], timed=name in self.timed_)
                parts |= {f"{key}: {part}": values for part, values in own.items()}
            elif kind == "text" and self.one_hot:
                found = self.texts_[name].apply(as_text(series))
                parts |= {f"{key}: text {k}": values for k, values in enumerate(found.T, 1)}
            else:
                texts = as_text(series)
                parts[key] = texts if self.one_hot else _words(texts, is_text=kind == "text")
        return pd.DataFrame(parts, copy=self.one_hot)

    def _words_and_numbers(self, frame: Any) -> Any:
        """Return numbers with gaps, and words or None; columns of floats are not copied."""
        parts = self._parts(frame)
        parts.columns, parts.index = self.outputs_, frame.index
        return parts

    def _name_outputs(self, parts: Any) -> None:
        """Set the names of the outputs, and their source columns."""
        keys: list[str] = [] if self.one_hot else list(parts.columns)
        for step, transformer, names in self.columns_.transformers_ if self.one_hot else ():
            if step == "categories":
                keys += _category_names(transformer, names)
                continue
            keys += names
            if transformer.indicator_ is not None:
                keys += [f"{names[k]}=missing" for k in transformer.indicator_.features_]
        used = list(self.kinds_)
        self.sources_ = [used[int(key[:_DIGITS])] for key in keys]
        self.outputs_ = [
            source + key[_DIGITS:] for source, key in zip(self.sources_, keys, strict=True)
        ]


def _frame(X: Any) -> Any:
    if not hasattr(X, "columns") or not hasattr(X, "iloc"):
        raise TableError("X must be a pandas.DataFrame; read_table reads one from a file.")
    return X


def _transformer(parts: Any) -> ColumnTransformer:
    numbers = [name for name in parts if parts[name].dtype.kind == "f"]
    share = parts[numbers].isna().mean()
    with_gaps = [
        name for name in numbers if share[name] >= MIN_GAPS and not name.endswith(_NO_INDICATOR)
    ]
    others = [name for name in numbers if name not in set(with_gaps)]
    texts = [name for name in parts if name not in set(numbers)]
    categories = OneHotEncoder(
        max_categories=MAX_CATEGORIES + 1,
        min_frequency=2,
        handle_unknown="infrequent_if_exist",
        sparse_output=False,
    )
    steps = [
        ("numbers", SimpleImputer(strategy="median", keep_empty_features=True), others),
        (
            "numbers with gaps",
            SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True),
            with_gaps,
        ),
        ("categories", categories, texts),
    ]
    return ColumnTransformer([step for step in steps if step[2]], sparse_threshold=0.0)


def _words(texts: Any, *, is_text: bool) -> Any:
    """Return words with None for gaps: objects if they are text, else a category of pandas."""
    import pandas as pd

    found = np.where(texts == "", None, texts)
    return found if is_text else pd.Categorical(found)


def _zero_or_one(texts: Any, pair: list[str]) -> Array:
    values = np.full(len(texts), np.nan)
    values[texts == pair[0]] = 0.0
    values[texts == pair[1]] = 1.0
    return values


def _category_names(encoder: OneHotEncoder, names: list[str]) -> list[str]:
    outputs = []
    for name, values, rare in zip(
        names, encoder.categories_, encoder.infrequent_categories_, strict=True
    ):
        few = set() if rare is None else set(rare)
        outputs += [f"{name}={value or 'missing'}" for value in values if value not in few]
        outputs += [f"{name}=other"] if few else []
    return outputs


@dataclass(frozen=True)
class Weight:
    """How much a column of the table counts for a model.

    Parameters
    ----------
    column : str
        The column.
    share : float
        Its share of the weights, summed over its encoded columns; all shares sum to one.
    features : dict of str to float
        The share of each of its encoded columns.
    """

    column: str
    share: float
    features: dict[str, float]


def column_weights(model: Any, columns: Any = None) -> list[Weight]:
    """Return how much each column of the table counts, the largest first.

    Parameters
    ----------
    model : estimator
        A fitted model, for instance by `kernelwise.app.evaluation.fit_table`.
    columns : sequence of str, default=None
        The names of the table's columns, where the model does not know them.

    Returns
    -------
    weights : list of Weight
        One entry per column that is used; empty where the model weighs all columns alike.
    """
    importances = getattr(final_estimator(model), "feature_importances_", None)
    if importances is None:
        return []
    shares = np.abs(np.asarray(importances, dtype=np.float64))
    shares = shares / (shares.sum() or 1.0)
    encoder = table_encoder(model)
    if encoder is not None and len(encoder.outputs_) == len(shares):
        sources, outputs = encoder.sources_, encoder.outputs_
    else:
        sources = outputs = names_of_weights(model, len(shares), columns)
    features: dict[str, dict[str, float]] = {}
    for source, output, share in zip(sources, outputs, shares.tolist(), strict=True):
        features.setdefault(source, {})[output] = share
    weights = [Weight(name, sum(own.values()), own) for name, own in features.items()]
    return sorted(weights, key=lambda weight: -weight.share)


def table_encoder(model: Any) -> TableEncoder | None:
    """Return the first step of a pipeline where that takes tables as they are read, else None."""
    first = model[0] if isinstance(model, Pipeline) else None
    return first if isinstance(first, TableEncoder) else None
