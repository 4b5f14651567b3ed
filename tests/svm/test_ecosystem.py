"""SVC among the tools that its users have: frames, searches, ensembles, callbacks, files."""

import copy
import io
import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.feature_selection import RFE
from sklearn.inspection import permutation_importance
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC as Reference

from kernelwise import SVC, MarginRadiusSVC
from kernelwise.kernels import RBF, Polynomial

from .problems import data

FITTED = ("support_", "support_vectors_", "n_support_", "dual_coef_", "intercept_", "n_iter_")


def assert_identical(a, b):
    """Assert that two fitted models are the same to the bit."""
    for name in FITTED:
        assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


# --- Frames --------------------------------------------------------------------------------------


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_frames_keep_their_feature_names(library):
    X, y = data("iris")
    names = ["sepal length", "sepal width", "petal length", "petal width"]
    frame = library.DataFrame(dict(zip(names, X.T, strict=True)))
    model = SVC().fit(frame, library.Series(y))
    assert_identical(model, SVC().fit(X, y))
    assert_array_equal(model.feature_names_in_, names)
    assert_array_equal(model.predict(frame), SVC().fit(X, y).predict(X))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[names[::-1]])
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(library.DataFrame(dict(zip("abcd", X.T, strict=True))))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X)


def test_a_fit_without_names_has_none():
    assert not hasattr(SVC().fit(*data("iris")), "feature_names_in_")


# --- Tools of scikit-learn -----------------------------------------------------------------------


def test_pipeline_and_search():
    X, y = data("wine")
    pipeline = Pipeline([("scale", StandardScaler()), ("svc", SVC())])
    grid = {"svc__C": [0.1, 10.0], "svc__kernel": ["linear", "rbf", RBF(0.05)]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.95
    assert search.score(X, y) > 0.95


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_cross_validation_scores_are_those_of_scikit_learn(kernel):
    X, y = data("wine")
    ours = cross_val_score(SVC(kernel=kernel), X, y, cv=4, n_jobs=2)
    assert_array_equal(ours, cross_val_score(Reference(kernel=kernel), X, y, cv=4))


def test_cross_validation_takes_rows_and_columns_of_a_precomputed_kernel():
    X, y = data("wine")
    given = cross_val_score(SVC(kernel="precomputed"), X @ X.T, y, cv=4)
    assert_array_equal(given, cross_val_score(SVC(kernel="linear"), X, y, cv=4))


@pytest.mark.parametrize("ensemble", [True, False])
def test_calibration(ensemble):
    X, y = data("iris")
    model = CalibratedClassifierCV(SVC(), ensemble=ensemble).fit(X, y)
    expected = CalibratedClassifierCV(Reference(), ensemble=ensemble).fit(X, y)
    assert_allclose(model.predict_proba(X), expected.predict_proba(X), atol=0.01)


@pytest.mark.parametrize("meta", [OneVsRestClassifier, OneVsOneClassifier])
def test_meta_classifiers(meta):
    X, y = data("iris")
    assert_array_equal(meta(SVC()).fit(X, y).predict(X), meta(Reference()).fit(X, y).predict(X))


def test_bagging():
    X, y = data("moons")
    ours, theirs = (
        BaggingClassifier(base, n_estimators=5, random_state=0).fit(X, y)
        for base in (SVC(gamma=1.0), Reference(gamma=1.0))
    )
    assert_array_equal(ours.predict(X), theirs.predict(X))


def test_recursive_feature_elimination_reads_coef():
    X, y = data("wine")
    ours, theirs = (
        RFE(base(kernel="linear"), n_features_to_select=5).fit(X, y) for base in (SVC, Reference)
    )
    assert_array_equal(ours.support_, theirs.support_)


def test_permutation_importance_finds_the_feature_that_counts():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = (X[:, 2] > 0).astype(int)
    result = permutation_importance(SVC().fit(X, y), X, y, n_repeats=3, random_state=0)
    assert result.importances_mean.argmax() == 2


def test_sample_weight_is_routed_through_a_pipeline_and_a_search():
    X, y = data("moons")
    weights = np.random.default_rng(0).uniform(0.1, 3.0, len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        svc = SVC(gamma=1.0).set_fit_request(sample_weight=True)
        svc.set_score_request(sample_weight=False)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(scaler, svc).fit(X, y, sample_weight=weights)
        search = GridSearchCV(svc, {"C": [1.0]}, cv=2).fit(X, y, sample_weight=weights)
        refused = GridSearchCV(SVC(), {"C": [1.0]}, cv=2)
        with pytest.raises(ValueError, match="sample_weight"):
            refused.fit(X, y, sample_weight=weights)
    plain = SVC(gamma=1.0).fit(X, y, sample_weight=weights)
    assert_identical(search.best_estimator_, plain)
    scaled = StandardScaler().fit_transform(X)
    assert_identical(pipeline[-1], SVC(gamma=1.0).fit(scaled, y, sample_weight=weights))


def test_score_takes_sample_weights():
    X, y = data("moons")
    model = SVC().fit(X, y)
    wrong = model.predict(X) != y
    assert model.score(X, y, sample_weight=wrong) == 0.0
    assert model.score(X, y, sample_weight=~wrong) == 1.0


def test_a_users_script_runs_unchanged():
    """The example in scikit-learn's documentation of SVC, with our class in its place."""
    X = np.array([[-1, -1], [-2, -1], [1, 1], [2, 1]])
    y = np.array([1, 1, 2, 2])
    clf = make_pipeline(StandardScaler(), SVC(gamma="auto"))
    clf.fit(X, y)
    assert_array_equal(clf.predict([[-0.8, -1]]), [1])
    everything = SVC(
        C=1.0,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        shrinking=True,
        tol=1e-3,
        cache_size=200,
        class_weight=None,
        verbose=False,
        max_iter=-1,
        decision_function_shape="ovr",
        break_ties=False,
        random_state=None,
    )
    assert_array_equal(everything.fit(X, y).predict(X), y)


def test_every_parameter_of_scikit_learn_is_there_with_its_default():
    theirs, ours = Reference().get_params(), SVC().get_params()
    assert set(theirs) <= set(ours)
    differ = {name for name in theirs if ours[name] != theirs[name]}
    if theirs["probability"] is False:  # scikit-learn before 1.9; ours says "deprecated"
        differ.remove("probability")
    assert differ == {"cache_size"}, "documented: None is a share of the machine's memory"


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_every_public_attribute_of_scikit_learn_is_there():
    X, y = data("iris")
    frame = pd.DataFrame(X, columns=list("abcd"))
    theirs, ours = (model(kernel="linear").fit(frame, y) for model in (Reference, SVC))
    public = {name for name in dir(theirs) if not name.startswith("_") and hasattr(theirs, name)}
    inherited = {"epsilon", "nu", "unused_param"}  # from a base it shares with other machines
    deprecated = {"probA_", "probB_"}
    missing = {name for name in public - inherited - deprecated if not hasattr(ours, name)}
    assert missing == set()


# --- Probabilities -------------------------------------------------------------------------------


def test_probability_works_and_points_to_its_replacement():
    X, y = data("iris")
    model = SVC(probability=True, random_state=0)
    with pytest.warns(FutureWarning, match="probability.*deprecated.*CalibratedClassifierCV"):
        model.fit(X, y)
    proba = model.predict_proba(X)
    assert proba.shape == (150, 3)
    assert_allclose(proba.sum(axis=1), 1.0)
    assert (model.classes_[proba.argmax(axis=1)] == model.predict(X)).mean() > 0.95
    assert_allclose(np.exp(model.predict_log_proba(X)), proba)
    with pytest.warns(FutureWarning, match="probability"):
        again = clone(model).fit(X, y)
    assert_array_equal(again.predict_proba(X), proba)


@pytest.mark.parametrize(
    ("params", "category"),
    [({"probability": True}, FutureWarning), ({"max_iter": 1}, ConvergenceWarning)],
)
def test_warnings_name_the_line_of_the_user(params, category):
    with pytest.warns(category) as caught:
        SVC(**params).fit(*data("moons"))
    assert [warning.filename for warning in caught] == [__file__]


def test_a_learner_warns_at_the_line_of_the_user():
    with pytest.warns(ConvergenceWarning) as caught:
        MarginRadiusSVC(C=1.0, max_iter=1).fit(*data("moons"))
    assert [warning.filename for warning in caught] == [__file__]


def test_a_value_is_checked_although_an_equal_one_was():
    X, y = data("moons")
    SVC(shrinking=True, C=1.0).fit(X, y)
    with pytest.raises(ValueError, match="'shrinking' parameter of SVC must be"):
        SVC(shrinking=1).fit(X, y)
    for _ in range(2):  # an error is not kept, and not forgotten
        with pytest.raises(ValueError, match="'C' parameter of SVC must be"):
            SVC(C=-1.0).fit(X, y)


@pytest.mark.parametrize("probability", ["deprecated", False])
def test_predict_proba_is_absent_otherwise(probability):
    model = SVC(probability=probability)
    assert not hasattr(model, "predict_proba")
    assert not hasattr(model, "predict_log_proba")
    with pytest.raises(AttributeError, match="predict_proba"):
        _ = model.predict_proba


def test_probability_false_warns_as_in_scikit_learn():
    with pytest.warns(FutureWarning, match="probability"):
        model = SVC(probability=False).fit(*data("iris"))
    assert not hasattr(model, "predict_proba")


def test_predict_proba_asks_for_a_fit_with_probability():
    X, y = data("iris")
    model = SVC().fit(X, y).set_params(probability=True)
    with pytest.raises(NotFittedError):
        model.predict_proba(X)


# --- Values that travel --------------------------------------------------------------------------

CONFIGURATIONS = [
    SVC(),
    SVC(kernel="linear", warm_start=True),
    SVC(kernel=RBF(0.5) + Polynomial(degree=2)),
    SVC(gamma=[0.1, 0.2, 0.3, 0.4], n_jobs=2),
]
each_configuration = pytest.mark.parametrize("model", CONFIGURATIONS, ids=str)


def through_pickle(model, tmp_path):
    return pickle.loads(pickle.dumps(model))


def through_joblib(model, tmp_path):
    joblib.dump(model, tmp_path / "model.joblib")
    return joblib.load(tmp_path / "model.joblib")


def through_copy(model, tmp_path):
    return copy.deepcopy(model)


@each_configuration
@pytest.mark.parametrize("travel", [through_pickle, through_joblib, through_copy])
def test_a_fitted_model_arrives_as_it_left(model, travel, tmp_path):
    X, y = data("iris")
    model = clone(model).fit(X, y)
    arrived = travel(model, tmp_path)
    assert_identical(arrived, model)
    assert_array_equal(arrived.decision_function(X), model.decision_function(X))
    assert repr(arrived) == repr(model)
    assert_allclose(arrived.fit(X, y).decision_function(X), model.decision_function(X), atol=1e-6)


@each_configuration
def test_clone_and_parameters(model):
    copied = clone(model)
    assert repr(copied) == repr(model)
    assert copied.get_params().keys() == model.get_params().keys()
    assert SVC(**model.get_params(deep=False)).get_params().keys() == model.get_params().keys()
    assert not hasattr(copied, "support_")
    for name, value in model.get_params(deep=False).items():
        assert clone(model).set_params(**{name: value}).get_params()[name] is value


@each_configuration
def test_representations(model):
    assert repr(model).startswith("SVC(")
    assert "SVC" in model._repr_html_()
    fitted = clone(model).fit(*data("iris"))
    assert "SVC" in fitted._repr_html_()


def test_set_params_refuses_an_unknown_name():
    with pytest.raises(ValueError, match="Invalid parameter 'c'"):
        SVC().set_params(c=1.0)


@each_configuration
def test_fit_changes_neither_its_parameters_nor_its_input(model):
    X, y = (np.array(part) for part in data("iris"))
    weights = np.linspace(0.5, 1.5, len(y))
    model = clone(model)
    params = model.get_params()
    before = pickle.dumps((X, y, weights, params))
    assert model.fit(X, y, sample_weight=weights) is model
    model.predict(X)
    assert pickle.dumps((X, y, weights, params)) == before
    assert all(model.get_params()[name] is value for name, value in params.items())


def test_the_model_does_not_look_at_the_input_again():
    X, y = (np.array(part) for part in data("iris"))
    model = SVC().fit(X, y)
    expected = model.decision_function(data("iris")[0])
    X[:], y[:] = 0, 0
    assert_array_equal(model.decision_function(data("iris")[0]), expected)


# --- The same answer every time ------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "laplacian", "matern32"])
@pytest.mark.parametrize("name", ["cancer", "eight blobs"])
def test_two_fits_are_identical_to_the_bit(name, kernel):
    X, y = data(name)
    X = X / X.std()
    first, second = (SVC(kernel=kernel).fit(X, y) for _ in range(2))
    assert_identical(first, second)
    assert_array_equal(first.decision_function(X), second.decision_function(X))


@pytest.mark.parametrize("n_jobs", [2, -1])
@pytest.mark.parametrize("name", ["cancer", "eight blobs", "digits"])
def test_threads_do_not_change_the_answer(name, n_jobs):
    X, y = data(name)
    one, several = (SVC(n_jobs=n).fit(X, y) for n in (None, n_jobs))
    assert_identical(one, several)
    assert_array_equal(one.decision_function(X), several.decision_function(X))


def test_memory_order_and_strides_do_not_change_the_answer():
    X, y = data("cancer")
    expected = SVC().fit(X, y)
    wide = np.zeros((2 * len(X), 2 * X.shape[1]))
    wide[::2, ::2] = X
    for same in (np.asfortranarray(X), wide[::2, ::2], X.tolist()):
        assert_identical(SVC().fit(same, y), expected)


def test_float32_rows_are_the_same_numbers_in_float64():
    X, y = data("cancer")
    single = X.astype(np.float32)
    assert_identical(SVC().fit(single, y), SVC().fit(single.astype(np.float64), y))


def test_train_test_script_of_a_user():
    X, y = data("digits")
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    model = SVC(gamma=0.001).fit(X_train, y_train)
    assert model.score(X_test, y_test) > 0.95
    stream = io.BytesIO()
    joblib.dump(model, stream)
    stream.seek(0)
    assert joblib.load(stream).score(X_test, y_test) == model.score(X_test, y_test)


def test_names_are_forgotten_with_a_table_that_has_none():
    X, y = data("iris")
    model = SVC().fit(pd.DataFrame(X, columns=list("abcd")), y)
    model.fit(np.ascontiguousarray(X[:, :3]), y)
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 3


@pytest.mark.parametrize(
    "form",
    [np.asfortranarray, lambda X: X.astype(np.float32).astype(object), lambda X: X[::-1][::-1]],
)
def test_the_form_of_a_table_does_not_matter(form):
    """Tables that need no check go past scikit-learn's; all others do not."""
    X, y = data("iris")
    X = X.astype(np.float32).astype(np.float64)
    quick, slow = SVC().fit(X, y), SVC().fit(form(X), y.astype(float))
    assert_array_equal(quick.decision_function(X), slow.decision_function(X))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_plain_tables_are_looked_at(value):
    X, y = data("iris")
    X = np.array(X, dtype=np.float64)
    X[7, 2] = value
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        SVC().fit(X, y)


def test_finite_values_whose_squares_overflow_are_no_infinities():
    X, y = data("iris")
    model = SVC(kernel="rbf", gamma=1e-320).fit(1e155 * X, y)
    assert model.n_features_in_ == 4
