"""Trees of tables that no memory holds: first levels from a sample, the rest region by region.

A node is split at a quantile of its rows with the least keys (`trees`), so that the first levels of
a tree follow from a sample of all rows: as long as a node has enough rows in the sample, the sample
splits it as the whole table does. The leaves of this trunk are the regions. Each of them grows on
alone, and the tree that is joined from the trunk and the regions is that of the whole table.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._records import dataclass
from .._typing import Array, Index
from ..kernels.pairwise import PairwiseKernel
from .sampling import sample_rows
from .trees import COVARIANCE_ROWS, QUANTILE_ROWS, Growth, Node, Tree


@dataclass(frozen=True)
class Trunk:
    """The first levels of a tree.

    Parameters
    ----------
    tree : Tree
        Sends rows to regions.
    nodes : tuple of Node
        The region behind each leaf, as a node that grows on.
    """

    tree: Tree
    nodes: tuple[Node, ...]

    @property
    def n_regions(self) -> int:
        """The number of regions."""
        return len(self.nodes)


def trunk_rows(n_rows: int, cell_size: int, region_rows: int) -> int:
    """Return how many rows a trunk needs.

    Parameters
    ----------
    n_rows : int
        The rows of the table.
    cell_size : int
        The largest number of rows of a cell.
    region_rows : int
        The largest number of rows of a region, about.

    Returns
    -------
    size : int
        The size of the sample.

    Examples
    --------
    >>> from kernelwise.scale.regions import trunk_rows
    >>> trunk_rows(10_000_000, cell_size=2000, region_rows=100_000)
    200000
    """
    share = _smallest_split(cell_size) / max(region_rows, cell_size)
    return min(n_rows, max(COVARIANCE_ROWS, int(np.ceil(share * n_rows))))


def grow_trunk(
    X: Array, numbers: Index, kernel: PairwiseKernel, cell_size: int, seed: int
) -> Trunk:
    """Grow the first levels of a tree on a sample.

    Parameters
    ----------
    X : ndarray of shape (m, d)
        The rows of the whole table with the least keys for this seed; `trunk_rows` of them.
    numbers : ndarray of shape (m,)
        Their numbers in the whole table.
    kernel : PairwiseKernel
        The kernel in whose metric rows are split.
    cell_size : int
        The largest number of rows of a cell.
    seed : int
        Picks directions and thresholds.

    Returns
    -------
    trunk : Trunk
        The first levels.
    """
    growth, order = Growth.of(X, numbers, kernel, _smallest_split(cell_size), seed)
    tree, _, nodes = growth.grow(order, Node.root(seed))
    return Trunk(tree, tuple(nodes))


def grow_region(
    X: Array, numbers: Index, trunk: Trunk, region: int, cell_size: int, seed: int
) -> tuple[Tree, list[Index]]:
    """Grow the tree of one region.

    Parameters
    ----------
    X : ndarray of shape (m, d)
        All rows of the region.
    numbers : ndarray of shape (m,)
        Their numbers in the whole table.
    trunk : Trunk
        The first levels.
    region : int
        Which region.
    cell_size : int
        The largest number of rows of a cell.
    seed : int
        The seed of the trunk.

    Returns
    -------
    tree : Tree
        The tree of the region.
    leaves : list of ndarray
        The rows of each leaf, by ascending number, as `trees.grow_tree` returns them.
    """
    growth = Growth(X, trunk.tree.metric, trunk.tree.directions, cell_size, seed)
    tree, leaves, _ = growth.grow(sample_rows(numbers, len(numbers), seed), trunk.nodes[region])
    return tree, [own[np.argsort(numbers[own])] for own in leaves]


def join(trunk: Trunk, trees: Sequence[Tree]) -> Tree:
    """Join a trunk and the trees of its regions.

    Parameters
    ----------
    trunk : Trunk
        The first levels.
    trees : sequence of Tree
        The tree of each region.

    Returns
    -------
    tree : Tree
        The whole tree; its leaves are those of the regions, region by region.
    """
    first = trunk.tree
    nodes = len(first.levels) + np.cumsum([0, *(len(own.levels) for own in trees)])
    leaves = np.cumsum([0, *(own.n_leaves for own in trees)])
    # A region of one cell has no node: the trunk points to its leaf.
    roots = np.array(
        [
            nodes[region] if len(own.levels) else -1 - leaves[region]
            for region, own in enumerate(trees)
        ],
        dtype=np.int64,
    )
    children = [np.where(first.children < 0, roots[-1 - first.children], first.children)]
    for own, node, leaf in zip(trees, nodes[:-1], leaves[:-1], strict=True):
        children.append(np.where(own.children < 0, own.children - leaf, own.children + node))
    return Tree(
        first.metric,
        first.directions,
        np.concatenate([first.levels, *(own.levels for own in trees)]),
        np.concatenate([first.thresholds, *(own.thresholds for own in trees)]),
        np.concatenate(children),
    )


def _smallest_split(cell_size: int) -> int:
    """Return the rows in the sample beyond which the whole table splits a node in the same way."""
    return max(cell_size, QUANTILE_ROWS)
