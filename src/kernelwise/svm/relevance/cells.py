"""The squared loss under the prior, solved for all rows: exactly, or by landmarks and cells.

    C = A diag(var) A' + K + noise diag(1 / weight)                       up to some thousand rows
    C ~ Phi Phi' + D,  Phi = C(rows, Z) L^-T,  D = blockdiag(C - Phi Phi')                   above

The landmarks Z carry what all rows share, and the cells of a random tree what neighbours share.
The first levels of a tree are grown on a sample and send rows to regions, which grow the rest. With
D = LL' for each cell, Woodbury's identity solves the sum in two passes over the cells:

    factor   alpha = D^-1 T,  G = D^-1 Phi,  B = sum Phi' G,  r = sum Phi' alpha
    bridge   gamma = (I + B)^-1 r
    finish   alpha - G gamma;  left out: t - alpha / diag(D^-1 - G (I + B)^-1 G')

`factor` and `finish` take a region: threads and clusters call the same functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.linalg
from scipy.linalg import get_blas_funcs, get_lapack_funcs

from ..._threads import run
from ..._typing import Array, Index
from .joint import NUGGET
from .prior import Prior
from .rows import Rows
from .settings import Settings
from .trees import Tree, coordinates, grow

_ROUNDING = 3e-6  # nugget relative to the amplitude: kernels are float32
_BLOCK = 4096  # rows that are decided at a time


# --- The model ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cell:
    """One cell of a partition: its rows and what they add to decisions."""

    rows: Rows
    alpha: Array  # (m, k): the coefficients of the covariances with them
    additive: Array  # (q, k): the coefficients of the additive columns
    # (n_landmarks, k): the coefficients of the covariances with the landmarks; none of an exact
    # solve
    shared: Array


@dataclass(frozen=True)
class Squared:
    """A fitted model of the squared loss."""

    prior: Prior
    near: Rows | None
    trees: tuple[tuple[Tree, tuple[Cell, ...]], ...]  # the partitions, whose decisions are averaged
    left_out: Array | None = None  # (n, k): decisions on training rows without each of them

    def decide(self, rows: Rows) -> Array:
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
                    out[some] += self._of_cell(cell, rows.part(some))
        return out / len(self.trees)

    def _of_cell(self, cell: Cell, rows: Rows) -> Array:
        out: Array = self.prior.root(rows) @ cell.additive
        out += self.prior.exact_kernel(rows, cell.rows) @ cell.alpha
        if self.near is not None:
            out += self.prior.exact_kernel(rows, self.near) @ cell.shared
        return out


# --- What is solved ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Known:
    """Rows whose targets are known."""

    rows: Rows
    T: Array  # (n, k): the targets
    cost_factor: Array  # (n,): the weight of each row's loss
    numbers: Index  # (n,): the number of each row in the table, ascending
    wanted: Any  # (n,): whether a decision without the row is needed

    def __len__(self) -> int:
        return len(self.rows)

    def part(self, own: Index) -> Known:
        """Return some of the rows."""
        T, cost_factor, numbers = self.T[own], self.cost_factor[own], self.numbers[own]
        return Known(self.rows.part(own), T, cost_factor, numbers, self.wanted[own])

    @classmethod
    def joined(cls, blocks: Sequence[Known]) -> Known:
        """Return blocks of rows as one, by ascending number."""
        arrays = (
            np.concatenate([getattr(block, name) for block in blocks])
            for name in ("T", "cost_factor", "numbers", "wanted")
        )
        out = cls(Rows.joined([block.rows for block in blocks]), *arrays)
        return out.part(np.argsort(out.numbers, kind="stable"))


@dataclass(frozen=True)
class Factored:
    """What the first pass keeps of a cell: D^-1 T, diag(D^-1) and D^-1 Phi."""

    known: Known
    alpha: Array
    diagonal: Array
    G: Array | None


@dataclass(frozen=True)
class Region:
    """The cells of a region, and the tree that sends rows to them."""

    tree: Tree
    cells: list[Factored]


@dataclass(frozen=True)
class Sums:
    """B and r, summed over cells."""

    B: Array
    r: Array

    def __add__(self, other: Sums) -> Sums:
        return Sums(self.B + other.B, self.r + other.r)


@dataclass(frozen=True)
class Bridge:
    """What joins cells: gamma, and the inverse of the Cholesky factor of I + B."""

    gamma: Array
    half: Array

    @classmethod
    def of(cls, sums: Sums) -> Bridge:
        """Solve for gamma."""
        L = scipy.linalg.cholesky(sums.B + np.eye(len(sums.B)), lower=True, check_finite=False)
        return cls(scipy.linalg.cho_solve((L, True), sums.r, check_finite=False), _inverse_of(L))


@dataclass(frozen=True)
class Finished:
    """The finished cells of a region, and the wanted decisions without each row."""

    tree: Tree
    cells: list[Cell]
    numbers: Index
    left_out: Array


@dataclass(frozen=True)
class Landmarks:
    """Rows whose covariances all cells share, and the inverse factor that makes Phi of them."""

    near: Rows
    root: Array
    inverse: Array

    @classmethod
    def of(
        cls, rows: Rows, prior: Prior, rng: np.random.Generator, settings: Settings
    ) -> Landmarks:
        """Choose landmarks among rows, and factorise their covariances."""
        near = rows.part(np.sort(rng.permutation(len(rows))[: settings.shared]))
        root = prior.root(near)
        M = prior.kernel(near, near).astype(np.float64)
        M += root @ root.T.astype(np.float64)
        M = 0.5 * (M + M.T)
        M[np.diag_indices_from(M)] += (prior.s2 + prior.r2) * NUGGET + 1e-9 * np.trace(M) / len(M)
        L = scipy.linalg.cholesky(M, lower=True, check_finite=False)
        return cls(near, root, _inverse_of(L))

    def covariances(self, rows: Rows, root: Array, prior: Prior) -> Array:
        """Return the covariances of rows with the landmarks."""
        K = prior.kernel(rows, self.near).astype(root.dtype, copy=False)
        K += root @ self.root.T.astype(root.dtype, copy=False)
        return K


def _inverse_of(L: Array) -> Array:
    eye = np.eye(len(L))
    out: Array = scipy.linalg.solve_triangular(L, eye, lower=True, check_finite=False)
    return out


@dataclass(frozen=True)
class Plan:
    """All that the cells of one partition share."""

    prior: Prior
    settings: Settings
    landmarks: Landmarks | None  # the landmarks; None solves exactly, in one cell
    trunk: Tree  # the first levels of the tree, whose cells are the regions
    seed: int  # grows the trees of the regions
    real: Any  # the type of the numbers: float32, or float64 where there is hardly any noise

    @classmethod
    def all(
        cls, rows: Rows, n: int, prior: Prior, rng: np.random.Generator, settings: Settings
    ) -> list[Plan]:
        """Return a plan for each partition of n rows, of which these are all or a sample."""
        real = np.float32 if prior.noise >= settings.fine_noise else np.float64
        is_exact = n <= settings.exact_rows
        landmarks = None if is_exact else Landmarks.of(rows, prior, rng, settings)
        plans = []
        for _ in range(1 if is_exact or n > settings.sample else settings.trees):
            seed = int(rng.integers(2**63))
            size = len(rows) if is_exact else max(1, settings.sample * len(rows) // n)
            P = coordinates(rows, prior)
            trunk, _ = grow(P, size, np.random.default_rng(seed), splits_equal=False)
            plans.append(cls(prior, settings, landmarks, trunk, seed, real))
        return plans

    def regions(self, known: Known) -> list[Index]:
        """Return the rows of each region."""
        of_row = self.trunk.route(coordinates(known.rows, self.prior))
        order = np.argsort(of_row, kind="stable")
        ends = np.searchsorted(of_row[order], np.arange(self.trunk.n_cells + 1))
        return [order[a:b] for a, b in pairwise(ends)]

    # --- First pass -----------------------------------------------------------------------

    def factor(self, known: Known, number: int, threads: int = 1) -> tuple[Region, Sums | None]:
        """Grow the cells of a region and factorise them."""
        size = len(known) if self.landmarks is None else self.settings.cell
        rng = np.random.default_rng((self.seed, number))
        tree, members = grow(coordinates(known.rows, self.prior), size, rng)
        found = run(lambda own: self._factor_cell(known.part(own)), members, threads)
        cells = [cell for cell, _ in found]
        if self.landmarks is None:
            return Region(tree, cells), None
        total = Sums(np.zeros(found[0][1].B.shape), np.zeros(found[0][1].r.shape))
        for _, sums in found:
            np.add(total.B, sums.B, out=total.B)
            np.add(total.r, sums.r, out=total.r)
        return Region(tree, cells), total

    def _factor_cell(self, known: Known) -> tuple[Factored, Any]:
        rows, prior = known.rows, self.prior
        root = prior.root(rows).astype(self.real, copy=False)
        C = prior.kernel(rows, rows).astype(self.real, copy=False)
        C += root @ root.T
        Phi = None
        if self.landmarks is not None:
            K = self.landmarks.covariances(rows, root, prior)
            Phi = (self.landmarks.inverse.astype(self.real) @ K.T).T
            C -= Phi @ Phi.T
        nugget = _ROUNDING * (prior.s2 + prior.r2)
        C[np.diag_indices_from(C)] += (prior.noise / known.cost_factor + nugget).astype(self.real)
        T = known.T.astype(self.real)
        L = scipy.linalg.cholesky(C.T, lower=True, overwrite_a=True, check_finite=False)
        alpha = scipy.linalg.cho_solve((L, True), T, check_finite=False)
        if Phi is None and not known.wanted.any():
            return Factored(known, alpha, np.ones(0), None), None
        (potri,) = get_lapack_funcs(("potri",), (L,))
        inverse = potri(L, lower=True, overwrite_c=True)[0]
        diagonal = np.diagonal(inverse).astype(np.float64)
        if Phi is None:
            return Factored(known, alpha, diagonal, None), None
        (symm,) = get_blas_funcs(("symm",), (inverse, Phi))
        G = symm(1.0, inverse, Phi, lower=True)
        return Factored(known, alpha, diagonal, G), Sums(Phi.T @ G, Phi.T @ alpha)

    # --- Second pass ----------------------------------------------------------------------

    def finish(self, region: Region, bridge: Bridge | None, threads: int = 1) -> Finished:
        """Return the cells of a region with their coefficients, and decisions without rows."""
        found = run(lambda cell: self._finish_cell(cell, bridge), region.cells, threads)
        numbers = [cell.known.numbers[cell.known.wanted] for cell in region.cells]
        cells, left_out = zip(*found, strict=True)
        return Finished(region.tree, list(cells), np.concatenate(numbers), np.vstack(left_out))

    def _finish_cell(self, cell: Factored, bridge: Bridge | None) -> tuple[Cell, Array]:
        rows, wanted = cell.known.rows, cell.known.wanted
        root = self.prior.root(rows).astype(self.real, copy=False)
        alpha = cell.alpha.astype(np.float64)
        shared, additive = np.zeros((0, alpha.shape[1])), np.zeros((root.shape[1], alpha.shape[1]))
        correction: Any = 0.0
        if bridge is not None and cell.G is not None and self.landmarks is not None:
            alpha -= cell.G @ bridge.gamma
            K = self.landmarks.covariances(rows, root, self.prior)
            inverse = self.landmarks.inverse
            shared = inverse.T @ (bridge.gamma - inverse @ (K.T @ alpha))
            additive = self.landmarks.root.T @ shared
            half = cell.G[wanted] @ bridge.half.T.astype(self.real)
            correction = np.einsum("ij,ij->i", half, half)
        done = Cell(rows.bare(), alpha, additive + root.T @ alpha, shared)
        if not wanted.any():
            return done, np.zeros((0, alpha.shape[1]))
        diagonal = cell.diagonal[wanted] - correction
        return done, cell.known.T[wanted] - alpha[wanted] / diagonal[:, None]


# --- One process --------------------------------------------------------------------------------


def fit_squared(
    rows: Rows,
    T: Array,  # (n, k): the targets
    cost_factor: Array,  # (n,): the weight of each row's loss
    prior: Prior,
    rng: np.random.Generator,  # picks landmarks and trees
    settings: Settings,
    *,
    left_out: bool = True,  # whether left-out decisions are needed
    threads: int = 1,
    done: Callable[[str], Any] | None = None,  # told of each step
) -> Squared:
    """Solve the squared loss of all rows."""
    n = len(rows)
    known = Known(rows, T, cost_factor, np.arange(n), np.full(n, left_out))
    plans = Plan.all(rows, n, prior, rng, settings)
    return solve(plans, known, threads, done)


def solve(
    plans: Sequence[Plan],
    known: Known,
    threads: int = 1,
    done: Callable[[str], Any] | None = None,
) -> Squared:
    """Solve the squared loss of rows by given plans; left-out decisions are those wanted."""
    parts = []
    for number, plan in enumerate(plans):
        regions, total = [], None
        for r, own in enumerate(plan.regions(known)):
            region, sums = plan.factor(known.part(own), r, threads)
            regions.append(region)
            total = sums if total is None or sums is None else total + sums
        bridge = None if total is None else Bridge.of(total)
        found = []
        while regions:  # the first pass takes memory
            found.append(plan.finish(regions.pop(0), bridge, threads))
        parts.append(found)
        if done is not None:
            done(f"partition {number + 1} of {len(plans)}")
    return assembled(plans, parts)


def assembled(plans: Sequence[Plan], parts: Sequence[Sequence[Finished]]) -> Squared:
    """Return the model of finished regions, with left-out decisions by ascending row number."""
    trees, decisions = [], []
    for plan, regions in zip(plans, parts, strict=True):
        tree = plan.trunk.joined([region.tree for region in regions])
        trees.append((tree, tuple(cell for region in regions for cell in region.cells)))
        order = np.argsort(np.concatenate([region.numbers for region in regions]))
        decisions.append(np.vstack([region.left_out for region in regions])[order])
    landmarks = plans[0].landmarks
    near = None if landmarks is None else landmarks.near.bare()
    left_out: Array | None = np.mean(decisions, axis=0) if len(decisions[0]) else None
    return Squared(plans[0].prior, near, tuple(trees), left_out)
