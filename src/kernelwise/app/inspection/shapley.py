"""Interventional Shapley values of groups of columns.

    v(S) = mean over the background b of f(x on the columns of S, b elsewhere)
    phi_i = mean over all orders of v(those before i, and i) - v(those before i)

Up to 6 groups, every S is evaluated. Beyond, each row of the background walks from itself to x in a
random order and in the reverse of it, one group at a time. A walk begins at f(b) and ends at f(x),
so the values always sum to f(x) minus the mean of f over the background.
"""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np

from ..._typing import Array, Index
from .row_pool import RowPool

MAX_EXACT = 6  # groups up to which all their subsets are evaluated


class ShapleyPlan:
    """The recombined rows from which the values of every row are computed.

    ``background``: the rows of the pool that rows are compared with. ``group`` (n_columns,): the
    group of each column, from zero. ``random_state``: draws the orders.
    """

    def __init__(self, pool: RowPool, background: Index, group: Index, random_state: Any) -> None:
        self._pool, self._background, self._group = pool, background, group
        self.n_groups = int(group.max()) + 1
        self.base: Array = pool.outputs(background)
        self.is_exact = self.n_groups <= MAX_EXACT
        if self.is_exact:
            numbers = np.arange(2**self.n_groups)
            self._subsets = (numbers[:, None] >> np.arange(self.n_groups)) & 1 == 1
            return
        order = np.array([random_state.permutation(self.n_groups) for _ in background])
        self._rank = np.stack([order, self.n_groups - 1 - order], axis=1)

    def values(self, row: int) -> tuple[Array, Array]:
        """Explain one row of the pool.

        Returns ``values`` (n_groups, n_outputs); ``outputs`` (n_outputs,), f of the row.
        """
        return self._exact(row) if self.is_exact else self._sampled(row)

    def _exact(self, row: int) -> tuple[Array, Array]:
        n = self.n_groups
        mask = np.repeat(self._subsets[:, None], len(self._background), axis=1)
        mean = self._outputs(row, mask).mean(axis=1)  # v(S), by the number of S
        size = self._subsets.sum(axis=1)
        weight = np.array([factorial(s) * factorial(n - s - 1) for s in range(n)]) / factorial(n)
        values = np.empty((n, mean.shape[1]))
        for group in range(n):
            without = np.flatnonzero(~self._subsets[:, group])
            gain = mean[without + 2**group] - mean[without]
            values[group] = weight[size[without]] @ gain
        return values, mean[-1]

    def _sampled(self, row: int) -> tuple[Array, Array]:
        steps = np.arange(1, self.n_groups)
        mask = self._rank[:, :, None, :] < steps[:, None]
        between = self._outputs(row, mask.reshape(len(mask), -1, self.n_groups), by_column=False)
        between = between.reshape(*mask.shape[:3], -1)
        end = self._pool.outputs(np.array([row]))[0]
        shape = (*mask.shape[:2], 1, len(end))
        begin = np.broadcast_to(self.base[:, None, None, :], shape)
        walk = np.concatenate([begin, between, np.broadcast_to(end, shape)], axis=2)
        gains = np.take_along_axis(np.diff(walk, axis=2), self._rank[..., None], axis=2)
        return gains.mean(axis=(0, 1)), end

    def _outputs(self, row: int, mask: Any, by_column: bool = True) -> Array:
        """Return f with the row's values where ``mask`` says so.

        The background is the second axis of the mask, or else the first.
        """
        own = self._background if by_column else self._background[:, None]
        rows = np.broadcast_to(own, mask.shape[:2]).ravel()
        exchanged = mask[..., self._group].reshape(len(rows), -1)
        outputs = self._pool.outputs(rows, exchanged, np.full(len(rows), row))
        return outputs.reshape(*mask.shape[:2], -1)
