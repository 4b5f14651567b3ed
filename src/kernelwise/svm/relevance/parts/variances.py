"""One prior variance per column of the additive part, by the evidence.

With one ridge for all columns, columns of noise ask for a large one, and those that matter are
shrunk with them. Here the effects of each encoded column j have a precision l_j of their own. In
the model around the base rate p, with W = p (1 - p), the centred columns Z_c, the price c of the
rows and H = W Z_c' C Z_c + diag(l)

    b = H^-1 Z_c' C (t - p),    g_j = sum_k 1 - l_j (H^-1)_kk,    l_j <- g_j / sum_k b_k^2

over the columns k of the regression that are made of j: MacKay's steps to the largest evidence. A
few of them tell columns apart. Several classes share H, with the mean of their W.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from ...._typing import Array
from .additive import AdditiveColumns
from .logistic import targets_of
from .rows import PartRows

_START = 3.0  # precision of all columns at the start
_N_STEPS = 3
_LEAST, _LARGEST = 0.1, 3000.0  # bounds of the precisions
_LEAST_VARIANCE = 0.03  # relative to the largest: a column of little effect may matter yet


def prior_variances(rows: PartRows, levels: int | None = None) -> Array:
    """Learn the prior variance of the effect of each encoded column.

    Parameters
    ----------
    rows : PartRows
        The training rows.
    levels : int, default=None
        Levels of all categories, about, as `fit_additive` has them.

    Returns
    -------
    variances : ndarray of shape (d,)
        The variances, relative to the largest; one for columns that make none of the regression.
    """
    columns = AdditiveColumns.of(rows, levels=levels)
    design, targets, d = columns.design(rows.X), targets_of(rows), rows.X.shape[1]
    source = columns.of_features(np.arange(d, dtype=np.float64)).astype(np.intp)
    sizes = np.bincount(source, minlength=d)
    G = design.gram(rows.price)
    centred = G[1:, 1:] - np.outer(G[0, 1:], G[0, 1:]) / G[0, 0]
    rates = np.array([target.base_rate for target in targets])
    curvature = float(np.mean(rates * (1 - rates))) * centred
    pulls = np.column_stack(
        [design.adjoint(rows.price * (each.positive - each.base_rate))[1:] for each in targets]
    )
    precision = np.full(d, _START)
    for _ in range(_N_STEPS):
        H = curvature.copy()
        H[np.diag_indices_from(H)] += precision[source]
        L = scipy.linalg.cholesky(H, lower=True, overwrite_a=True, check_finite=False)
        b = scipy.linalg.cho_solve((L, True), pulls, check_finite=False)
        left = np.diagonal(scipy.linalg.lapack.dpotri(L, lower=True)[0])
        learned = sizes - precision * np.bincount(source, left, d)
        squares = np.bincount(source, np.mean(b**2, axis=1), d)
        # Where nothing was learned both vanish, and the bound is what remains.
        precision = np.clip(learned, 1e-3, None) / np.maximum(squares, 1e-9)
        precision = np.clip(precision, _LEAST, _LARGEST)
    least = precision[sizes > 0].min(initial=_LARGEST)
    return np.where(sizes > 0, np.maximum(least / precision, _LEAST_VARIANCE), 1.0)
