"""The squared loss under the prior, solved for all rows: exactly, or by landmarks and cells.

    C = A diag(var) A' + K + noise diag(1 / weight)                       up to some thousand rows
    C ~ Phi Phi' + blockdiag(C - Phi Phi'),  Phi = C(rows, Z) L^-T        above

The landmarks Z carry what all rows share, and the cells of a random tree what neighbours share.
Woodbury's identity solves the sum, and left-out decisions are exact for it. A tree cuts a node at
the median of a random direction drawn from the covariance of its rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from scipy.linalg.lapack import dpotri, spotri

from ..._threads import run
from ..._typing import Array, Index
from .joint import NUGGET
from .prior import Prior
from .rows import Rows
from .settings import Settings

_ROUNDING = 3e-6  # nugget relative to the amplitude: kernels are float32
_BLOCK = 4096  # rows that are decided at a time


@dataclass(frozen=True)
class Cell:
    """One cell of a partition: its rows and what they add to decisions.

    Parameters
    ----------
    rows : Rows
        The rows.
    alpha : ndarray of shape (m, k)
        The coefficients of the covariances with them.
    additive : ndarray of shape (q, k)
        The coefficients of the additive columns.
    shared : ndarray of shape (n_landmarks, k)
        The coefficients of the covariances with the landmarks; none of an exact solve.
    """

    rows: Rows
    alpha: Array
    additive: Array
    shared: Array


@dataclass(frozen=True)
class Tree:
    """A partition of the space into cells.

    Parameters
    ----------
    directions : ndarray of shape (n_nodes, d)
        What each inner node projects rows on.
    cuts : ndarray of shape (n_nodes,)
        Rows with a projection of at most this go left.
    children : ndarray of shape (n_nodes, 2)
        Inner nodes as numbers from zero, and cells as -1, -2, ...
    """

    directions: Array
    cuts: Array
    children: Index

    def route(self, P: Array) -> Index:
        """Return the number of the cell of each row."""
        out = np.zeros(len(P), dtype=np.intp)
        todo = [(0, np.arange(len(P)))] if len(self.cuts) else []
        while todo:
            node, rows = todo.pop()
            left = P[rows] @ self.directions[node] <= self.cuts[node]
            for child, own in zip(self.children[node], (rows[left], rows[~left]), strict=True):
                if child < 0:
                    out[own] = -child - 1
                elif len(own):
                    todo.append((int(child), own))
        return out


def grow(P: Array, size: int, rng: np.random.Generator) -> tuple[Tree, list[Index]]:
    """Return a tree whose cells have at most so many rows, and the rows of each."""
    directions: list[Array] = []
    cuts: list[float] = []
    children: list[list[int]] = []
    cells: list[Index] = []

    def add(rows: Index) -> int:
        if len(rows) <= size:
            cells.append(rows)
            return -len(cells)
        some = rows if len(rows) <= _BLOCK else rows[rng.permutation(len(rows))[:_BLOCK]]
        u = (P[some] - P[some].mean(axis=0)).T @ rng.normal(size=len(some)).astype(np.float32)
        values = P[rows] @ u
        cut = float(np.median(values))
        left = values <= cut
        if left.all():  # equal rows: any half
            cut, left = np.inf, np.arange(len(rows)) < len(rows) // 2
        node = len(cuts)
        directions.append(u)
        cuts.append(cut)
        children.append([0, 0])
        children[node] = [add(rows[left]), add(rows[~left])]
        return node

    add(np.arange(len(P)))
    d = P.shape[1]
    tree = Tree(
        np.array(directions, dtype=np.float32).reshape(-1, d),
        np.array(cuts),
        np.array(children, dtype=np.intp).reshape(-1, 2),
    )
    return tree, cells


def coordinates(rows: Rows, prior: Prior) -> Array:
    """Return what trees cut: the columns of the Gaussian kernel times their weights."""
    R, group = rows.gaussian(prior.v > 0)
    out: Array = R * prior.w[group].astype(np.float32)
    return out


@dataclass(frozen=True)
class Squared:
    """A fitted model of the squared loss.

    Parameters
    ----------
    prior : Prior
        The prior.
    near : Rows or None
        The landmarks.
    trees : tuple of (Tree, tuple of Cell)
        The partitions, whose decisions are averaged.
    left_out : ndarray of shape (n, k) or None
        Decisions on the training rows without each of them.
    """

    prior: Prior
    near: Rows | None
    trees: tuple[tuple[Tree, tuple[Cell, ...]], ...]
    left_out: Array | None = None

    def decide(self, rows: Rows, settings: Settings) -> Array:
        """Return the decisions on rows, block by block."""
        k = self.trees[0][1][0].alpha.shape[1]
        out = np.zeros((len(rows), k))
        for tree, cells in self.trees:
            of_row = tree.route(coordinates(rows, self.prior))
            order = np.argsort(of_row, kind="stable")
            ends = np.searchsorted(of_row[order], np.arange(len(cells) + 1))
            for number, cell in enumerate(cells):
                own = order[ends[number] : ends[number + 1]]
                for a in range(0, len(own), _BLOCK):
                    some = own[a : a + _BLOCK]
                    out[some] += self._of_cell(cell, rows.part(some), settings)
        return out / len(self.trees)

    def _of_cell(self, cell: Cell, rows: Rows, settings: Settings) -> Array:
        out: Array = self.prior.root(rows, settings) @ cell.additive
        out += self.prior.kernel(rows, cell.rows) @ cell.alpha
        if self.near is not None:
            out += self.prior.kernel(rows, self.near) @ cell.shared
        return out


def fit_squared(
    rows: Rows,
    T: Array,
    price: Array,
    prior: Prior,
    rng: np.random.Generator,
    settings: Settings,
    *,
    left_out: bool = True,
    threads: int = 1,
    done: Callable[[str], Any] | None = None,
) -> Squared:
    """Solve the squared loss of all rows.

    Parameters
    ----------
    rows : Rows
        The rows.
    T : ndarray of shape (n, k)
        The targets.
    price : ndarray of shape (n,)
        The weight of each row's loss.
    prior : Prior
        The prior.
    rng : Generator
        Picks landmarks and trees.
    settings : Settings
        The constants.
    left_out : bool, default=True
        Whether left-out decisions are needed.
    threads : int, default=1
        Threads over cells.
    done : callable, default=None
        Told of each tree.

    Returns
    -------
    model : Squared
        The model.
    """
    n = len(rows)
    real = np.float32 if prior.noise >= settings.fine_noise else np.float64
    shared = _Shared.of(rows, prior, rng, settings, real) if n > settings.exact_rows else None
    n_trees = 1 if shared is None or n > settings.many_rows else settings.trees
    trees: list[tuple[Tree, tuple[Cell, ...]]] = []
    without: Any = 0.0
    noise = prior.noise / price
    for number in range(n_trees):
        P = coordinates(rows, prior)
        tree, members = grow(P, n if shared is None else settings.cell, rng)
        solve = _CellSolver(rows, T.astype(real), noise, prior, settings, shared, left_out, real)
        cells, own = solve.all(members, threads)
        trees.append((tree, tuple(cells)))
        without = without + own if left_out else 0.0
        if done is not None:
            done(f"partition {number + 1} of {n_trees}")
    found = without / n_trees if left_out else None
    near = None if shared is None else shared.near.bare()
    return Squared(prior, near, tuple(trees), found)


@dataclass(frozen=True)
class _Shared:
    """Landmarks, and the inverse factor that makes Phi of covariances with them."""

    near: Rows
    root: Array
    L: Array

    @classmethod
    def of(
        cls, rows: Rows, prior: Prior, rng: np.random.Generator, settings: Settings, real: Any
    ) -> _Shared:
        near = rows.part(np.sort(rng.permutation(len(rows))[: settings.shared]))
        root = prior.root(near, settings).astype(real)
        M = prior.kernel(near, near).astype(np.float64) + root @ root.T
        M = 0.5 * (M + M.T)
        M[np.diag_indices_from(M)] += (prior.s2 + prior.r2) * NUGGET + 1e-9 * np.trace(M) / len(M)
        return cls(near, root, scipy.linalg.cholesky(M, lower=True, check_finite=False))

    def features(self, rows: Rows, root: Array, prior: Prior) -> Array:
        K = prior.kernel(rows, self.near).astype(root.dtype)
        K += root @ self.root.T
        L = self.L.astype(root.dtype)
        Phi: Array = scipy.linalg.solve_triangular(L, K.T, lower=True, check_finite=False).T
        return Phi


@dataclass(frozen=True)
class _CellSolver:
    """Solves the cells of one partition."""

    rows: Rows
    T: Array
    noise: Array
    prior: Prior
    settings: Settings
    shared: _Shared | None
    left_out: bool
    real: Any

    def all(self, members: list[Index], threads: int) -> tuple[list[Cell], Any]:
        """Return the cells, and the left-out decisions of all rows."""
        first = run(self._factor, members, threads)
        if self.shared is None:
            gamma = LB = None
        else:
            B = _sum_of([own.B for own in first])
            B[np.diag_indices_from(B)] += 1
            LB = scipy.linalg.cholesky(B, lower=True, overwrite_a=True, check_finite=False)
            right = _sum_of([own.right for own in first])
            gamma = scipy.linalg.cho_solve((LB, True), right, check_finite=False)
        finish = run(lambda own: self._finish(own, gamma, LB), first, threads)
        without: Any = None
        if self.left_out:
            without = np.empty(self.T.shape)
            for own, (_, out) in zip(members, finish, strict=True):
                without[own] = out
        return [cell for cell, _ in finish], without

    def _parts(self, own: Index) -> tuple[Rows, Array, Any]:
        """Return the rows of a cell, their additive columns and their Phi."""
        rows = self.rows.part(own)
        root = self.prior.root(rows, self.settings).astype(self.real)
        if self.shared is None:
            return rows, root, None
        return rows, root, self.shared.features(rows, root, self.prior)

    def _factor(self, own: Index) -> _Factored:
        """Factorise one cell."""
        rows, root, Phi = self._parts(own)
        C = self.prior.kernel(rows, rows).astype(self.real)
        C += root @ root.T
        if Phi is not None:
            C -= Phi @ Phi.T
        nugget = _ROUNDING * (self.prior.s2 + self.prior.r2)
        C[np.diag_indices_from(C)] += (self.noise[own] + nugget).astype(self.real)
        L = scipy.linalg.cholesky(C.T, lower=True, overwrite_a=True, check_finite=False)
        alpha = scipy.linalg.cho_solve((L, True), self.T[own], check_finite=False)
        DU = None if Phi is None else scipy.linalg.cho_solve((L, True), Phi, check_finite=False)
        diagonal = np.ones(0)
        if self.left_out:
            inverse = (spotri if self.real is np.float32 else dpotri)(L, lower=True)[0]
            diagonal = np.diagonal(inverse).astype(np.float64)
        if Phi is None:
            return _Factored(own, alpha, diagonal)
        return _Factored(own, alpha, diagonal, DU, Phi.T @ DU, Phi.T @ alpha)

    def _finish(self, own: _Factored, gamma: Any, LB: Any) -> tuple[Cell, Array | None]:
        """Return a cell with its coefficients, and its left-out decisions."""
        rows, root, Phi = self._parts(own.members)
        alpha, diagonal = own.alpha.astype(np.float64), own.diagonal
        shared, additive = np.zeros((0, alpha.shape[1])), np.zeros((root.shape[1], alpha.shape[1]))
        if gamma is not None and Phi is not None and self.shared is not None:
            alpha = alpha - own.DU @ gamma
            b = gamma - Phi.T @ alpha
            L = self.shared.L
            shared = scipy.linalg.solve_triangular(L, b, lower=True, trans=1, check_finite=False)
            additive = self.shared.root.T @ shared
            if self.left_out:
                half = scipy.linalg.solve_triangular(LB, own.DU.T, lower=True, check_finite=False)
                diagonal = diagonal - np.einsum("ij,ij->j", half, half)
        cell = Cell(rows.bare(), alpha, additive + root.T @ alpha, shared)
        without = self.T[own.members] - alpha / diagonal[:, None] if self.left_out else None
        return cell, without


def _sum_of(arrays: list[Array]) -> Array:
    out = np.zeros(arrays[0].shape)
    for each in arrays:
        out += each
    return out


@dataclass(frozen=True)
class _Factored:
    """What the first pass keeps of a cell: D^-1 t, diag(D^-1), D^-1 Phi, Phi' D^-1 Phi, ..."""

    members: Index
    alpha: Array
    diagonal: Array
    DU: Any = None
    B: Any = None
    right: Any = None
