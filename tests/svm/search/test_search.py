"""The search finds what GridSearchCV finds with the same estimator, from less work."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.base import clone, is_classifier
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    PredefinedSplit,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelwise import SVC
from kernelwise.kernels import RBF, FunctionKernel, Linear, Normalized, Polynomial, Ridge
from kernelwise.svm import SVCSearchCV
from kernelwise.svm.search.fold_model import FoldProblem
from kernelwise.svm.search.scoring import accuracy_sign
from tests.svm.problems import data

TIGHT = 1e-7  # so that answers do not depend on the way to them
GRID = {"C": [0.1, 1.0, 10.0], "gamma": [0.02, "scale", 0.5]}
# With larger ones the kernel is so indefinite that rounding decides between stationary points.
SIGMOID_GRID = {"C": [0.1, 1.0, 10.0], "gamma": [0.001, 0.005, 0.01]}


def subset(name, n=150):
    """Return some rows of a data set, in an order that has nothing to do with the classes.

    They are moved a little: rows of round numbers may lie on a boundary to the last digit.
    """
    X, y = data(name)
    rng = np.random.default_rng(0)
    rows = rng.permutation(len(y))[:n]
    return X[rows] + 1e-3 * rng.normal(size=(len(rows), X.shape[1])), y[rows]


def both(X, y, grid=None, svc=None, fit_params=None, **params):
    """Return our search and scikit-learn's, both of our SVC, fitted."""
    svc = SVC(tol=TIGHT) if svc is None else svc
    grid = GRID if grid is None else grid
    fit_params = fit_params or {}
    params = {"cv": 3} | params
    ours = SVCSearchCV(svc, grid, **params).fit(X, y, **fit_params)
    theirs = GridSearchCV(svc, grid, **params).fit(X, y, **fit_params)
    return ours, theirs


def assert_same(ours, theirs):
    assert ours.cv_results_.keys() == theirs.cv_results_.keys()
    for key, expected in theirs.cv_results_.items():
        found = ours.cv_results_[key]
        if key == "params":
            assert [list(p) for p in found] == [list(p) for p in expected]
        elif key.endswith("_time"):
            assert (found >= 0).all()
            assert found.shape == expected.shape
        elif key.startswith("param_"):
            assert found.dtype == expected.dtype
            assert_array_equal(found.mask, expected.mask)
        else:
            assert found.dtype == expected.dtype
            assert_allclose(found, expected, rtol=0, atol=1e-6, err_msg=key)
    for name in ("best_index_", "best_params_", "n_splits_", "multimetric_"):
        assert hasattr(ours, name) == hasattr(theirs, name)
        if hasattr(ours, name):
            assert getattr(ours, name) == getattr(theirs, name)


CASES = {
    "two classes": ("imbalanced", {}),
    "three classes": ("iris", {}),
    "eight classes": ("eight blobs", {}),
    "class_weight": ("imbalanced", {"class_weight": {0: 1.0, 1: 5.0}}),
    "balanced": ("wine", {"class_weight": "balanced"}),
    "laplacian": ("imbalanced", {"kernel": "laplacian"}),
    "matern": ("iris", {"kernel": "matern32"}),
    "polynomial": ("imbalanced", {"kernel": "poly", "coef0": 1.0, "degree": 2}),
    "sigmoid": ("imbalanced", {"kernel": "sigmoid"}),
    "feature weights": ("iris", {"feature_weights": [1.0, 0.5, 2.0, 0.0]}),
    "pairs": ("iris", {"decision_function_shape": "ovo"}),
    "ties": ("eight blobs", {"break_ties": True}),
}


@pytest.mark.parametrize("case", CASES)
def test_it_agrees_with_grid_search(case):
    name, params = CASES[case]
    grid = SIGMOID_GRID if case == "sigmoid" else GRID
    svc = SVC(tol=TIGHT, **params)
    ours, theirs = both(*subset(name), grid=grid, svc=svc, return_train_score=True)
    assert_same(ours, theirs)
    assert ours.best_score_ == pytest.approx(theirs.best_score_, abs=1e-6)
    assert type(ours.best_estimator_) is SVC
    X, _ = data(name)
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-6)
    assert_array_equal(ours.predict(X), theirs.predict(X))
    assert_array_equal(ours.classes_, theirs.classes_)


def test_it_agrees_at_the_usual_tolerance_and_in_float32():
    X, y = data("cancer")
    grid = {"C": np.logspace(-1, 2, 4), "gamma": [0.003, 0.03, "scale"]}
    ours, theirs = both(X, y, grid, SVC(), cv=5, scoring=["accuracy", "roc_auc"], refit="accuracy")
    for metric, atol in (("accuracy", 0.01), ("roc_auc", 1e-3)):
        key = f"mean_test_{metric}"
        assert_allclose(ours.cv_results_[key], theirs.cv_results_[key], atol=atol)


def test_decision_values_on_the_held_out_rows_are_those_of_a_fit():
    X, y = data("cancer")
    seen = []

    def scorer(model, X, y):
        seen.append((model, model.decision_function(X), X))
        return model.score(X, y)

    folds = StratifiedKFold(3)
    grid = {"C": [1.0, 1000.0], "gamma": [0.01]}
    SVCSearchCV(SVC(), grid, cv=folds, scoring=scorer, refit=False).fit(X, y)
    expected = [(fold, C) for fold in folds.split(X, y) for C in grid["C"]]
    for (model, decisions, X_test), ((train, test), C) in zip(seen, expected, strict=True):
        assert model.C == C
        assert_array_equal(X_test, X[test])
        fitted = SVC(C=C, gamma=0.01, tol=1e-6).fit(X[train], y[train])
        assert_allclose(decisions, fitted.decision_function(X[test]), atol=0.02)
        assert_allclose(model.decision_function(X[test].copy()), decisions, atol=1e-4)


@pytest.mark.parametrize("name", ["imbalanced", "wine"])
@pytest.mark.parametrize("scoring", [None, "accuracy", "balanced_accuracy"])
def test_sample_weights_multiply_c_and_weigh_the_scores(name, scoring):
    X, y = subset(name)
    weight = np.random.default_rng(1).uniform(0, 2, len(y)) * (np.arange(len(y)) % 7 > 0)
    ours, theirs = both(
        X, y, fit_params={"sample_weight": weight}, scoring=scoring, return_train_score=True
    )
    assert_same(ours, theirs)


def test_groups_reach_the_splitter():
    X, y = subset("iris")
    groups = np.arange(len(y)) % 7
    ours, theirs = both(X, y, cv=GroupKFold(4), fit_params={"groups": groups})
    assert_same(ours, theirs)
    assert ours.n_splits_ == 4


@pytest.mark.parametrize("weighted", [True, False])
def test_metadata_is_routed(weighted):
    X, y = subset("imbalanced")
    given = {"sample_weight": np.linspace(0.5, 1.5, len(y)), "groups": np.arange(len(y)) % 5}
    with config_context(enable_metadata_routing=True):
        scorer = make_scorer(accuracy_score).set_score_request(sample_weight=weighted)
        svc = SVC(tol=TIGHT).set_fit_request(sample_weight=True)
        ours, theirs = both(X, y, svc=svc, scoring=scorer, cv=GroupKFold(3), fit_params=given)
    assert_same(ours, theirs)


def test_metadata_that_nobody_asked_for_is_refused():
    X, y = subset("imbalanced")
    with (
        config_context(enable_metadata_routing=True),
        pytest.raises(ValueError, match="explicitly"),
    ):
        SVCSearchCV(param_grid={"C": [1.0]}).fit(X, y, sample_weight=np.ones(len(y)))


@pytest.mark.parametrize(
    "cv",
    [
        KFold(4, shuffle=True, random_state=0),
        ShuffleSplit(3, test_size=0.5, random_state=1),
        PredefinedSplit(np.arange(150) % 3 - 1),
        [(np.arange(100), np.arange(50, 150)), (np.repeat(np.arange(80), 2), np.arange(150))],
    ],
    ids=["shuffled", "half", "predefined", "overlapping with repeats"],
)
@pytest.mark.parametrize("name", ["imbalanced", "iris"])
def test_any_splitter_will_do(name, cv):
    X, y = subset(name)
    ours, theirs = both(X, y, cv=cv, return_train_score=True)
    assert_same(ours, theirs)


def test_splits_may_be_masks():
    X, y = subset("iris")
    held_out = np.arange(len(y)) % 3 == 0
    by_mask = SVCSearchCV(SVC(), GRID, cv=[(~held_out, held_out)]).fit(X, y)
    by_number = SVCSearchCV(
        SVC(), GRID, cv=[(np.flatnonzero(~held_out), np.flatnonzero(held_out))]
    ).fit(X, y)
    assert_array_equal(
        by_mask.cv_results_["mean_test_score"], by_number.cv_results_["mean_test_score"]
    )


SCORERS = {
    "list": ["accuracy", "f1", "roc_auc"],
    "dict": {"a": "balanced_accuracy", "b": make_scorer(accuracy_score)},
    "function": lambda model, X, y: {"a": model.score(X, y), "n": -len(model.support_)},
}


@pytest.mark.parametrize("kind", SCORERS)
def test_several_scores(kind):
    refit = "roc_auc" if kind == "list" else "a"
    ours, theirs = both(
        *subset("imbalanced"), scoring=SCORERS[kind], refit=refit, return_train_score=True
    )
    assert ours.multimetric_
    assert_same(ours, theirs)
    X, y = data("imbalanced")
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y))


@pytest.mark.parametrize("scoring", ["roc_auc", "roc_auc_ovr", "f1_macro", "neg_log_loss"])
def test_one_score(scoring):
    if scoring == "neg_log_loss" or scoring == "roc_auc_ovr":  # of probabilities, which SVC has not
        with pytest.warns(UserWarning, match="non-finite|Scoring failed"):
            ours, theirs = both(*subset("imbalanced"), grid={"C": [1.0, 2.0]}, scoring=scoring)
        assert np.isnan(ours.cv_results_["mean_test_score"]).all()
    else:
        ours, theirs = both(*subset("imbalanced"), scoring=scoring)
    assert_same(ours, theirs)


def test_accuracy_is_known_by_its_name_or_by_the_function_of_its_scorer():
    plain, loss = make_scorer(accuracy_score), make_scorer(accuracy_score, greater_is_better=False)
    assert accuracy_sign(None, None) == accuracy_sign("accuracy", plain) == 1.0
    assert (accuracy_sign(plain, plain), accuracy_sign(loss, loss)) == (1.0, -1.0)
    counts = make_scorer(accuracy_score, normalize=False)
    silent = type(plain).__new__(type(plain))  # of a version that keeps its parts elsewhere
    assert accuracy_sign(counts, counts) == accuracy_sign(silent, silent) == 0.0


def test_one_of_several_scores_may_fail():
    def broken(actual, predicted):
        raise ArithmeticError

    scoring = {"a": "accuracy", "b": make_scorer(broken)}
    with pytest.warns(UserWarning, match="non-finite|Scoring failed"):
        ours, theirs = both(*subset("iris"), {"C": [1.0, 2.0]}, scoring=scoring, refit="a")
    assert np.isnan(ours.cv_results_["mean_test_b"]).all()
    assert_same(ours, theirs)


@pytest.mark.parametrize("value", ["good", {"a": "good"}, np.ones(2)])
def test_a_score_must_be_a_number(value):
    with pytest.raises(ValueError, match="scoring must return a number, got"):
        SVCSearchCV(SVC(), {"C": [1.0]}, scoring=lambda *_: value).fit(*subset("iris"))


def test_refit_may_choose():
    def last_but_one(results):
        return len(results["params"]) - 2

    ours, theirs = both(*subset("iris"), refit=last_but_one)
    assert_same(ours, theirs)
    assert ours.best_index_ == 7
    assert not hasattr(ours, "best_score_")
    ours, theirs = both(*subset("iris"), refit=False)
    assert_same(ours, theirs)
    assert not hasattr(ours, "best_estimator_")
    assert not hasattr(ours, "predict")
    with pytest.raises(AttributeError, match="predict") as raised:
        ours.predict(data("iris")[0])
    assert "set refit=True" in str(raised.value.__cause__)


def test_sparse_rows():
    X, y = subset("imbalanced")
    X = np.where(np.abs(X) < 0.7, 0.0, X)
    for kernel in ("rbf", "linear", "poly"):
        svc = SVC(tol=TIGHT, kernel=kernel)
        ours, theirs = both(sp.csr_matrix(X), y, svc=svc, return_train_score=True)
        assert_same(ours, theirs)
        assert sp.issparse(ours.best_estimator_.support_vectors_)


@pytest.mark.parametrize("name", ["imbalanced", "iris"])
def test_precomputed_kernel(name):
    X, y = subset(name)
    K = RBF(gamma=0.1)(X)
    svc = SVC(kernel="precomputed", tol=TIGHT)
    ours, theirs = both(K, y, {"C": [0.1, 1.0, 10.0]}, svc, return_train_score=True)
    assert_same(ours, theirs)
    plain = SVCSearchCV(SVC(gamma=0.1, tol=TIGHT), {"C": [0.1, 1.0, 10.0]}, cv=3).fit(X, y)
    key = "split1_test_score"
    assert_allclose(ours.cv_results_[key], plain.cv_results_[key], atol=1e-6)
    with pytest.raises(ValueError, match="square"):
        SVCSearchCV(svc, {"C": [1.0]}).fit(X, y)
    with pytest.raises(ValueError, match="symmetric"):
        SVCSearchCV(svc, {"C": [1.0]}, error_score="raise").fit(K + np.triu(K), y)


def test_data_frames():
    X, y = subset("iris")
    frame = pd.DataFrame(X, columns=list("abcd"), index=np.arange(len(y)) + 1000)
    names = pd.Series(np.array(["one", "two", "three"], dtype=object)[y], index=frame.index)
    ours, theirs = both(frame, names, scoring="f1_macro")
    assert_same(ours, theirs)
    ours, theirs = both(frame, names)
    assert_same(ours, theirs)
    assert_array_equal(ours.feature_names_in_, list("abcd"))
    assert ours.n_features_in_ == 4
    assert set(ours.predict(frame)) == {"one", "two", "three"}


KERNELS = {
    "object": (RBF(gamma=0.1), {"kernel__gamma": [0.01, 0.1, 1.0]}),
    "weights": (RBF(weights=np.ones(4)), {"kernel__weights": [np.ones(4), np.arange(4.0)]}),
    "composed": (
        0.5 * RBF() + Normalized(Polynomial(degree=2, coef0=1.0)),
        {"kernel__left__kernel__gamma": [0.1, 1.0]},
    ),
    "ridge": (RBF(gamma=0.1) + Ridge(0.5), {}),
    "function": (lambda A, B: (1 + A @ B.T) ** 2, {}),
    "function object": (FunctionKernel(lambda A, B: A @ B.T), {}),
    "several": (
        "rbf",
        {"kernel": ["rbf", "linear", "matern52", Linear(), RBF(gamma=0.3)], "gamma": [0.1, "auto"]},
    ),
}


@pytest.mark.parametrize("case", KERNELS)
def test_kernels_of_all_kinds(case):
    kernel, grid = KERNELS[case]
    svc = SVC(kernel=kernel, tol=TIGHT)
    grid = {"C": [0.1, 1.0], **grid}
    ours, theirs = both(*subset("iris"), grid, svc, return_train_score=True)
    assert_same(ours, theirs)


def test_lists_of_grids():
    grid = [
        {"kernel": ["linear"], "C": [10.0, 0.1]},
        {"kernel": ["rbf"], "gamma": [0.1, 1.0], "C": [1.0, 0.5, 1.0]},
        {"kernel": ["poly"], "degree": [2, 3], "class_weight": ["balanced", {0: 2.0}, None]},
    ]
    ours, theirs = both(*subset("iris"), grid)
    assert_same(ours, theirs)


def test_the_default_grid():
    X, y = subset("imbalanced", 80)
    search = SVCSearchCV(cv=2).fit(X, y)
    assert len(search.cv_results_["params"]) == 49
    scale = 1 / (X.shape[1] * X.var())
    assert 1.0 in search.cv_results_["param_C"]
    assert np.isclose(scale, search.cv_results_["param_gamma"].astype(float)).any()
    for kernel, names in {
        "linear": {"C"},
        "laplacian": {"C", "gamma"},
        RBF(): {"C", "kernel__gamma"},
        Linear() + RBF(): {"C"},
    }.items():
        search = SVCSearchCV(SVC(kernel=kernel), cv=2).fit(X, y)
        assert set(search.best_params_) == names
        assert isinstance(search.best_estimator_, SVC)


def test_it_is_an_estimator_like_others():
    X, y = subset("iris")
    search = SVCSearchCV(SVC(), GRID, cv=2)
    assert is_classifier(search)
    assert is_classifier(SVCSearchCV())
    assert hasattr(SVCSearchCV(), "predict")
    assert not hasattr(SVCSearchCV(), "predict_proba")
    copied = clone(search).set_params(estimator__tol=0.01, cv=3)
    assert copied.estimator.tol == 0.01
    assert search.estimator.tol == 0.001
    again = pickle.loads(pickle.dumps(copied.fit(X, y)))
    assert_array_equal(again.predict(X), copied.predict(X))
    assert again.cv_results_.keys() == copied.cv_results_.keys()
    assert cross_val_score(make_pipeline(StandardScaler(), search), X, y, cv=2).min() > 0.9


def test_threads_change_nothing():
    for name in ("imbalanced", "eight blobs"):
        X, y = subset(name, 250)
        one = SVCSearchCV(SVC(), GRID, return_train_score=True).fit(X, y)
        two = SVCSearchCV(SVC(), GRID, return_train_score=True, n_jobs=2).fit(X, y)
        for key in one.cv_results_:
            if "score" in key and "time" not in key:
                assert_array_equal(one.cv_results_[key], two.cv_results_[key], err_msg=key)


@pytest.mark.parametrize("params", [{"cache_size": 0.001}, {"probability": False}])
def test_without_memory_for_a_kernel_candidates_are_fitted_one_by_one(params, monkeypatch):
    monkeypatch.setattr(FoldProblem, "paths", lambda *args: pytest.fail("stored"))
    X, y = subset("iris")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        ours, theirs = both(X, y, svc=SVC(tol=TIGHT, **params), return_train_score=True)
    assert_same(ours, theirs)


def test_a_class_made_from_svc_is_fitted_as_it_is():
    class Shifted(SVC):
        def predict(self, X):
            return np.roll(super().predict(X), 1)

    X, y = subset("iris")
    ours, theirs = both(X, y, svc=Shifted(tol=TIGHT))
    assert_same(ours, theirs)
    assert type(ours.best_estimator_) is Shifted


def test_the_model_that_a_scorer_sees_is_a_fitted_svc():
    X, y = subset("iris")
    frame = pd.DataFrame(X, columns=list("abcd"))
    checked = []

    def scorer(model, X_test, y_test):
        assert isinstance(model, SVC)
        fitted = SVC(C=model.C, gamma=model.gamma, tol=TIGHT).fit(frame.iloc[:100], y[:100])
        assert_array_equal(model.support_, fitted.support_)
        assert_array_equal(model.n_support_, fitted.n_support_)
        assert_allclose(model.dual_coef_, fitted.dual_coef_, atol=1e-4)
        assert_allclose(model.intercept_, fitted.intercept_, atol=1e-5)
        assert_array_equal(model.feature_names_in_, fitted.feature_names_in_)
        assert model.shape_fit_ == fitted.shape_fit_
        assert model.fit_status_ == 0
        assert not hasattr(model, "coef_")
        assert clone(model).get_params()["C"] == model.C
        other = frame.iloc[3:9]
        assert_allclose(model.decision_function(other), fitted.decision_function(other), atol=1e-5)
        checked.append(model.C)
        return 1.0

    split = [(np.arange(100), np.arange(100, 150))]
    grid = {"C": [1.0, 5.0], "gamma": ["scale"]}
    SVCSearchCV(SVC(tol=TIGHT), grid, cv=split, scoring=scorer, refit=False).fit(frame, y)
    assert checked == [1.0, 5.0]
