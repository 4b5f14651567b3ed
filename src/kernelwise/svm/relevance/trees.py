"""Random trees, which cut rows into cells of neighbours.

A tree cuts a node at the median of a random direction drawn from the covariance of its rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._typing import Array, Index
from .prior import Prior
from .rows import Rows

_SOME = 4096  # rows whose covariance a direction is drawn from


@dataclass(frozen=True)
class Tree:
    """A partition of the space into cells."""

    directions: Array  # (n_nodes, d): what each inner node projects rows on
    cuts: Array  # (n_nodes,): rows with a projection of at most this go left
    children: Index  # (n_nodes, 2): inner nodes from zero on, and cells as -1, -2 and so on

    @property
    def n_cells(self) -> int:
        """The number of cells."""
        return len(self.cuts) + 1

    def route(self, P: Array) -> Index:
        """Return the number of the cell of each row."""
        out = np.zeros(len(P), dtype=np.intp)
        todo = [(0, np.arange(len(P)))] if len(self.cuts) else []
        while todo:
            node, rows = todo.pop()
            left = _projections(P[rows], self.directions[node]) <= self.cuts[node]
            for child, own in zip(self.children[node], (rows[left], rows[~left]), strict=True):
                if child < 0:
                    out[own] = -child - 1
                elif len(own):
                    todo.append((int(child), own))
        return out

    def joined(self, branches: Sequence[Tree]) -> Tree:
        """Return the tree with a tree in the place of each cell; cells are those of all in turn."""
        trees = [self, *branches]
        nodes = np.cumsum([0, *(len(tree.cuts) for tree in trees)])
        cells = np.cumsum([0, *(tree.n_cells for tree in branches)])
        roots = [
            nodes[b + 1] if len(branch.cuts) else -1 - cells[b] for b, branch in enumerate(branches)
        ]
        if not len(self.cuts):
            return branches[0]
        trunk = np.where(self.children < 0, np.array(roots)[-self.children - 1], self.children)
        children = [trunk]
        for b, branch in enumerate(branches):
            own = branch.children
            children.append(np.where(own < 0, own - cells[b], own + nodes[b + 1]))
        return Tree(
            np.concatenate([tree.directions for tree in trees]),
            np.concatenate([tree.cuts for tree in trees]),
            np.concatenate(children),
        )


def grow(
    P: Array, size: int, rng: np.random.Generator, *, splits_equal: bool = True
) -> tuple[Tree, list[Index]]:
    """Return a tree whose cells have at most so many rows, and the rows of each.

    Equal rows are split at any place, so that they fill several cells, or stay together.
    """
    directions: list[Array] = []
    cuts: list[float] = []
    children: list[list[int]] = []
    cells: list[Index] = []

    def add(rows: Index) -> int:
        cut = _cut(P, rows, rng) if len(rows) > size else None
        if cut is None or (cut[1] == np.inf and not splits_equal):
            cells.append(rows)
            return -len(cells)
        direction, value, left = cut
        node = len(cuts)
        directions.append(direction)
        cuts.append(value)
        children.append([0, 0])
        children[node] = [add(rows[left]), add(rows[~left])]
        return node

    add(np.arange(len(P)))
    tree = Tree(
        np.array(directions, dtype=np.float32).reshape(-1, P.shape[1]),
        np.array(cuts),
        np.array(children, dtype=np.intp).reshape(-1, 2),
    )
    return tree, cells


def _cut(P: Array, rows: Index, rng: np.random.Generator) -> tuple[Array, float, Any]:
    """Return a direction, the median along it, and which rows are below; infinity of equal rows."""
    some = rows if len(rows) <= _SOME else rows[rng.permutation(len(rows))[:_SOME]]
    u = (P[some] - P[some].mean(axis=0)).T @ rng.normal(size=len(some)).astype(np.float32)
    values = _projections(P[rows], u)
    cut = float(np.median(values))
    left = values <= cut
    if left.all():
        return u, np.inf, np.arange(len(rows)) < len(rows) // 2
    # Half-way to the next value: rounding elsewhere must not move the rows on the cut.
    return u, (float(values[left].max()) + float(values[~left].min())) / 2, left


def _projections(P: Array, u: Array) -> Array:
    # A product of BLAS rounds a row by its place, and rows on a cut would change sides.
    out: Array = np.einsum("ij,j->i", P, u)
    return out


def coordinates(rows: Rows, prior: Prior) -> Array:
    """Return what trees cut: the columns of the Gaussian kernel times their weights."""
    R, group = rows.gaussian(prior.v > 0)
    out: Array = R * prior.w[group].astype(np.float32)
    return out
