"""One weight per column by the evidence of a Gaussian model on landmarks.

Around the base rate p of a class, with W = p (1 - p), a logistic model is a least-squares one: the
targets r = (t - p) / W have the variance 1 / W. Their prior is a Gaussian process of low rank. K
has the kernel between rows and landmarks, centred; M that of the landmarks, with a little on its
diagonal; c is the count of a row. With A = ridge M + W K'CK and b = A^-1 W K'Cr

    E = 1/2 (log|A| - log|M| - m log ridge + W r'Cr - W r'CKb)

is minus the logarithm of the evidence, up to a constant. One W per class lets all classes share
K'CK, and the derivative by K is one product, summed over the classes:

    dE/dK = C (K sum W (A^-1 + bb') - sum W r b')
    dE/dM = 1/2 (ridge (A^-1 + bb') - M^-1)
    dE/dlog ridge = 1/2 (ridge tr M (A^-1 + bb') - m)
    dE/dlog w_j = -w_j (sum dE/dK * K * d_j + sum dE/dM * M * d_j)

L-BFGS on log w and log ridge, on some thousands of rows. It starts from the square roots of what a
scan finds: columns that matter only together would lose weights that start too small. Where a pair
of columns says most, and yet the descent explains next to nothing, it starts once more from a
narrow kernel: the squares of a checkerboard are small, and a wide kernel averages over them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np
import scipy.linalg

from ...._native import limited_contraction
from ...._records import dataclass
from ...._threads import in_background, run
from ...._typing import Array, Index
from ....kernels import Laplacian
from ....outer import LBFGS, Box, minimize
from ....scale.scan import scan_columns
from ...base.progress import FitProgress
from .metric import Landmarks, MetricColumns, balanced_sample
from .rows import PartRows

T = TypeVar("T")

N_ROWS, N_LANDMARKS, N_EVALUATIONS = 4000, 150, 12
_FLOOR = 0.01  # least weight at the start, relative to the largest: many columns of noise add up
_DROPPED = 1e-3  # weight relative to the largest below which a column is left out
_REACH = 5.0  # largest change of a logarithm of a weight
_RIDGE, _LEAST_RIDGE, _LARGEST_RIDGE = 3.0, 0.02, 300.0
_NUGGET = 1e-3  # added to the diagonal of M
_JITTER = 1e-6  # share of trace(W K'CK) added to the diagonal of A, as float32 sums round
_LEAST_VARIANCE = 0.005  # least p (1 - p) of a class
_LITTLE = 0.95  # part of E that is left by a descent which explains little and is tried once more
_NARROW = 16.0  # factor of all weights at the start of that
_TOL = 1e-4  # relative improvement of a step that ends the descent


@dataclass(frozen=True)
class EvidenceWeights:
    """The weights that were learned.

    Parameters
    ----------
    columns : MetricColumns
        The units of the columns.
    weights : ndarray of shape (d,)
        One weight per encoded column, in these units; zero for columns that were dropped.
    ridge : float
        The ridge of the model.
    history : tuple of float
        The values of E, evaluation by evaluation.
    """

    columns: MetricColumns
    weights: Array
    ridge: float
    history: tuple[float, ...]

    @property
    def kernel(self) -> Laplacian:
        """The kernel of rows in the units of the columns."""
        return Laplacian(weights=self.weights, categorical=self.columns.is_category)


@dataclass(frozen=True)
class ClassTargets:
    """The targets of all classes on some rows.

    Parameters
    ----------
    count : ndarray of shape (n,)
        How often each row counts; of mean one.
    variance : ndarray of shape (k,)
        W of each class.
    targets : ndarray of shape (n, k)
        (t - p) / W.
    """

    count: Array
    variance: Array
    targets: Array

    @property
    def is_plain(self) -> bool:
        """Whether every row counts once."""
        return bool((self.count == 1).all())

    @classmethod
    def of(cls, rows: PartRows) -> ClassTargets:
        """Return the targets of the classes of some rows."""
        count = rows.count / rows.count.mean()
        positive = (rows.codes > 0).astype(np.float64)
        p = count @ positive / count.sum()
        variance = np.maximum(p * (1 - p), _LEAST_VARIANCE)
        return cls(count, variance, (positive - p) / variance)


@dataclass(frozen=True)
class Evidence:
    """E and its derivatives by K, M and log ridge.

    Parameters
    ----------
    value : float
        E.
    by_rows : ndarray of shape (n, m)
        The derivative by the kernel between rows and landmarks.
    by_landmarks : ndarray of shape (m, m)
        The derivative by the kernel of the landmarks.
    by_ridge : float
        The derivative by the logarithm of the ridge.
    """

    value: float
    by_rows: Array
    by_landmarks: Array
    by_ridge: float


def evidence(
    K: Array, M: Array, known: ClassTargets, ridge: float, room: Array | None = None
) -> Evidence:
    """Return E and its derivatives, in the precision of K.

    Parameters
    ----------
    K : ndarray of shape (n, m)
        The kernel between rows and landmarks.
    M : ndarray of shape (m, m)
        The kernel of the landmarks, with its nugget, in float64.
    known : ClassTargets
        The targets.
    ridge : float
        The ridge.
    room : ndarray of shape (2, n, m), default=None
        Room for two matrices like K, the second of which becomes the derivative by K.

    Returns
    -------
    evidence : Evidence
        The value and the derivatives.
    """
    m, dtype = M.shape[0], K.dtype
    centred, by_rows = np.empty((2, *K.shape), dtype=dtype) if room is None else room
    count = known.count.astype(dtype)
    np.subtract(K, (count @ K) / count.sum(), out=centred)
    rooted = centred
    if not known.is_plain:
        rooted = np.multiply(centred, np.sqrt(count)[:, None], out=by_rows)
    gram = (rooted.T @ rooted).astype(np.float64)
    weighted = (known.count[:, None] * known.targets).astype(dtype)
    products = (centred.T @ weighted).astype(np.float64)  # K'Cr
    inverse_M, log_M = _inverse(M)
    value, by_ridge = 0.0, 0.0
    inner, outer = np.zeros((m, m)), np.zeros((m, len(known.variance)))
    by_M = np.zeros((m, m))
    for k, W in enumerate(known.variance):
        A = ridge * M + W * gram
        A[np.diag_indices(m)] += _JITTER * W * np.trace(gram)
        inverse, log_A = _inverse(A)
        b = inverse @ (W * products[:, k])
        both = inverse + np.outer(b, b)
        own = W * float(known.count @ known.targets[:, k] ** 2) - W * float(products[:, k] @ b)
        value += 0.5 * (log_A - log_M - m * np.log(ridge) + own)
        by_ridge += 0.5 * (ridge * float(np.sum(M * both)) - m)
        by_M += 0.5 * (ridge * both - inverse_M)
        inner += W * both
        inner[np.diag_indices(m)] += _JITTER * W * np.trace(both)
        outer[:, k] = W * b
    np.matmul(centred, inner.astype(dtype), out=by_rows)
    pull = np.matmul(known.targets.astype(dtype), outer.T.astype(dtype), out=centred)
    by_rows -= pull
    if not known.is_plain:
        by_rows *= count[:, None]
    return Evidence(value, by_rows, by_M, by_ridge)


def _inverse(A: Array) -> tuple[Array, float]:
    """Return the inverse of a positive definite matrix, and the logarithm of its determinant."""
    L = scipy.linalg.cholesky(A, lower=True, check_finite=False)
    inverse = scipy.linalg.lapack.dpotri(L, lower=True)[0]
    inverse += np.tril(inverse, -1).T
    return inverse, 2 * float(np.log(np.diagonal(L)).sum())


class EvidenceObjective:
    """E as a function of log w, one per group of columns, and log ridge.

    Parameters
    ----------
    X : ndarray of shape (n, d), of float32
        The rows, in the units of `MetricColumns`.
    landmarks : Landmarks
        The landmarks.
    known : ClassTargets
        The targets.
    group : ndarray of shape (d,)
        The number of each column's group, from zero.
    """

    def __init__(self, X: Array, landmarks: Landmarks, known: ClassTargets, group: Index) -> None:
        self.X, self.landmarks, self.known, self.group = X, landmarks, known, group
        self._right = np.ascontiguousarray(landmarks.rows.T)
        # New memory costs as much as what is computed in it.
        self._room = np.empty((3, len(X), len(landmarks.rows)), dtype=np.float32)

    def __call__(self, theta: Array) -> tuple[float, Array]:
        """Return E and its gradient at (log w, log ridge)."""
        weights, ridge = np.exp(theta[:-1])[self.group], float(np.exp(theta[-1]))
        K = self.landmarks.kernel(self.X, weights, self._room[0])
        M = self.landmarks.kernel(self.landmarks.rows, weights)
        found = evidence(K, _with_nugget(M), self.known, ridge, self._room[1:])
        sums = np.zeros(len(weights))
        np.multiply(found.by_rows, K, out=K)
        limited_contraction(K, self.X, self._right, self.landmarks.limits, sums)
        by_M = (found.by_landmarks * M).astype(np.float32)
        limited_contraction(by_M, self.landmarks.rows, self._right, self.landmarks.limits, sums)
        by_weights = np.bincount(self.group, -weights * sums, minlength=len(theta) - 1)
        return found.value, np.append(by_weights, found.by_ridge)


def _with_nugget(M: Array) -> Array:
    out = M.astype(np.float64)
    out = 0.5 * (out + out.T)
    out[np.diag_indices_from(out)] = 1 + _NUGGET
    return out


class StartWeights(NamedTuple):
    """Weights that a scan suggests.

    Parameters
    ----------
    weights : ndarray of shape (d,)
        The largest is one; those of flat columns are zero.
    of_pairs : bool
        Whether a pair of columns says more beyond both of them than any column alone.
    """

    weights: Array
    of_pairs: bool


def start_weights(rows: PartRows) -> StartWeights:
    """Scan the columns for the weights to begin with."""
    scan = scan_columns(rows.X, rows.layout.is_category, rows.classes, rows.n_classes, rows.count)
    found = scan.relevance
    largest = float(found.max(initial=0.0))
    weights = np.maximum(np.sqrt(found / largest), _FLOOR) if largest > 0 else np.ones(len(found))
    of_pairs = bool(scan.excess.max(initial=0.0) > scan.own.max(initial=0.0))
    return StartWeights(np.where(np.ptp(rows.X, axis=0) > 0, weights, 0.0), of_pairs)


def learn_evidence(
    rows: PartRows,
    columns: MetricColumns,
    start: StartWeights,
    random_state: Any,
    progress: FitProgress | None = None,
) -> EvidenceWeights:
    """Learn one weight per group of columns.

    Parameters
    ----------
    rows : PartRows
        The training rows.
    columns : MetricColumns
        The units of their columns.
    start : StartWeights
        The first weights, in these units; columns of weight zero stay out.
    random_state : RandomState
        Picks rows and landmarks.
    progress : FitProgress, default=None
        Told of the value.

    Returns
    -------
    weights : EvidenceWeights
        The weights.
    """
    weights = shared(start.weights, rows.layout.group)
    kept = np.flatnonzero(weights > 0)
    if len(kept) == 0:
        return EvidenceWeights(columns, weights, _RIDGE, ())
    chosen = balanced_sample(rows.classes, N_ROWS, random_state)
    some = rows.part(chosen)
    near = balanced_sample(some.classes, N_LANDMARKS, random_state)
    X = np.ascontiguousarray(columns.apply(some.X)[:, kept])
    landmarks = Landmarks.of(X[near], columns.is_category[kept])
    group = np.unique(rows.layout.group[kept], return_inverse=True)[1]
    objective = EvidenceObjective(X, landmarks, ClassTargets.of(some), group)
    first = weights[kept] / _typical_distance(landmarks, X, weights[kept])
    found = _descend(objective, first, group)
    if start.of_pairs and found.value > _LITTLE * found.history[0].value:
        narrow = _descend(objective, _NARROW * first, group)
        found = min(found, narrow, key=lambda each: each.value)
    weights[kept] = np.exp(found.theta[:-1])[group]
    weights[weights < _DROPPED * weights.max()] = 0
    if progress is not None:
        progress.line(f"evidence on {len(chosen)} rows: {found.value:.6g}")
    history = tuple(step.value for step in found.history)
    return EvidenceWeights(columns, weights, float(np.exp(found.theta[-1])), history)


def learn_beside(
    step: Callable[[PartRows], T],
    rows: PartRows,
    random_state: Any,
    progress: FitProgress | None = None,
    threads: int = 1,
) -> tuple[Callable[[], T], EvidenceWeights]:
    """Learn the weights while a step that does not need them is taken on another thread.

    Parameters
    ----------
    step : callable
        Takes the rows.
    rows : PartRows
        The training rows.
    random_state : RandomState
        Picks rows and landmarks.
    progress : FitProgress, default=None
        Told of each step.
    threads : int, default=1
        Threads over what does not depend on each other.

    Returns
    -------
    found : callable
        Returns what the step returned, which may still take a while.
    learned : EvidenceWeights
        The weights.
    """
    found = in_background(lambda: step(rows), threads)
    steps: Any = (MetricColumns.of, start_weights)
    columns, start = run(lambda own: own(rows), steps, threads - 1)
    return found, learn_evidence(rows, columns, start, random_state, progress)


def _descend(objective: EvidenceObjective, first: Array, group: Index) -> Any:
    """Minimise E from given weights."""
    start = np.zeros(group.max() + 1)
    start[group] = np.log(first)
    lo = np.append(start - _REACH, np.log(_LEAST_RIDGE))
    hi = np.append(start + _REACH, np.log(_LARGEST_RIDGE))
    return minimize(
        objective,
        np.append(start, np.log(_RIDGE)),
        method=LBFGS(),
        domain=Box(lo, hi),
        max_evaluations=N_EVALUATIONS,
        tol=_TOL,
    )


def shared(weights: Array, group: Index) -> Array:
    """Give all columns of a group the largest of their weights; zero stays zero."""
    largest = np.zeros(int(group.max()) + 1)
    np.maximum.at(largest, group, weights)
    return np.where(weights > 0, largest[group], 0.0)


def _typical_distance(landmarks: Landmarks, X: Array, weights: Array) -> float:
    """Return the median distance between landmarks and some rows; one where it is zero."""
    middle = float(np.median(landmarks.distances(X[:: max(1, len(X) // 500)], weights)))
    return middle if middle > 0 else 1.0
