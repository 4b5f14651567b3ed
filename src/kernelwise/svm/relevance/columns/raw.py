"""Columns of a table as they come: data frames by duck typing, arrays of numbers, words, objects.

Nothing here imports a library of data frames. A column is an array, or a Series with a dtype whose
name says what it holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from numbers import Number
from typing import Any

import numpy as np

from ...._typing import Array, Index
from ....values.dates import read_dates
from ....values.reading import DATE, ID, TEXT, Reading
from ....values.reading import NUMBER as DRESSED
from ....values.words import as_words

NUMBER, CATEGORY, OBJECTS = "number", "category", "objects"
# Names of dtypes, in lower case: those of NumPy, pandas, Arrow and polars.
_DATES = re.compile(r"datetime|date$|duration\(")  # of pandas with a time zone, and of polars
_NUMBERS = re.compile(
    rf"u?int|float|double|half|decimal|bool|null|sparse\[(u?int|float|bool)|{_DATES.pattern}"
)
_CATEGORIES = re.compile(r"categor|enum|dictionary|large_string|string|str|utf8")
_WORDS = re.compile(r"large_string|string|str|utf8")  # types of words that are no categories yet
_INTEGERS = re.compile(r"u?int")
_MISSING = {"NAType", "NaTType", "NoneType"}

Level = str | float  # numbers and booleans are floats: 1, 1.0 and True are one level


def is_frame(X: Any) -> bool:
    """Return whether X is a data frame, of pandas or polars for instance."""
    return hasattr(X, "columns") and hasattr(X, "dtypes")


@dataclass(frozen=True)
class RawColumn:
    """One column of a table."""

    name: str  # its name, or x0, x1, ... in an array
    values: Any
    # whether it comes from a data frame, whose words are categories even if they look like numbers.
    # An array with words holds its numbers as words or objects, too
    of_frame: bool

    @property
    def kind(self) -> str:
        """What the column holds: "number" or "category"; an error for other types."""
        kind = self._kind_of_type()
        return self._kind_of_objects() if kind == OBJECTS else kind

    def _kind_of_type(self) -> str:
        """Return what values of this type are; an error for types such as dates."""
        dtype = self.values.dtype
        kind = dtype.kind if isinstance(dtype, np.dtype) else None
        name = str(dtype).lower()
        if kind in set("biufmM") or (kind is None and _NUMBERS.match(name)):
            return NUMBER
        if kind in set("OSU") or name == "object":
            return OBJECTS
        if _CATEGORIES.match(name):
            return CATEGORY
        raise ValueError(
            f"column {self.name!r} is of type {dtype}, which is neither a number nor a category; "
            "encode the table with kernelwise.app.tabular.TableEncoder first, which takes dates, "
            "or leave the column out."
        )

    def _kind_of_objects(self) -> str:
        if not self.of_frame:
            return CATEGORY if _as_floats(self.values) is None else NUMBER
        listed = self._listed()
        # Words, with gaps or floats: the test value by value takes much longer.
        if set(map(type, listed)) - {float, type(None)} == {str}:
            return CATEGORY
        kinds = {_type_of(value) for value in listed} - {None}
        return CATEGORY if str in kinds else NUMBER if kinds else CATEGORY

    def _listed(self) -> list[Any]:
        values: Any = self.values  # in pandas, to_list is slow for types of Arrow
        listed: list[Any]
        listed = values.astype(object).tolist() if hasattr(values, "astype") else values.to_list()
        return listed

    def numbers(self) -> Array:
        """Return the values as float64, NaN where they are missing; an error for words.

        Dates are days since 1970, and durations are days.
        """
        values = self.values
        found: Array | None
        if isinstance(values.dtype, np.dtype) and values.dtype.kind in "biuf":
            found = np.asarray(values, dtype=np.float64)
        elif _is_time(values.dtype):
            found = _as_days(values)
        else:
            of_objects = self._kind_of_type() == OBJECTS
            found = _as_floats(values) if of_objects else _series_as_floats(values)
        if found is None:
            word = next(value for value in values if _as_floats([value]) is None)
            raise ValueError(
                f"column {self.name!r} holds numbers, but has the value {word!r}; make it a "
                "number, or declare the column with categorical_features and fit again."
            )
        return found

    def reading(self) -> Reading:
        """Learn how the column is read: words may be dates, text, or numbers in a dress."""
        dtype = self.values.dtype
        if _is_time(dtype):
            return Reading() if _is_duration(dtype) else Reading.of_days(_as_days(self.values))
        if self.of_frame and _INTEGERS.match(str(dtype).lower()):
            return Reading.of_numbers(self.name, self.numbers())
        return Reading.of_words(self._words()) if self._holds_words() else Reading()

    def read(self, reading: Reading) -> list[RawColumn]:
        """Return the columns that the column becomes."""
        if reading.kind == ID:
            return []
        if reading.kind == DATE:
            is_time = _is_time(self.values.dtype)
            days = _as_days(self.values) if is_time else read_dates(self._words(), reading.format)
            found = reading.of_dates(days)
        elif reading.kind == TEXT or (reading.kind == DRESSED and self._holds_words()):
            found = reading.of_texts(self._words())
        else:
            return [self]
        return [RawColumn(self.name, values, self.of_frame) for values in found]

    def _holds_words(self) -> bool:
        """Return whether words or dates are among the values, of no type for categories."""
        dtype = self.values.dtype
        if isinstance(dtype, np.dtype) and dtype.kind != "O":
            return dtype.kind in "SU" and self.kind == CATEGORY
        name = str(dtype).lower()
        if name != "object":
            return bool(_WORDS.match(name))
        kinds = {type(value) for value in self._listed() if _level(value) is not None}
        if not self.of_frame and str in kinds:
            return self.kind == CATEGORY
        return any(issubclass(kind, str | date) for kind in kinds)

    def _words(self) -> Any:
        listed = self._listed()
        return as_words(None if _level(value) is None else value for value in listed)

    def levels(self) -> tuple[Index, list[Level | None]]:
        """Return the place of each value in a list of different values; None there is missing.

        Values that are neither words nor numbers count by their text, such as intervals.
        """
        values = self.values
        accessor: Any = getattr(values, "cat", None)
        if hasattr(accessor, "codes"):  # a category of pandas: as many conversions as levels
            levels = [_level(value) for value in accessor.categories.tolist()]
            places = np.asarray(accessor.codes, dtype=np.intp)
            return np.where(places < 0, len(levels), places), [*levels, None]
        if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
            numbers, places = np.unique(values, return_inverse=True)
            return places, [_level(value) for value in numbers.tolist()]
        found: dict[Any, int] = {}
        listed = self._listed()
        try:
            places = np.array([found.setdefault(v, len(found)) for v in listed], dtype=np.intp)
        except TypeError:
            raise TypeError(
                f"column {self.name!r} holds values that cannot be compared, such as "
                f"{next(v for v in listed if not _is_hashable(v))!r}; a category's argument must "
                "be a string or a number."
            ) from None
        return places, [_level(value) for value in found]


def columns_of(X: Any, names: Sequence[str]) -> list[RawColumn]:
    """Return the columns of a data frame or of a two-dimensional array."""
    if not is_frame(X):
        return [RawColumn(name, X[:, j], False) for j, name in enumerate(names)]
    if hasattr(X, "iloc"):  # names may stand for several columns in pandas
        return [RawColumn(name, X.iloc[:, j], True) for j, name in enumerate(names)]
    return [RawColumn(name, X[own], True) for name, own in zip(names, X.columns, strict=True)]


def _is_time(dtype: Any) -> bool:
    kind = dtype.kind if isinstance(dtype, np.dtype) else None
    return kind in {"m", "M"} or (kind is None and bool(_DATES.match(str(dtype).lower())))


def _is_duration(dtype: Any) -> bool:
    return bool(re.match(r"duration|timedelta", str(dtype).lower()))


def _as_days(values: Any) -> Array:
    """Return dates or durations of numpy, pandas or polars as days."""
    unit = "timedelta64[us]" if _is_duration(values.dtype) else "datetime64[us]"
    if hasattr(values, "iloc"):
        times = values.to_numpy(dtype=unit)
    else:
        times = (values.to_numpy() if hasattr(values, "to_numpy") else values).astype(unit)
    return np.where(np.isnat(times), np.nan, times.astype(np.int64) / 86_400e6)


def _level(value: Any) -> Level | None:
    if type(value) is str:  # nearly all levels; the other tests take ten times as long
        return value
    if type(value).__name__ in _MISSING or (isinstance(value, Number) and value != value):
        return None
    if isinstance(value, Number) and not isinstance(value, complex):
        return float(value)  # type: ignore[arg-type]
    return value.decode() if isinstance(value, bytes) else str(value)


def _type_of(value: Any) -> type | None:
    """Return str for words, float for numbers, and None for missing values; else an error."""
    level = _level(value)
    if level is None or isinstance(level, float):
        return None if level is None else float
    if isinstance(value, str | bytes):
        return str
    raise ValueError(
        f"X holds a value of type {type(value).__name__}, {value!r}; a table of objects takes "
        "words and numbers. Encode it with kernelwise.app.tabular.TableEncoder first, which takes "
        "dates too."
    )


def _as_floats(values: Iterable[Any]) -> Array | None:
    """Return objects as floats, NaN where they are missing; None where one is not a number."""
    try:
        listed = [np.nan if _level(value) is None else float(value) for value in values]
    except (TypeError, ValueError):
        return None
    return np.array(listed, dtype=np.float64)


def _series_as_floats(values: Any) -> Array | None:
    """Return a Series of a nullable type as floats; None where it holds something else."""
    try:
        if hasattr(values, "iloc"):
            return np.asarray(values.to_numpy(dtype=np.float64, na_value=np.nan))
        return np.array(values.cast(float).to_numpy(), dtype=np.float64)
    except Exception:  # of whatever class the library raises for words
        return _as_floats(values)


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True
