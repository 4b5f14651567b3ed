"""SVC is scikit-learn's SVC: the same objective, predictions, decision values and attributes."""

from dataclasses import dataclass, field
from functools import cache

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import SVC as Reference

from kernelwise import SVC

from .problems import data, dual_objective, pair_coefficients, pair_decisions

NEAR_ZERO = 1e-2  # decision values that a tolerance of 1e-3 leaves undecided


@dataclass(frozen=True, eq=False)
class Case:
    """A data set, the parameters of an SVC, and whether the rows have weights."""

    name: str
    params: dict = field(default_factory=dict)
    weighted: bool = False

    def __str__(self):
        shown = [f"{key}={value}" for key, value in self.params.items()]
        return "-".join([self.name, *shown, *["weighted"] * self.weighted])

    @property
    def metric(self):
        return self.params.get("kernel", "rbf")

    def rows(self):
        """Return training rows and new ones: between the old ones and around them."""
        X, _ = data(self.name)
        rng = np.random.default_rng(1)
        return X, X[rng.permutation(len(X))] + rng.normal(0, 0.5 * X.std(axis=0) + 1e-3, X.shape)

    def sample_weight(self):
        if not self.weighted:
            return None
        return np.random.default_rng(2).uniform(0.1, 3.0, len(data(self.name)[0]))


CASES = [
    Case("iris", {"C": 0.01}),
    Case("iris", {"C": 1.0}),
    Case("iris", {"C": 100.0, "gamma": "auto"}),
    Case("iris", {"C": 1000.0}),
    Case("iris", {"kernel": "linear", "C": 1.0}),
    Case("iris", {"kernel": "linear", "C": 100.0}),
    Case("iris", {"kernel": "poly", "degree": 2, "coef0": 1.0, "C": 10.0}),
    Case("iris", {"kernel": "poly", "degree": 4, "gamma": 0.1}),
    Case("iris", {"kernel": "sigmoid", "gamma": 0.01, "C": 1.0}),
    Case("iris", {"class_weight": {0: 1.0, 1: 5.0, 2: 0.5}}),
    Case("wine", {"C": 1.0, "gamma": "auto"}),
    Case("wine", {"C": 1000.0}),
    Case("wine", {"kernel": "linear", "C": 0.01}),
    Case("wine", {"kernel": "linear", "C": 100.0}),
    Case("wine", {"kernel": "poly", "coef0": 1.0}),
    Case("wine", {"gamma": 0.05, "C": 10.0}, weighted=True),
    Case("cancer", {"C": 0.01}),
    Case("cancer", {"C": 1.0}),
    Case("cancer", {"C": 1000.0}),
    Case("cancer", {"gamma": 0.5, "C": 10.0, "class_weight": "balanced"}),
    Case("cancer", {"kernel": "linear", "C": 1.0}),
    Case("cancer", {"kernel": "poly", "degree": 2, "coef0": 0.5}),
    Case("cancer", {"kernel": "sigmoid", "gamma": 0.001, "C": 1.0}),
    Case("digits", {"C": 1.0}),
    Case("digits", {"C": 100.0, "gamma": 0.001}),
    Case("digits", {"kernel": "linear", "C": 0.01}),
    Case("digits", {"kernel": "poly", "degree": 3}),
    Case("noisy", {"C": 0.01, "kernel": "linear"}),
    Case("noisy", {"C": 10.0}),
    Case("noisy", {"C": 100.0, "gamma": 0.01}),
    Case("noisy", {"C": 1.0, "gamma": 0.1}, weighted=True),
    Case("noisy", {"C": 0.1, "kernel": "linear"}, weighted=True),
    Case("imbalanced", {"class_weight": "balanced"}),
    Case("imbalanced", {"class_weight": {1: 20.0}, "C": 0.1}),
    Case("imbalanced", {"gamma": 0.3, "class_weight": {0: 0.2, 1: 3.0}}, weighted=True),
    Case("moons", {"gamma": 2.0, "C": 1.0}),
    Case("moons", {"gamma": 10.0, "C": 1000.0}),
    Case("moons", {"kernel": "poly", "coef0": 1.0, "C": 1.0}),
    Case("eight blobs", {"C": 1.0}),
    Case("eight blobs", {"C": 100.0}),
    Case("eight blobs", {"gamma": 0.05}, weighted=True),
    Case("fifteen blobs", {"C": 10.0}),
]

# Well-conditioned problems, on which a tight tolerance leaves nothing undecided.
TIGHT = [
    Case("iris", {"C": 1.0, "gamma": 0.5}),
    Case("wine", {"C": 10.0, "gamma": 0.05}),
    Case("cancer", {"C": 1.0, "gamma": 0.05}),
    Case("imbalanced", {"C": 1.0, "gamma": 0.1}),
    Case("noisy", {"C": 1.0, "gamma": 0.05}, weighted=True),
    Case("eight blobs", {"C": 1.0, "gamma": 0.05}),
]

each_case = pytest.mark.parametrize("case", CASES, ids=str)
each_tight_case = pytest.mark.parametrize("case", TIGHT, ids=str)


@cache
def fitted(case, **more):
    """Return ours and scikit-learn's SVC, fitted, with one-vs-one decision values."""
    X, y = data(case.name)
    params = {**case.params, "decision_function_shape": "ovo", **more}
    weights = case.sample_weight()
    return tuple(model(**params).fit(X, y, sample_weight=weights) for model in (SVC, Reference))


def gram(case, A, B):
    _, reference = fitted(case)
    params = {"gamma": reference._gamma, "degree": reference.degree, "coef0": reference.coef0}
    return pairwise_kernels(A, B, metric=case.metric, filter_params=True, **params)


def test_there_are_thirty_cases_of_every_kind():
    assert len(set(map(str, CASES))) == len(CASES) >= 30
    assert {case.metric for case in CASES} == {"linear", "poly", "rbf", "sigmoid"}
    assert {case.params.get("C", 1.0) for case in CASES} >= {0.01, 1.0, 100.0, 1000.0}


@each_case
def test_dual_objective(case):
    (X, _), (_, y) = case.rows(), data(case.name)
    K = gram(case, X, X).astype(np.float32).astype(np.float64)  # as scikit-learn keeps it
    ours, theirs = (dual_objective(model, K, y) for model in fitted(case))
    assert ours == pytest.approx(theirs, rel=1e-6)


@each_case
def test_predictions(case):
    ours, theirs = fitted(case)
    for X in case.rows():
        differ = ours.predict(X) != theirs.predict(X)
        decisions = theirs.decision_function(X).reshape(len(X), -1)
        undecided = (np.abs(decisions) < NEAR_ZERO).any(axis=1)
        assert not (differ & ~undecided).any()


@each_case
def test_decision_values(case):
    ours, theirs = fitted(case)
    for X in case.rows():
        values, expected = ours.decision_function(X), theirs.decision_function(X)
        assert values.dtype == expected.dtype
        assert_allclose(values, expected, rtol=NEAR_ZERO, atol=NEAR_ZERO)


@each_case
def test_attributes_have_the_same_shape_and_type(case):
    ours, theirs = fitted(case)
    n_machines = len(theirs.intercept_)
    for name in ("n_support_", "intercept_", "n_iter_", "class_weight_", "classes_"):
        mine, other = getattr(ours, name), getattr(theirs, name)
        assert (type(mine), mine.shape, mine.dtype) == (type(other), other.shape, other.dtype), name
    for name in ("support_", "support_vectors_", "dual_coef_"):
        mine, other = getattr(ours, name), getattr(theirs, name)
        assert (type(mine), mine.ndim, mine.dtype) == (type(other), other.ndim, other.dtype), name
    assert ours.dual_coef_.shape == (len(ours.classes_) - 1, len(ours.support_))
    assert ours.n_iter_.shape == (n_machines,)
    for name in ("fit_status_", "shape_fit_", "n_features_in_"):
        assert getattr(ours, name) == getattr(theirs, name), name
        assert type(getattr(ours, name)) is type(getattr(theirs, name)), name


@each_case
def test_attributes_mean_the_same(case):
    (X, new), (_, y) = case.rows(), data(case.name)
    ours, theirs = fitted(case)
    assert_array_equal(ours.classes_, theirs.classes_)
    assert_allclose(ours.class_weight_, theirs.class_weight_)
    assert_array_equal(ours.support_vectors_, X[ours.support_])
    by_class = np.searchsorted(ours.classes_, y[ours.support_])
    assert_array_equal(ours.support_, ours.support_[np.lexsort((ours.support_, by_class))])
    assert_array_equal(np.bincount(by_class, minlength=len(ours.classes_)), ours.n_support_)
    K = gram(case, new, X)
    for model in (ours, theirs):
        decisions = model.decision_function(new).reshape(len(new), -1)
        assert_allclose(pair_decisions(model, K, y), decisions, rtol=1e-6, atol=1e-6)


@each_case
def test_coefficients_stay_in_their_box_and_balance(case):
    _, y = data(case.name)
    ours, _ = fitted(case)
    weights = np.ones(len(y)) if case.sample_weight() is None else case.sample_weight()
    own = ours.class_weight_[np.searchsorted(ours.classes_, y)]
    cost = ours.C * weights * own
    for beta in pair_coefficients(ours, y):
        assert (np.abs(beta) <= cost).all()
        assert abs(beta.sum()) <= 1e-9 * np.abs(beta).sum()


@pytest.mark.parametrize("case", [c for c in CASES if c.metric == "linear"], ids=str)
def test_coef_of_a_linear_kernel(case):
    ours, theirs = fitted(case)
    X, _ = case.rows()
    assert (ours.coef_.shape, ours.coef_.dtype) == (theirs.coef_.shape, theirs.coef_.dtype)
    assert_allclose(ours.coef_, theirs.coef_, rtol=NEAR_ZERO, atol=NEAR_ZERO)
    decisions = ours.decision_function(X).reshape(len(X), -1)
    assert_allclose(X @ ours.coef_.T + ours.intercept_, decisions, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("metric", ["rbf", "poly", "sigmoid"])
def test_coef_is_absent_for_other_kernels(metric):
    model = SVC(kernel=metric).fit(*data("iris"))
    assert not hasattr(model, "coef_")
    with pytest.raises(AttributeError, match="linear kernel"):
        _ = model.coef_


def test_coef_cannot_be_changed():
    model = SVC(kernel="linear").fit(*data("iris"))
    with pytest.raises(AttributeError):
        model.coef_ = np.zeros((3, 4))
    with pytest.raises(ValueError, match="read-only"):
        model.coef_[0, 0] = 0.0


@each_tight_case
def test_a_tight_tolerance_gives_the_same_machine(case):
    (X, new), (_, y) = case.rows(), data(case.name)
    ours, theirs = fitted(case, tol=1e-7)
    assert_array_equal(ours.support_, theirs.support_)
    assert_array_equal(ours.n_support_, theirs.n_support_)
    assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-5 * ours.C)
    assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-5)
    assert_allclose(ours.decision_function(new), theirs.decision_function(new), atol=1e-5)
    assert_array_equal(ours.predict(new), theirs.predict(new))
    K = gram(case, X, X)
    # scikit-learn rounds the kernel to float32, so that ours can only be lower.
    assert dual_objective(ours, K, y) <= dual_objective(theirs, K, y) + 1e-12


@each_tight_case
@pytest.mark.parametrize("break_ties", [False, True])
def test_one_decision_value_a_class(case, break_ties):
    _, new = case.rows()
    params = {"decision_function_shape": "ovr", "break_ties": break_ties}
    ours, theirs = (clone(m).set_params(**params) for m in fitted(case, tol=1e-7))
    X, y = data(case.name)
    for model in (ours, theirs):
        model.fit(X, y, sample_weight=case.sample_weight())
    values, expected = ours.decision_function(new), theirs.decision_function(new)
    n_classes = len(ours.classes_)
    assert values.shape == ((len(new),) if n_classes == 2 else (len(new), n_classes))
    assert_allclose(values, expected, atol=1e-4)
    assert_array_equal(ours.predict(new), theirs.predict(new))
    if break_ties and n_classes > 2:
        assert_array_equal(ours.predict(new), ours.classes_[values.argmax(axis=1)])


def test_break_ties_matters_and_is_refused_with_one_vs_one():
    X, y = data("eight blobs")
    grid = np.random.default_rng(0).uniform(X.min(axis=0), X.max(axis=0), (2000, X.shape[1]))
    tied = SVC(gamma=1e3).fit(X, y)
    broken = SVC(gamma=1e3, break_ties=True).fit(X, y)
    assert not np.array_equal(tied.predict(grid), broken.predict(grid))
    refused = SVC(break_ties=True, decision_function_shape="ovo").fit(X, y)
    with pytest.raises(ValueError, match="break_ties must be False"):
        refused.predict(grid)


@pytest.mark.parametrize("name", ["iris", "cancer", "eight blobs"])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_precomputed_and_callable_equal_the_named_kernel(name, kernel):
    X, y = data(name)
    X = X / X.std()
    params = {"gamma": 0.1, "degree": 3, "coef0": 0.5}

    def function(A, B):
        return pairwise_kernels(A, B, metric=kernel, filter_params=True, **params)

    shared = {"tol": 1e-7, "decision_function_shape": "ovo"}
    named = SVC(kernel=kernel, **params, **shared).fit(X, y)
    called = SVC(kernel=function, **shared).fit(X, y)
    given = SVC(kernel="precomputed", **shared).fit(function(X, X), y)
    reference = Reference(kernel="precomputed", **shared).fit(function(X, X), y)
    expected = named.decision_function(X)
    for model, rows in [(called, X), (given, function(X, X)), (reference, function(X, X))]:
        assert_allclose(model.decision_function(rows), expected, rtol=1e-4, atol=1e-4)
        assert_array_equal(model.predict(rows), named.predict(X))


def test_attributes_of_a_precomputed_kernel():
    X, y = data("iris")
    ours, theirs = (m(kernel="precomputed", tol=1e-7).fit(X @ X.T, y) for m in (SVC, Reference))
    for name in ("support_", "support_vectors_", "n_support_", "dual_coef_", "shape_fit_"):
        mine, other = np.asarray(getattr(ours, name)), np.asarray(getattr(theirs, name))
        assert (mine.shape, mine.dtype) == (other.shape, other.dtype), name
    assert not hasattr(ours, "coef_")


def test_precomputed_reads_the_columns_of_support_vectors_only():
    X, y = data("iris")
    K = X @ X.T
    model = SVC(kernel="precomputed").fit(K, y)
    masked = np.zeros_like(K)
    masked[:, model.support_] = K[:, model.support_]
    assert_array_equal(model.decision_function(masked), model.decision_function(K))


@pytest.mark.parametrize("container", [sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_array])
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "sigmoid", "matern52"])
def test_sparse_rows_give_the_machine_of_dense_rows(container, kernel):
    X, y = data("digits")
    X, y = X[:200] / 16, y[:200]
    gamma = 0.001 if kernel == "sigmoid" else "scale"
    dense = SVC(kernel=kernel, gamma=gamma).fit(X, y)
    sparse = SVC(kernel=kernel, gamma=gamma).fit(container(X), y)
    assert_array_equal(sparse.predict(container(X)), dense.predict(X))
    assert_array_equal(sparse.predict(X), dense.predict(X))
    values = sparse.decision_function(container(X))
    assert_allclose(values, dense.decision_function(X), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("container", [sp.csr_array, sp.csr_matrix])
def test_sparse_attributes_are_those_of_scikit_learn(container):
    X, y = data("digits")
    X, y = container(X[:200]), y[:200]
    ours, theirs = (model(kernel="linear").fit(X, y) for model in (SVC, Reference))
    for name in ("support_vectors_", "dual_coef_", "coef_"):
        mine, other = getattr(ours, name), getattr(theirs, name)
        assert (mine.format, mine.dtype) == (other.format, other.dtype), name
        assert_allclose(mine.toarray(), other.toarray(), atol=1e-3, err_msg=name)


def test_string_classes_and_feature_names():
    X, y = data("iris")
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    ours, theirs = (model().fit(frame, names) for model in (SVC, Reference))
    assert_array_equal(ours.feature_names_in_, theirs.feature_names_in_)
    assert ours.feature_names_in_.dtype == theirs.feature_names_in_.dtype
    assert_array_equal(ours.classes_, theirs.classes_)
    assert ours.classes_.dtype == theirs.classes_.dtype
    assert_array_equal(ours.predict(frame), theirs.predict(frame))
    assert ours.predict(frame).dtype == theirs.predict(frame).dtype


def test_an_infinite_cost_is_a_hard_margin():
    X, y = data("iris")
    X, y = X[y < 2], y[y < 2]
    ours, theirs = (model(C=np.inf, kernel="linear").fit(X, y) for model in (SVC, Reference))
    assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)
    assert_array_equal(ours.predict(X), y)


def test_weights_of_all_rows_and_the_cost_are_one_thing():
    X, y = data("moons")
    weighted = SVC(C=100.0).fit(X, y, sample_weight=np.full(len(y), 0.01))
    plain = SVC(C=1.0).fit(X, y)
    assert_allclose(weighted.dual_coef_, plain.dual_coef_, rtol=1e-9, atol=1e-12)


def test_rows_of_zero_or_negative_weight_count_as_absent():
    X, y = data("moons")
    weights = np.random.default_rng(0).uniform(-1, 2, len(y))
    weights[::7] = 0.0
    counted = np.flatnonzero(weights > 0)
    params = {"gamma": 1.0, "tol": 1e-7}
    ours = SVC(**params).fit(X, y, sample_weight=weights)
    theirs = Reference(**params).fit(X[counted], y[counted], sample_weight=weights[counted])
    # scikit-learn, given these weights, numbers the support vectors among the counted rows only.
    assert_array_equal(ours.support_, counted[theirs.support_])
    assert_array_equal(ours.support_vectors_, X[ours.support_])
    assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-5)
    assert ours.shape_fit_ == X.shape


@pytest.mark.parametrize("limit", [1, 2, 10])
def test_max_iter_is_the_number_of_steps(limit):
    X, y = data("moons")
    with pytest.warns(UserWarning, match="did not converge"):
        model = SVC(max_iter=limit).fit(X, y)
    assert_array_equal(model.n_iter_, [limit])
    assert model.fit_status_ == 1
