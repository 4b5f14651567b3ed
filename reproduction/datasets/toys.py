"""Synthetic problems with a known answer."""

from __future__ import annotations

import numpy as np

from kernelwise._typing import Array, Index

Seed = int | np.random.Generator | None


def make_mirror_symmetry(
    n_samples: int = 200, n_features: int = 30, *, random_state: Seed = None
) -> tuple[Array, Index]:
    """Make strings of -1 and +1, half of which are mirror symmetric.

    This is the problem of the adaptive-kernel paper. No single column says anything about the
    class.
    """
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
    """
    y = (np.arange(n_samples) >= n_samples - n_samples // 2).astype(np.intp)
    noise = np.random.default_rng(random_state).normal(size=(n_samples, len(mean)))
    return noise + y[:, None] * np.asarray(mean), y


def make_sign_product(
    n_samples: int = 300, n_features: int = 20, *, n_factors: int = 2, random_state: Seed = None
) -> tuple[Array, Index]:
    """Make normal columns, with the sign of the product of the first ones as the class.

    This is XOR among noise: the columns matter only together, so no measure of a single column
    finds them.
    """
    X = np.random.default_rng(random_state).normal(size=(n_samples, n_features))
    return X, (X[:, :n_factors].prod(axis=1) > 0).astype(np.intp)
