"""What goes beyond scikit-learn: feature widths and weights, kernel objects, warm starts."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from kernelwise import SVC
from kernelwise.kernels import (
    RBF,
    FunctionKernel,
    Laplacian,
    Linear,
    Matern32,
    Matern52,
    Polynomial,
    Precomputed,
    Sigmoid,
)
from tests.svm.problems import data

TOL = 1e-8  # tight enough for the solution not to depend on the path
NAMED = {
    "linear": Linear(),
    "poly": Polynomial(0.2, degree=2, coef0=1.0),
    "rbf": RBF(0.2),
    "sigmoid": Sigmoid(0.2, coef0=1.0),
    "laplacian": Laplacian(0.2),
    "matern32": Matern32(0.2),
    "matern52": Matern52(0.2),
}
WITH_SQUARES = ("rbf", "matern32", "matern52")
WITH_PRODUCTS = ("linear", "poly", "sigmoid")


def named(kernel, **more):
    return SVC(kernel=kernel, gamma=0.2, degree=2, coef0=1.0, tol=TOL, **more)


def assert_same_machine(a, b, X, Z=None):
    """Assert that a on X and b on Z give the same decision values."""
    expected = b.decision_function(X if Z is None else Z)
    assert_allclose(a.decision_function(X), expected, rtol=1e-6, atol=1e-6)


# --- Widths and weights of the features ----------------------------------------------------------


@pytest.mark.parametrize("name", ["iris", "noisy"])
def test_a_vector_gamma_is_an_rbf_on_scaled_columns(name):
    X, y = data(name)
    gamma = np.random.default_rng(0).uniform(0.01, 0.3, X.shape[1])
    widths = SVC(gamma=gamma, tol=TOL).fit(X, y)
    scaled = SVC(gamma=1.0, tol=TOL).fit(X * np.sqrt(gamma), y)
    assert_same_machine(widths, scaled, X, X * np.sqrt(gamma))
    assert_array_equal(widths.support_, scaled.support_)


@pytest.mark.parametrize("kernel", NAMED)
def test_feature_weights_scale_the_columns(kernel):
    X, y = data("iris")
    X = X - X.mean(axis=0)
    w = np.array([0.5, 2.0, 1.0, 0.1])
    columns = X * (w if kernel == "laplacian" else np.sqrt(w))
    weighted = named(kernel, feature_weights=w).fit(X, y)
    assert_same_machine(weighted, named(kernel).fit(columns, y), X, columns)


@pytest.mark.parametrize("kernel", NAMED)
def test_ones_as_weights_change_nothing(kernel):
    X, y = data("iris")
    weighted = named(kernel, feature_weights=np.ones(4)).fit(X, y)
    assert_same_machine(weighted, named(kernel).fit(X, y), X)


@pytest.mark.parametrize("kernel", NAMED)
def test_a_weight_of_zero_drops_the_column(kernel):
    X, y = data("iris")
    X = X - X.mean(axis=0)
    weighted = named(kernel, feature_weights=[1.0, 0.0, 1.0, 1.0]).fit(X, y)
    dropped = named(kernel).fit(X[:, [0, 2, 3]], y)
    assert_same_machine(weighted, dropped, X, X[:, [0, 2, 3]])
    shaken = X.copy()
    shaken[:, 1] = 1e3
    assert_allclose(weighted.decision_function(shaken), weighted.decision_function(X), rtol=1e-9)


def test_vector_gamma_and_feature_weights_multiply():
    X, y = data("iris")
    gamma, w = np.array([0.1, 0.2, 0.3, 0.4]), np.array([2.0, 1.0, 0.0, 0.5])
    both = SVC(gamma=gamma, feature_weights=w, tol=TOL).fit(X, y)
    assert_same_machine(both, SVC(gamma=gamma * w, tol=TOL).fit(X, y), X)


@pytest.mark.parametrize("kernel", [*WITH_SQUARES, *WITH_PRODUCTS])
def test_weights_of_sparse_rows(kernel):
    X, y = data("iris")
    w = np.array([0.5, 2.0, 1.0, 0.0])
    sparse = named(kernel, feature_weights=w).fit(sp.csr_array(X), y)
    assert_same_machine(sparse, named(kernel, feature_weights=w).fit(X, y), sp.csr_array(X), X)


def test_coef_of_a_weighted_linear_kernel_gives_the_decision_values():
    X, y = data("wine")
    w = np.linspace(0, 2, X.shape[1])
    model = SVC(kernel="linear", feature_weights=w, decision_function_shape="ovo").fit(X, y)
    assert_allclose(X @ model.coef_.T + model.intercept_, model.decision_function(X), atol=1e-9)
    assert_array_equal(model.coef_[:, 0], 0)


def test_scale_counts_the_sample_weights():
    X, y = data("iris")
    counts = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = SVC(tol=TOL).fit(X, y, sample_weight=counts)
    repeated = SVC(tol=TOL).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    assert weighted.kernel_.gamma == pytest.approx(repeated.kernel_.gamma, rel=1e-12)
    assert_same_machine(weighted, repeated, X)


# --- Kernel objects ------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", NAMED)
def test_a_kernel_object_equals_the_name(kernel):
    X, y = data("iris")
    model = SVC(kernel=NAMED[kernel], tol=TOL).fit(X, y)
    assert_array_equal(model.decision_function(X), named(kernel).fit(X, y).decision_function(X))
    assert model.kernel_ == named(kernel).fit(X, y).kernel_


def test_precomputed_and_function_objects_equal_their_parameters():
    X, y = data("iris")
    K = X @ X.T
    given, word = (SVC(kernel=k).fit(K, y) for k in (Precomputed(), "precomputed"))
    assert_array_equal(given.decision_function(K), word.decision_function(K))
    functions = [lambda A, B: A @ B.T, FunctionKernel(lambda A, B: A @ B.T)]
    plain, wrapped = (SVC(kernel=k).fit(X, y) for k in functions)
    assert_array_equal(plain.decision_function(X), wrapped.decision_function(X))


def test_a_sum_of_kernels_is_the_kernel_of_the_sum():
    X, y = data("wine")
    K = RBF(0.05)(X) + 0.1 * Linear()(X)
    model = SVC(kernel=RBF(0.05) + 0.1 * Linear(), tol=TOL).fit(X, y)
    assert_same_machine(model, SVC(kernel="precomputed", tol=TOL).fit(K, y), X, K)


def test_set_params_reaches_into_the_kernel():
    X, y = data("iris")
    kernel = RBF(1.0)
    model = SVC(kernel=kernel).set_params(kernel__gamma=0.3)
    assert model.kernel == RBF(0.3)
    assert kernel == RBF(1.0), "the kernel given by the user is another value, and stays"
    assert model.get_params()["kernel__gamma"] == 0.3
    assert_array_equal(model.fit(X, y).dual_coef_, SVC(gamma=0.3).fit(X, y).dual_coef_)


def test_set_params_reaches_into_composed_kernels_together_with_others():
    model = SVC(kernel=RBF(1.0) + 2.0 * Polynomial())
    model.set_params(kernel__left__gamma=0.5, kernel__right__kernel__degree=2, C=3.0)
    assert model.kernel == RBF(0.5) + 2.0 * Polynomial(degree=2)
    assert model.C == 3.0
    model.set_params(kernel=RBF(1.0), kernel__gamma=2.0)
    assert model.kernel == RBF(2.0)


@pytest.mark.parametrize(
    ("kernel", "params", "words"),
    [
        (RBF(), {"kernel__width": 1.0}, "no parameter.*width.*it has.*gamma"),
        (RBF(), {"kernel__gamma": -1.0}, "gamma must be"),
        ("rbf", {"kernel__gamma": 1.0}, "give a kernel object"),
        (RBF(), {"kernels__gamma": 1.0}, "Invalid parameter 'kernels'"),
    ],
)
def test_set_params_refuses_what_is_not_there(kernel, params, words):
    with pytest.raises(ValueError, match=words):
        SVC(kernel=kernel).set_params(**params)


def test_grid_search_over_the_kernel_and_the_cost():
    X, y = data("iris")
    grid = {"kernel__gamma": [1e-4, 0.1, 10.0], "C": [0.01, 1.0]}
    by_object = GridSearchCV(SVC(kernel=RBF()), grid, cv=3).fit(X, y)
    by_name = GridSearchCV(SVC(), {"gamma": grid["kernel__gamma"], "C": grid["C"]}, cv=3).fit(X, y)
    for search in (by_object, by_name):
        results = search.cv_results_["mean_test_score"]
        assert np.ptp(results) > 0.1, "the grid makes a difference"
    best = dict(by_object.best_params_)
    assert {"gamma": best["kernel__gamma"], "C": best["C"]} == by_name.best_params_
    scores = [sorted(s.cv_results_["mean_test_score"]) for s in (by_object, by_name)]
    assert_array_equal(*scores)


def test_grid_search_over_vectors_and_kernels():
    X, y = data("iris")
    grid = [
        {"gamma": [[0.1] * 4, np.array([0.0, 0.0, 1.0, 1.0])]},
        {"feature_weights": [None, [0.0, 1.0, 1.0, 1.0]]},
        {"kernel": [Linear(), RBF(0.5), "laplacian"]},
    ]
    search = GridSearchCV(SVC(), grid, cv=3, error_score="raise").fit(X, y)
    assert search.best_score_ > 0.9


# --- Warm starts ---------------------------------------------------------------------------------


def refit(params, problems):
    """Fit one warm and one cold model a problem (parameters, rows, labels); return both lists."""
    warm, both = SVC(warm_start=True, tol=TOL, **params), []
    for changes, X, y in problems:
        warm.set_params(**changes).fit(X, y)
        cold = clone(warm).set_params(warm_start=False).fit(X, y)
        both.append((clone_of_fit(warm), cold))
    return both


def clone_of_fit(model):
    """Return a copy that later fits of the model do not change."""
    copy = clone(model)
    copy.__dict__.update(model.__dict__)
    return copy


def assert_same_solution_in_fewer_steps(both, rows):
    """Assert that every warm fit equals its cold one and that the re-fits save steps."""
    for (warm, cold), X in zip(both, rows, strict=True):
        assert_same_machine(warm, cold, X)
        assert_allclose(warm.certificate_.objective, cold.certificate_.objective, rtol=1e-9)
        assert_array_equal(warm.predict(X), cold.predict(X))
    steps = [[model.n_iter_.sum() for model in pair] for pair in both[1:]]
    warm, cold = np.sum(steps, axis=0)
    assert warm < cold


PATHS = {
    "C": [{"C": 1.0}, {"C": 1.2}, {"C": 1.5}, {"C": 2.0}],
    "smaller C": [{"C": 2.0}, {"C": 1.8}, {"C": 1.6}],
    "gamma": [{"gamma": 0.1}, {"gamma": 0.11}, {"gamma": 0.12}],
    "kernel__gamma": [{"kernel": RBF(0.1)}, {"kernel__gamma": 0.11}, {"kernel__gamma": 0.12}],
    "feature_weights": [{"feature_weights": [1.0, w] + [1.0] * 6} for w in (1.0, 0.9, 0.7)],
    "class_weight": [{"class_weight": {1: w}} for w in (1.0, 1.1, 1.3)],
}


@pytest.mark.parametrize("path", PATHS)
def test_warm_start_after_a_change_of_a_parameter(path):
    X, y = data("imbalanced")
    problems = [(changes, X, y) for changes in PATHS[path]]
    both = refit({"gamma": 0.1}, problems)
    assert_same_solution_in_fewer_steps(both, [X] * len(problems))


def rows_of(change):
    X, y = data("noisy")
    rng = np.random.default_rng(0)
    everything = np.arange(len(y))
    first, second = {
        "added": (everything[:-25], everything),
        "removed": (everything, np.sort(rng.permutation(len(y))[25:])),
        "shuffled": (everything, rng.permutation(len(y))),
        "exchanged": (everything[:-25], rng.permutation(len(y))[:-25]),
    }[change]
    return (X[first], y[first]), (X[second], y[second])


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("change", ["added", "removed", "shuffled", "exchanged"])
def test_warm_start_after_a_change_of_rows(change, container):
    (X, y), (X2, y2) = rows_of(change)
    problems = [({}, container(X), y), ({}, container(X2), y2)]
    both = refit({"gamma": 0.05}, problems)
    assert_same_solution_in_fewer_steps(both, [container(X), container(X2)])
    if change == "shuffled":
        assert both[1][0].n_iter_.sum() == 0


@pytest.mark.parametrize("kernel", ["linear", "rbf", "laplacian", "matern32"])
def test_warm_start_of_several_classes_after_changes_of_rows_and_cost(kernel):
    X, y = data("eight blobs")
    X = X / X.std()
    order = np.random.default_rng(0).permutation(len(y))
    problems = [({"C": 1.0}, X, y), ({"C": 1.2}, X[order], y[order]), ({}, X[:-20], y[:-20])]
    both = refit({"kernel": kernel, "gamma": 0.5}, problems)
    assert_same_solution_in_fewer_steps(both, [X, X[order], X[:-20]])


def fits_of_nothing_new():
    X, y = data("wine")
    twice = np.r_[X, X[:40]], np.r_[y, y[:40]]
    X2, y2 = data("moons")
    return {
        "two classes": ({"gamma": 1.0}, X2, y2),
        "three classes": ({}, X, y),
        "equal rows": ({}, *twice),
        "sparse": ({}, sp.csr_array(X), y),
        "sparse equal rows": ({}, sp.csr_array(twice[0]), twice[1]),
        "precomputed": ({"kernel": "precomputed"}, X @ X.T, y),
        "callable": ({"kernel": lambda A, B: A @ B.T}, X, y),
        "linear": ({"kernel": "linear"}, X, y),
    }


@pytest.mark.parametrize("tol", [1e-3, TOL])
@pytest.mark.parametrize("case", fits_of_nothing_new())
def test_warm_start_takes_no_step_when_nothing_changed(case, tol):
    params, X, y = fits_of_nothing_new()[case]
    model = SVC(warm_start=True, tol=tol, **params).fit(X, y)
    assert model.n_iter_.sum() > 0
    before = model.decision_function(X)
    model.fit(X, y)
    assert_array_equal(model.n_iter_, 0)
    assert_allclose(model.decision_function(X), before, rtol=1e-6, atol=1e-6)


def test_warm_start_of_a_precomputed_kernel_after_a_change_of_cost():
    X, y = data("noisy")
    K = RBF(0.05)(X)
    problems = [({"C": C}, K, y) for C in (1.0, 1.1, 1.2)]
    both = refit({"kernel": "precomputed"}, problems)
    assert_same_solution_in_fewer_steps(both, [K] * 3)


def test_warm_start_of_a_precomputed_kernel_whose_values_changed():
    X, y = data("noisy")
    grams = [RBF(gamma)(X) for gamma in (0.05, 0.052)]
    both = refit({"kernel": "precomputed"}, [({}, K, y) for K in grams])
    assert_same_solution_in_fewer_steps(both, grams)


def test_warm_start_after_rescaling_all_rows_goes_by_their_place():
    X, y = data("noisy")
    both = refit({"gamma": 0.05}, [({}, X, y), ({}, 1.01 * X, y)])
    assert_same_solution_in_fewer_steps(both, [X, 1.01 * X])


def test_warm_start_with_fewer_and_with_more_classes():
    X, y = data("iris")
    both = refit({}, [({"gamma": 0.5}, X, y), ({}, X[y < 2], y[y < 2]), ({}, X, y)])
    assert_same_solution_in_fewer_steps(both, [X, X[y < 2], X])
    assert both[1][0].n_iter_.sum() == 0, "the machine of the two classes is known"
    assert_array_equal(both[1][0].classes_, [0, 1])


@pytest.mark.parametrize(
    "relabel",
    [lambda y: y + 10, lambda y: 2 - y, lambda y: np.array(["a", "b", "c"])[y]],
    ids=["new names", "reversed", "strings"],
)
def test_warm_start_with_other_classes_is_right(relabel):
    X, y = data("iris")
    (_, _), (warm, cold) = refit({}, [({"gamma": 0.5}, X, y), ({}, X, relabel(y))])
    assert_same_machine(warm, cold, X)
    assert_array_equal(warm.predict(X), cold.predict(X))


def test_warm_start_with_other_features_is_right():
    X, y = data("iris")
    (_, _), (warm, cold) = refit({}, [({}, X, y), ({}, X[:, :2], y)])
    assert_same_machine(warm, cold, X[:, :2])


def test_warm_start_with_sample_weights():
    X, y = data("noisy")
    weights = np.random.default_rng(0).uniform(0.5, 1.5, len(y))
    weights[::9] = 0
    warm = SVC(gamma=0.05, warm_start=True, tol=TOL).fit(X, y)
    cold = SVC(gamma=0.05, tol=TOL).fit(X, y, sample_weight=weights)
    warm.fit(X, y, sample_weight=weights)
    assert_same_machine(warm, cold, X)
    assert warm.n_iter_.sum() < cold.n_iter_.sum()
    warm.fit(X, y, sample_weight=weights)
    assert warm.n_iter_.sum() == 0


def test_without_warm_start_a_second_fit_starts_anew():
    X, y = data("moons")
    model = SVC().fit(X, y)
    steps = model.n_iter_
    assert_array_equal(model.fit(X, y).n_iter_, steps)
    assert steps.sum() > 0


def test_a_clone_forgets_the_last_solution():
    X, y = data("moons")
    model = SVC(warm_start=True).fit(X, y)
    assert clone(model).fit(X, y).n_iter_.sum() > 0
