"""The laws of the machine with a generalised bias, against slow and independent answers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import TargetEncoder
from sklearn.svm import SVC as Reference

from kernelwise import SVC, GeneralizedBiasSVC, GeodesicNeighborFeatures
from kernelwise.kernels import RBF
from kernelwise.svm.base.predictor import predictor_of
from kernelwise.svm.base.steps import apply_all
from tests.loop import loop
from tests.svm.generalized_bias.oracles import PaperMachine, dual_solution
from tests.svm.problems import data

from .oracles import unpenalised

TIGHT = 1e-8


def noisy(n=60, d=3, seed=0):
    """Return rows that neither their features nor a kernel separates."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.where(X[:, 0] + np.sin(2 * X[:, 1]) + rng.normal(size=n) > 0, 1.0, -1.0)


def trend(X):
    return np.column_stack([X[:, 0], X[:, 1] ** 2])


def with_constant(X):
    return np.column_stack([np.ones(len(X)), trend(X)])


def ones(X):
    return np.ones((len(X), 1))


def rounded_rbf(X, Y):
    """Return a kernel matrix that LIBSVM's cache does not round."""
    return rbf_kernel(X, Y, gamma=0.5).astype(np.float32).astype(np.float64)


def half_rbf(X, Y):
    return rbf_kernel(X, Y, gamma=0.5)


def beta_of(model, n):
    beta = np.zeros(n)
    beta[model.support_] = model.dual_coef_[0]
    return beta


# --- The constant, and nothing -------------------------------------------------------------------


@loop("name", ["moons", "iris", "eight blobs"])
def test_constant_alone_is_the_ordinary_machine(name):
    X, y = data(name)
    ours, plain = unpenalised(C=3.0).fit(X, y), SVC(C=3.0).fit(X, y)
    for attribute in ("support_", "dual_coef_", "intercept_", "n_support_", "n_iter_"):
        assert_array_equal(getattr(ours, attribute), getattr(plain, attribute), attribute)
    assert_array_equal(ours.decision_function(X), plain.decision_function(X))
    assert_array_equal(ours.predict(X), plain.predict(X))
    assert ours.bias_coef_.shape == (len(plain.intercept_), 0)
    assert_array_equal(ours.kernel_share_, 1.0)


@loop("C", [0.1, 1.0, 100.0])
@loop("as_feature", [False, True])
def test_constant_alone_is_the_machine_of_scikit_learn(C, as_feature):
    X, y = noisy(150)
    K = rounded_rbf(X, X)
    theirs = Reference(C=C, kernel="precomputed", tol=TIGHT).fit(K, y)
    model = unpenalised(
        ones if as_feature else None,
        C=C,
        kernel=rounded_rbf,
        fit_intercept=not as_feature,
        tol=TIGHT,
    ).fit(X, y)
    assert_allclose(model.decision_function(X), theirs.decision_function(K), atol=1e-6)
    constant = model.bias_coef_[0, 0] if as_feature else model.intercept_[0]
    assert constant == pytest.approx(theirs.intercept_[0], abs=1e-6)


@loop("C", [0.1, 10.0])
def test_no_feature_at_all_is_the_machine_without_bias(C):
    X, y = noisy()
    K = half_rbf(X, X)
    model = unpenalised(C=C, kernel=RBF(0.5), fit_intercept=False, tol=TIGHT).fit(X, y)
    beta = dual_solution(K, np.empty((len(y), 0)), y, C)
    assert_allclose(beta_of(model, len(y)), beta, atol=1e-6 * C)
    assert_allclose(model.decision_function(X), K @ beta, atol=1e-6)
    assert model.intercept_ == 0


# --- The paper -----------------------------------------------------------------------------------


@loop("C", [0.3, 1.0, 30.0])
@loop("nodes", [0, 1])
def test_paper_builds_the_same_machine_whatever_its_nodes(C, nodes):
    X, y = noisy()
    order = np.random.default_rng(nodes).permutation(len(y))
    paper = PaperMachine(half_rbf, with_constant, X[order], y[order], C)
    model = unpenalised(trend, C=C, kernel=RBF(0.5), tol=TIGHT).fit(X, y)
    new = noisy(seed=1)[0]
    assert_allclose(model.decision_function(X), paper.decisions(X), atol=2e-6)
    assert_allclose(model.decision_function(new), paper.decisions(new), atol=2e-6)


def test_kernels_of_the_paper_have_the_properties_it_names():
    X, y = noisy()
    paper = PaperMachine(half_rbf, with_constant, X, y, 1.0)
    assert_allclose(paper.H(X, X[:3]), 0, atol=1e-10)  # eq. 14
    assert_allclose(paper.K(X, X[:3]), paper.basis(X), atol=1e-10)  # eq. 12
    assert np.linalg.eigvalsh(paper.H(X[3:], X[3:])).min() > 0


def test_solution_satisfies_the_equalities_and_is_the_dual_optimum():
    X, y = noisy()
    model = unpenalised(trend, C=5.0, kernel=RBF(0.5), tol=TIGHT).fit(X, y)
    beta = beta_of(model, len(y))
    assert_allclose(with_constant(X).T @ beta, 0, atol=1e-7)
    assert_allclose(beta, dual_solution(half_rbf(X, X), with_constant(X), y, 5.0), atol=1e-5)
    by_features = trend(X) @ model.bias_coef_[0] + model.intercept_
    assert_allclose(model.decision_function(X), half_rbf(X, X) @ beta + by_features, atol=1e-9)


def test_invertible_changes_of_the_features_change_nothing():
    X, y = data("moons")
    change = np.array([[1.0, 200.0], [0.5, -3e-4]])
    models = [
        unpenalised(features, C=2.0, tol=TIGHT).fit(X, y)
        for features in (trend, lambda X: trend(X) @ change, lambda X: trend(X) @ change + 7.0)
    ]
    first, *others = (model.decision_function(X) for model in models)
    for other in others:
        assert_allclose(other, first, atol=1e-6)
    assert_allclose(change @ models[1].bias_coef_[0], models[0].bias_coef_[0], atol=1e-6)


@loop("n_classes", [2, 3])
def test_features_that_separate_leave_nothing_to_the_kernel(n_classes):
    X, _ = noisy(90)
    X[:, 0] = np.sign(X[:, 0]) + X[:, 0]
    y = (X[:, 0] > 0).astype(int)
    if n_classes == 3:
        y[X[:, 0] > 2] = 2
        X[X[:, 0] > 2, 0] += 1
    model = unpenalised([0], C=1e3).fit(X, y)
    assert len(model.support_) == 0
    assert model.dual_coef_.shape == (n_classes - 1, 0)
    assert_array_equal(model.kernel_share_, 0)
    assert_array_equal(model.predict(X), y)


@loop("multi_class", ["ovo", "ovr"])
def test_each_machine_of_several_classes_is_one_of_two(multi_class):
    X, y = data("iris")
    model = unpenalised(
        [1], multi_class=multi_class, decision_function_shape="ovo", gamma=0.5, tol=TIGHT
    ).fit(X, y)
    decisions = model.decision_function(X)
    for j, (a, b) in enumerate([(0, 1), (0, 2), (1, 2)]):
        own = np.isin(y, [a, b]) if multi_class == "ovo" else y >= 0
        positive = a if multi_class == "ovo" else j
        alone = unpenalised([1], gamma=0.5, tol=TIGHT).fit(X[own], y[own] == positive)
        assert_allclose(decisions[:, j], alone.decision_function(X), atol=1e-6)
        assert_allclose(model.bias_coef_[j], alone.bias_coef_[0], atol=1e-6)
    assert model.score(X, y) > 0.9


# --- The penalty ---------------------------------------------------------------------------------


@loop("rho", [1e-2, 1.0, 100.0])
@loop("constant", [True, False])
def test_penalised_features_are_a_part_of_the_kernel(rho, constant):
    X, y = noisy(100)
    new = noisy(seed=1)[0]
    model = unpenalised(
        trend, kernel=RBF(0.5), bias_penalty=rho, fit_intercept=constant, tol=TIGHT
    ).fit(X, y)

    def whole(X, Y):
        return half_rbf(X, Y) + trend(X) @ trend(Y).T / rho

    same = SVC if constant else GeneralizedBiasSVC
    options = {} if constant else {"fit_intercept": False}
    other = same(kernel=whole, tol=TIGHT, **options).fit(X, y)
    assert_allclose(model.decision_function(new), other.decision_function(new), atol=1e-6)
    assert_allclose(model.bias_coef_[0], trend(X).T @ beta_of(model, len(y)) / rho, rtol=1e-9)


def test_small_penalty_is_close_to_none():
    X, y = noisy(100)
    free, small = (unpenalised(trend, bias_penalty=rho, tol=TIGHT).fit(X, y) for rho in (0.0, 1e-7))
    assert_allclose(small.decision_function(X), free.decision_function(X), atol=1e-5)
    large = unpenalised(trend, bias_penalty=1e9, tol=TIGHT).fit(X, y)
    assert_allclose(
        large.decision_function(X), SVC(tol=TIGHT).fit(X, y).decision_function(X), atol=1e-5
    )


# --- Weights -------------------------------------------------------------------------------------


@loop("rho", [0.0, 0.5])
def test_sample_weights_are_repetitions(rho):
    X, y = noisy(80)
    times = np.random.default_rng(0).integers(0, 4, len(y))
    model = unpenalised([0, 2], gamma=0.5, bias_penalty=rho, tol=TIGHT)
    weighted = model.fit(X, y, sample_weight=times).decision_function(X)
    share = model.kernel_share_
    repeated = model.fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert_allclose(weighted, repeated.decision_function(X), atol=1e-6)
    assert_allclose(share, repeated.kernel_share_, atol=1e-6)


def test_class_weights_are_sample_weights():
    X, y = data("iris")
    weights = {0: 1.0, 1: 0.2, 2: 5.0}
    by_class = unpenalised([0], gamma=0.5, class_weight=weights).fit(X, y)
    by_row = unpenalised([0], gamma=0.5).fit(X, y, [weights[k] for k in y])
    assert_allclose(by_class.decision_function(X), by_row.decision_function(X), atol=1e-9)


# --- Dependent features --------------------------------------------------------------------------


def test_dependent_features_have_no_coefficient():
    X, y = noisy()
    plain = unpenalised(trend, tol=TIGHT).fit(X, y)

    def redundant(X):
        F = trend(X)
        return np.column_stack([F, F[:, 0], np.full(len(X), 3.0), np.zeros(len(X))])

    model = unpenalised(redundant, tol=TIGHT).fit(X, y)
    assert_allclose(model.decision_function(X), plain.decision_function(X), atol=1e-6)
    coef = model.bias_coef_[0]
    assert np.count_nonzero(coef[[0, 2]]) == 1
    assert_array_equal(coef[3:], 0)
    assert model.intercept_[0] == pytest.approx(plain.intercept_[0], abs=1e-6)


def test_all_groups_beside_the_constant_are_the_groups():
    X, y = noisy(90)
    group = np.arange(90) % 3
    X = np.column_stack([X, np.eye(3)[group]])
    both, groups = (
        unpenalised(slice(3, 6), fit_intercept=constant, tol=TIGHT).fit(X, y)
        for constant in (True, False)
    )
    assert_allclose(both.decision_function(X), groups.decision_function(X), atol=1e-6)
    effects = both.bias_coef_[0] + both.intercept_[0]
    assert_allclose(effects, groups.bias_coef_[0], atol=1e-6)
    assert np.count_nonzero(both.bias_coef_[0]) == 2


# --- Labels must not leak ------------------------------------------------------------------------


class Memory(TransformerMixin, BaseEstimator):
    """Knows the label of each training row by heart, and zero for any other."""

    def fit(self, X, y):
        self.known_ = {
            row.tobytes(): 2.0 * (label == y.max()) - 1 for row, label in zip(X, y, strict=True)
        }
        return self

    def transform(self, X):
        return np.array([[self.known_.get(row.tobytes(), 0.0)] for row in X])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def test_labels_that_a_transformer_knows_by_heart_do_not_count():
    X, y = noisy(200)
    new, y_new = noisy(200, seed=1)
    honest = unpenalised(Memory()).fit(X, y)
    assert_array_equal(honest.bias_coef_, 0)  # a feature of zeros
    assert_allclose(honest.score(new, y_new), SVC().fit(X, y).score(new, y_new))
    leaking = unpenalised(Memory(), cross_fit=False).fit(X, y)
    assert leaking.kernel_share_[0] == 0
    assert leaking.score(X, y) == 1.0
    assert leaking.score(new, y_new) < 0.6


def test_features_of_a_training_row_come_from_the_other_folds():
    X, y = noisy(120)
    X[:, 2] = np.digitize(X[:, 2], [-1, 0, 1])
    expected = np.empty((120, 3))
    for fitted, held in StratifiedKFold(4).split(X, y):
        encoder = TargetEncoder(random_state=0).fit(X[fitted], y[fitted])
        expected[held] = encoder.transform(X[held])
    rows = {row.tobytes(): values for row, values in zip(X, expected, strict=True)}
    model = unpenalised(TargetEncoder(random_state=0), cv=4, tol=TIGHT).fit(X, y)
    by_hand = unpenalised(lambda X: np.array([rows[row.tobytes()] for row in X]), tol=TIGHT)
    by_hand.fit(X, y)
    assert_allclose(model.bias_coef_, by_hand.bias_coef_, atol=1e-9)
    assert_array_equal(model.dual_coef_, by_hand.dual_coef_)
    encoded = TargetEncoder(random_state=0).fit(X, y).transform(X)  # of new rows: all labels count
    assert_allclose(apply_all(predictor_of(model).features, X), encoded)


def test_a_transformer_that_takes_care_itself_is_asked_for_its_own_values():
    X, y = data("moons")
    features = GeodesicNeighborFeatures(5)
    own = features.fit_transform(X, y)
    assert not np.array_equal(own, features.transform(X))
    model = unpenalised(GeodesicNeighborFeatures(5), tol=TIGHT).fit(X, y)
    rows = {row.tobytes(): values for row, values in zip(X, own, strict=True)}
    by_hand = unpenalised(lambda X: np.array([rows[row.tobytes()] for row in X]), tol=TIGHT)
    assert_array_equal(model.bias_coef_, by_hand.fit(X, y).bias_coef_)
    assert_array_equal(apply_all(predictor_of(model).features, X), features.transform(X))
