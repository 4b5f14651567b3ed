"""bounds_of: radius, margin, span and leave-one-out error of fitted classifiers."""

import clarabel
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import scale
from sklearn.svm import SVC as Reference

from kernelwise import AdaptiveKernelSVC, DualObjectiveSVC
from kernelwise.criteria import DualObjective, loo_error, margin, radius, span
from kernelwise.kernels import RBF
from kernelwise.svm import SVC, bounds_of
from tests.loop import loop
from tests.svm.problems import data


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@pytest.mark.parametrize("classes", [2, 3])
def test_ours_and_scikit_learns_svc_agree(iris, kernel, classes):
    X, y = scale(iris[0]), iris[1]  # LIBSVM's float32 rows round a raw polynomial by 1e-5
    X, y = X[50 * (3 - classes) :], y[50 * (3 - classes) :]
    params = {"kernel": kernel, "C": 2.0, "class_weight": {1: 2.0}, "tol": 1e-8}
    ours = bounds_of(SVC(**params).fit(X, y), X, y)
    theirs = bounds_of(Reference(**params).fit(X, y), X, y)
    assert_allclose(ours.radius, theirs.radius)
    assert_allclose(ours.margin, theirs.margin, rtol=1e-5)
    assert ours.loo_error == theirs.loo_error
    assert ours.span.shape == theirs.span.shape == (len(y), classes * (classes - 1) // 2)


def test_two_classes_are_the_plain_functions(iris):
    X, y = iris[0][50:], iris[1][50:]
    model = SVC(C=3.0, gamma=0.2).fit(X, y)
    K = rbf_kernel(X, gamma=0.2)
    beta = np.zeros(len(y))
    beta[model.support_] = model.dual_coef_[0]
    found = bounds_of(model, X, y)
    assert_allclose(found.radius, radius(K))
    assert_allclose(found.margin, margin(K, beta))
    assert_allclose(found.margin, model.margin_)
    assert_allclose(found.span[:, 0], span(K, beta, 3.0))
    codes, decisions = np.where(y == 2, 1.0, -1.0), model.decision_function(X)
    assert found.loo_error == loo_error(K, codes, decisions, beta, 3.0)


@pytest.mark.parametrize("model", [SVC(gamma=0.3), SVC(kernel="linear", C=0.1)])
def test_error_is_near_brute_force_with_three_classes(iris, model):
    X, y = iris
    wrong = sum(
        clone(model).fit(np.delete(X, i, axis=0), np.delete(y, i)).predict(X[[i]])[0] != y[i]
        for i in range(len(y))
    )
    assert abs(bounds_of(model.fit(X, y), X, y).loo_error - wrong / len(y)) <= 0.02


def test_one_vs_rest_counts_the_largest_decision(iris):
    X, y = iris
    model = DualObjectiveSVC(max_iter=1).fit(X, y)
    found = bounds_of(model, X, y)
    assert found.loo_error == (found.loo_decisions.argmax(axis=1) != y).mean()
    assert_allclose(found.margin, model.margin_, rtol=1e-6)


def test_precomputed_and_callable_kernels(iris):
    X, y = iris
    K = rbf_kernel(X, gamma=0.2)
    plain = bounds_of(Reference(gamma=0.2).fit(X, y), X, y)
    given = bounds_of(Reference(kernel="precomputed").fit(K, y), K, y)
    called = bounds_of(SVC(kernel=RBF(0.2)).fit(X, y), X, y)
    assert plain.loo_error == given.loo_error == called.loo_error


def test_sample_weight_is_read(iris):
    X, y = iris
    weight = np.linspace(0.1, 3, len(y))
    model = SVC(C=0.5).fit(X, y, sample_weight=weight)
    found = bounds_of(model, X, y, sample_weight=weight)
    assert found.loo_error != bounds_of(model, X, y, sample_weight=weight / 2).loo_error


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: (X[1:], y[1:]), "training rows"),
        (lambda X, y: (X, y[1:]), "training rows"),
        (lambda X, y: (X, y + 7), "was not fitted to"),
    ],
)
def test_other_rows_are_refused(change, message):
    X, y = data("moons")
    model = SVC().fit(X, y)
    with pytest.raises(ValueError, match=message):
        bounds_of(model, *change(X, y))


def test_other_models_are_refused(iris):
    from sklearn.linear_model import LogisticRegression

    with pytest.raises(TypeError, match="machine of kernelwise, or scikit-learn's SVC"):
        bounds_of(LogisticRegression(max_iter=500).fit(*iris), *iris)
    with pytest.raises(ValueError, match="hinge"):
        bounds_of(DualObjectiveSVC(criterion="radius_margin", max_iter=1).fit(*iris), *iris)


@pytest.mark.parametrize("criterion", ["radius_margin", DualObjective(slack="squared")])
def test_squared_slack_is_refused(criterion):
    X, y = make_classification(40, 4, random_state=0)
    model = DualObjectiveSVC(criterion=criterion, max_iter=2).fit(X, y)
    with pytest.raises(ValueError, match="hinge loss"):
        bounds_of(model, X, y)


# --- The theorems of the margin-radius paper --------------------------------------------------


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


def theorems(model, X, y):
    """Return the quantities of both theorems, with a loop over the rows."""
    K = model.kernel_(X)
    beta = np.zeros(len(y))
    beta[model.support_] = model.dual_coef_[0]
    w = np.sqrt(beta @ K @ beta)
    R2 = squared_radius(K)
    unit = np.where(y == 1, 1, -1) * model.decision_function(X) / w
    first = R2 / min(unit) ** 2 if min(unit) > 0 else np.inf
    gamma = 1 / w
    slacks = [max(0.0, gamma - each) for each in unit]
    return first, (R2 + sum(xi**2 for xi in slacks)) / gamma**2


@loop(
    "model",
    [
        SVC(C=2.0, gamma=0.1),
        SVC(kernel="linear", C=0.5),
        AdaptiveKernelSVC(widths=3, C=[1.0, 10.0]),
        DualObjectiveSVC(max_iter=3),
        SVC(gamma=1.0, C=np.inf, tol=1e-8),
    ],
)
def test_bounds_are_those_of_the_theorems(model):
    X, y = load_breast_cancer(return_X_y=True)
    X, y = scale(X[:100, :6]), y[:100]
    first, second = theorems(model.fit(X, y), X, y)
    found = bounds_of(model, X, y)
    assert_allclose(found.radius_margin, [first], rtol=2e-4)
    assert_allclose(found.slack, [second], rtol=2e-4)
    if np.inf == model.C:  # without slack both are one
        assert_allclose(found.radius_margin, found.slack, rtol=1e-5)


def test_rows_that_are_not_separated_have_no_first_bound():
    X, y = np.arange(4.0)[:, None], np.array([0, 1, 0, 1])
    found = bounds_of(SVC(kernel="linear").fit(X, y), X, y)
    assert found.radius_margin == np.inf
    assert np.isfinite(found.slack).all()


def test_a_machine_of_two_classes_knows_no_rows_of_the_third(iris):
    X, y = iris
    three = bounds_of(SVC(kernel="linear").fit(X, y), X, y)
    for j, pair in enumerate([(0, 1), (0, 2), (1, 2)]):
        own = np.isin(y, pair)
        two = bounds_of(SVC(kernel="linear").fit(X[own], y[own]), X[own], y[own])
        assert_allclose(three.slack[j], two.slack[0], rtol=1e-3)
        assert_allclose(three.radius_margin[j], two.radius_margin[0], rtol=1e-3)
