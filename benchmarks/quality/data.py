"""The splits on which accuracy is measured."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from kernelwise.datasets import Dataset, load_dataset, make_noisy, make_sign_product
from kernelwise.datasets.dataset import make_encoder

from .. import data
from ..rounds import Round
from .names import FEWEST_ROWS, NOISE, QUICK_SETS, SIGNS, SIGNS_CONDITION

_DIGITS_ROWS = 400
_TRAIN, _TEST = 300, 2000  # rows of a product of signs


@dataclass(frozen=True)
class Columns:
    """Numbers or codes of categories, NaN if missing; `words` counts the categories by column."""

    X: np.ndarray
    y: np.ndarray
    words: np.ndarray

    def filled(self, train: np.ndarray) -> np.ndarray:
        """Impute missing categories by the most frequent one of the training rows, and code them.

        Two categories become one column, more become one column each. Missing numbers stay.
        """
        return make_encoder(self.words, missing="keep").fit(self.X[train]).transform(self.X)


@cache
def read(name: str) -> Columns:
    """Read a set, without classes that have too few rows."""
    if name == "digits":
        found = _digits()
    elif name in QUICK_SETS:
        table = data.read(name)
        found = Columns(table.X, table.y, np.zeros(table.X.shape[1], dtype=int))
    else:
        found = _columns(data.load(name, drop_leaks=True))
    kept = np.bincount(found.y)[found.y] >= FEWEST_ROWS
    return Columns(found.X[kept], np.unique(found.y[kept], return_inverse=True)[1], found.words)


def _columns(found: Dataset) -> Columns:
    return Columns(found.X, np.unique(found.y, return_inverse=True)[1], found.n_categories)


def _digits() -> Columns:
    from sklearn.model_selection import train_test_split

    whole = _columns(load_dataset("digits"))
    X, _, y, _ = train_test_split(
        whole.X, whole.y, train_size=_DIGITS_ROWS, stratify=whole.y, random_state=0
    )
    return Columns(X, y, whole.words)


def generator(seed: int, *names: str) -> np.random.Generator:
    """Return the random numbers of a seed and of what is drawn."""
    return np.random.default_rng([seed, *"/".join(names).encode()])


def whole(name: str, condition: str, seed: int, train: np.ndarray) -> data.Table:
    """Return a set with its noise columns; categories are imputed by the training rows."""
    columns = read(name)
    X = columns.filled(train)
    n_noise, rng = NOISE[condition] * X.shape[1], generator(seed, name, condition)
    return data.Table(make_noisy(X, n_noise=n_noise, random_state=rng), columns.y)


def draw(name: str, condition: str, seed: int) -> Round:
    """Return training and test rows of a seed, standardised by the training rows."""
    from sklearn.model_selection import train_test_split

    if condition == SIGNS_CONDITION:
        return _signs(name, seed)
    y = read(name).y
    train, test = train_test_split(np.arange(len(y)), test_size=0.2, stratify=y, random_state=seed)
    # Noise has the scale of the standardised columns: all are standardised after it is appended.
    return Round.of(whole(name, condition, seed, train), train, test)


def _signs(name: str, seed: int) -> Round:
    factors, inputs = SIGNS[name]
    X, y = make_sign_product(
        _TRAIN + _TEST, inputs, n_factors=factors, random_state=generator(seed, name)
    )
    rows = np.arange(len(X))
    return Round.of(data.Table(X, y), rows[:_TRAIN], rows[_TRAIN:])
