"""Probabilities of all classifiers: left-out decisions, class weights, halves, prediction sets."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.special import expit
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_wine, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from kernelwise._sklearn import unfitted
from kernelwise.svm import (
    SVC,
    AdaptiveKernelSVC,
    DualObjectiveSVC,
    FeatureDiscriminationSVC,
    GeneralizedBiasSVC,
    MarginRadiusSVC,
    SVCSearchCV,
)
from kernelwise.svm.base.left_out import deal_task
from kernelwise.svm.base.progress import FitProgress

MODELS = [
    SVC(),
    SVC(kernel="linear", C=10.0),
    SVC(kernel="sigmoid"),
    AdaptiveKernelSVC(widths=3, C=[1.0, 10.0]),
    AdaptiveKernelSVC(solver="adatron", C=1.0, widths=3),
    DualObjectiveSVC(max_iter=5),
    DualObjectiveSVC(criterion="radius_margin", max_iter=5),
    DualObjectiveSVC(weights="per_class", max_iter=5),
    FeatureDiscriminationSVC(),
    FeatureDiscriminationSVC(kernel="linear", eta=1.0),
    GeneralizedBiasSVC(),
    GeneralizedBiasSVC([0, 1], multi_class="ovr"),
    GeneralizedBiasSVC([0], bias_penalty=1.0),
    MarginRadiusSVC(),
    MarginRadiusSVC(radius="paper", kernel="rbf"),
    SVCSearchCV(SVC(), {"C": [1.0, 10.0]}, cv=3),
]
each_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: str(model)[:70])


def calibrated(model, mode="loo"):
    name = "estimator__calibration" if isinstance(model, SVCSearchCV) else "calibration"
    return clone(model).set_params(**{name: mode})


def two_classes(n=300, noise=0.15, seed=0, weights=None):
    X, y = make_classification(
        n, 6, n_informative=4, n_redundant=0, flip_y=noise, random_state=seed, weights=weights
    )
    return train_test_split(StandardScaler().fit_transform(X), y, random_state=0, stratify=y)


def three_classes():
    X, y = load_wine(return_X_y=True)
    return train_test_split(StandardScaler().fit_transform(X), y, random_state=0, stratify=y)


def fitted_parts(model, X, y, sample_weight=None):
    """Return the task of a model and what its method returns for it."""
    own = unfitted(model)
    X, y = own._reader().check(X, y)
    task = own._task(X, y, sample_weight, FitProgress(model))
    return task, own._fit_machines(task)


# --- Left-out decisions --------------------------------------------------------------------


@each_model
def test_probabilities_of_two_classes_are_as_good_as_those_of_refits(model):
    X, X_test, y, y_test = two_classes()
    probabilities = calibrated(model).fit(X, y).predict_proba(X_test)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    reference = CalibratedClassifierCV(clone(model), ensemble=False).fit(X, y)
    refits = log_loss(y_test, reference.predict_proba(X_test))
    assert log_loss(y_test, probabilities) < 1.1 * refits


@each_model
def test_probabilities_of_three_classes_are_as_good_as_those_of_refits(model):
    X, X_test, y, y_test = three_classes()
    found = calibrated(model).fit(X, y)
    probabilities = found.predict_proba(X_test)
    reference = CalibratedClassifierCV(clone(model), ensemble=False).fit(X, y)
    refits = log_loss(y_test, reference.predict_proba(X_test))
    assert log_loss(y_test, probabilities) < 1.1 * refits
    np.testing.assert_allclose(np.exp(found.predict_log_proba(X_test)), probabilities)


@each_model
def test_decisions_agree_with_probabilities(model):
    X, X_test, y, _ = three_classes()
    found = calibrated(model).fit(X, y)
    probabilities = found.predict_proba(X_test)
    np.testing.assert_array_equal(found.predict(X_test), probabilities.argmax(axis=1))
    scores = found.decision_function(X_test)
    np.testing.assert_allclose(
        scores - scores[:, :1], np.log(probabilities / probabilities[:, :1]), atol=1e-6
    )


@pytest.mark.parametrize(
    "model",
    [
        SVC(gamma=0.3),
        SVC(kernel="linear"),
        DualObjectiveSVC(criterion="radius_margin", max_iter=3),
        GeneralizedBiasSVC([0, 1], gamma=0.3, bias_penalty=0.0),
        GeneralizedBiasSVC([0], gamma=0.3, bias_penalty=1.0),
    ],
    ids=str,
)
def test_left_out_decisions_are_those_of_machines_without_the_rows(model):
    X, _, y, _ = two_classes(100)
    task, fitted = fitted_parts(model, X, y)
    found = fitted.left_out()
    assert np.array_equal(found.rows, np.arange(len(y)))
    fold = deal_task(task, 5)[1]
    kept = np.setdiff1d(np.arange(len(y)), fold)
    if isinstance(model, DualObjectiveSVC):  # the machine at its learned weights and C
        from kernelwise.qp import SMO, l2_svm

        kernel, C = fitted.predictor.kernels[0], fitted.attributes["C_"]
        solution = SMO(tol=1e-8).solve(l2_svm(kernel(X[kept]), 2.0 * y[kept] - 1, C))
        expected = kernel(X[fold], X[kept]) @ solution.beta + solution.nu[0]
    else:
        expected = clone(model).fit(X[kept], y[kept]).decision_function(X[fold])
    np.testing.assert_allclose(found.decisions[fold, 0], expected, atol=5e-3)


@pytest.mark.parametrize("radius", ["product", "paper"])
def test_margin_radius_decides_as_fitted_where_nothing_is_left_out(radius):
    X, _, y, _ = two_classes(100)
    model = MarginRadiusSVC(radius=radius, C=3.0, tol=1e-8)
    task, fitted = fitted_parts(model, X, y)
    from kernelwise.svm.margin_radius.problem import CentredColumns

    columns = CentredColumns.of(X, own_units=radius != "paper")
    machine = _machine_of(model, task, columns)
    again = machine.decide_without(columns.apply(X), columns, task.Y[:, 0], 3.0 * task.cost_factor)
    np.testing.assert_allclose(again, fitted.predictor.decision_values(X)[:, 0], atol=1e-6)


def _machine_of(model, task, columns):
    return model._fit_one(task, 0, columns.apply(task.X), columns, 3.0, None)


def test_copies_are_left_out_together():
    X, _, y, _ = two_classes(60)
    X, y = np.vstack([X, X[:20]]), np.append(y, y[:20])
    task, _ = fitted_parts(SVC(), X, y)
    folds = deal_task(task, 5)
    fold_of = np.empty(len(y), dtype=int)
    for number, fold in enumerate(folds):
        fold_of[fold] = number
    np.testing.assert_array_equal(fold_of[:20], fold_of[-20:])
    assert [len(fold) for fold in folds] != []


def test_rows_with_many_copies_are_left_out_one_by_one():
    X = np.repeat([[0.0], [1.0], [2.0], [3.0]], 30, axis=0)
    y = (np.random.default_rng(0).random(120) < 0.2 + 0.6 * (X[:, 0] > 1)).astype(int)
    task, _ = fitted_parts(SVC(), X, y)
    for fold in deal_task(task, 5):
        assert len(np.unique(X[fold])) == 4
    model = SVC(calibration="loo").fit(X, y)
    found = model.predict_proba([[0.0], [3.0]])[:, 1]
    np.testing.assert_allclose(found, [y[:60].mean(), y[60:].mean()], atol=0.1)


def test_the_only_row_of_a_class_is_never_left_out():
    X, _, y, _ = two_classes(60)
    y = np.where(np.arange(len(y)) == 7, 2, y)
    task, fitted = fitted_parts(SVC(), X, y)
    only = np.flatnonzero(task.classes == 2)
    assert only.item() not in fitted.left_out().rows
    assert SVC(calibration="halves").fit(X, y).predict_proba(X).shape == (len(y), 3)


def test_a_thousand_left_out_rows_are_enough():
    X, y = make_classification(4000, 5, random_state=0)
    assert SVC(calibration="loo").fit(X, y).calibration_.n_rows == pytest.approx(1600, abs=20)


def test_sparse_and_precomputed_rows_give_probabilities():
    X, X_test, y, _ = two_classes(100)
    expected = SVC(kernel="linear", calibration="loo").fit(X, y).predict_proba(X_test)
    sparse = SVC(kernel="linear", calibration="loo").fit(csr_array(X), y)
    given = SVC(kernel="precomputed", calibration="halves").fit(X @ X.T, y)
    found = sparse.predict_proba(csr_array(X_test))  # other folds than those of dense rows
    assert np.abs(found - expected).mean() < 0.05
    assert given.predict_proba(X_test @ X.T).shape == expected.shape
    assert given.predict_set(X_test @ X.T).shape == expected.shape


# --- Class weights -------------------------------------------------------------------------


@pytest.mark.parametrize("model", [SVC(), DualObjectiveSVC(max_iter=3), MarginRadiusSVC()], ids=str)
def test_probabilities_keep_the_shares_of_the_classes_whatever_their_weights(model):
    X, X_test, y, y_test = two_classes(1200, weights=[0.85])
    found = clone(model).set_params(calibration="loo", class_weight="balanced").fit(X, y)
    probabilities, log_odds = found.predict_proba(X_test)[:, 1], found.decision_function(X_test)
    weights = found.class_weight_
    np.testing.assert_allclose(probabilities, expit(log_odds - np.log(weights[1] / weights[0])))
    np.testing.assert_array_equal(found.predict(X_test), (log_odds > 0).astype(int))
    assert probabilities.mean() == pytest.approx(y_test.mean(), abs=0.04)
    assert found.predict(X_test).mean() > clone(model).fit(X, y).predict(X_test).mean() + 0.04


# --- Parameters and states -----------------------------------------------------------------


@each_model
def test_without_calibration_there_are_no_probabilities(model):
    for name in ("predict_proba", "predict_log_proba", "predict_set"):
        assert not hasattr(model, name)
    assert not hasattr(calibrated(model, "loo"), "predict_set")
    assert hasattr(calibrated(model, "halves"), "predict_set")


def test_calibration_does_not_change_the_machines():
    X, _, y, _ = three_classes()
    plain, found = SVC().fit(X, y), SVC(calibration="halves").fit(X, y)
    np.testing.assert_array_equal(plain.dual_coef_, found.dual_coef_)
    np.testing.assert_array_equal(
        plain.set_params(decision_function_shape="ovo").decision_function(X),
        found.set_params(decision_function_shape="ovo").decision_function(X),
    )


def test_probability_leaves_the_decisions_as_they_are():
    X, _, y, _ = three_classes()
    with pytest.warns(FutureWarning, match="calibration='loo'"):
        model = SVC(probability=True).fit(X, y)
    plain = SVC().fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), plain.decision_function(X))
    expected = SVC(calibration="loo").fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(model.predict_proba(X), expected)


def test_a_search_calibrates_its_best_estimator_only():
    X, X_test, y, _ = two_classes(100)
    search = SVCSearchCV(SVC(calibration="halves"), {"C": [1.0, 10.0]}, cv=3).fit(X, y)
    best = SVC(calibration="halves", **search.best_params_).fit(X, y)
    np.testing.assert_array_equal(search.predict_proba(X_test), best.predict_proba(X_test))
    np.testing.assert_array_equal(search.predict_set(X_test), best.predict_set(X_test))
    by_loss = SVCSearchCV(
        SVC(calibration="loo"), {"C": [1.0, 10.0]}, cv=3, scoring="neg_log_loss"
    ).fit(X, y)
    assert np.isfinite(by_loss.cv_results_["mean_test_score"]).all()


def test_a_model_that_was_fitted_without_probabilities_says_so():
    X, _, y, _ = two_classes(60)
    model = SVC().fit(X, y).set_params(calibration="halves")
    with pytest.raises(NotFittedError, match="without probabilities"):
        model.predict_proba(X)
    with pytest.raises(NotFittedError, match="without halves"):
        model.predict_set(X)


# --- Halves --------------------------------------------------------------------------------


def test_halves_keep_probabilities_of_noise_modest():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 200)), rng.integers(0, 2, 80)
    X_test, y_test = rng.normal(size=(1000, 200)), rng.integers(0, 2, 1000)
    model = DualObjectiveSVC(criterion="radius_margin", kernel="laplacian", max_iter=15)
    loss = {
        mode: log_loss(y_test, calibrated(model, mode).fit(X, y).predict_proba(X_test))
        for mode in ("loo", "halves")
    }
    assert loss["halves"] < loss["loo"] - 0.01
    assert calibrated(model, "halves").fit(X, y).calibration_.capped


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize(
    "model",
    [SVC(), MarginRadiusSVC(), AdaptiveKernelSVC(widths=2, C=[1.0])],
    ids=str,
)
def test_prediction_sets_cover_at_their_level(model, level):
    covered = []
    for seed in range(3):
        X, y = make_classification(2200, 6, n_informative=4, n_redundant=0, flip_y=0.3,
                                   n_classes=3, random_state=seed)  # fmt: skip
        found = calibrated(model, "halves").fit(X[:200], y[:200])
        sets = found.predict_set(X[200:], level)
        covered.append(sets[np.arange(2000), y[200:]].mean())
    assert np.mean(covered) == pytest.approx(level, abs=0.03)


def test_prediction_sets_grow_with_the_level():
    X, X_test, y, _ = three_classes()
    model = SVC(calibration="halves").fit(X, y)
    sizes = [model.predict_set(X_test, level) for level in (0.5, 0.9, 0.99)]
    assert (sizes[0] <= sizes[1]).all()
    assert (sizes[1] <= sizes[2]).all()
    with pytest.raises(ValueError, match="confidence_level must be between 0 and 1"):
        model.predict_set(X_test, 1.0)
