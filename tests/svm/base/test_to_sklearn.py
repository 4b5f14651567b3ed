"""to_sklearn: the same predictions from plain scikit-learn objects, also without kernelwise."""

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC as Reference

from kernelwise import DualObjectiveSVC
from kernelwise.kernels import RBF, Laplacian, Linear, Matern32, Polynomial
from tests.svm.dual_objective.test_dual_objective import WEIGHTS, noisy

KERNELS = [
    "linear",
    "poly",
    "rbf",
    Linear(),
    RBF(0.1),
    Polynomial(0.1, degree=2, coef0=1.0),
]
FAST = {"max_iter": 4}


def new_rows(X):
    """Return rows that no model was fitted to."""
    return X[::7] + np.random.default_rng(1).normal(size=X[::7].shape)


def assert_same_predictions(plain, model, X):
    expected = model.decision_function(X)
    assert plain.decision_function(X).shape == expected.shape
    assert_allclose(plain.decision_function(X), expected, rtol=1e-9, atol=1e-9)
    assert_array_equal(plain.predict(X), model.predict(X))
    assert plain.predict(X).dtype == model.predict(X).dtype


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("name", ["cancer", "wine"])
def test_the_export_predicts_the_same(name, weights, kernel):
    X, y = noisy(name)
    model = DualObjectiveSVC(kernel=kernel, weights=weights, **FAST).fit(X, y)
    plain = model.to_sklearn()
    assert type(plain) is (Pipeline if name == "cancer" else OneVsRestClassifier)
    assert_same_predictions(plain, model, X)
    assert_same_predictions(plain, model, new_rows(X))
    assert plain.score(X, y) == model.score(X, y)
    assert_array_equal(plain.classes_, model.classes_)
    assert plain.n_features_in_ == X.shape[1]


@pytest.mark.parametrize("criterion", ["radius_margin", "span", "cv", "alignment"])
@pytest.mark.parametrize("name", ["cancer", "wine"])
def test_the_export_of_other_criteria(name, criterion):
    """Squared slack lies in the coefficients: the decision function is the same one."""
    X, y = noisy(name)
    model = DualObjectiveSVC(criterion=criterion, **FAST).fit(X, y)
    assert_same_predictions(model.to_sklearn(), model, new_rows(X))


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
@pytest.mark.parametrize("weights", WEIGHTS)
def test_weights_of_zero_become_columns_of_zero(kernel, weights):
    X, y = noisy("iris")
    X = np.insert(X, [0, 4], [3.0, 0.0], axis=1)
    settings = {"optimizer": "projected_gradient", "max_iter": 8}
    model = DualObjectiveSVC(kernel=kernel, weights=weights, **settings).fit(X, y)
    zeros = (np.atleast_2d(model.feature_weights_) == 0).all(axis=0)
    assert zeros.sum() >= 2
    plain = model.to_sklearn()
    assert_same_predictions(plain, model, X)
    shaken = np.where(zeros, 1e3, X)
    assert_allclose(plain.decision_function(shaken), plain.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("name", ["cancer", "wine"])
def test_names_of_features_and_classes(name):
    X, y = noisy(name)
    frame = pd.DataFrame(X, columns=[f"column {k}" for k in range(X.shape[1])])
    labels = np.array(["red", "blue", "green"])[y]
    model = DualObjectiveSVC(**FAST).fit(frame, labels)
    plain = model.to_sklearn()
    assert_same_predictions(plain, model, frame)
    assert_array_equal(plain.feature_names_in_, frame.columns)
    assert set(plain.predict(frame)) == set(labels)
    with pytest.raises(ValueError, match="feature names should match"):
        plain.predict(frame[frame.columns[::-1]])


def test_a_class_without_a_name_of_its_own():
    """Labels in an order that is not the one of their first rows."""
    X, y = noisy("wine")
    labels = np.array([40, -7, 3])[y]
    model = DualObjectiveSVC(**FAST).fit(X, labels)
    assert_array_equal(model.to_sklearn().predict(X), model.predict(X))
    assert_array_equal(model.to_sklearn().classes_, [-7, 3, 40])


def test_the_export_looks_like_a_fit_of_scikit_learn():
    """The exported SVC has what a fitted one has, and agrees with one fitted to the same rows."""
    X, y = noisy("cancer")
    model = DualObjectiveSVC(tol=1e-8, **FAST).fit(X, y)
    plain = model.to_sklearn()
    scaled = plain[0].transform(X)
    assert_allclose(scaled, X * np.sqrt(model.feature_weights_), rtol=1e-12)
    ours, theirs = plain[-1], clone(plain[-1]).fit(scaled, y)
    assert set(vars(theirs)) <= set(vars(ours))
    assert_allclose(ours.decision_function(scaled), theirs.decision_function(scaled), atol=1e-4)
    assert_array_equal(ours.n_support_.shape, theirs.n_support_.shape)
    assert_array_equal(np.sort(ours.support_), np.sort(model.support_))
    assert_allclose(scaled[ours.support_], ours.support_vectors_)
    assert_allclose(np.abs(ours.dual_coef_).sum(), np.abs(theirs.dual_coef_).sum(), rtol=1e-4)
    assert ours.gamma == model.gamma_
    assert isinstance(ours, Reference)


def test_the_export_can_be_refitted():
    X, y = noisy("wine")
    plain = DualObjectiveSVC(**FAST).fit(X, y).to_sklearn()
    assert clone(plain).fit(X, y).score(X, y) > 0.95
    assert "SVC" in repr(plain)
    assert "SVC" in plain._repr_html_()


def test_the_export_does_not_change_the_model():
    X, y = noisy("wine")
    model = DualObjectiveSVC(**FAST).fit(X, y)
    before = pickle.dumps(model)
    expected = model.decision_function(X)
    plain = model.to_sklearn()
    plain.fit(X[:, ::-1], y)
    assert pickle.dumps(model) == before
    assert_array_equal(model.decision_function(X), expected)


WITHOUT_US = """
import pickle, sys
import numpy as np

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "kernelwise":
            raise ImportError(f"{name} is not to be imported")

sys.meta_path.insert(0, Refuse())
folder = sys.argv[1]
with open(f"{folder}/model.pkl", "rb") as file:
    models = pickle.load(file)
X = np.load(f"{folder}/rows.npy")
np.savez(f"{folder}/out.npz", *(model.decision_function(X) for model in models))
assert not any(name.split(".")[0] == "kernelwise" for name in sys.modules)
try:
    import kernelwise
except ImportError:
    print("kernelwise is out of reach")
"""


def test_the_export_needs_no_kernelwise(tmp_path):
    X, y = noisy("iris")
    two = y[y < 2], X[y < 2]
    models = [
        DualObjectiveSVC(**FAST).fit(two[1], two[0]),
        *(DualObjectiveSVC(weights=weights, **FAST).fit(X, y) for weights in WEIGHTS),
        DualObjectiveSVC(kernel="poly", **FAST).fit(X, y),
    ]
    (tmp_path / "model.pkl").write_bytes(pickle.dumps([model.to_sklearn() for model in models]))
    np.save(tmp_path / "rows.npy", X)
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT_US, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert run.returncode == 0, run.stderr
    assert "out of reach" in run.stdout
    with np.load(tmp_path / "out.npz") as out:
        for number, model in enumerate(models):
            decisions = model.decision_function(X)
            assert_allclose(out[f"arr_{number}"], decisions, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    "kernel", ["laplacian", "matern32", "matern52", Laplacian(), Matern32(), RBF() + Linear()]
)
def test_other_kernels_are_refused(kernel):
    X, y = noisy("iris")
    model = DualObjectiveSVC(kernel=kernel, max_iter=1).fit(X, y)
    words = r"scikit-learn's SVC has no kernel like .*exports linear, polynomial and RBF kernels"
    with pytest.raises(ValueError, match=words):
        model.to_sklearn()


@pytest.mark.parametrize("name", ["cancer", "iris"])
def test_a_sparse_fit_is_exported_sparse(name):
    X, y = noisy(name)
    rows = sp.csr_matrix(X)
    model = DualObjectiveSVC(**FAST).fit(rows, y)
    plain = model.to_sklearn()
    assert_allclose(plain.decision_function(rows), model.decision_function(rows), atol=1e-9)
    assert_array_equal(plain.predict(rows), model.predict(rows))


def test_an_unfitted_classifier_is_refused():
    with pytest.raises(NotFittedError):
        DualObjectiveSVC().to_sklearn()
