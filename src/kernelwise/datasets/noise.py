"""Add noise columns to real data."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .._checks import as_real
from .._typing import Array


def make_noisy(
    X: ArrayLike,
    *,
    n_noise: int | None = None,
    source: ArrayLike | None = None,
    random_state: int | np.random.Generator | None = None,
) -> Array:
    """Append columns that are unrelated to the classes.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Real columns; NaN is allowed.
    n_noise : int, default=None
        Number of noise columns; None is the number of real columns.
    source : array-like of shape (n_source, n_source_features), default=None
        Another data set. Each noise column draws its entries independently from the known values
        of one feature of that set; features are used again only after all have been used. This is
        the noise of the dual-objective paper. With None the entries are standard normal: then
        standardise the real columns before, or all columns afterwards.
    random_state : int, Generator or None, default=None
        Seed, or a random generator.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features + n_noise)
        The real columns, then the noise.

    Examples
    --------
    >>> from kernelwise.datasets import load_dataset, make_noisy
    >>> iris, wine = load_dataset("iris"), load_dataset("wine")
    >>> make_noisy(iris.X, source=wine.X, random_state=0).shape
    (150, 8)
    """
    real = as_real(X, "X")
    if real.ndim != 2:
        raise ValueError(f"X must have two dimensions, not {real.ndim}.")
    count = real.shape[1] if n_noise is None else n_noise
    if count < 0:
        raise ValueError(f"n_noise={n_noise} must not be negative.")
    rng = np.random.default_rng(random_state)
    if source is None:
        return np.hstack([real, rng.normal(size=(len(real), count))])
    return np.hstack([real, noise_columns(len(real), count, as_real(source, "source"), rng)])


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
