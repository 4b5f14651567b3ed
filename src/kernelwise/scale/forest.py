"""Trees of cells: the decision of a row is the mean over the trees of its cells' decisions.

The rows of the machines are stored once; a tree has their numbers, leaf by leaf. Rows to predict
are sorted by cell, so that each cell meets its rows at once: exponential kernels by tiles that are
used where they are made, which also makes a decision independent of the other rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._native import decide_cells
from .._threads import run, single_blas
from .._typing import Array, Index
from ..kernels.base import Kernel
from ..kernels.fused import cell_units, has_tiles
from ..kernels.pairwise import PairwiseKernel
from ..kernels.sides import refuse_overflow
from .cells import CellSettings, HeldOut, KeptCell, fit_cell
from .packing import with_zeros, without_zeros
from .trees import Tree, grow_tree

PREDICT_ROWS = 131072  # rows that are predicted at a time
_MOST_USED = 0.75  # share of coefficients that are not zero up to which zeros are not stored
_KERNEL_ROWS = 1024  # rows of one kernel matrix of a prediction
_FEW_LEAVES = 2**16  # leaves whose numbers fit into two bytes
# Neighbouring cells that compiled code, which ignores Ctrl-C, decides at a time.
_CELLS_PER_CALL = 32


@dataclass(frozen=True)
class CellTable:
    """The rows of a fit.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Rows of float32 or float64, without NaN.
    codes : ndarray of shape (n, k)
        Codes -1 and +1, one column per machine, of any type.
    price : ndarray of shape (n,)
        The cost factor of each row; a row of price zero takes no part.
    numbers : ndarray of shape (n,)
        The number of each row in the whole table, all different.
    """

    X: Array
    codes: Array
    price: Array
    numbers: Index

    def part(self, rows: Index) -> CellTable:
        """Return some of the rows."""
        return CellTable(self.X[rows], self.codes[rows], self.price[rows], self.numbers[rows])


@dataclass(frozen=True)
class CellTree:
    """The machines of the cells of one tree.

    Parameters
    ----------
    tree : Tree
        Sends rows to cells.
    kernel : Kernel
        The kernel of all cells.
    rows : ndarray of shape (n_vectors,), of int32
        The support vectors of each cell, cell by cell, as places in the stored rows.
    stops : ndarray of shape (n_leaves + 1,)
        Where the support vectors of each cell begin, and the end of the last.
    coef : ndarray of shape (n_vectors, k)
        Their coefficients, of the type of the rows.
    intercepts : ndarray of shape (n_leaves, k)
        The intercepts of each cell.
    converged : ndarray of shape (n_leaves,)
        Whether the machines of each cell reached the tolerance.
    """

    tree: Tree
    kernel: Kernel
    rows: Any
    stops: Index
    coef: Array
    intercepts: Array
    converged: Any

    def __getstate__(self) -> dict[str, Any]:
        own = {name: value for name, value in vars(self).items() if name != "_packed"}
        if np.count_nonzero(self.coef) > _MOST_USED * self.coef.size:
            return own
        # Kept: a model holds a tree at several places, and a file has each array once.
        state: dict[str, Any] = vars(self).setdefault("_packed", without_zeros(own, "coef"))
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(with_zeros(state, "coef"))

    def add_decisions(self, stored: Array, X: Array, out: Array, threads: int = 1) -> None:
        """Add the decisions of the cells on rows.

        Parameters
        ----------
        stored : ndarray of shape (n_stored, d)
            The stored rows.
        X : ndarray of shape (n, d)
            Rows of the same type.
        out : ndarray of shape (n, k)
            What is added to.
        threads : int, default=1
            Threads over cells. They do not change the result.
        """
        leaves = self.tree.route(X, threads)
        if len(self.intercepts) <= _FEW_LEAVES:
            leaves = leaves.astype(np.uint16)  # whose sort takes a tenth of the time
        order, n_rows = np.argsort(leaves, kind="stable"), np.bincount(leaves)
        stops = np.cumsum([0, *n_rows])
        out += self.intercepts[leaves]
        visited = np.flatnonzero(n_rows)
        runs = np.split(visited, np.flatnonzero(np.diff(visited) > 1) + 1)
        calls = [
            own[i : i + _CELLS_PER_CALL]
            for own in runs
            for i in range(0, len(own), _CELLS_PER_CALL)
        ]
        decide = self._fused(stored, X, out) if has_tiles(self.kernel, X) else None

        def one_call(cells: Index) -> None:
            first, end = int(cells[0]), int(cells[-1]) + 1
            if decide is not None:
                decide(order, stops[first : end + 1], self.stops[first : end + 1])
                return
            for leaf in cells:
                rows = order[stops[leaf] : stops[leaf + 1]]
                out[rows] += self._products(stored, leaf, X[rows])

        run(one_call, calls, threads)

    def _fused(self, stored: Array, X: Array, out: Array) -> Callable[[Index, Index, Index], None]:
        """Return what adds the products of kernel and coefficients, some cells at a time."""
        units = cell_units(self.kernel, X.shape[1])

        def add(order: Index, rows: Index, vectors: Index) -> None:
            own = slice(vectors[0], vectors[-1])
            is_finite = decide_cells(
                *units,
                X,
                order[rows[0] : rows[-1]],
                rows - rows[0],
                stored,
                self.rows[own].astype(np.int32, copy=False),
                vectors - vectors[0],
                self.coef[own],
                out,
            )
            if not is_finite:
                refuse_overflow(np.inf)

        return add

    def _products(self, stored: Array, leaf: int, X: Array) -> Array:
        """Return the products of the kernel and the coefficients of a cell."""
        own = slice(self.stops[leaf], self.stops[leaf + 1])
        out = np.zeros((len(X), self.coef.shape[1]))
        vectors, coef = stored[self.rows[own]], self.coef[own]
        for start in range(0, len(X), _KERNEL_ROWS):
            rows = slice(start, start + _KERNEL_ROWS)
            out[rows] = self.kernel(X[rows], vectors) @ coef
        return out


@dataclass(frozen=True)
class CellForest:
    """Fitted trees of cells.

    Parameters
    ----------
    stored : ndarray of shape (n_stored, d)
        The rows that are support vectors of any cell.
    trees : tuple of CellTree
        The trees.
    """

    stored: Array
    trees: tuple[CellTree, ...]

    def decision_values(
        self, X: Array, *, threads: int = 1, block_rows: int = PREDICT_ROWS
    ) -> Array:
        """Return the mean decision of the trees.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Rows, without NaN.
        threads : int, default=1
            Threads over cells.
        block_rows : int, default=131072
            Rows that are predicted at a time; bounds the memory.

        Returns
        -------
        decisions : ndarray of shape (n, k)
            The decisions, in float64.
        """
        out = np.empty((len(X), self.trees[0].intercepts.shape[1]))
        with single_blas():
            for start in range(0, len(X), block_rows):
                block = np.ascontiguousarray(X[start : start + block_rows], self.stored.dtype)
                out[start : start + block_rows] = self._decide_block(block, threads)
        return out

    def _decide_block(self, X: Array, threads: int) -> Array:
        total = np.zeros((len(X), self.trees[0].intercepts.shape[1]))
        for each in self.trees:
            each.add_decisions(self.stored, X, total, threads)
        return total / len(self.trees)


class StoppedError(Exception):
    """A tree was given up because its fit was asked to stop."""


@dataclass(frozen=True)
class FittedTree:
    """A tree as it comes out of its fit.

    Parameters
    ----------
    cells : CellTree
        The tree; its rows are places in the table.
    left_out : ndarray of shape (n_left_out, k) or None
        Decisions on the rows that were left out, in the order of the table, where they were asked
        for; NaN for rows that no machine had.
    """

    cells: CellTree
    left_out: Array | None


def fit_forest(
    table: CellTable,
    members: Sequence[CellSettings],
    seeds: Sequence[int],
    cell_size: int,
    *,
    threads: int = 1,
    held_out: HeldOut | None = None,
) -> tuple[CellForest, Array | None]:
    """Grow one tree per member and fit the machines of its cells.

    Parameters
    ----------
    table : CellTable
        The rows.
    members : sequence of CellSettings
        Kernel, C and loss of each tree.
    seeds : sequence of int
        The seed of each tree.
    cell_size : int
        The largest number of rows of a cell.
    threads : int, default=1
        Threads over cells. They do not change the result.
    held_out : HeldOut, default=None
        The folds of the left-out decisions; None makes none.

    Returns
    -------
    forest : CellForest
        The trees.
    left_out : ndarray of shape (n_left_out, k) or None
        Decisions on the rows that are left out, as `forest_of` gives them.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.kernels import RBF
    >>> from kernelwise.scale.cells import CellSettings
    >>> from kernelwise.scale.forest import CellTable, fit_forest
    >>> X = np.random.default_rng(0).normal(size=(600, 2))
    >>> codes = np.where(X[:, :1] * X[:, 1:] > 0, 1.0, -1.0)
    >>> table = CellTable(X, codes, np.ones(600), np.arange(600))
    >>> forest, _ = fit_forest(table, [CellSettings(RBF(), 10.0)] * 3, [0, 1, 2], cell_size=200)
    >>> bool((np.sign(forest.decision_values(X)) == codes).mean() > 0.95)
    True
    """
    fitted = [
        fit_tree(table, member, seed, cell_size, threads=threads, held_out=held_out)
        for member, seed in zip(members, seeds, strict=True)
    ]
    return forest_of(table, fitted, threads=threads, held_out=held_out)


def forest_of(
    table: CellTable,
    fitted: Sequence[FittedTree],
    *,
    threads: int = 1,
    held_out: HeldOut | None = None,
) -> tuple[CellForest, Array | None]:
    """Join trees, whose support vectors are then stored once.

    Parameters
    ----------
    table : CellTable
        The rows that the trees were fitted to.
    fitted : sequence of FittedTree
        The trees.
    threads : int, default=1
        Threads over cells.
    held_out : HeldOut, default=None
        The folds of the left-out decisions.

    Returns
    -------
    forest : CellForest
        The trees.
    left_out : ndarray of shape (n_left_out, k) or None
        The mean over the trees of the left-out decisions, where there are any; a row that took no
        part has the decisions of the forest.
    """
    forest = _stored_once(table.X, [each.cells for each in fitted])
    decisions = [each.left_out for each in fitted if each.left_out is not None]
    if held_out is None or not decisions:
        return forest, None
    left_out: Array = np.mean(decisions, axis=0)
    unknown = np.isnan(left_out).any(axis=1)
    rows = held_out.rows[unknown]
    left_out[unknown] = forest.decision_values(table.X[rows], threads=threads)
    return forest, left_out


def fit_tree(
    table: CellTable,
    member: CellSettings,
    seed: int,
    cell_size: int,
    *,
    threads: int = 1,
    held_out: HeldOut | None = None,
    stops: Callable[[], bool] | None = None,
) -> FittedTree:
    """Grow one tree and fit the machines of its cells.

    Parameters
    ----------
    table : CellTable
        The rows.
    member : CellSettings
        Kernel, C and loss.
    seed : int
        Picks directions and thresholds.
    cell_size : int
        The largest number of rows of a cell.
    threads : int, default=1
        Threads over cells. They do not change the result.
    held_out : HeldOut, default=None
        The folds of the left-out decisions; None makes none.
    stops : callable, default=None
        Asked before each cell whether to give up, with `StoppedError`.

    Returns
    -------
    fitted : FittedTree
        The tree.
    """
    if not isinstance(member.kernel, PairwiseKernel):
        raise TypeError("Trees need a kernel of one weighted sum over the columns.")
    taking_part = np.flatnonzero(table.price > 0)
    whole = len(taking_part) == len(table.price)
    X = table.X if whole else table.X[taking_part]
    with single_blas():
        numbers = table.numbers[taking_part]
        tree, leaves = grow_tree(X, numbers, member.kernel, cell_size, seed, threads)
    if not whole:
        leaves = [taking_part[own] for own in leaves]
    return fit_leaves(table, tree, leaves, member, threads=threads, held_out=held_out, stops=stops)


def fit_leaves(
    table: CellTable,
    tree: Tree,
    leaves: Sequence[Index],
    member: CellSettings,
    *,
    threads: int = 1,
    held_out: HeldOut | None = None,
    stops: Callable[[], bool] | None = None,
) -> FittedTree:
    """Fit the machines of the cells of a tree that is grown.

    Parameters
    ----------
    table : CellTable
        The rows.
    tree : Tree
        The tree.
    leaves : sequence of ndarray
        The rows of each leaf.
    member : CellSettings
        Kernel, C and loss.
    threads : int, default=1
        Threads over cells.
    held_out : HeldOut, default=None
        The folds of the left-out decisions; None makes none.
    stops : callable, default=None
        Asked before each cell whether to give up, with `StoppedError`.

    Returns
    -------
    fitted : FittedTree
        The tree.
    """

    def fit(own: Index) -> KeptCell:
        if stops is not None and stops():
            raise StoppedError
        held = None if held_out is None else held_out.part(own)
        codes = table.codes.take(own, axis=0).astype(np.float64)
        found = fit_cell(table.X.take(own, axis=0), codes, table.price.take(own), member, held)
        return KeptCell.of(own, found, held, table.X.dtype)

    with single_blas():
        cells = run(fit, leaves, threads)
    gathered = CellTree(
        tree,
        member.kernel,
        np.concatenate([cell.rows for cell in cells]),
        np.cumsum([0, *(len(cell.rows) for cell in cells)]),
        np.concatenate([cell.coef for cell in cells]),
        np.array([cell.intercept for cell in cells]),
        np.array([cell.converged for cell in cells]),
    )
    return FittedTree(gathered, None if held_out is None else _left_out(held_out, cells))


def _left_out(held_out: HeldOut, cells: Sequence[KeptCell]) -> Array:
    """Return the left-out decisions of all cells, in the order of the table."""
    rows = held_out.rows
    out = np.full((len(rows), len(cells[0].intercept)), np.nan)
    for cell in cells:
        out[np.searchsorted(rows, cell.left_out_rows)] = cell.left_out
    return out


def _stored_once(X: Array, trees: Sequence[CellTree]) -> CellForest:
    """Keep the support vectors of all trees, each once."""
    used = np.zeros(len(X), dtype=bool)
    for each in trees:
        used[each.rows] = True
    place = (np.cumsum(used) - 1).astype(np.int32)
    return CellForest(X[used], tuple(replace(each, rows=place[each.rows]) for each in trees))
