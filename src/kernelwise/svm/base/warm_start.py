"""Warm starts: the last solution's coefficients, carried over to the rows that are still there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp

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
        """Return where to start the machine of two classes on these rows; None if it is new."""
        if pair not in self.pairs:
            return None
        beta = self.beta[self.pairs.index(pair)]
        return first_is * np.where(match[members] >= 0, beta[match[members]], 0.0)


class WarmStartMixin:
    """Keeps the solutions of a fit, and starts the machines of the next one there."""

    classes_: Any
    warm_start: bool
    _is_function: Any
    _last_fit: LastFit

    def _keep(
        self,
        keys: Array | None,
        Y: Codes,
        solutions: Sequence[Solution],
        members: Sequence[Index],
    ) -> None:
        """Keep the solutions, where the next fit may want them."""
        if keys is not None:
            machines = zip(self._machine_names(), solutions, members, strict=True)
            self._last_fit = LastFit.of(keys, Y, machines, self._first_is())

    def _starts(self, keys: Array | None, Y: Codes, members: list[Index]) -> list[Array | None]:
        """Return where each machine starts: at its last solution, where there is one."""
        last = getattr(self, "_last_fit", None)
        if keys is None or last is None:
            return [None] * Y.shape[1]
        match = last.match(keys, Y)
        machines = zip(self._machine_names(), members, strict=True)
        return [last.start(name, rows, match, self._first_is()) for name, rows in machines]

    def _machine_names(self) -> list[Pair]:
        """Return what tells the machines of several fits apart: the classes on their two sides."""
        names = self.classes_.tolist()
        return [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]

    def _first_is(self) -> int:
        """Return the code of the first class of a pair."""
        return -1 if len(self.classes_) == 2 else 1

    def _row_keys(self, X: Any) -> Array | None:
        """Return what the rows are known by in the next fit; None where it does not start warm."""
        if not self.warm_start:
            return None
        if self._is_function():
            return np.arange(X.shape[0], dtype=np.uint64)
        return row_keys(X)


def row_keys(X: Matrix) -> Array:
    """Return a number for each row, by its contents and by how often it stood before."""
    keys: Any
    multipliers = _multipliers(X.shape[1])
    if sp.issparse(X):
        keys = np.ascontiguousarray(X @ (multipliers / 2.0**63)).view(np.uint64)
    else:
        from ._row_keys import mix

        keys = np.empty(X.shape[0], dtype=np.uint64)
        mix(np.ascontiguousarray(X, dtype=np.float64).view(np.uint64), multipliers, keys)
    in_order = np.sort(keys)
    if (in_order[1:] == in_order[:-1]).any():  # rows that are equal are told apart
        keys += _occurrence(keys) * np.uint64(0x9E3779B97F4A7C15)
    return keys


@lru_cache(maxsize=8)
def _multipliers(d: int) -> Any:
    return np.random.default_rng(0).integers(1, 2**63, d, dtype=np.uint64) | 1


def _occurrence(keys: Any) -> Any:
    """Return how often each key stood before."""
    order = np.argsort(keys, kind="stable")
    new = np.ones(len(keys), dtype=bool)
    new[1:] = keys[order][1:] != keys[order][:-1]
    place = np.arange(len(keys))
    out = np.empty(len(keys), dtype=np.uint64)
    out[order] = place - np.maximum.accumulate(np.where(new, place, 0))
    return out
