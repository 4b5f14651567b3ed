"""radius_margin_bound_ and slack_bound_: Theorems 1 and 2 of the margin-radius paper, literally."""

import pickle

import clarabel
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import StandardScaler

from kernelwise import (
    SVC,
    AdaptiveKernelSVC,
    DualObjectiveSVC,
    FeatureDiscriminationSVC,
    GeneralizedBiasSVC,
    MarginRadiusSVC,
    RelevanceSVC,
)

MODELS = {
    "SVC": SVC(C=2.0, gamma=0.1),
    "linear": SVC(kernel="linear", C=0.5),
    "adaptive": AdaptiveKernelSVC(widths=3, C=[1.0, 10.0]),
    "adatron": AdaptiveKernelSVC(widths=[2.0], solver="adatron", C=1.0),
    "dual": DualObjectiveSVC(max_iter=3),
    "squared": DualObjectiveSVC(criterion="radius_margin", max_iter=3),
    "discrimination": FeatureDiscriminationSVC(eta=2.0),
    "components": FeatureDiscriminationSVC(kernel="rbf", gamma=0.1, eta=2.0),
    "bias": GeneralizedBiasSVC(gamma=0.1),
    "margin-radius": MarginRadiusSVC(C=10.0),
    "unit norm": MarginRadiusSVC(C=10.0, radius="paper", unit_norm=True),
    "relevance": RelevanceSVC(ensemble=False, calibration=None),
}


def cancer(n=120, d=6):
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X[:n, :d]), y[:n]


def squared_radius(K):
    """Return R^2 of eq. 3 by its dual, eq. 13: max sum_i b_i K_ii - sum_ij b_i b_j K_ij."""
    n = len(K)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    P = sp.csc_matrix(np.triu(2 * K + 1e-12 * np.eye(n)))
    rows = sp.csc_matrix(np.vstack([np.ones((1, n)), -np.eye(n)]))
    right = np.append(1.0, np.zeros(n))
    cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(n)]
    solution = clarabel.DefaultSolver(P, -np.diagonal(K), rows, right, cones, settings).solve()
    return -solution.obj_val


def gram(model, X):
    """Return the kernel matrix of the space in which the machine is linear."""
    if isinstance(model, MarginRadiusSVC):
        X = X / np.linalg.norm(X, axis=1, keepdims=True) if model.unit_norm else X
        return (X * model.feature_weights_) @ X.T
    if getattr(model, "map_", None) is not None:
        X = model.map_.apply(X)
    return model.kernel_(X)


def theorems(model, X, y):
    """Return the quantities of both theorems, with a loop over the rows."""
    K = gram(model, X)
    beta = np.zeros(len(y))
    beta[model.support_] = model.dual_coef_[0]
    w = np.sqrt(beta @ K @ beta)
    R2 = squared_radius(K)
    unit = np.where(y == 1, 1, -1) * model.decision_function(X) / w
    first = R2 / min(unit) ** 2 if min(unit) > 0 else np.inf
    gamma = 1 / w
    slacks = [max(0.0, gamma - each) for each in unit]
    return first, (R2 + sum(xi**2 for xi in slacks)) / gamma**2


@pytest.mark.parametrize("name", MODELS)
def test_bounds_are_those_of_the_theorems(name):
    X, y = cancer()
    model = MODELS[name].fit(X, y)
    first, second = theorems(model, X, y)
    assert_allclose(model.radius_margin_bound_, [first], rtol=2e-4)
    assert_allclose(model.slack_bound_, [second], rtol=2e-4)


def test_hard_margin_has_both_bounds_equal():
    X, y = cancer(60)
    model = SVC(kernel="rbf", gamma=1.0, C=np.inf, tol=1e-8).fit(X, y)
    assert np.isfinite(model.radius_margin_bound_).all()
    assert_allclose(model.radius_margin_bound_, model.slack_bound_, rtol=1e-5)


def test_rows_that_are_not_separated_have_no_first_bound():
    model = SVC(kernel="linear").fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    assert model.radius_margin_bound_ == np.inf
    assert np.isfinite(model.slack_bound_).all()


@pytest.mark.parametrize("estimator", [SVC(kernel="linear"), MarginRadiusSVC()])
def test_several_classes_have_one_bound_per_machine(estimator):
    X, y = load_iris(return_X_y=True)
    model = estimator.fit(X, y)
    assert model.slack_bound_.shape == (3,)
    if isinstance(model, SVC):  # a machine of two classes knows no rows of the third
        pair = SVC(kernel="linear").fit(X[y < 2], y[y < 2])
        assert_allclose(model.slack_bound_[0], pair.slack_bound_[0], rtol=1e-6)


def test_precomputed_kernel():
    X, y = load_iris(return_X_y=True)
    plain = SVC(kernel="linear", tol=1e-8).fit(X, y)
    given = SVC(kernel="precomputed", tol=1e-8).fit(X @ X.T, y)
    assert_allclose(given.slack_bound_, plain.slack_bound_, rtol=1e-5)


def test_gaps_and_categories_are_encoded_once():
    X, y = cancer()
    X[::4, 0] = np.nan
    table = pd.DataFrame(X, columns=list("abcdef"))
    table["g"] = np.where(X[:, 1] > 0, "high", "low")
    model = RelevanceSVC(ensemble=False, calibration=None).fit(table, y)
    K, values = model.kernel_(model.columns_.apply(table)), model.decision_function(table)
    slacks = np.maximum(0.0, 1 - np.where(y == 1, 1, -1) * values)
    expected = squared_radius(K) / model.margin_**2 + (slacks**2).sum()
    assert_allclose(model.slack_bound_, expected, rtol=2e-4)


def test_undefined_bounds_are_no_attributes():
    X, y = cancer()
    for model in (RelevanceSVC().fit(X, y), GeneralizedBiasSVC([0]).fit(X, y)):
        assert not hasattr(model, "slack_bound_")
        assert not hasattr(model, "radius_margin_bound_")
    assert not hasattr(SVC(), "slack_bound_")
    with pytest.raises(AttributeError, match="not for an average"):
        _ = RelevanceSVC().fit(X, y).slack_bound_


def test_saved_models_hold_no_training_rows():
    X, y = cancer()
    model = SVC().fit(X, y)
    loaded = pickle.loads(pickle.dumps(model))
    with pytest.raises(AttributeError, match="saved and copied models"):
        _ = loaded.slack_bound_
    bound = model.slack_bound_
    assert_allclose(pickle.loads(pickle.dumps(model)).slack_bound_, bound)
