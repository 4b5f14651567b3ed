"""The machines as problems: five support vector machines are five small builders (LIBSVM)."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Array
from .gram import Gram
from .problem import DualQP, plain


def _labels(y: Any, ndim: int = 1) -> tuple[Array, Any]:
    """Return the codes, and which of them are in the machine: True where all are."""
    y = np.asarray(y, dtype=np.float64)
    size = np.abs(y)
    inside = size == 1
    if y.ndim == ndim and inside.all():
        return y, True
    if y.ndim != ndim or not (inside | (size == 0)).all():
        form = "a vector" if ndim == 1 else "columns"
        raise ValueError(f"y must be {form} of -1, 0 (row not in the machine) and +1.")
    return y, inside


def _bounds(y: Array, inside: Any, C: Array) -> tuple[Array, Array]:
    """Return the bounds of b = alpha * y."""
    # 0 * inf is not a number: rows outside the machine have no bounds to multiply.
    bound = y * C if inside is True else np.multiply(y, C, out=np.zeros_like(y), where=inside)
    return np.minimum(0, bound), np.maximum(0, bound)


def _costs(C: Any, n: int) -> Array:
    """Return one cost for all rows, or one a row."""
    C = np.asarray(C, dtype=np.float64)
    if C.shape not in ((), (n,)):
        raise ValueError(f"C must be a number or a vector of {n}, as y is; got shape {C.shape}.")
    if not (C >= 0).all():
        raise ValueError("C must be a number of at least 0.")
    return C


def c_svc(
    K: Array | Gram, y: Any, C: Any = 1.0, *, is_psd: bool = True, bias: bool = True
) -> DualQP:
    """Build the C-SVC: hinge loss, 0 <= alpha_i <= C_i, sum alpha_i y_i = 0.

    Parameters
    ----------
    K : ndarray of shape (n, n) or Gram
        The kernel matrix.
    y : array-like of shape (n,)
        Codes -1 and +1; 0 leaves a row out of the machine.
    C : float or array-like of shape (n,), default=1.0
        The cost, one for all rows or one a row.
    is_psd : bool, default=True
        Whether a stored K is positive semi-definite.
    bias : bool, default=True
        Whether the machine has an intercept; without one there is no equality.

    Returns
    -------
    qp : DualQP
        The problem in b = alpha * y.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.qp import SMO, c_svc
    >>> X, y = np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0])
    >>> SMO().solve(c_svc(X @ X.T, y, C=10.0)).beta
    array([-0.5,  0.5])
    """
    y, inside = _labels(y)
    lo, hi = _bounds(y, inside, _costs(C, len(y)))
    if bias:
        return DualQP.of_parts(K, plain(y), lo, hi, is_psd)
    return DualQP(K, p=y, lo=lo, hi=hi, A=np.empty((0, len(y))), is_psd=is_psd)


def c_svcs(
    K: Array | Gram, Y: Any, C: Any = 1.0, *, is_psd: bool = True, bias: bool = True
) -> list[DualQP]:
    """Build a C-SVC for each column of codes, all of one K and C, which are checked once.

    Parameters
    ----------
    K : ndarray of shape (n, n) or Gram
        The kernel matrix.
    Y : array-like of shape (n, n_machines)
        Codes -1 and +1; 0 leaves a row out of a machine.
    C : float or array-like of shape (n,), default=1.0
        The cost, one for all rows or one a row.
    is_psd : bool, default=True
        Whether a stored K is positive semi-definite.
    bias : bool, default=True
        Whether the machines have an intercept.

    Returns
    -------
    qps : list of DualQP
        The problems.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.qp import SMO
    >>> from kernelwise.qp.builders import c_svcs
    >>> X, Y = np.array([[-1.0], [1.0]]), np.array([[-1.0, 1.0], [1.0, -1.0]])
    >>> [SMO().solve(qp).beta.tolist() for qp in c_svcs(X @ X.T, Y, C=10.0)]
    [[-0.5, 0.5], [0.5, -0.5]]
    """
    Y, inside = _labels(Y, ndim=2)
    p = np.ascontiguousarray(Y.T)
    lo, hi = _bounds(p, inside if inside is True else inside.T, _costs(C, len(Y)))
    if len(p) == 0:
        return []
    A = None if bias else np.empty((0, len(Y)))
    first = DualQP(K, p=p[0], lo=lo[0], hi=hi[0], A=A, is_psd=is_psd)
    return [first, *(first.sibling(p[j], lo[j], hi[j]) for j in range(1, len(p)))]


def hard_margin(K: Array | Gram, y: Any, *, bias: bool = True) -> DualQP:
    """Build the hard-margin machine: no slack, alpha_i >= 0, sum alpha_i y_i = 0.

    Parameters
    ----------
    K : ndarray of shape (n, n) or Gram
        The kernel matrix. Where it does not separate the classes the problem is unbounded.
    y : array-like of shape (n,)
        Codes -1 and +1; 0 leaves a row out of the machine.
    bias : bool, default=True
        Whether the machine has an intercept; without one there is no equality.

    Returns
    -------
    qp : DualQP
        The problem in b = alpha * y.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.qp import SMO, hard_margin
    >>> X, y = np.array([[-2.0], [2.0]]), np.array([-1.0, 1.0])
    >>> SMO().solve(hard_margin(X @ X.T, y)).beta
    array([-0.125,  0.125])
    """
    return c_svc(K, y, np.inf, bias=bias)


def l2_svm(K: Array, y: Any, C: Any = 1.0) -> DualQP:
    """Build the L2-SVM: squared slack C/2 sum xi^2, the hard margin of K + I/C.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        The kernel matrix; for a lazy one give ``kernel + Ridge(1 / C)`` to `hard_margin`.
    y : array-like of shape (n,)
        Codes -1 and +1; 0 leaves a row out of the machine.
    C : float or array-like of shape (n,), default=1.0
        The cost, one for all rows or one a row.

    Returns
    -------
    qp : DualQP
        The problem in b = alpha * y.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.qp import SMO, l2_svm
    >>> X, y = np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0])
    >>> SMO().solve(l2_svm(X @ X.T, y, C=1.0)).beta.round(4)
    array([-0.3333,  0.3333])
    """
    ridged = np.array(K)
    if ridged.dtype != np.float32:
        ridged = ridged.astype(np.float64, copy=False)
    C = _costs(C, len(y))
    if (C == 0).any():
        raise ValueError("C must be positive.")
    ridged[np.diag_indices_from(ridged)] += (1 / C).astype(ridged.dtype)
    return hard_margin(ridged, y)


def enclosing_ball(K: Array | Gram) -> DualQP:
    """Build the smallest ball around the rows: max sum l_i K_ii - l'Kl, sum l = 1, l >= 0.

    At the solution the squared radius is ``2 * nu + l'Kl``.

    Parameters
    ----------
    K : ndarray of shape (n, n) or Gram
        The kernel matrix.

    Returns
    -------
    qp : DualQP
        The problem, with half the objective so that its quadratic term is 1/2 l'Kl.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.qp import SMO, enclosing_ball
    >>> X = np.array([[-3.0], [0.0], [1.0]])
    >>> SMO().solve(enclosing_ball(X @ X.T)).beta.round(4)
    array([0.5, 0. , 0.5])
    """
    n = K.shape[0]
    diag = np.diagonal(K) if isinstance(K, np.ndarray) else K.diag()
    return DualQP(K, p=diag / 2, lo=np.zeros(n), hi=np.ones(n), c=np.ones(1))
