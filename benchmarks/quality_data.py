"""The splits on which accuracy is measured: what a contender is trained on and tested with."""

import csv
import gzip
from dataclasses import dataclass
from functools import cache

import numpy as np

from . import data
from .quality_names import FEWEST_ROWS, NOISE, QUICK_SETS, SIGNS, SIGNS_CONDITION
from .rounds import Round

_LEFT_OUT = {"wpbc": "time", "horse_colic": "outcome"}  # known only when the class is
_DIGITS_ROWS = 400
_TRAIN, _TEST = 300, 2000  # rows of a product of signs


@dataclass(frozen=True)
class Columns:
    """Numbers or codes of words, NaN where one is missing; `words` counts those of a column."""

    X: np.ndarray
    y: np.ndarray
    words: np.ndarray

    def filled(self, train: np.ndarray) -> np.ndarray:
        """Put the most frequent word of the training rows where one is missing, and code words.

        Two words are one column, more are a column each. Numbers that are missing stay so.
        """
        parts = []
        for column, words in zip(self.X.T, self.words, strict=True):
            if not words:
                parts.append(column[:, None])
                continue
            known = column[train][~np.isnan(column[train])].astype(int)
            usual = np.bincount(known, minlength=words).argmax()
            codes = np.where(np.isnan(column), usual, column).astype(int)
            parts.append(np.eye(words)[codes][:, 1 if words == 2 else 0 :])
        return np.hstack(parts)


@cache
def read(name: str) -> Columns:
    """Read a set, without the classes that have too few rows."""
    if name == "digits":
        found = _digits()
    elif name in QUICK_SETS:
        table = data.read(name)
        found = Columns(table.X, table.y, np.zeros(table.X.shape[1], dtype=int))
    else:
        found = _from_folder(name)
    kept = np.bincount(found.y)[found.y] >= FEWEST_ROWS
    return Columns(found.X[kept], np.unique(found.y[kept], return_inverse=True)[1], found.words)


def _digits() -> Columns:
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    X, y = load_digits(return_X_y=True)
    X, _, y, _ = train_test_split(X, y, train_size=_DIGITS_ROWS, stratify=y, random_state=0)
    return Columns(X, y, np.zeros(X.shape[1], dtype=int))


def _from_folder(name: str) -> Columns:
    path = data.folder() / f"{name}.csv.gz"
    if not path.is_file():
        raise SystemExit(f"The folder that {data.VARIABLE} names has no {path.name}.")
    with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        header, *rows = csv.reader(lines)
    *cells, target = zip(*rows, strict=True)
    columns = [
        _codes(column)
        for title, column in zip(header, cells, strict=False)
        if title != _LEFT_OUT.get(name)
    ]
    X = np.column_stack([numbers for numbers, _ in columns])
    y = np.unique(target, return_inverse=True)[1]
    return Columns(X, y, np.array([words for _, words in columns]))


def _codes(column: tuple[str, ...]) -> tuple[np.ndarray, int]:
    """Return the numbers of a column and 0, or codes of its words and how many there are."""
    words = sorted({cell for cell in column if cell})
    try:
        code = {word: float(word) for word in words}
        count = 0
    except ValueError:
        code = {word: float(i) for i, word in enumerate(words)}
        count = len(words)
    return np.array([code.get(cell, np.nan) for cell in column]), count


def generator(seed: int, *names: str) -> np.random.Generator:
    """Return random numbers that belong to a seed and to what is drawn."""
    return np.random.default_rng([seed, *"/".join(names).encode()])


def whole(name: str, condition: str, seed: int, train: np.ndarray) -> data.Table:
    """Return a set with its noise columns; words are filled in by the training rows."""
    columns = read(name)
    X = columns.filled(train)
    noise = generator(seed, name, condition).normal(size=(len(X), NOISE[condition] * X.shape[1]))
    return data.Table(np.hstack([X, noise]), columns.y)


def draw(name: str, condition: str, seed: int) -> Round:
    """Return training and test rows, standardised by the training rows, of a seed."""
    from sklearn.model_selection import train_test_split

    if condition == SIGNS_CONDITION:
        return _signs(name, seed)
    y = read(name).y
    train, test = train_test_split(np.arange(len(y)), test_size=0.2, stratify=y, random_state=seed)
    # Noise has the scale of the standardised columns: all are standardised after it is appended.
    return Round.of(whole(name, condition, seed, train), train, test)


def _signs(name: str, seed: int) -> Round:
    factors, inputs = SIGNS[name]
    X = generator(seed, name).normal(size=(_TRAIN + _TEST, inputs))
    y = (X[:, :factors].prod(axis=1) > 0).astype(int)
    rows = np.arange(len(X))
    return Round.of(data.Table(X, y), rows[:_TRAIN], rows[_TRAIN:])
