"""From a table with columns of all kinds to a matrix of numbers."""

from __future__ import annotations

import warnings
from collections.abc import Collection
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.validation import check_is_fitted

from .._typing import Array
from .column_values import as_dates, as_numbers, as_text, have_times, is_text
from .columns import MANY_GAPS, MOST_CATEGORIES, Column, describe_columns
from .errors import TableError, named
from .number_parsing import decimal_sign

_DAY = 86400.0
_DIGITS = 7  # of the places of columns
_SAID_BY_DAYS = (
    ": year",
    ": month",
    ": day of week",
    ": hour",
)  # one column tells of the gaps of a date


class TableEncoder(TransformerMixin, BaseEstimator):
    """Make a matrix of numbers from a table with numbers, categories, text and dates.

    What is made of each column is what `describe_columns` tells. Numbers stay, with the median in
    the place of gaps and a column that tells of them where at least 5 % are missing; categories
    are a column each; dates are year, month, day of week, days and, where they have one, the hour.

    Parameters
    ----------
    drop : collection of str, default=()
        Columns that are not wanted.
    keep : collection of str, default=()
        Columns that are wanted although they look like an id.

    Attributes
    ----------
    kinds_ : dict of str to str
        The kind of each column that is used.
    unused_ : list of str
        Columns of the training table that are not used.
    sources_ : list of str
        For each column of the matrix the column of the table that it comes from.
    n_features_in_ : int
        The number of columns of the table.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names.

    Notes
    -----
    While predicting, columns may come in any order; those that the encoder does not know are left
    out with a warning, and one that is missing is an error. A category that is new counts as
    'other' where the training table had rare ones, else as none. Numbers may come as text; what is
    no number is missing.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernelwise.tabular import TableEncoder
    >>> frame = pd.DataFrame({"size": [1, None, 3], "colour": ["red", "blue", "red"]})
    >>> encoder = TableEncoder().fit(frame)
    >>> encoder.transform(frame).tolist()
    [[1.0, 1.0, 0.0], [0.0, 2.0, 1.0], [1.0, 3.0, 0.0]]
    >>> encoder.get_feature_names_out().tolist()
    ['colour=red', 'size', 'size=missing']
    """

    def __init__(self, drop: Collection[str] = (), keep: Collection[str] = ()) -> None:
        self.drop = drop
        self.keep = keep

    def fit(self, X: Any, y: Any = None) -> TableEncoder:
        """Learn what the columns are, from the training rows.

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
        columns = describe_columns(_frame(X), drop=self.drop, keep=self.keep)
        used = [column for column in columns if column.used]
        if not used:
            reasons = (f"{column.name!r} ({column.why})" for column in columns)
            raise TableError(f"no column is left to learn from: {', '.join(list(reasons)[:5])}.")
        self.feature_names_in_ = np.array([column.name for column in columns], dtype=object)
        self.n_features_in_ = len(columns)
        self.kinds_ = {column.name: column.kind for column in used}
        self.unused_ = [column.name for column in columns if not column.used]
        self._learn_values(X, used)
        parts = self._parts(X)
        self.columns_ = _transformer(parts).fit(parts)
        self._name_outputs()
        return self

    def transform(self, X: Any) -> Array:
        """Return the rows as numbers.

        Parameters
        ----------
        X : pandas.DataFrame
            The table.

        Returns
        -------
        matrix : ndarray of shape (n_rows, n_outputs)
            A row a row, without gaps.
        """
        check_is_fitted(self)
        frame = _frame(X)
        names = {str(name): None for name in frame.columns}
        lacking = [name for name in self.kinds_ if name not in names]
        if lacking:
            raise TableError(f"the table lacks columns that the model needs: {named(lacking)}.")
        known = set(self.feature_names_in_)
        extra = [name for name in names if name not in known]
        if extra:
            warnings.warn(
                f"columns that the model does not know are left out: {named(extra)}", stacklevel=2
            )
        if not len(frame):
            raise TableError("the table has no rows.")
        with warnings.catch_warnings():  # of a category that is new: documented, and no news
            warnings.filterwarnings("ignore", message="Found unknown categories")
            return np.asarray(self.columns_.transform(self._parts(frame)), dtype=float)

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
        """Set what dates, numbers in text and pairs of words need beside their kind."""
        self.formats_ = {column.name: column.format for column in used if column.kind == "date"}
        self.first_days_, self.timed_, self.decimals_, self.pairs_ = {}, [], {}, {}
        for name, format in self.formats_.items():
            dates = as_dates(X[name], format)
            self.first_days_[name] = float(np.nanmin(_days(dates)))
            self.timed_ += [name] if have_times(dates) else []
        for column in used:
            if column.kind == "number" and is_text(X[column.name]):
                self.decimals_[column.name] = decimal_sign(as_text(X[column.name]))
            if column.kind == "boolean":
                texts = set(as_text(X[column.name]))
                self.pairs_[column.name] = sorted(texts - {""} if column.n_values == 2 else texts)

    def _parts(self, frame: Any) -> Any:
        """Return a frame of floats and text, with gaps, from which the matrix is made.

        Its columns are called by the place of their source and what is added to its name.
        """
        import pandas as pd

        parts: dict[str, Any] = {}
        for place, (name, kind) in enumerate(self.kinds_.items()):
            series, key = frame[name], f"{place:{_DIGITS}d}"
            if kind == "number":
                parts[key] = as_numbers(series, self.decimals_.get(name, "."))
            elif kind == "boolean":
                pair = self.pairs_[name]
                parts[f"{key}={pair[1]}"] = _zero_or_one(as_text(series), pair)
            elif kind == "date":
                for part, values in self._date_parts(name, series).items():
                    parts[f"{key}: {part}"] = values
            else:
                parts[key] = as_text(series)
        return pd.DataFrame(parts)

    def _date_parts(self, name: str, series: Any) -> dict[str, Array]:
        dates = as_dates(series, self.formats_[name])
        own = {
            "year": dates.dt.year,
            "month": dates.dt.month,
            "day of week": dates.dt.day_of_week,
        }
        if name in self.timed_:
            own["hour"] = dates.dt.hour + dates.dt.minute / 60
        parts = {part: v.to_numpy(dtype=float, na_value=np.nan) for part, v in own.items()}
        return parts | {"days": _days(dates) - self.first_days_[name]}

    def _name_outputs(self) -> None:
        """Set the names of the outputs, and the columns that they come from."""
        keys: list[str] = []
        for step, transformer, names in self.columns_.transformers_:
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
        raise TableError("X must be a pandas.DataFrame; read_table makes one of a file.")
    return X


def _transformer(parts: Any) -> ColumnTransformer:
    numbers = [name for name in parts if parts[name].dtype.kind == "f"]
    share = parts[numbers].isna().mean()
    told = [name for name in numbers if not name.endswith(_SAID_BY_DAYS)]
    with_gaps = [name for name in told if share[name] >= MANY_GAPS]
    tight = [name for name in numbers if name not in set(with_gaps)]
    texts = [name for name in parts if name not in set(numbers)]
    categories = OneHotEncoder(
        max_categories=MOST_CATEGORIES + 1,
        min_frequency=2,
        handle_unknown="infrequent_if_exist",
        sparse_output=False,
    )
    steps = [
        ("numbers", SimpleImputer(strategy="median", keep_empty_features=True), tight),
        (
            "numbers with gaps",
            SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True),
            with_gaps,
        ),
        ("categories", categories, texts),
    ]
    return ColumnTransformer([step for step in steps if step[2]], sparse_threshold=0.0)


def _zero_or_one(texts: Any, pair: list[str]) -> Array:
    values = np.full(len(texts), np.nan)
    values[texts == pair[0]] = 0.0
    values[texts == pair[1]] = 1.0
    return values


def _days(dates: Any) -> Array:
    """Return days since 1970; in seconds first, which reach further than nanoseconds."""
    seconds = dates.to_numpy().astype("datetime64[s]")
    return np.where(np.isnat(seconds), np.nan, seconds.astype(np.int64) / _DAY)


def _category_names(encoder: OneHotEncoder, names: list[str]) -> list[str]:
    outputs = []
    for name, values, rare in zip(
        names, encoder.categories_, encoder.infrequent_categories_, strict=True
    ):
        few = set() if rare is None else set(rare)
        outputs += [f"{name}={value or 'missing'}" for value in values if value not in few]
        outputs += [f"{name}=other"] if few else []
    return outputs
