"""A fitted kernel machine as plain scikit-learn objects, for places without kernelwise."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import is_outlier_detector
from sklearn.kernel_approximation import Nystroem
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import LabelBinarizer, Normalizer, StandardScaler
from sklearn.svm import SVC as PlainSVC
from sklearn.svm import SVR as PlainSVR
from sklearn.svm import LinearSVC
from sklearn.svm import OneClassSVM as PlainOneClassSVM

from ..._typing import Array, Index
from ...kernels import RBF, EmpiricalMap, Kernel, Linear, Polynomial, Precomputed, Sigmoid
from .predictor import Predictor, predictor_of
from .steps import Products, UnitNorm

NamedSteps = list[tuple[str, Any]]


def to_sklearn(estimator: Any) -> Any:
    """Return a pipeline, or one for each class or target, that predicts what the estimator does.

    A kernel's weights become a scaling of the columns by their square roots.
    """
    predictor: Any = predictor_of(estimator)
    if predictor.multiclass == "none":
        return _numbers(estimator, predictor)
    if estimator._decides_by_scores():
        predictor = _by_scores(predictor)
    if not predictor.kernels:
        return _linear(estimator, predictor)
    if predictor.linear is not None:
        raise ValueError(
            "scikit-learn has no machine with features in its bias; export it to ONNX, or save it "
            "to a file."
        )
    if predictor.n_machines == 1:
        return _machine(estimator, predictor, 0, estimator.classes_)
    return (_one_vs_one if predictor.multiclass == "ovo" else _one_vs_rest)(estimator, predictor)


def _by_scores(predictor: Predictor) -> Predictor:
    """Return machines whose decision values are the calibrated scores: lines in their own."""
    calibration: Any = predictor.calibration
    if calibration.pairs is not None:
        raise ValueError(
            "scikit-learn has no object for the probabilities by which this model decides; fit "
            "with calibration=None, or export to ONNX."
        )
    slope = calibration.temperature * calibration.sigmoid.slope
    offset = calibration.temperature * calibration.sigmoid.intercept
    if calibration.offsets is not None:
        offset = offset + calibration.offsets
    vectors, linear = predictor.vectors, predictor.linear
    return replace(
        predictor,
        vectors=replace(vectors, coef=vectors.coef * slope) if predictor.kernels else vectors,
        intercept=predictor.intercept * slope + offset,
        linear=None if linear is None else linear * slope,
        calibration=None,
    )


def _numbers(estimator: Any, predictor: Predictor) -> Any:
    """Export machines without classes: one pipeline, or one for each of several targets."""
    models = [_machine(estimator, predictor, j, None) for j in range(predictor.n_machines)]
    if is_outlier_detector(estimator) or estimator._is_flat_:
        return models[0]
    several = MultiOutputRegressor(models[0])
    several.estimators_ = models
    _describe(several, estimator)
    return several


def _one_vs_rest(estimator: Any, predictor: Predictor) -> OneVsRestClassifier:
    """Export one pipeline per class."""
    sides = np.array([0, 1])
    models = [_machine(estimator, predictor, j, sides) for j in range(predictor.n_machines)]
    one_vs_rest = OneVsRestClassifier(models[0])
    one_vs_rest.estimators_ = models
    one_vs_rest.label_binarizer_ = LabelBinarizer(sparse_output=True).fit(estimator.classes_)
    one_vs_rest.classes_ = estimator.classes_
    _describe(one_vs_rest, estimator)
    return one_vs_rest


def _describe(plain: Any, estimator: Any) -> None:
    """Set the number and the names of the columns."""
    plain.n_features_in_ = estimator.n_features_in_
    if hasattr(estimator, "feature_names_in_"):
        plain.feature_names_in_ = estimator.feature_names_in_


def _one_vs_one(estimator: Any, predictor: Predictor) -> Pipeline:
    """Export one-vs-one machines, as scikit-learn's SVC has them."""
    kernel = predictor.shared_kernel
    if kernel is None:
        raise ValueError(
            "each pair of classes has weights of its own, which scikit-learn has no object for; "
            'fit with importance_per="shared", or export to ONNX.'
        )
    everything = np.arange(len(predictor.vectors.support))
    coef = estimator.dual_coef_
    return _with_svc(estimator, predictor, kernel, everything, coef, estimator.classes_)


def _linear(estimator: Any, predictor: Predictor) -> Pipeline:
    """Export machines that have a linear part alone."""
    steps: NamedSteps = []
    for step in predictor.features:
        if isinstance(step, EmpiricalMap):
            steps += _components(step)
        elif isinstance(step, Products):
            steps.append(("products", deepcopy(step.transformer)))
        elif isinstance(step, UnitNorm):
            steps.append(("normalize", Normalizer()))
    svc = LinearSVC(
        C=getattr(estimator, "C_", estimator.C), tol=estimator.tol, max_iter=estimator.max_iter
    )
    svc.coef_, svc.intercept_ = np.array(predictor.linear).T.copy(), predictor.intercept.copy()
    svc.classes_, svc.n_iter_ = estimator.classes_, estimator.n_iter_
    svc.n_features_in_ = svc.coef_.shape[1]
    return _pipeline(estimator, [*steps, ("svc", svc)])


def _machine(estimator: Any, predictor: Predictor, j: int, classes: Array | None) -> Pipeline:
    """Export one machine, as scikit-learn keeps it: negative coefficients first."""
    coef = predictor.vectors.coef[:, j]
    order = np.concatenate([np.flatnonzero(coef < 0), np.flatnonzero(coef > 0)])
    kernel = predictor.kernels[j]
    return _with_svc(estimator, predictor, kernel, order, coef[None, order], classes, j)


def _with_svc(
    estimator: Any,
    predictor: Predictor,
    kernel: Kernel,
    order: Index,
    coef: Any,
    classes: Array | None,
    j: int | None = None,
) -> Pipeline:
    """Return the steps before, the scaling, and the machine of these support vectors."""
    intercept = predictor.intercept if j is None else predictor.intercept[[j]]
    rows, support = predictor.vectors.rows, predictor.vectors.support[order]
    if isinstance(kernel, Precomputed):
        settings = {"kernel": "precomputed"}
        svc = _plain_svc(estimator, settings, rows, support, coef, intercept, classes)
        svc.n_features_in_ = estimator.n_features_in_
        return Pipeline([("svc", svc)])
    settings, root = _settings(kernel, rows.shape[1])
    rows = rows[order].multiply(root).tocsr() if sp.issparse(rows) else rows[order] * root
    svc = _plain_svc(estimator, settings, rows, support, coef, intercept, classes)
    return _pipeline(estimator, [*_before(predictor), ("scale", column_scaler(root)), ("svc", svc)])


def _before(predictor: Predictor) -> NamedSteps:
    """Return the steps from the columns of the user to those of the machines."""
    steps: NamedSteps = []
    for step in predictor.before:
        if isinstance(step, EmpiricalMap):
            steps += _components(step)
        else:
            raise ValueError(
                f"scikit-learn has no step like {type(step).__name__}; export to ONNX, or save the "
                "model to a file."
            )
    return steps


def _components(made: EmpiricalMap) -> NamedSteps:
    """Return the empirical kernel map, which is Nystroem's with all rows."""
    if made.rows is None or sp.issparse(made.rows):
        raise ValueError("components of dense rows alone can be exported.")
    settings, root = _settings(made.kernel, made.rows.shape[1])
    found = Nystroem(n_components=made.n_components, **settings)
    found.components_, found.component_indices_ = made.rows * root, np.arange(len(made.rows))
    found.normalization_ = (made.vectors / np.sqrt(made.eigenvalues)).T
    found.n_features_in_ = made.rows.shape[1]
    return [("scale_inputs", column_scaler(root)), ("map", found)]


def _pipeline(estimator: Any, steps: NamedSteps) -> Pipeline:
    _describe(steps[0][1], estimator)
    return Pipeline(steps)


def _settings(kernel: Kernel, d: int) -> tuple[dict[str, Any], Array]:
    """Return scikit-learn's parameters of a kernel, and the factor of each column."""
    if not isinstance(kernel, RBF | Linear | Polynomial | Sigmoid):
        raise ValueError(
            f"scikit-learn's SVC has no kernel like {kernel!r}; to_sklearn exports linear, "
            "polynomial and RBF kernels, sigmoid and precomputed ones."
        )
    weights = np.ones(d) if kernel.weights is None else kernel.weights
    if isinstance(kernel, Linear):
        return {"kernel": "linear"}, np.sqrt(kernel.gamma * weights)
    settings: dict[str, Any] = {"gamma": float(kernel.gamma)}
    if isinstance(kernel, RBF):
        return {"kernel": "rbf", **settings}, np.sqrt(weights)
    settings["coef0"] = float(kernel.coef0)
    if isinstance(kernel, Sigmoid):
        return {"kernel": "sigmoid", **settings}, np.sqrt(weights)
    return {"kernel": "poly", "degree": int(kernel.degree), **settings}, np.sqrt(weights)


def column_scaler(root: Array) -> StandardScaler:
    """Return a fitted scaler that multiplies the columns; one of weight zero becomes zero."""
    scaler = StandardScaler(with_mean=False)
    with np.errstate(divide="ignore"):
        scaler.scale_ = 1 / root
    scaler.var_, scaler.mean_ = scaler.scale_**2, np.zeros(len(root))
    scaler.n_samples_seen_ = 1
    scaler.n_features_in_ = len(root)
    return scaler


def _plain_svc(
    estimator: Any,
    settings: dict[str, Any],
    rows: Any,
    support: Index,
    coef: Any,
    intercept: Array,
    classes: Array | None,
) -> Any:
    """Return scikit-learn's machine in the state of a fit that ended with these support vectors.

    LIBSVM keeps the support vectors class by class.
    """
    svc = _unfitted(estimator, settings, classes)
    sparse = sp.issparse(rows)
    svc._sparse = sparse
    svc.support_ = support.astype(np.int32)
    svc.support_vectors_ = sp.csr_matrix(rows) if sparse else np.ascontiguousarray(rows)
    two = classes is not None and coef.shape[0] == 1
    counts = [(coef < 0).sum(), (coef > 0).sum()] if two else estimator.n_support_
    svc._n_support = np.array([len(support)] * 2 if classes is None else counts, dtype=np.int32)
    dual = _with_zeros(coef) if sparse else np.ascontiguousarray(coef)
    svc.dual_coef_, svc.intercept_ = dual, intercept.copy()
    # LIBSVM takes the first class as positive; scikit-learn flips the signs for two classes.
    svc._dual_coef_, svc._intercept_ = (-dual, -intercept) if two else (dual, intercept.copy())
    svc._probA = svc._probB = np.empty(0)
    svc._effective_probability = False
    svc._gamma = settings.get("gamma", 0.0)
    svc.class_weight_ = np.ones(0 if classes is None else len(counts))
    svc.shape_fit_, svc.fit_status_ = tuple(estimator.shape_fit_), estimator.fit_status_
    most = int(np.max(estimator.n_iter_))
    svc.n_iter_ = svc._num_iter = np.full(len(intercept), most, dtype=np.int32)
    svc.n_features_in_ = rows.shape[1]
    if classes is None:
        svc.n_iter_ = most
    else:
        svc.classes_ = classes
    if isinstance(svc, PlainOneClassSVM):
        svc.offset_ = -intercept
    return svc


def _unfitted(estimator: Any, settings: dict[str, Any], classes: Array | None) -> Any:
    """Return scikit-learn's machine of the same kind, unfitted."""
    if is_outlier_detector(estimator):
        return PlainOneClassSVM(nu=estimator.nu, tol=estimator.tol, **settings)
    cost = float(np.max(estimator.C_ if hasattr(estimator, "C_") else estimator.C))
    if classes is None:
        epsilon = estimator.epsilon_ if hasattr(estimator, "epsilon_") else estimator.epsilon
        return PlainSVR(C=cost, epsilon=float(np.max(epsilon)), tol=estimator.tol, **settings)
    given = ("decision_function_shape", "break_ties")
    settings |= {name: getattr(estimator, name) for name in given if hasattr(estimator, name)}
    return PlainSVC(C=cost, tol=estimator.tol, **settings)


def _with_zeros(coef: Any) -> sp.csr_matrix:
    """Return a sparse matrix that stores its zeros: LIBSVM reads all entries, row by row."""
    coef = coef.toarray() if sp.issparse(coef) else coef
    rows, columns = np.indices(coef.shape).reshape(2, -1)
    return sp.csr_matrix((coef.ravel(), (rows, columns)), shape=coef.shape)
