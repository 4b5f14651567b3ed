"""to_sklearn: the same predictions from plain scikit-learn objects, for every estimator."""

import pickle
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelwise import SVC, EmpiricalKernelMap, FeatureDiscriminationScaler
from kernelwise.app.io import to_sklearn
from tests.loop import loop

from .models import (
    CLASSIFIERS,
    DETECTORS,
    KERNELS,
    REGRESSORS,
    classifier,
    detector,
    new_rows,
    regressor,
    table,
    with_kernel,
)

# Why scikit-learn has no such object.
REFUSED = {"SVC-ties": "no kernel like Laplacian"}
REFUSED |= dict.fromkeys(
    ["RelevanceSVC", "RelevanceSVC-members"],
    "RelevanceSVC mixes several parts.*OneClassSVM, AdaptiveKernel.* can be exported.*to ONNX",
)
REFUSED |= dict.fromkeys(
    ["GeneralizedBiasSVC", "GeneralizedBiasSVC-excluded", "GeneralizedBiasSVC-transformer"],
    "no machine with features in its bias",
)
REFUSED_OF_THREE = REFUSED | {
    "FeatureDiscriminationSVC": "each pair of classes has weights of its own",
}
REFUSED_OF_THREE |= dict.fromkeys(
    ["SVC-calibrated", "SVC-calibrated-ovo", "NuSVC-calibrated"],
    "no object for the probabilities by which this model decides",
)


def assert_same(model, X):
    plain = to_sklearn(model)
    expected = model.decision_function(X)
    assert plain.decision_function(X).shape == expected.shape
    assert_allclose(plain.decision_function(X), expected, rtol=1e-7, atol=1e-7)
    assert_array_equal(plain.predict(X), model.predict(X))
    assert_array_equal(plain.classes_, model.classes_)
    assert plain.n_features_in_ == model.n_features_in_
    assert modules_of(plain) <= {"sklearn", "numpy", "scipy", "builtins", "_codecs", "copyreg"}


def modules_of(obj):
    """Return the packages whose types a pickle of the object names."""

    class Reader(pickle.Unpickler):
        def find_class(self, module, name):
            found.add(module.partition(".")[0])
            return super().find_class(module, name)

    import io

    found = set()
    Reader(io.BytesIO(pickle.dumps(obj))).load()
    return found


@loop("n_classes", [2, 3])
@loop("name", CLASSIFIERS)
def test_classifiers(name, n_classes):
    model = classifier(name, n_classes)
    refused = (REFUSED if n_classes == 2 else REFUSED_OF_THREE).get(name)
    if refused is None:
        assert_same(model, new_rows())
        return
    with pytest.raises(ValueError, match=refused):
        to_sklearn(model)


@loop("n_classes", [2, 3])
@loop("name", KERNELS)
def test_kernels(name, n_classes):
    model = with_kernel(name, n_classes)
    if type(model.kernel).__name__ in ("Linear", "Polynomial", "RBF", "Sigmoid"):
        assert_same(model, new_rows())
        return
    with pytest.raises(ValueError, match="scikit-learn's SVC has no kernel like"):
        to_sklearn(model)


@loop("n_classes", [2, 3])
def test_precomputed_kernels_and_sparse_fits(n_classes):
    X, y = table(n_classes)
    K = X @ X.T
    assert_same(SVC(kernel="precomputed").fit(K, y), K)
    assert_same(SVC(feature_weights=[1, 2, 0, 1, 3]).fit(sp.csr_array(X), y), sp.csr_array(X))


@loop("name", [name for name in REGRESSORS if not name.startswith("Relevance")])
def test_regressors(name):
    model, rows = regressor(name), new_rows()[:, 1:]
    plain = to_sklearn(model)
    assert_allclose(plain.predict(rows), model.predict(rows), rtol=1e-9, atol=1e-9)
    assert plain.n_features_in_ == 4
    assert modules_of(plain) <= {"sklearn", "numpy", "scipy", "builtins", "_codecs", "copyreg"}


@loop("name", DETECTORS)
def test_detectors(name):
    model, rows = detector(name), new_rows()
    plain = to_sklearn(model)
    for method in ("decision_function", "score_samples", "predict"):
        assert_allclose(getattr(plain, method)(rows), getattr(model, method)(rows), atol=1e-9)


def test_a_pipeline_keeps_its_other_steps():
    X, y = table()
    model = make_pipeline(StandardScaler(), SVC()).fit(X, y)
    assert_same(model, new_rows())
    plain = to_sklearn(model)
    assert list(plain.named_steps) == ["standardscaler", "svc"]
    assert plain[0] is not model[0]


def test_a_search_exports_its_best():
    X, y = table()
    search = GridSearchCV(make_pipeline(StandardScaler(), SVC()), {"svc__C": [1.0, 9.0]}, cv=2)
    search.fit(X, y)
    plain = to_sklearn(search)
    assert isinstance(plain, Pipeline)
    assert_array_equal(plain.predict(new_rows()), search.predict(new_rows()))


def test_the_export_does_not_change_the_model():
    for name in ("MarginRadiusSVC-degree", "FeatureDiscriminationSVC-map", "SVC"):
        model = classifier(name)
        before = pickle.dumps(model)
        to_sklearn(model).fit(*table())
        assert pickle.dumps(model) == before


def test_what_is_no_model_of_ours_is_refused():
    X, y = table()
    with pytest.raises(ValueError, match="StandardScaler is not a model of kernelwise"):
        to_sklearn(StandardScaler().fit(X))
    with pytest.raises(ValueError, match="step 'empiricalkernelmap' is EmpiricalKernelMap"):
        to_sklearn(make_pipeline(EmpiricalKernelMap(), SVC()).fit(X, y))
    with pytest.raises(ValueError, match="FeatureDiscriminationScaler"):
        to_sklearn(make_pipeline(FeatureDiscriminationScaler(), SVC()).fit(X, y))
    with pytest.raises(ValueError, match="RelevanceSVR mixes several parts"):
        to_sklearn(regressor("RelevanceSVR"))
    with pytest.raises(NotFittedError):
        to_sklearn(SVC())


def test_the_classes_of_a_pickle_are_found():
    """The reader of pickles sees what it is to see."""
    assert "kernelwise" in modules_of(classifier("SVC"))
    assert "kernelwise" in sys.modules
    assert modules_of(np.zeros(2)) <= {"numpy"}
