"""Random trees that split rows, in the metric of a kernel, into cells.

All nodes of a level share one direction, drawn from the covariance S of the rows:

    u ~ N(0, S),   then   S <- S - 3/4 S u u' S / (u' S u)

so that the next direction has a quarter of the variance along the last one. A node cuts the
projections u'z of its rows at a random quantile in 0.4 .. 0.6. Quantiles are those of the rows with
the least keys (`sampling`): a tree depends on the numbers of the rows, not on their order, and its
first levels follow from a sample of all rows alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import sqrt

import numpy as np

from .._native import route_rows
from .._threads import run
from .._typing import Array, Index
from ..kernels.pairwise import PairwiseKernel
from .metric import BLOCK_ROWS, Metric
from .sampling import key_of, sample_rows, uniform_of

_LEVELS = 64  # directions of a tree: a node that none of them splits is a leaf
COVARIANCE_ROWS = 4096  # rows whose covariance the directions have
QUANTILE_ROWS = 256  # rows of a node on which its threshold is found
_QUANTILES = (0.4, 0.6)
_DIVIDED_ROWS = 131_072  # rows of a node that one thread divides at a time
_KEPT_DEVIATION = 0.5  # deviation along a direction that later ones see: a quarter of the variance


@dataclass(frozen=True)
class Tree:
    """A tree of cells.

    Parameters
    ----------
    metric : Metric
        How codes of categories become numbers.
    directions : ndarray of shape (n_levels, d)
        The direction of each level, times the factors of the metric.
    levels : ndarray of shape (n_nodes,)
        The level of each inner node, the root first.
    thresholds : ndarray of shape (n_nodes,)
        Rows whose projection is larger go to the second child.
    children : ndarray of shape (n_nodes, 2)
        The next nodes; -1 - q is leaf q.
    """

    metric: Metric
    directions: Array
    levels: Index
    thresholds: Array
    children: Index

    @property
    def n_leaves(self) -> int:
        """The number of leaves."""
        return len(self.levels) + 1

    def route(self, X: Array, threads: int = 1) -> Index:
        """Return the leaf of each row.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Rows, of float32 or float64.
        threads : int, default=1
            Threads over blocks of rows.

        Returns
        -------
        leaves : ndarray of shape (n,)
            The leaves, which do not depend on the threads or on the other rows.
        """
        out = np.empty(len(X), dtype=np.int64)

        def one_block(start: int) -> None:
            rows = slice(start, start + BLOCK_ROWS)
            route_rows(
                self.metric.numbers(X[rows]),
                self.directions,
                self.levels,
                self.thresholds,
                self.children,
                out[rows],
            )

        run(one_block, range(0, len(X), BLOCK_ROWS), threads)
        return out


def draw_directions(Z: Array, n_levels: int, seed: int) -> Array:
    """Draw directions from the covariance of rows.

    Parameters
    ----------
    Z : ndarray of shape (m, d)
        The rows.
    n_levels : int
        The number of directions.
    seed : int
        The source of the draws.

    Returns
    -------
    directions : ndarray of shape (n_levels, d)
        Directions of length one; zeros where the rows do not vary.
    """
    random = np.random.default_rng(seed)
    centred = Z - Z.mean(axis=0)
    variances, axes = np.linalg.eigh(centred.T @ centred / len(Z))
    # The symmetric root: unlike the axes it is unique. S = root root' throughout.
    root = (axes * np.sqrt(np.maximum(variances, 0))) @ axes.T
    directions = np.zeros((n_levels, Z.shape[1]))
    draws = random.normal(size=directions.shape)
    for direction, draw in zip(directions, draws, strict=True):
        drawn = root @ draw
        length = sqrt(drawn @ drawn)
        if not length > 0:
            break
        direction[:] = drawn / length
        along = direction @ root
        lost = (1 - _KEPT_DEVIATION) / (along @ along)
        root = root - lost * ((root @ along)[:, None] * along)
        flat = root.ravel()
        root /= sqrt(flat @ flat)  # only ratios matter, and variances never underflow
    return directions


def grow_tree(
    X: Array,
    numbers: Index,
    kernel: PairwiseKernel,
    cell_size: int,
    seed: int,
    threads: int = 1,
) -> tuple[Tree, list[Index]]:
    """Grow a tree until its leaves have at most so many rows.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The table, of float32 or float64 with contiguous rows, without NaN.
    numbers : ndarray of shape (n,)
        The number of each row in the whole table, all different.
    kernel : PairwiseKernel
        The kernel in whose metric rows are split.
    cell_size : int
        The largest number of rows of a leaf.
    seed : int
        Picks directions and thresholds.
    threads : int, default=1
        Threads over nodes and rows. They do not change the result.

    Returns
    -------
    tree : Tree
        The tree.
    leaves : list of ndarray
        The rows of each leaf, by ascending number. A leaf whose rows no direction tells apart has
        `cell_size` of them, those with the least keys.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.kernels import RBF
    >>> from kernelwise.scale.trees import grow_tree
    >>> X = np.random.default_rng(0).normal(size=(1000, 3))
    >>> tree, leaves = grow_tree(X, np.arange(1000), RBF(), cell_size=100, seed=0)
    >>> max(map(len, leaves)) <= 100, sum(map(len, leaves))
    (True, 1000)
    """
    growth, order = Growth.of(X, numbers, kernel, cell_size, seed, threads)
    tree, leaves, _ = growth.grow(order, Node.root(seed))
    return tree, run(lambda own: own[np.argsort(numbers[own])], leaves, threads)


@dataclass(frozen=True)
class Node:
    """Where a tree grows on.

    Parameters
    ----------
    level : int
        The first direction that may split the node.
    key : int
        Picks the quantile of its threshold, by the way from the root.
    """

    level: int
    key: int

    @classmethod
    def root(cls, seed: int) -> Node:
        """Return the root of a tree."""
        return cls(0, key_of(1, seed))

    def child(self, level: int, number: int) -> Node:
        """Return the child of a node that was split at a level: number 0 or 1."""
        return Node(level + 1, key_of(self.key, number + 1))


@dataclass(frozen=True)
class Growth:
    """Splits the rows of a table, or of a node of a tree.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The rows.
    metric : Metric
        The coordinates of the kernel.
    directions : ndarray of shape (n_levels, d)
        The direction of each level, times the factors of the metric.
    cell_size : int
        The largest number of rows of a leaf.
    seed : int
        Picks thresholds.
    threads : int, default=1
        Threads over nodes, and over blocks of the rows of a large node.
    """

    X: Array
    metric: Metric
    directions: Array
    cell_size: int
    seed: int
    threads: int = 1

    @classmethod
    def of(
        cls,
        X: Array,
        numbers: Index,
        kernel: PairwiseKernel,
        cell_size: int,
        seed: int,
        threads: int = 1,
    ) -> tuple[Growth, Index]:
        """Draw the directions of a table, and return its rows by ascending key, too."""
        metric = Metric.of(kernel, X.shape[1], seed)
        order = sample_rows(numbers, len(numbers), seed, threads)
        some = metric.numbers(X[order[:COVARIANCE_ROWS]]) * metric.factors
        directions = draw_directions(some, _LEVELS, seed) * metric.factors
        return cls(X, metric, directions, cell_size, seed, threads), order

    def grow(self, order: Index, start: Node) -> tuple[Tree, list[Index], list[Node]]:
        """Split rows level by level.

        Parameters
        ----------
        order : ndarray
            The rows, by ascending key.
        start : Node
            The node that has them all.

        Returns
        -------
        tree : Tree
            The tree below the node.
        leaves : list of ndarray
            The rows of each leaf, by ascending key.
        nodes : list of Node
            The leaves as nodes.
        """
        levels: list[int] = []
        thresholds: list[float] = []
        children: list[list[int]] = []
        leaves: list[Index] = []
        nodes: list[Node] = []
        generation: list[tuple[Index, Node, tuple[int, int]]] = [(order, start, (-1, 0))]
        while generation:
            cut_node = partial(self._cut, threads=max(1, self.threads // len(generation)))
            cuts = run(cut_node, [(rows, node) for rows, node, _ in generation], self.threads)
            following = []
            for (rows, node, (parent, side)), cut in zip(generation, cuts, strict=True):
                place = -1 - len(leaves) if cut is None else len(levels)
                if parent >= 0:
                    children[parent][side] = place
                if cut is None:
                    leaves.append(rows[: self.cell_size])
                    nodes.append(node)
                    continue
                for number, own in enumerate(cut.sides):
                    following.append((own, node.child(cut.level, number), (place, number)))
                levels.append(cut.level)
                thresholds.append(cut.threshold)
                children.append([0, 0])
            generation = following
        tree = Tree(
            self.metric,
            self.directions,
            np.array(levels, dtype=np.int64),
            np.array(thresholds, dtype=np.float64),
            np.array(children, dtype=np.int64).reshape(-1, 2),
        )
        return tree, leaves, nodes

    def _cut(self, where: tuple[Index, Node], threads: int) -> _Cut | None:
        """Return the next cut that splits the rows of a node; None makes it a leaf."""
        rows, node = where
        if len(rows) <= self.cell_size:
            return None
        low, high = _QUANTILES
        share = low + (high - low) * uniform_of(node.key, self.seed)
        for own in range(node.level, len(self.directions)):
            few = self.metric.project(self.X, rows[:QUANTILE_ROWS], self.directions[own])
            threshold = cut_near(np.sort(few), share)
            if threshold is not None:
                return _Cut(own, threshold, self._divided(rows, own, threshold, threads))
        return None

    def _divided(
        self, rows: Index, level: int, threshold: float, threads: int
    ) -> tuple[Index, Index]:
        """Return the rows up to a threshold and those above it, each in their order."""

        def one_block(start: int) -> tuple[Index, Index]:
            block = rows[start : start + _DIVIDED_ROWS]
            return self.metric.divide(self.X, block, self.directions[level], threshold)

        blocks = run(one_block, range(0, len(rows), _DIVIDED_ROWS), threads)
        if len(blocks) == 1:
            return blocks[0]
        below, above = (np.concatenate(side) for side in zip(*blocks, strict=True))
        return below, above


@dataclass(frozen=True)
class _Cut:
    """How a node is split: the level, the threshold, and the rows of both sides."""

    level: int
    threshold: float
    sides: tuple[Index, Index]


def cut_near(ordered: Array, share: float) -> float | None:
    """Return a number between two different neighbours nearest to a share of sorted values.

    Parameters
    ----------
    ordered : ndarray of shape (m,)
        Ascending values.
    share : float
        The wanted share of values up to the cut.

    Returns
    -------
    cut : float or None
        Half-way between the neighbours; None where all values are equal.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.scale.trees import cut_near
    >>> cut_near(np.array([0.0, 1.0, 1.0, 1.0]), 0.5)
    0.5
    """
    steps = np.flatnonzero(ordered[1:] > ordered[:-1])
    if len(steps) == 0:
        return None
    last = steps[np.argmin(np.abs(steps + 1 - share * len(ordered)))]
    below, above = float(ordered[last]), float(ordered[last + 1])
    middle = 0.5 * below + 0.5 * above
    return middle if below <= middle < above else below
