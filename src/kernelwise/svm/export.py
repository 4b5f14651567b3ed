"""A fitted classifier as plain scikit-learn objects, for places without kernelwise."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import LabelBinarizer, StandardScaler
from sklearn.svm import SVC as PlainSVC
from sklearn.utils.validation import check_is_fitted

from .._typing import Array
from ..kernels import RBF, Kernel, Linear, Polynomial
from .machines import Machines


def to_sklearn(estimator: Any) -> Any:
    """Return a pipeline, or one-vs-rest of pipelines, that predicts what the estimator does.

    A kernel's weights become a scaling of the columns by their square roots.
    """
    check_is_fitted(estimator)
    machines: Machines = estimator._machines
    n_machines = machines.coef.shape[1]
    kernels = machines.own_kernels or (machines.kernel,) * n_machines
    models = [
        _pipeline(estimator, kernel, machines, j, n_machines) for j, kernel in enumerate(kernels)
    ]
    if n_machines == 1:
        return models[0]
    one_vs_rest = OneVsRestClassifier(models[0])
    one_vs_rest.estimators_ = models
    one_vs_rest.label_binarizer_ = LabelBinarizer(sparse_output=True).fit(estimator.classes_)
    one_vs_rest.classes_ = estimator.classes_
    one_vs_rest.n_features_in_ = estimator.n_features_in_
    if hasattr(estimator, "feature_names_in_"):
        one_vs_rest.feature_names_in_ = estimator.feature_names_in_
    return one_vs_rest


def _pipeline(estimator: Any, kernel: Kernel, machines: Machines, j: int, n: int) -> Pipeline:
    settings, root = _settings(kernel, machines.rows.shape[1])
    classes = estimator.classes_ if n == 1 else np.array([0, 1])
    scaler = _scaler(estimator, root)
    sparse = sp.issparse(machines.rows)
    rows = machines.rows.multiply(root).tocsr() if sparse else machines.rows * root
    svc = _plain_svc(settings, rows, machines.coef[:, j], machines.intercept[j], classes, estimator)
    return Pipeline([("scale", scaler), ("svc", svc)])


def _settings(kernel: Kernel, d: int) -> tuple[dict[str, Any], Array]:
    """Return scikit-learn's parameters of a kernel, and what to multiply the columns with."""
    if not isinstance(kernel, RBF | Linear | Polynomial):
        raise ValueError(
            f"scikit-learn's SVC has no kernel like {kernel!r}; to_sklearn exports linear, "
            "polynomial and RBF kernels."
        )
    weights = np.ones(d) if kernel.weights is None else kernel.weights
    if isinstance(kernel, Linear):
        return {"kernel": "linear"}, np.sqrt(kernel.gamma * weights)
    root = np.sqrt(weights)
    if isinstance(kernel, RBF):
        return {"kernel": "rbf", "gamma": float(kernel.gamma)}, root
    return {
        "kernel": "poly",
        "gamma": float(kernel.gamma),
        "degree": int(kernel.degree),
        "coef0": float(kernel.coef0),
    }, root


def _scaler(estimator: Any, root: Array) -> StandardScaler:
    """Return a fitted scaler that multiplies the columns; one of weight zero becomes zero."""
    scaler = StandardScaler(with_mean=False)
    with np.errstate(divide="ignore"):
        scaler.scale_ = 1 / root
    scaler.var_, scaler.mean_ = scaler.scale_**2, np.zeros(len(root))
    scaler.n_samples_seen_ = int(estimator.shape_fit_[0])
    scaler.n_features_in_ = len(root)
    if hasattr(estimator, "feature_names_in_"):
        scaler.feature_names_in_ = estimator.feature_names_in_
    return scaler


def _plain_svc(
    settings: dict[str, Any],
    rows: Any,
    coef: Array,
    intercept: float,
    classes: Array,
    estimator: Any,
) -> PlainSVC:
    """Return scikit-learn's SVC in the state of a fit that ended with these support vectors.

    LIBSVM keeps the support vectors class by class, negative coefficients first.
    """
    order = np.concatenate([np.flatnonzero(coef < 0), np.flatnonzero(coef > 0)])
    svc = PlainSVC(C=float(np.max(estimator.C_)), tol=estimator.tol, **settings)
    rows, coef = rows[order], coef[order]
    sparse = sp.issparse(rows)
    svc._sparse = sparse
    svc.support_ = estimator._machines.support[order].astype(np.int32)
    svc.support_vectors_ = sp.csr_matrix(rows) if sparse else np.ascontiguousarray(rows)
    svc._n_support = np.array([(coef < 0).sum(), (coef > 0).sum()], dtype=np.int32)
    dual = sp.csr_matrix(coef[None, :]) if sparse else np.ascontiguousarray(coef[None, :])
    svc.dual_coef_, svc.intercept_ = dual, np.array([intercept])
    # LIBSVM itself takes the first class for positive; scikit-learn turns the signs round.
    svc._dual_coef_, svc._intercept_ = -dual, -svc.intercept_
    svc._probA = svc._probB = np.empty(0)
    svc._effective_probability = False
    svc._gamma = settings.get("gamma", 0.0)
    svc.classes_, svc.class_weight_ = classes, np.ones(2)
    svc.shape_fit_, svc.fit_status_ = tuple(estimator.shape_fit_), estimator.fit_status_
    svc.n_iter_ = np.array([int(np.max(estimator.n_iter_))], dtype=np.int32)
    svc._num_iter = svc.n_iter_
    svc.n_features_in_ = rows.shape[1]
    return svc
