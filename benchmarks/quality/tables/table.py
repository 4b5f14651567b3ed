"""A table: where it is, what is predicted, and which columns are categories."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from . import sources

_MIN_ROWS = 10  # rows below which a class is dropped
_WORDS = re.compile(r"`([^`]+)`|\b([A-Za-z_][\w.]*)")


@dataclass(frozen=True)
class TableSpec:
    """A table of a data package.

    Parameters
    ----------
    name : str
        Name on the page.
    source : str
        Package and file: see `sources.read`.
    target : str
        Column, or condition on columns (pandas' expressions); True is class 1.
    drop : str, default=""
        Columns that are copies of others, identify rows, or become known with the target.
    categories : str, default=""
        Columns of numbers that are codes; columns of text are categories anyway.
    keep : str, default=""
        Condition on rows; empty keeps all.
    rows : int, default=2000
        Largest number of rows: a larger table is sampled, by class.
    numbers : bool, default=False
        Whether the target is a number.
    """

    name: str
    source: str
    target: str
    drop: str = ""
    categories: str = ""
    keep: str = ""
    rows: int = 2000
    numbers: bool = False


@dataclass(frozen=True)
class Table:
    """A data frame with pandas' categories and gaps, and numbers or classes coded 0, 1, ..."""

    X: Any
    y: np.ndarray


@cache
def load(spec: TableSpec) -> Table:
    """Read a table and prepare its columns; nothing is fitted to the rows."""
    frame = sources.read(spec.source).reset_index(drop=True)
    if spec.keep:
        frame = frame[frame.eval(spec.keep)]
    used = [column for column in words(spec.target) if column in frame.columns]
    frame = frame.dropna(subset=used)
    target = frame.eval(spec.target)
    y = np.asarray(target, dtype=float) if spec.numbers else _classes(target)
    frame = frame.drop(columns=[*used, *(c for c in spec.drop.split() if c not in used)])
    frame, y = _frequent(frame, y)
    if len(y) > spec.rows:
        rows, _ = split_rows(y, 0, train_size=spec.rows)
        frame, y = _frequent(frame.iloc[rows], y[rows])
    return Table(_typed(frame.reset_index(drop=True), spec.categories.split()), y)


def _frequent(frame: Any, y: np.ndarray) -> tuple[Any, np.ndarray]:
    """Drop the rows of rare classes, and code the others 0, 1, ..."""
    if y.dtype.kind != "i":
        return frame, y
    kept = np.bincount(y)[y] >= _MIN_ROWS
    return frame[kept], np.unique(y[kept], return_inverse=True)[1]


def split_rows(y: np.ndarray, seed: int, **sizes: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return sorted rows of the two parts of a random split, by class if y has classes."""
    from sklearn.model_selection import train_test_split

    classes = y if y.dtype.kind == "i" else None
    parts = train_test_split(np.arange(len(y)), stratify=classes, random_state=seed, **sizes)
    return np.sort(parts[0]), np.sort(parts[1])


def words(expression: str) -> list[str]:
    """Return the names in an expression, without quoted text."""
    expression = re.sub(r"'[^']*'|\"[^\"]*\"", "", expression)
    return [quoted or plain for quoted, plain in _WORDS.findall(expression)]


def _classes(values: Any) -> np.ndarray:
    return np.unique(np.asarray(values).astype(str), return_inverse=True)[1]


def _typed(frame: Any, codes: list[str]) -> Any:
    """Return the frame with float columns and categories only, without constant columns."""
    from pandas.api.types import is_numeric_dtype

    found = {}
    for column in frame.columns:
        values = frame[column]
        if values.nunique() < 2:
            continue
        if column in codes or not is_numeric_dtype(values):
            found[column] = values.astype("object").map(_level, na_action="ignore")
            found[column] = found[column].astype("category")
        else:
            found[column] = values.astype(float)
    return type(frame)(found)


def _level(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
