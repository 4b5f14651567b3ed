"""The joint part: one regression on the additive columns and on landmarks of the learned kernel.

    f(x) = additive(x) + sum_l a_l k(x, z_l),      Phi = K L^-T,  L L' = M

K has the kernel between rows and landmarks, M that of the landmarks. The ridge of the columns Phi
is the one of least leave-one-out log loss around the additive part's leave-one-out decisions o:
with p = expit(o), W = p (1 - p) and Phi' C W Phi = V diag(s) V'

    f_i = o_i + sum_k u_ik (U' C (t - p))_k / (s_k + ridge),   U = Phi V
    h_i = c_i W_i sum_k u_ik^2 / (s_k + ridge)

Then all coefficients are learned together, by Newton steps from there.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.linalg

from ...._records import dataclass
from ...._typing import Array
from ....kernels import Laplacian
from ...base.ties import at_lowest
from .additive import AdditiveColumns, AdditivePart
from .design import Design
from .evidence import EvidenceWeights
from .logistic import (
    LARGEST_DECISION,
    LeftOut,
    Target,
    fit_logistic,
    judged_rows,
    log_losses,
    quadratic_left_out,
    targets_of,
)
from .metric import MetricColumns, balanced_sample
from .rows import PartRows

RIDGES = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
_N_LANDMARKS = 300
_NUGGET = 1e-3  # added to the diagonal of M
NEWTON_STEPS = 2


@dataclass(frozen=True)
class LandmarkColumns:
    """Turns encoded columns into kernel values, and these into columns of a regression.

    Parameters
    ----------
    columns : MetricColumns
        The units in which rows are compared.
    kernel : Laplacian
        The kernel of rows in these units.
    rows : ndarray of shape (m, d), of float32
        The landmarks, in these units.
    """

    columns: MetricColumns
    kernel: Laplacian
    rows: Array

    @classmethod
    def of(cls, rows: PartRows, learned: EvidenceWeights, random_state: Any) -> LandmarkColumns:
        """Pick landmarks among training rows."""
        near = balanced_sample(rows.classes, _N_LANDMARKS, random_state)
        return cls(learned.columns, learned.kernel, learned.columns.apply(rows.X[near]))

    def values(self, X: Array) -> Array:
        """Return the kernel between encoded rows and landmarks, in float32."""
        return self.kernel(self.columns.apply(X), self.rows)

    def factor(self) -> Array:
        """Return L."""
        M = self.kernel(self.rows.astype(np.float64))
        M[np.diag_indices_from(M)] = 1 + _NUGGET
        L: Array = scipy.linalg.cholesky(M, lower=True, check_finite=False)
        return L


@dataclass(frozen=True)
class JointPart:
    """A fitted joint part.

    Parameters
    ----------
    additive : AdditiveColumns
        The additive columns.
    landmarks : LandmarkColumns
        The landmarks.
    coefficients : ndarray of shape (p, k)
        The coefficients of the additive columns, the constant first.
    kernel_coefficients : ndarray of shape (m, k)
        The coefficients of the kernel values.
    ridge : float
        The ridge of the kernel's columns.
    left_out : ndarray of shape (n, k)
        Decisions on the training rows without each of them.
    importances : ndarray of shape (d,)
        The share of each encoded column in the spread of the decisions.
    """

    additive: AdditiveColumns
    landmarks: LandmarkColumns
    coefficients: Array
    kernel_coefficients: Array
    ridge: float
    left_out: Array
    importances: Array
    name: ClassVar[str] = "joint"

    def decision_values(self, X: Array) -> Array:
        """Return the decisions on encoded rows."""
        additive = self.additive.design(X).product(self.coefficients)
        return additive + self.landmarks.values(X) @ self.kernel_coefficients

    def additive_values(self, X: Array) -> Array:
        """Return what the additive columns add to the decisions."""
        return self.additive.decisions(X, self.coefficients)


def fit_joint(
    rows: PartRows,
    additive: AdditivePart,
    learned: EvidenceWeights,
    random_state: Any,
    n_steps: int = NEWTON_STEPS,
    relevance: Array | None = None,
) -> JointPart:
    """Fit the joint part.

    Parameters
    ----------
    rows : PartRows
        The training rows.
    additive : AdditivePart
        The additive part of the same rows.
    learned : EvidenceWeights
        The weights of the columns in the kernel.
    random_state : RandomState
        Picks the landmarks.
    n_steps : int, default=2
        Newton steps.
    relevance : ndarray of shape (d,), default=None
        The prior variances that the additive part was fitted with; None is one each.

    Returns
    -------
    part : JointPart
        The part.
    """
    landmarks = LandmarkColumns.of(rows, learned, random_state)
    L = landmarks.factor()
    Phi = solve_lower(L.astype(np.float32), landmarks.values(rows.X).T).T
    targets = targets_of(rows)
    ridge, starts = choose_kernel_ridge(Phi, additive.left_out, targets, rows)
    own = additive.columns.design(rows.X)
    q, n_numbers = own.dense.shape[1] + Phi.shape[1], own.dense.shape[1]
    design = Design(np.hstack([own.dense, Phi]), own.places, own.steps)
    Phi = design.dense[:, n_numbers:]  # the first copy would be most of the memory of a fit
    is_kernel = np.zeros(design.shape[1], dtype=bool)
    is_kernel[n_numbers:q] = True
    each = np.ones(rows.X.shape[1]) if relevance is None else relevance
    penalty = np.full(design.shape[1], ridge)
    penalty[~is_kernel] = np.append(0.0, additive.ridge / additive.columns.of_features(each))
    start = np.empty((design.shape[1], len(targets)))
    start[is_kernel], start[~is_kernel] = np.column_stack(starts), additive.coefficients
    fits = [
        fit_logistic(design, target, penalty, first, n_steps, rows)
        for target, first in zip(targets, start.T, strict=True)
    ]
    coefficients = np.column_stack([fit.coefficients for fit in fits])
    left_out = np.column_stack([fit.left_out for fit in fits])
    return JointPart(
        additive.columns,
        landmarks,
        coefficients[~is_kernel],
        solve_lower(L, coefficients[is_kernel], transposed=True),
        ridge,
        np.clip(left_out, -LARGEST_DECISION, LARGEST_DECISION),
        _importances(
            additive,
            own,
            coefficients[~is_kernel],
            Phi @ coefficients[is_kernel],
            kernel_shares(rows, learned),
            rows.count,
        ),
    )


def solve_lower(L: Array, B: Array, *, transposed: bool = False) -> Array:
    """Return L^-1 B, or L'^-1 B."""
    out: Array = scipy.linalg.solve_triangular(
        L, B, trans=int(transposed), lower=True, check_finite=False
    )
    return out


def choose_kernel_ridge(
    Phi: Array, offset: Array, targets: list[Target], rows: PartRows
) -> tuple[float, list[Array]]:
    """Return the ridge of least leave-one-out log loss around an offset, and its coefficients.

    Parameters
    ----------
    Phi : ndarray of shape (n, m), of float32
        The columns.
    offset : ndarray of shape (n, k)
        The decisions to which they add.
    targets : list of Target
        One class against the others each.
    rows : PartRows
        The rows, which say what is left out together.

    Returns
    -------
    ridge : float
        The best of `RIDGES`, summed over the classes.
    coefficients : list of ndarray of shape (m,)
        Those of that ridge, one per class.
    """
    judged = judged_rows(rows)
    some = rows.part(judged)
    losses, found = np.zeros(len(RIDGES)), []
    for target, own in zip(targets, offset.T, strict=True):
        residual, variance = target.residual(own)
        rooted = Phi * np.sqrt(target.price * variance).astype(np.float32)[:, None]
        sizes, V = scipy.linalg.eigh(
            (rooted.T @ rooted).astype(np.float64), driver="evd", check_finite=False
        )
        scales = 1 / (np.maximum(sizes, 0)[:, None] + np.array(RIDGES))
        pull = (target.price * residual).astype(np.float32) @ Phi
        coefficients = scales * (pull @ V)[:, None]
        at = LeftOut(own, residual, variance, target.price).part(judged)
        U = Phi[judged] @ V.astype(np.float32)
        left_out = quadratic_left_out(U, at, coefficients, scales, some)
        losses += log_losses(left_out, target.part(judged))
        found.append(V @ coefficients)
    best = int(np.flatnonzero(at_lowest(losses))[-1])  # the largest ridge of equal ones
    return RIDGES[best], [coefficients[:, best] for coefficients in found]


def kernel_shares(rows: PartRows, learned: EvidenceWeights) -> Array:
    """Return how much each column adds to the mean distance of two rows, of sum one."""
    shares = learned.weights.copy()
    for j in np.flatnonzero(learned.columns.is_category):
        level = np.bincount(rows.X[:, j].astype(np.intp), rows.count) / rows.count.sum()
        shares[j] *= 1 - level @ level
    total = shares.sum()
    return shares / total if total > 0 else shares


def _importances(
    additive: AdditivePart,
    design: Design,
    coefficients: Array,
    by_kernel: Array,
    shares: Array,
    count: Array,
) -> Array:
    """Weight the shares in the additive part and in the kernel by the spread of each of them."""
    share = count / count.sum()
    spreads = []
    for decisions in (design.product(coefficients), by_kernel):
        spreads.append(float(np.sqrt(share @ (decisions - share @ decisions) ** 2).sum()))
    total = sum(spreads)
    if total == 0:
        return np.zeros(len(shares))
    return (spreads[0] * additive.importances + spreads[1] * shares) / total
