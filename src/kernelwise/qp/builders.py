"""Support vector machines as dual problems: one small builder for each (as in LIBSVM)."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._checks import as_matrix
from .._typing import Array, Gram
from .gram import as_gram
from .problem import DualQP
from .terms import Terms, checked_costs


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
        The cost, one for all rows or one per row.
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
    terms = Terms.c_svc(y, C, bias=bias)
    return DualQP(as_gram(as_matrix(K, terms.n), is_psd), terms)


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
        The cost, one for all rows or one per row.

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
    K = as_matrix(K)
    return hard_margin(ridged(K, checked_costs(C, K.shape[0])), y)


def ridged(K: Array, C: Array) -> Array:
    """Add 1/C to the diagonal of a kernel matrix: squared slack as a kernel.

    Shapes: ``K`` (n, n). ``C`` () or (n,): the cost, one for all rows or one per row. Returns
    ``ridged`` (n, n): a copy of K with the ridge, in float64 unless K is in float32.
    """
    if (C == 0).any():
        raise ValueError("C must be positive.")
    out = np.array(K, dtype=K.dtype if K.dtype == np.float32 else np.float64)
    diagonal = np.einsum("ii->i", out)  # a view that can be written to
    diagonal += (1 / C).astype(out.dtype)
    return out


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
    gram = as_gram(as_matrix(K))
    return DualQP(gram, Terms.enclosing_ball(gram.diag()))
