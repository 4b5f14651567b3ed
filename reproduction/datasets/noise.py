"""Add noise columns to real data."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kernelwise._typing import Array


def make_noisy(
    X: ArrayLike,
    *,
    n_noise: int | None = None,
    source: ArrayLike | None = None,
    random_state: int | np.random.Generator | None = None,
) -> Array:
    """Append columns that are unrelated to the classes, as many as there are unless told.

    With a `source`, each draws its entries from the known values of one feature of that set, and
    features are used again only after all have been used: the noise of the dual-objective paper.
    Otherwise the entries are standard normal.
    """
    real = np.asarray(X, dtype=float)
    count = real.shape[1] if n_noise is None else n_noise
    rng = np.random.default_rng(random_state)
    if source is None:
        return np.hstack([real, rng.normal(size=(len(real), count))])
    return np.hstack([real, noise_columns(len(real), count, np.asarray(source, dtype=float), rng)])


def noise_columns(n: int, p: int, source: Array, rng: np.random.Generator) -> Array:
    """Draw n entries of p columns, each from the known values of one feature of `source`."""
    n_features = source.shape[1] if source.ndim == 2 else 0
    if not n_features or np.isnan(source).all(axis=0).any():
        raise ValueError("source must have two dimensions and a number in every column.")
    rounds = [rng.permutation(n_features) for _ in range(-(-p // n_features))]
    drawn = np.empty((n, p))
    for column, feature in enumerate(np.concatenate([*rounds, []])[:p].astype(int)):
        values = source[:, feature]
        drawn[:, column] = rng.choice(values[~np.isnan(values)], n)
    return drawn
