"""Synthetic problems with a known answer."""

from __future__ import annotations

import numpy as np

from .._checks import as_real, check_count
from .._typing import Array, Index

_LARGEST = np.iinfo(np.intp).max  # size of an array
Seed = int | np.random.Generator | None


def make_mirror_symmetry(
    n_samples: int = 200, n_features: int = 30, *, random_state: Seed = None
) -> tuple[Array, Index]:
    """Make strings of -1 and +1, half of which are mirror symmetric.

    This is the problem of the adaptive-kernel paper. No single column says anything about the
    class.

    Parameters
    ----------
    n_samples : int, default=200
        Number of strings; the classes differ by one if it is odd.
    n_features : int, default=30
        Length of a string, at least 2. The middle of an odd length is arbitrary.
    random_state : int, Generator or None, default=None
        Seed, or a random generator.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        The strings.
    y : ndarray of shape (n_samples,)
        1 where a string is symmetric, else -1.

    Examples
    --------
    >>> from kernelwise.datasets import make_mirror_symmetry
    >>> X, y = make_mirror_symmetry(random_state=0)
    >>> bool(((X == X[:, ::-1]).all(axis=1) == (y == 1)).all())
    True
    """
    _at_least("n_samples", n_samples, 2)
    _at_least("n_features", n_features, 2)
    rng = np.random.default_rng(random_state)
    X = rng.choice([-1.0, 1.0], (n_samples, n_features))
    half = n_features // 2
    is_symmetric = rng.permutation(n_samples) < n_samples // 2
    X[is_symmetric, n_features - half :] = X[is_symmetric, :half][:, ::-1]
    # Strings of the other class that are symmetric by chance get one entry flipped.
    chance = np.flatnonzero(~is_symmetric & (X[:, ::-1] == X).all(axis=1))
    X[chance, rng.integers(half, size=len(chance))] *= -1
    return X, np.where(is_symmetric, 1, -1)


def make_two_gaussians(
    n_samples: int = 200, *, mean: tuple[float, ...] = (2.0, 1.0), random_state: Seed = None
) -> tuple[Array, Index]:
    """Make two classes with normal columns of unit variance, one centred at 0, one at `mean`.

    This is the toy problem of the feature-discrimination paper, with columns of different
    importance.

    Parameters
    ----------
    n_samples : int, default=200
        Number of rows; the classes differ by one if it is odd.
    mean : tuple of float, default=(2.0, 1.0)
        Centre of the second class, one number per column.
    random_state : int, Generator or None, default=None
        Seed, or a random generator.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        The rows of the first class, then those of the second.
    y : ndarray of shape (n_samples,)
        0 and 1.

    Examples
    --------
    >>> from kernelwise.datasets import make_two_gaussians
    >>> X, y = make_two_gaussians(random_state=0)
    >>> X.shape, int(y.sum())
    ((200, 2), 100)
    """
    _at_least("n_samples", n_samples, 2)
    y = (np.arange(n_samples) >= n_samples - n_samples // 2).astype(np.intp)
    noise = np.random.default_rng(random_state).normal(size=(n_samples, len(mean)))
    return noise + y[:, None] * as_real(mean, "mean"), y


def make_sign_product(
    n_samples: int = 300, n_features: int = 20, *, n_factors: int = 2, random_state: Seed = None
) -> tuple[Array, Index]:
    """Make normal columns, with the sign of the product of the first ones as the class.

    This is XOR among noise: the columns matter only together, so no measure of a single column
    finds them.

    Parameters
    ----------
    n_samples : int, default=300
        Number of rows.
    n_features : int, default=20
        Number of columns.
    n_factors : int, default=2
        Number of columns that are multiplied.
    random_state : int, Generator or None, default=None
        Seed, or a random generator.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        Standard normal columns.
    y : ndarray of shape (n_samples,)
        1 where the product is positive, else 0.

    Examples
    --------
    >>> from kernelwise.datasets import make_sign_product
    >>> X, y = make_sign_product(random_state=0)
    >>> bool(((X[:, 0] * X[:, 1] > 0) == (y == 1)).all())
    True
    """
    _at_least("n_samples", n_samples, 1)
    _at_least("n_factors", n_factors, 1)
    _at_least("n_features", n_features, n_factors)
    X = np.random.default_rng(random_state).normal(size=(n_samples, n_features))
    return X, (X[:, :n_factors].prod(axis=1) > 0).astype(np.intp)


def _at_least(name: str, value: int, least: int) -> None:
    check_count(value, name, least=least)
    if value > _LARGEST:
        raise ValueError(f"{name} must be at most {_LARGEST}.")
