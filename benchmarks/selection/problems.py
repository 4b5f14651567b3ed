"""Tables whose relevant columns are known: rules of a few columns, and noise alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..problems import generator
from ..quality.generated import RULES, Rule

SMALL, WIDE = (300, 30), (100, 500)  # rows and columns
_NEIGHBOURS = 0.5  # correlation of neighbouring columns of a chain with relevant columns
_NOISE_NEIGHBOURS = 0.7  # the same in a chain without relevant columns


def _chain(X: np.ndarray, correlation: float) -> None:
    """Make the columns a chain in which neighbours correlate; writes them into X."""
    fresh = np.sqrt(1 - correlation**2)
    for k in range(1, X.shape[1]):
        X[:, k] = correlation * X[:, k - 1] + fresh * X[:, k]


def _linear_in_a_chain(X: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, int]:
    _chain(X, _NEIGHBOURS)
    return RULES["linear"](X, rng)


TRUTHS: dict[str, Rule] = RULES | {"linear, in a chain": _linear_in_a_chain}

Noise = Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray]]


def _normal(n: int, p: int) -> Noise:
    def draw(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        return rng.normal(size=(n, p)), rng.permutation(np.arange(n) % 2)

    return draw


def _unequal_in_a_chain(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    X = rng.normal(size=SMALL)
    _chain(X, _NOISE_NEIGHBOURS)
    return X, rng.permutation(np.arange(len(X)) % 4 == 0).astype(int)


def _tails_and_flags(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    X = rng.standard_t(2, size=SMALL)
    X[:, ::2] = X[:, ::2] > 0
    return X, rng.permutation(np.arange(len(X)) % 2)


def _rare(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return rng.normal(size=SMALL), rng.permutation(np.arange(SMALL[0]) % 20 == 0).astype(int)


NOISE: dict[str, Noise] = {
    "300 x 30": _normal(*SMALL),
    "300 x 30, chain, classes 1:3": _unequal_in_a_chain,
    "300 x 30, heavy tails and flags": _tails_and_flags,
    "300 x 30, classes 1:19": _rare,
    "100 x 500": _normal(*WIDE),
}
ODDS = {"2": 2.0, "0.8": 0.8, "0.4": 0.4, "1.2, a flag of 10 %": 1.2}  # factors of the log-odds
_MIXED = 1000, 6  # rows and columns; the last two columns are noise


def truth(name: str, shape: tuple[int, int], seed: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Return a table, its classes, and how many of the first columns are relevant."""
    rng = generator(seed, f"selection {name} {shape}")
    X = rng.normal(size=shape)
    y, relevant = TRUTHS[name](X, rng)
    return X, y.astype(int), relevant


def noise(name: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a table without any relevant column, and its classes."""
    return NOISE[name](generator(seed, f"selection noise {name}"))


def mixed(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a table whose first columns have the log-odds ``ODDS``, and its classes."""
    rng = generator(seed, "selection mixed")
    X = rng.normal(size=_MIXED)
    X[:, len(ODDS) - 1] = rng.random(len(X)) < 0.1
    odds = X[:, : len(ODDS)] @ np.array(list(ODDS.values()))
    return X, (rng.random(len(X)) < 1 / (1 + np.exp(-odds))).astype(int)
