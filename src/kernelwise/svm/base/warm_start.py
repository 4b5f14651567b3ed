"""Warm starts: the last solution's coefficients, carried over to the rows that are still there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..._native import mix
from ..._typing import Array, Codes, Index, Matrix
from ...qp import Solution

Pair = tuple[Any, Any]


@dataclass(frozen=True)
class LastFit:
    """The coefficients of a fit, findable by the rows' contents."""

    keys: Array
    codes: Codes
    pairs: list[Pair]
    beta: list[Array]

    @classmethod
    def of(
        cls,
        keys: Array,
        codes: Codes,
        machines: Iterable[tuple[Pair, Solution, Index]],
        first_is: int,
    ) -> LastFit:
        """Keep the solutions of machines, each with its classes and the rows of its problem.

        They are kept with the sign +1 for the first class; ``first_is`` is its code in them.
        """
        pairs: list[Pair] = []
        beta: list[Array] = []
        for pair, solution, members in machines:
            pairs.append(pair)
            beta.append(np.zeros(len(keys)))
            beta[-1][members] = first_is * solution.beta
        return cls(keys, codes, pairs, beta)

    def match(self, keys: Array, codes: Codes) -> Index:
        """Find each new row among the old ones, -1 where it is new.

        A table of the same labels in which no row is as it was is matched by place.
        """
        if np.array_equal(keys, self.keys):
            return np.arange(len(keys))
        _, new, old = np.intersect1d(keys, self.keys, return_indices=True)
        if len(new) == 0 and np.array_equal(codes, self.codes):
            return np.arange(len(keys))
        out = np.full(len(keys), -1)
        out[new] = old
        return out

    def start(self, pair: Pair, members: Index, match: Index, first_is: int) -> Array | None:
        """Return the start of the machine of two classes on these rows; None if it is new."""
        if pair not in self.pairs:
            return None
        beta = self.beta[self.pairs.index(pair)]
        return first_is * np.where(match[members] >= 0, beta[match[members]], 0.0)


@dataclass(frozen=True)
class WarmStart:
    """The starts of a fit's machines, and the memory of where they end."""

    # (n,), what the next fit knows the rows by; None where it does not start warm
    keys: Array | None
    codes: Codes  # (n, n_machines)
    # what tells the machines of several fits apart: the classes on their two sides
    names: list[Pair]
    sign: int  # the code of the first class of a name
    last: LastFit | None  # the coefficients of the fit before

    def starts(self, members: Sequence[Index]) -> list[Array | None]:
        """Return the start of each machine: its last solution, or None where there is none."""
        if self.keys is None or self.last is None:
            return [None] * len(self.names)
        match = self.last.match(self.keys, self.codes)
        machines = zip(self.names, members, strict=True)
        return [self.last.start(name, rows, match, self.sign) for name, rows in machines]

    def ended(self, solutions: Sequence[Solution], members: Sequence[Index]) -> LastFit | None:
        """Return the coefficients for the next fit to start from; None where it starts cold."""
        if self.keys is None:
            return None
        machines = zip(self.names, solutions, members, strict=True)
        return LastFit.of(self.keys, self.codes, machines, self.sign)


def distinct_keys(X: Matrix) -> Array:
    """Return a number for each row, from its contents and the count of equal rows before it."""
    keys = content_keys(X)
    in_order = np.sort(keys)
    if (in_order[1:] == in_order[:-1]).any():  # equal rows get different keys
        keys += _occurrence(keys) * np.uint64(0x9E3779B97F4A7C15)
    return keys


def content_keys(X: Matrix) -> Any:
    """Return a number for each row, from its contents alone."""
    keys: Any
    multipliers = _multipliers(X.shape[1])
    if sp.issparse(X):
        keys = np.ascontiguousarray(X @ (multipliers / 2.0**63)).view(np.uint64)
    else:
        keys = np.empty(X.shape[0], dtype=np.uint64)
        mix(np.ascontiguousarray(X, dtype=np.float64).view(np.uint64), multipliers, keys)
    return keys


@lru_cache(maxsize=8)
def _multipliers(d: int) -> Any:
    return np.random.default_rng(0).integers(1, 2**63, d, dtype=np.uint64) | 1


def _occurrence(keys: Any) -> Any:
    """Return how many equal keys precede each key."""
    order = np.argsort(keys, kind="stable")
    new = np.ones(len(keys), dtype=bool)
    new[1:] = keys[order][1:] != keys[order][:-1]
    place = np.arange(len(keys))
    out = np.empty(len(keys), dtype=np.uint64)
    out[order] = place - np.maximum.accumulate(np.where(new, place, 0))
    return out
