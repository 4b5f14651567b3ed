"""Radius, margin, span and leave-one-out error of a fitted machine, ours or scikit-learn's."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import is_classifier, is_regressor
from sklearn.svm import SVC as PlainSVC
from sklearn.svm import SVR as PlainSVR
from sklearn.svm import NuSVR as PlainNuSVR
from sklearn.svm import OneClassSVM as PlainOneClassSVM
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from .._parameters import as_real
from .._typing import Array, Codes, Index
from ..criteria import margin, radius, span
from ..kernels import RBF, FunctionKernel, Kernel, Linear, Polynomial, Precomputed, Sigmoid
from ..kernels.base import check_rows
from .base.estimator import KernelMachine
from .base.multiclass import largest, one_vs_one, one_vs_rest, pairs_of_layout, vote
from .base.predictor import Predictor, predictor_of

_PLAIN = PlainSVC | PlainSVR | PlainNuSVR | PlainOneClassSVM


def bounds_of(model: Any, X: Any, y: Any = None, *, sample_weight: Any = None) -> Bunch:
    """Compute what learning theory says of a fitted machine, from its training rows.

    Parameters
    ----------
    model : estimator
        A fitted classifier of kernelwise with hinge loss, an `SVR`, `NuSVR` or `OneClassSVM`, or
        scikit-learn's classes of these names.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The rows that it was fitted to, in the same order.
    y : array-like of shape (n_samples,) or (n_samples, n_targets), default=None
        Their classes or targets; None for an `OneClassSVM`.
    sample_weight : array-like of shape (n_samples,), default=None
        The weights that it was fitted with.

    Returns
    -------
    bounds : Bunch
        ``radius`` R of the smallest ball around the rows in the kernel's space; ``margin`` of each
        machine, 1 / ||w||; ``radius_margin``, R^2 / gamma^2 of each with gamma the least margin of
        its rows, infinite if it does not separate them; ``slack``, R^2 ||w||^2 + ||xi||^2 with the
        slack xi of its rows; ``span``, squared, of each row in each machine, zero for rows that are
        no support vectors; ``loo_decisions``, the machines' decision values on each row without
        that row, as the span rule has them; ``loo_error``, the part of the rows that those decide
        wrongly. Without classes: ``radius``; ``margin``, 1 / ||w|| of each machine; ``span``;
        ``loo_predictions`` or ``loo_decisions``; and ``loo_error``, the mean absolute error of
        these predictions, or the part of the rows that these decisions put outside.

    See Also
    --------
    kernelwise.criteria.loo_error : The same for one machine, from its kernel matrix.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from kernelwise.svm import bounds_of
    >>> X, y = load_iris(return_X_y=True)
    >>> bounds_of(SVC().fit(X, y), X, y).loo_error
    0.04
    """
    check_is_fitted(model)
    kernel = _kernel(model)
    X = X if hasattr(X, "shape") else np.asarray(X)
    X = X if sp.issparse(X) or isinstance(kernel, FunctionKernel) else check_rows(X)
    if not is_classifier(model):
        return _without_classes(model, kernel, X, y, _weights(sample_weight, X))
    pairwise = _is_one_vs_one(model)
    classes, weights = _classes(model, X, y), _weights(sample_weight, X)
    n_classes = len(model.classes_)
    beta = _coefficients(model, X.shape[0], pairwise)
    K = np.asarray(kernel(X), dtype=np.float64)
    cost = weights * model.class_weight_[classes]
    costs = np.broadcast_to(model.C_ if hasattr(model, "C_") else model.C, beta.shape[1])
    decisions = K @ beta + model.intercept_
    spans = np.column_stack([span(K, b, C * cost) for C, b in zip(costs, beta.T, strict=True)])
    left_out = decisions - beta * spans
    if pairwise:
        codes = one_vs_one(classes, n_classes)
        wrong = vote(left_out, n_classes) != classes
    else:
        codes, wrong = one_vs_rest(classes, n_classes), _largest(left_out) != classes
    margins = np.array([margin(K, b) for b in beta.T])
    separated, slack = margin_bounds(K, codes, decisions, margins)
    return Bunch(
        radius=radius(K),
        margin=margins,
        radius_margin=separated,
        slack=slack,
        span=spans * (codes != 0),
        loo_decisions=left_out,
        loo_error=float(wrong.mean()),
    )


def _without_classes(model: Any, kernel: Kernel, X: Any, y: Any, weights: Array) -> Bunch:
    """Compute the bounds of a regressor or an outlier detector."""
    beta = _coefficients(model, X.shape[0], pairwise=False)
    K = np.asarray(kernel(X), dtype=np.float64)
    cost = weights * (model.C if is_regressor(model) else 1.0)
    spans = np.column_stack([span(K, b, cost) for b in beta.T])
    left_out = K @ beta + model.intercept_ - beta * spans
    margins = np.array([margin(K, b) for b in beta.T])
    found = Bunch(radius=radius(K), margin=margins, span=spans)
    if not is_regressor(model):
        outside = float(np.average(left_out[:, 0] < 0, weights=weights))
        return Bunch(**found, loo_decisions=left_out, loo_error=outside)
    Y = as_real(y, "y").reshape(X.shape[0], -1)
    if Y.shape != left_out.shape:
        raise ValueError(f"y must be the {left_out.shape[1]} targets of the training rows.")
    errors = np.average(np.abs(Y - left_out), axis=0, weights=weights)
    return Bunch(**found, loo_predictions=left_out, loo_error=float(errors.mean()))


def margin_bounds(
    K: Array, Y: Codes | Array, decisions: Array, margins: Array
) -> tuple[Array, Array]:
    """Return the error bounds of machines by Theorems 1 and 2 of Do, Kalousis and Hilario (2009).

    R^2 / gamma^2 with gamma = min_i y_i f(x_i) / ||w||, and R^2 ||w||^2 + sum_i xi_i^2, up to the
    factors that do not depend on the machine. R is the radius of the smallest ball around the rows
    of a machine, those with a code in ``Y`` (n, n_machines); ``K`` is (n, n).
    """
    separated = np.full(Y.shape[1], np.inf)
    slack = separated.copy()
    for j, codes in enumerate(Y.T):
        rows = np.flatnonzero(codes)
        own = codes[rows] * decisions[rows, j]
        ball = (radius(K[np.ix_(rows, rows)]) / margins[j]) ** 2
        if own.min() > 0:
            separated[j] = ball / float(own.min()) ** 2
        slack[j] = ball + float((np.maximum(0.0, 1 - own) ** 2).sum())
    return separated, slack


def _kernel(model: Any) -> Kernel:
    """Return the kernel object of a fitted machine."""
    if isinstance(model, KernelMachine):
        found = predictor_of(model)
        if not _is_plain(found):
            raise ValueError(
                "bounds_of supports models with hinge loss and one kernel on unmodified rows; "
                f"{model!r} is not one."
            )
        return found.kernels[0]
    if not isinstance(model, _PLAIN):
        raise TypeError(
            "model must be a support vector machine of kernelwise, or scikit-learn's SVC, SVR, "
            f"NuSVR or OneClassSVM; got {model!r}."
        )
    if callable(model.kernel):
        return FunctionKernel(model.kernel)
    gamma = float(model._gamma)
    made: dict[str, Kernel] = {
        "linear": Linear(),
        "rbf": RBF(gamma),
        "poly": Polynomial(gamma, degree=model.degree, coef0=model.coef0),
        "sigmoid": Sigmoid(gamma, coef0=model.coef0),
        "precomputed": Precomputed(),
    }
    return made[model.kernel]


def _is_plain(found: Predictor) -> bool:
    """Return whether a predictor is that of hinge machines with one kernel on unmodified rows."""
    if found.shared_kernel is None or found.loss != "hinge":
        return False
    return not found.before and found.linear is None


def _is_one_vs_one(model: Any) -> bool:
    return isinstance(model, PlainSVC) or predictor_of(model).multiclass == "ovo"


def _classes(model: Any, X: Any, y: Any) -> Index:
    y = np.asarray(y)
    if X.shape[0] != model.shape_fit_[0] or y.shape != (X.shape[0],):
        raise ValueError(
            f"X and y must be the {model.shape_fit_[0]} training rows; got {X.shape[0]} rows and "
            f"{y.shape} classes."
        )
    if not np.isin(y, model.classes_).all():
        raise ValueError("y holds classes that the model was not fitted to.")
    return np.searchsorted(model.classes_, y)


def _weights(sample_weight: Any, X: Any) -> Array:
    n = X.shape[0]
    weights = np.ones(n) if sample_weight is None else as_real(sample_weight, "sample_weight")
    if weights.shape != (n,):
        raise ValueError(f"sample_weight must be {n} numbers, one per row of X.")
    return weights


def _coefficients(model: Any, n: int, pairwise: bool) -> Array:
    """Return the signed coefficients of each machine, on all training rows."""
    dual = model.dual_coef_.toarray() if sp.issparse(model.dual_coef_) else model.dual_coef_
    if pairwise:
        own = np.repeat(np.arange(len(model.classes_)), model.n_support_)
        dual = pairs_of_layout(dual, own, len(model.classes_)).T
    beta = np.zeros((n, dual.shape[0]))
    beta[model.support_] = dual.T
    return beta


def _largest(decisions: Array) -> Codes | Index:
    if decisions.shape[1] == 1:
        return (decisions[:, 0] > 0).astype(np.intp)
    return largest(decisions)
