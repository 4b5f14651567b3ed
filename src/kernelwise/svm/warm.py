"""Warm starts: the last solution's coefficients, carried over to the rows that are still there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._typing import Array, Codes, Index, Matrix
from ..qp import Solution

Pair = tuple[Any, Any]


@dataclass(frozen=True)
class LastFit:
    """The coefficients of a fit, findable by the rows' contents."""

    keys: Array
    codes: Codes
    beta: dict[Pair, Array]

    @classmethod
    def of(
        cls, keys: Array, codes: Codes, machines: Iterable[tuple[Pair, Solution, Index]]
    ) -> LastFit:
        """Keep the solutions of machines, each with its classes and the rows of its problem."""
        beta: dict[Pair, Array] = {}
        for pair, solution, members in machines:
            beta[pair] = np.zeros(len(keys))
            beta[pair][members] = solution.beta
        return cls(keys, codes, beta)

    def match(self, keys: Array, codes: Codes) -> Index:
        """Find each new row among the old ones, -1 where it is new.

        A table of the same labels in which no row is as it was is matched by place.
        """
        _, new, old = np.intersect1d(keys, self.keys, return_indices=True)
        if len(new) == 0 and np.array_equal(codes, self.codes):
            return np.arange(len(keys))
        out = np.full(len(keys), -1)
        out[new] = old
        return out

    def start(self, pair: Pair, members: Index, match: Index) -> Array | None:
        """Return where to start the machine of two classes on these rows; None if it is new."""
        beta = self.beta.get(pair)
        if beta is None:
            return None
        return np.where(match[members] >= 0, beta[match[members]], 0.0)


def row_keys(X: Matrix) -> Array:
    """Return a number for each row that equal rows share and others hardly ever do."""
    multipliers = np.random.default_rng(0).integers(1, 2**63, X.shape[1], dtype=np.uint64) | 1
    if sp.issparse(X):
        return np.asarray(X @ (multipliers / 2.0**63))
    bits = np.ascontiguousarray(X, dtype=np.float64).view(np.uint64)
    return (bits * multipliers).sum(axis=1, dtype=np.uint64)
