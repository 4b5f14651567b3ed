"""Sparse rows: the model of dense ones where kernels allow it, else an error with advice."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.base import clone

from kernelwise import (
    SVC,
    AdaptiveKernelSVC,
    DualObjectiveSVC,
    EmpiricalKernelMap,
    FeatureDiscriminationScaler,
    FeatureDiscriminationSVC,
    GeneralizedBiasSVC,
    MarginRadiusSVC,
    RelevanceSelector,
    RelevanceSVC,
    SVCSearchCV,
)
from kernelwise.transform import GeodesicNeighborFeatures, TopicFeatures

TAKES = {
    "SVC": SVC(),
    "SVC-linear": SVC(kernel="linear"),
    "SVC-poly": SVC(kernel="poly"),
    "SVC-sigmoid": SVC(kernel="sigmoid", C=0.1),
    "SVC-matern": SVC(kernel="matern52"),
    "SVCSearchCV": SVCSearchCV(SVC(), {"C": [1.0, 10.0]}, cv=2),
    "AdaptiveKernelSVC": AdaptiveKernelSVC(widths=2),
    "DualObjectiveSVC": DualObjectiveSVC(max_iter=2),
    "GeneralizedBiasSVC": GeneralizedBiasSVC([0]),
    "EmpiricalKernelMap": EmpiricalKernelMap(n_components=3),
    "TopicFeatures": TopicFeatures(2, tol=1e-2, random_state=0),
    "GeodesicNeighborFeatures": GeodesicNeighborFeatures(),
}
REFUSES = {
    "SVC-laplacian": SVC(kernel="laplacian"),
    "SVCSearchCV-laplacian": SVCSearchCV(SVC(kernel="laplacian"), {"C": [1.0]}, cv=2),
    "AdaptiveKernelSVC-laplacian": AdaptiveKernelSVC(kernel="laplacian", widths=2),
    "DualObjectiveSVC-laplacian": DualObjectiveSVC(kernel="laplacian"),
    "GeneralizedBiasSVC-laplacian": GeneralizedBiasSVC([0], kernel="laplacian"),
    "RelevanceSVC": RelevanceSVC(),
    "MarginRadiusSVC": MarginRadiusSVC(),
    "FeatureDiscriminationSVC": FeatureDiscriminationSVC(),
    "FeatureDiscriminationScaler": FeatureDiscriminationScaler(),
    "EmpiricalKernelMap-laplacian": EmpiricalKernelMap(kernel="laplacian"),
    "RelevanceSelector": RelevanceSelector(),
}


def table():
    rng = np.random.default_rng(0)
    X = rng.random((80, 6)) * (rng.random((80, 6)) < 0.4)
    return X, (X[:, 0] + X[:, 1] > 0.3).astype(int)


def outcome(model, X):
    return model.decision_function(X) if hasattr(model, "predict") else model.transform(X)


@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_array, sp.csr_matrix, sp.coo_array])
@pytest.mark.parametrize("name", TAKES)
def test_sparse_rows_give_the_model_of_dense_ones(name, make):
    X, y = table()
    dense, sparse = clone(TAKES[name]).fit(X, y), clone(TAKES[name]).fit(make(X), y)
    expected = outcome(dense, X)
    if name == "EmpiricalKernelMap":  # its columns are determined up to their signs
        found = sparse.transform(make(X))
        assert_allclose(found @ found.T, expected @ expected.T, atol=1e-6)
    else:
        assert_allclose(outcome(sparse, make(X)), expected, rtol=1e-4, atol=1e-4)


def test_probabilities_of_sparse_rows_are_those_of_dense_ones_but_for_the_folds():
    X, y = table()  # rows are dealt to folds by their contents, which differ in form
    dense = SVC(calibration="halves").fit(X, y).predict_proba(X)
    sparse = SVC(calibration="halves").fit(sp.csr_array(X), y).predict_proba(sp.csr_array(X))
    assert np.abs(sparse - dense).mean() < 0.01


@pytest.mark.parametrize("name", REFUSES)
def test_finding_22_other_models_name_the_remedy(name):
    X, y = table()
    with pytest.raises(TypeError, match=r"X\.toarray\(\).*take sparse"):
        clone(REFUSES[name]).fit(sp.csr_array(X), y)


@pytest.mark.parametrize("name", sorted(REFUSES))
def test_finding_22_prediction_names_the_remedy_too(name):
    X, y = table()
    model = clone(REFUSES[name]).fit(X, y)
    with pytest.raises((TypeError, ValueError), match=r"\.toarray\(\)"):
        outcome(model, sp.csr_array(X))


def test_a_dense_fit_says_how_to_predict_sparse_rows():
    X, y = table()
    with pytest.raises(ValueError, match=r"trained on dense data; convert it with X\.toarray\(\)"):
        SVC().fit(X, y).predict(sp.csr_array(X))
