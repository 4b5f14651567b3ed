"""FeatureDiscriminationSVC: the plain machine on scaled features, inputs or components."""

import pickle
import re
from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectFromModel

from kernelwise import SVC
from kernelwise.discrimination import efficiency, fisher, log_scales, separation
from kernelwise.kernels import RBF, EmpiricalMap, Laplacian, Linear, Polynomial, Sigmoid
from kernelwise.svm import bounds_of
from kernelwise.svm.base import solve as base_solve
from kernelwise.svm.base.grams import Grams
from tests.loop import loop
from tests.svm.base.test_progress import TaskCounter
from tests.svm.problems import data

from .machine import machine

MEASURES = {"fisher": fisher, "separation": separation, "efficiency": efficiency}
EXACT = {"tol": 1e-8}


def scales_of(X, y, eta, measure=fisher, **options):
    return np.exp(log_scales(measure(X, y), eta, **options))


def assert_same_machine(a, b):
    """Assert that two fitted models are the same to the bit."""
    for name in ("support_", "dual_coef_", "intercept_", "n_support_", "n_iter_", "margin_"):
        assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


# --- What it must equal --------------------------------------------------------------------------


@loop("name", ["cancer", "iris", "eight blobs"])
@loop("C", [0.1, 10.0])
@loop("given", [{"eta": 0.0}, {"importance": None}], ids=["eta=0", "None"])
def test_without_weights_it_is_the_plain_machine_to_the_bit(name, C, given):
    X, y = data(name)
    model = machine(C=C, **given).fit(X, y)
    plain = SVC(kernel="linear", C=C).fit(X, y)
    assert_same_machine(model, plain)
    assert_array_equal(model.decision_function(X), plain.decision_function(X))
    assert_array_equal(model.predict(X), plain.predict(X))
    assert_array_equal(model.coef_, plain.coef_)
    assert_array_equal(model.feature_scales_, 1.0)


@loop("name", ["cancer", "iris"])
def test_the_trace_at_eta_zero_multiplies_C_by_the_number_of_features(name):
    X, y = data(name)
    model = machine(eta=0.0, C=0.05, normalization="trace", **EXACT).fit(X, y)
    plain = SVC(kernel="linear", C=0.05 * X.shape[1], **EXACT).fit(X, y)
    assert_allclose(model.decision_function(X), plain.decision_function(X), atol=1e-6)
    assert_allclose(model.coef_, plain.coef_, atol=1e-6)
    assert_allclose(model.feature_scales_, np.sqrt(X.shape[1]))


@loop("measure", MEASURES)
@loop("units", ["data", "raw"])
@loop("normalization", ["inverse", "trace"])
def test_it_is_the_plain_machine_on_scaled_columns(measure, units, normalization):
    X, y = data("cancer")
    options = {"eta_units": units, "normalization": normalization}
    model = machine(importance=measure, eta=2.0, C=0.1, **options, **EXACT)
    model.fit(X, y)
    scales = scales_of(X, y, 2.0, MEASURES[measure], **options)
    plain = SVC(kernel="linear", C=0.1, **EXACT).fit(X * scales, y)
    assert_allclose(model.decision_function(X), plain.decision_function(X * scales), atol=1e-6)
    assert_allclose(model.coef_, plain.coef_ * scales, atol=1e-6)  # w = A^{-1/2} w~
    assert_array_equal(model.importances_, MEASURES[measure](X, y))
    assert_allclose(model.feature_scales_, scales, rtol=1e-14)
    assert_allclose(model.feature_weights_, scales**2, rtol=1e-14)


def test_it_minimises_the_objective_of_the_paper():
    """1/2 w'Aw + C sum xi, at w and b, is what the dual says, and no change of w lowers it."""
    X, y = data("cancer")
    model = machine(eta=3.0, **EXACT).fit(X, y)
    signs, A = np.where(y == 1, 1, -1), 1 / model.feature_weights_

    def objective(w, b):
        return 0.5 * w @ (A * w) + np.maximum(0, 1 - signs * (X @ w + b)).sum()

    w, b = model.coef_[0], model.intercept_[0]
    least = objective(w, b)
    assert least == pytest.approx(-model.certificate_.objective[0], rel=1e-6)
    rng = np.random.default_rng(0)
    for size in (1e-3, 1e-1):
        changes = size * rng.normal(size=(20, len(w))) * model.feature_scales_
        assert min(objective(w + change, b) for change in changes) >= least
    assert_allclose(model.decision_function(X), X @ w + b, atol=1e-10)


@loop("measure", MEASURES)
@loop("eta", [0.1, 1.0, 10.0, 100.0, 1000.0])
@loop("units", ["data", "raw"])
def test_it_converges_for_every_eta(measure, eta, units):
    for name in ("cancer", "iris"):
        model = machine(importance=measure, eta=eta, eta_units=units)
        model.fit(*data(name))
        assert (model.certificate_.status == "converged").all()
        assert (model.certificate_.violation < 1e-3).all()
        scales = np.atleast_2d(model.feature_scales_)
        assert_allclose((scales**2).mean(axis=1), 1)
        assert (scales.max(axis=1) <= 1.0001e4 * scales.min(axis=1)).all()


# --- Kernels -------------------------------------------------------------------------------------


def test_components_are_the_columns_of_a_linear_machine():
    X, y = data("imbalanced")
    train, test = slice(0, 200), slice(200, None)
    model = machine(kernel="rbf", gamma=0.1, eta=4.0, **EXACT)
    model.fit(X[train], y[train])
    columns = EmpiricalMap.of(RBF(0.1), X[train])
    scales = scales_of(columns.training, y[train], 4.0)
    plain = SVC(kernel="linear", **EXACT).fit(columns.training * scales, y[train])
    expected = plain.decision_function(columns.apply(X[test]) * scales)
    assert_allclose(model.decision_function(X[test]), expected, atol=1e-5)
    assert_allclose(model.feature_scales_, scales, rtol=1e-9)
    assert_array_equal(model.support_vectors_, X[train][model.support_])
    assert model.gamma_ == 0.1
    assert model.map_.n_components == len(model.importances_)


@loop("kernel", [{"kernel": "rbf"}, {"kernel": "poly", "coef0": 1.0}])
def test_components_without_weights_are_the_kernel_machine(kernel):
    X, y = data("wine")
    model = machine(eta=0.0, **kernel, **EXACT).fit(X, y)
    plain = SVC(**kernel, **EXACT).fit(X, y)
    assert_allclose(model.decision_function(X), plain.decision_function(X), atol=1e-5)
    assert_array_equal(model.predict(X), plain.predict(X))


@loop("n_components", [3, 0.5])
def test_fewer_components(n_components):
    X, y = data("imbalanced")
    model = machine(kernel="rbf", n_components=n_components).fit(X, y)
    expected = EmpiricalMap.of(RBF(model.gamma_), X, n_components=n_components).n_components
    assert model.importances_.shape == (expected,)
    assert expected < 100


def test_inputs_are_scaled_before_the_kernel():
    X, y = data("imbalanced")
    scales = scales_of(X, y, 2.0)
    for kernel, power in (("rbf", 2), ("laplacian", 1), ("matern32", 2)):
        model = machine(kernel=kernel, space="inputs", eta=2.0, **EXACT)
        model.fit(X, y)
        plain = SVC(kernel=kernel, feature_weights=scales**power, gamma=model.gamma_, **EXACT)
        expected = plain.fit(X, y).decision_function(X)
        assert_allclose(model.decision_function(X), expected, atol=1e-6, err_msg=kernel)


@loop(
    "kernel",
    [
        RBF(0.2) + Linear(),
        Laplacian(0.1, weights=np.arange(1.0, 9.0)),
        Linear(weights=np.arange(8.0)),
        0.5 * Polynomial(degree=2, coef0=1.0) * RBF(0.05),
    ],
    ids=repr,
)
def test_kernel_objects_of_scaled_inputs(kernel):
    X, y = data("imbalanced")
    scales = scales_of(X, y, 2.0)
    model = machine(kernel=kernel, space="inputs", eta=2.0, **EXACT).fit(X, y)
    plain = SVC(kernel=kernel, **EXACT).fit(X * scales, y)
    assert_allclose(model.decision_function(X), plain.decision_function(X * scales), atol=1e-5)


# --- Importances ---------------------------------------------------------------------------------


def test_given_importances():
    X, y = data("cancer")
    measured = machine(eta=2.0).fit(X, y)
    for given in (fisher(X, y), fisher(X, y).tolist(), lambda X, y: fisher(X, y)):
        model = machine(eta=2.0, importance=given).fit(X, y)
        assert_same_machine(model, measured)
    named = machine(eta=2.0, importance=["fisher"]).fit(X, y)
    assert_same_machine(named, measured)


def test_a_function_sees_the_features_and_the_labels():
    X, y = data("iris")
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    seen = []

    def measure(Z, labels):
        seen.append((Z.shape, set(labels)))
        return np.arange(Z.shape[1])

    machine(importance=measure).fit(X, names)
    pairs = combinations(["setosa", "versicolor", "virginica"], 2)
    assert seen == [((100, 4), set(pair)) for pair in pairs]
    seen.clear()
    machine(importance=measure, importance_per="shared").fit(X, names)
    assert seen == [((150, 4), set(names))]


# --- Several classes, weights --------------------------------------------------------------------


@loop("kernel", [{}, {"kernel": "rbf", "space": "inputs", "gamma": 0.5}])
def test_each_pair_has_importances_of_its_own(kernel):
    X, y = data("iris")
    model = machine(eta=2.0, decision_function_shape="ovo", **kernel, **EXACT)
    model.fit(X, y)
    assert model.importances_.shape == model.feature_scales_.shape == (3, 4)
    for j, pair in enumerate(combinations(range(3), 2)):
        rows = np.isin(y, pair)
        # With two classes the second is positive, with more the first of each pair.
        own = machine(eta=2.0, **kernel, **EXACT).fit(X[rows], y[rows])
        decisions = -own.decision_function(X)
        assert_allclose(model.decision_function(X)[:, j], decisions, atol=1e-5)
        assert_array_equal(model.importances_[j], own.importances_)
    if not kernel:
        values = X @ model.coef_.T + model.intercept_
        assert_allclose(model.decision_function(X), values, atol=1e-10)


@loop("kernel", ["linear", "rbf"])
def test_shared_importances_are_the_mean_over_pairs(kernel):
    X, y = data("iris")
    own = machine(kernel=kernel, gamma=0.5).fit(X, y)
    shared = machine(kernel=kernel, gamma=0.5, importance_per="shared").fit(X, y)
    assert_allclose(shared.importances_, own.importances_.mean(axis=0))
    assert shared.score(X, y) > 0.95
    assert own.score(X, y) > 0.95


@loop("kernel", ["linear", "rbf"])
@loop("measure", MEASURES)
@loop("name", ["imbalanced", "iris"])
def test_a_weight_of_two_is_the_row_twice(kernel, measure, name):
    X, y = data(name)
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    settings = {"kernel": kernel, "importance": measure, "gamma": 0.2, "n_components": 10}
    model = machine(**settings, **EXACT)
    a = clone(model).fit(X, y, sample_weight=weights)
    b = clone(model).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert_allclose(a.importances_, b.importances_, rtol=1e-6, atol=1e-9)
    assert_allclose(a.decision_function(X), b.decision_function(X), atol=1e-5)


def test_class_weights_multiply_C_and_change_no_measure():
    X, y = data("imbalanced")
    plain = machine(eta=2.0, **EXACT).fit(X, y)
    a = machine(eta=2.0, class_weight="balanced", **EXACT).fit(X, y)
    assert_array_equal(a.importances_, plain.importances_)
    weights = a.class_weight_[y]
    given = SVC(kernel="linear", **EXACT).fit(X * a.feature_scales_, y, sample_weight=weights)
    expected = given.decision_function(X * a.feature_scales_)
    assert_allclose(a.decision_function(X), expected, atol=1e-6)


# --- The toy -------------------------------------------------------------------------------------


def toy(rng):
    """Draw the paper's toy: two Gaussians, of which a half is for training."""
    y = np.repeat([0, 1], 100)
    X = rng.normal(size=(200, 2)) + y[:, None] * [2, 1]
    return X, y, np.arange(200) % 2 == 0


def toy_accuracies(draws, measure, eta):
    """Return the mean accuracies of the plain machine and of ours, in points."""
    rng, hits = np.random.default_rng(0), []
    for _ in range(draws):
        X, y, train = toy(rng)
        models = SVC(kernel="linear"), machine(importance=measure, eta=eta)
        hits.append([m.fit(X[train], y[train]).score(X[~train], y[~train]) for m in models])
    return 100 * np.mean(hits, axis=0)


@loop("measure", MEASURES)
@loop("eta", [1.0, 2.0])
def test_the_toy_is_as_hard_for_the_plain_machine(measure, eta):
    plain, ours = toy_accuracies(60, measure, eta)
    assert plain == pytest.approx(86.2, abs=1.0)
    assert ours == pytest.approx(plain, abs=0.5)


# --- In use --------------------------------------------------------------------------------------


def test_importances_of_features():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6)) * [1, 1, 1, 1, 1, 0]
    y = X[:, 1] > 0.3 * rng.normal(size=200)
    model = machine(kernel="rbf", space="inputs", eta=8.0).fit(X, y)
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert model.feature_importances_.argmax() == 1
    assert model.feature_importances_[5] == 0
    assert SelectFromModel(model).fit(X, y).get_support()[1]


def test_what_is_not_there():
    X, y = data("iris")
    model = machine(kernel="rbf").fit(X, y)
    assert not hasattr(model, "coef_")
    assert not hasattr(model, "feature_importances_")
    assert not hasattr(machine(), "coef_")
    assert not hasattr(machine(), "feature_importances_")
    with pytest.raises(NotFittedError):
        machine().predict(X)


def test_bounds():
    X, y = data("cancer")
    model = machine(eta=2.0).fit(X, y)
    found = bounds_of(model, X, y)
    assert_allclose(found.margin, model.margin_, rtol=1e-6)
    Z = X * model.feature_scales_
    plain = bounds_of(SVC(kernel="linear").fit(Z, y), Z, y)
    assert found.loo_error == pytest.approx(plain.loo_error, abs=2 / len(y))
    for other in (machine(kernel="rbf", eta=0.0), machine()):
        X, y = data("cancer" if other.kernel == "rbf" else "iris")
        with pytest.raises(ValueError, match="one kernel on unmodified rows"):
            bounds_of(other.fit(X, y), X, y)


@loop("settings", [{}, {"kernel": "rbf"}, {"kernel": "rbf", "eta": "cv"}])
def test_copies_predict_the_same(settings):
    X, y = data("iris")
    model = machine(**settings).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    assert_array_equal(copy.decision_function(X), model.decision_function(X))
    again = clone(model).fit(X, y)
    assert_array_equal(again.decision_function(X), model.decision_function(X))


@loop("n_jobs", [None, 2])
def test_threads_and_callbacks(n_jobs):
    counter = TaskCounter()
    X, y = data("iris")
    model = machine(eta="cv", n_jobs=n_jobs).set_callbacks(counter).fit(X, y)
    expected = [("choice", 0), ("fit", 0), *(("machine", task) for task in range(1, 4))]
    assert sorted(counter.begun) == sorted(counter.ended) == expected
    assert_same_machine(model, machine(eta="cv").fit(X, y))


def _not_a_number(X, y):
    return [np.nan] * X.shape[1]


@loop(
    ("settings", "message"),
    [
        ({"importance": ["fisher", "separation"]}, "eta='cv'"),
        ({"importance": ["fisher", "fischer"], "eta": "cv"}, "fischer"),
        ({"importance": [1.0, 2.0]}, "one for each of the 4 features"),
        ({"importance": _not_a_number}, "finite"),
        ({"kernel": Sigmoid()}, "semi-definite"),
        ({"kernel": "poly", "coef0": -1.0}, "semi-definite"),
        ({"eta": "cv", "etas": [-1.0]}, "etas"),
        ({"eta": "cv", "costs": [0.0]}, "costs"),
        ({"eta": -1.0}, "eta"),
        ({"kernel": "sigmoid"}, "kernel"),
    ],
    ids=lambda case: re.sub(" at 0x[0-9a-f]+", "", str(case)),
)
def test_errors_say_what_is_wrong(settings, message):
    with pytest.raises(ValueError, match=message):
        machine(**settings).fit(*data("iris"))


def test_pairs_that_share_a_kernel_are_solved_together(monkeypatch):
    X, y = load_iris(return_X_y=True)
    model = machine(kernel="rbf", importance_per="shared", C=10.0)
    calls, solve = [], base_solve.PairSolver.solve

    def counted(*args):
        calls.append(args)
        return solve(*args)

    monkeypatch.setattr(base_solve.PairSolver, "solve", counted)
    together = clone(model).fit(X, y)
    assert len(calls) == 1
    monkeypatch.setattr(Grams, "is_stored", lambda *args: False)
    one_by_one = clone(model).fit(X, y)
    assert len(calls) == 1
    assert_allclose(together.dual_coef_, one_by_one.dual_coef_, rtol=1e-6, atol=1e-6)
    assert_allclose(together.certificate_.objective, one_by_one.certificate_.objective, rtol=1e-9)
