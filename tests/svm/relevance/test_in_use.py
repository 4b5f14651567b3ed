"""RelevanceSVC among the tools that its users have, with missing values, many rows, bad input."""

import copy
import pickle
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.feature_selection import RFECV, SelectFromModel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelwise import SVC, RelevanceSVC
from kernelwise.kernels import RBF, Laplacian
from kernelwise.outer import Step
from tests.svm.base.test_progress import TaskCounter
from tests.svm.relevance.test_relevance import LEAN, table

ROWS, LABELS = table(30, 3)
FEW = {"weight_rows": 30, "path_rows": 60}
FITTED = ("feature_weights_", "feature_importances_", "support_", "dual_coef_", "intercept_", "C_")


def assert_identical(a, b):
    """Assert that two fitted models are the same to the bit."""
    for name in FITTED:
        assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


def noisy(n=120, d=8, seed=0):
    """Return rows of which the columns 0 and 1 count together only, and the rest do not."""
    X = np.random.default_rng(seed).normal(size=(n, d))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


# --- Tools of scikit-learn -----------------------------------------------------------------------


def test_select_from_model():
    X, y = noisy()
    selector = SelectFromModel(RelevanceSVC()).fit(X, y)
    assert_array_equal(np.flatnonzero(selector.get_support()), [0, 1])


def test_recursive_elimination_keeps_what_counts():
    X, y = noisy(160)
    search = RFECV(RelevanceSVC(ensemble=False), step=3, cv=2, min_features_to_select=2).fit(X, y)
    assert search.support_[:2].all()
    assert search.n_features_ < 8


def test_pipeline_and_search_over_the_ensemble():
    X, y = noisy()
    pipeline = make_pipeline(StandardScaler(), RelevanceSVC())
    search = GridSearchCV(pipeline, {"relevancesvc__ensemble": [True, False]}, cv=2).fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    best = search.best_estimator_[-1]
    assert len(best.members_) == (3 if search.best_params_["relevancesvc__ensemble"] else 1)


def test_calibration():
    X, y = table(90, classes=3)
    model = CalibratedClassifierCV(RelevanceSVC(), cv=2, ensemble=False).fit(X, y)
    assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert model.score(X, y) > 0.7


def test_cross_validation_in_processes():
    X, y = table(80)
    scores = cross_val_score(RelevanceSVC(ensemble=False), X, y, cv=2, n_jobs=2)
    assert_array_equal(scores, cross_val_score(RelevanceSVC(ensemble=False), X, y, cv=2))


def test_sample_weight_is_routed_through_a_pipeline_and_a_search():
    X, y = table()
    weights = np.random.default_rng(0).uniform(0.1, 3.0, len(y))
    plain = RelevanceSVC(ensemble=False)
    with sklearn.config_context(enable_metadata_routing=True):
        asking = clone(plain).set_fit_request(sample_weight=True)
        asking.set_score_request(sample_weight=False)
        pipeline = make_pipeline(asking).fit(X, y, sample_weight=weights)
        search = GridSearchCV(asking, {"max_iter": [15]}, cv=2).fit(X, y, sample_weight=weights)
        with pytest.raises(ValueError, match="sample_weight"):
            GridSearchCV(plain, {"max_iter": [15]}, cv=2).fit(X, y, sample_weight=weights)
    plain.fit(X, y, sample_weight=weights)
    assert_identical(pipeline[-1], plain)
    assert_identical(search.best_estimator_, plain)


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_frames_keep_their_feature_names(library):
    X, y = table(classes=3)
    frame = library.DataFrame(dict(zip("abcd", X.T, strict=True)))
    model = RelevanceSVC().fit(frame, library.Series(np.array(["x", "y", "z"])[y]))
    plain = RelevanceSVC().fit(X, y)
    assert_identical(model, plain)
    assert_array_equal(model.feature_names_in_, list("abcd"))
    assert_array_equal(model.predict(frame), np.array(["x", "y", "z"])[plain.predict(X)])
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[list("dcba")])
    assert not hasattr(plain, "feature_names_in_")


def through_pickle(model):
    return pickle.loads(pickle.dumps(model))


@LEAN
@pytest.mark.parametrize("travel", [through_pickle, copy.deepcopy])
def test_a_fitted_model_arrives_as_it_left(travel, ensemble):
    X, y = table(classes=3)
    model = RelevanceSVC(ensemble=ensemble, warm_start=True, missing="impute").fit(X, y)
    arrived = travel(model)
    assert_identical(arrived, model)
    assert_array_equal(arrived.decision_function(X), model.decision_function(X))
    assert_identical(arrived.fit(X, y), model.fit(X, y))  # both go on from the same weights


def test_clone_and_parameters():
    model = RelevanceSVC(kernel="rbf", max_iter=3, random_state=7, verbose=False).fit(ROWS, LABELS)
    copied = clone(model)
    assert copied.get_params() == model.get_params()
    assert not hasattr(copied, "support_")
    assert_identical(copied.fit(ROWS, LABELS), model)
    with pytest.raises(ValueError, match="Invalid parameter 'gamma'"):
        model.set_params(gamma=1.0)


@LEAN
def test_fit_changes_neither_its_parameters_nor_its_input(ensemble):
    X, y = (np.array(part) for part in table())
    X[::7, 1] = np.nan
    weights = np.linspace(0.5, 1.5, len(y))
    model = RelevanceSVC(ensemble=ensemble, missing="impute")
    params = model.get_params()
    before = pickle.dumps((X, y, weights))
    assert model.fit(X, y, sample_weight=weights) is model
    decisions = model.decision_function(X)
    assert pickle.dumps((X, y, weights)) == before
    assert all(model.get_params()[name] is value for name, value in params.items())
    other = X.copy()
    X[:], y[:] = 0, 0
    assert_array_equal(model.decision_function(other), decisions)


def test_memory_order_and_type_do_not_change_the_answer():
    X, y = table()
    X = X.astype(np.float32)
    expected = RelevanceSVC().fit(X.astype(np.float64), y)
    for same in (X, np.asfortranarray(X), X.tolist()):
        assert_identical(RelevanceSVC().fit(same, y), expected)


# --- Missing values ------------------------------------------------------------------------------


def holes(X, seed=0):
    """Return the rows with a tenth of their values missing."""
    out = np.array(X)
    out[np.random.default_rng(seed).uniform(size=X.shape) < 0.1] = np.nan
    return out


@LEAN
def test_medians_take_the_place_of_nan_and_gaps_are_marked(ensemble):
    X, y = table(160)
    with_holes, new = holes(X), holes(X, seed=1)
    assert np.isnan(with_holes).sum(axis=0).min() >= 10  # all columns mark their gaps
    model = RelevanceSVC(ensemble=ensemble).fit(with_holes, y)
    medians = model.columns_.medians
    assert_allclose(medians, np.nanmedian(with_holes, axis=0), rtol=1e-12)

    def encoded(rows):
        return np.hstack([np.where(np.isnan(rows), medians, rows), 2.0 * np.isnan(rows)])

    by_hand = RelevanceSVC(ensemble=ensemble).fit(encoded(with_holes), y)
    assert_array_equal(model.decision_function(new), by_hand.decision_function(encoded(new)))
    importances = by_hand.feature_importances_.reshape(2, -1).sum(axis=0)
    assert_allclose(model.feature_importances_, importances, rtol=1e-12)
    assert model.score(new, y) > 0.75
    assert not np.isnan(model.support_vectors_).any()


def test_rows_count_by_their_weight_in_the_medians():
    X, y = table()
    X = holes(X)
    weights = np.random.default_rng(0).integers(0, 4, len(y))
    model = RelevanceSVC(max_iter=2).fit(X, y, sample_weight=weights)
    repeated = np.repeat(X, weights, axis=0)
    assert_allclose(model.columns_.medians, np.nanmedian(repeated, axis=0), rtol=1e-12)
    again = RelevanceSVC(max_iter=2).fit(repeated, np.repeat(y, weights))
    assert_allclose(model.feature_importances_, again.feature_importances_, atol=1e-3)


def test_a_column_that_is_never_there_has_no_weight():
    X, y = table()
    wide = np.insert(X, 2, np.nan, axis=1)
    model = RelevanceSVC().fit(wide, y)
    assert model.columns_.medians[2] == model.feature_weights_[2] == 0
    assert model.feature_importances_[2] == 0
    known = np.where(np.isnan(wide), 123.0, wide)
    assert_array_equal(model.decision_function(known), model.decision_function(wide))
    everything = RelevanceSVC().fit(np.full((30, 2), np.nan), LABELS)
    assert len(set(everything.predict(np.full((5, 2), np.nan)))) == 1


def test_without_missing_values_nothing_changes():
    X, y = table()
    model = RelevanceSVC(missing="error").fit(X, y)
    assert_array_equal(model.decision_function(X), RelevanceSVC().fit(X, y).decision_function(X))


def test_missing_values_of_frames():
    X, y = table()
    X = holes(X)
    frame = pd.DataFrame(X).astype("Float64")  # with pd.NA
    expected = RelevanceSVC(missing="impute").fit(X, y)
    assert_identical(RelevanceSVC(missing="impute").fit(frame, y), expected)
    assert_identical(RelevanceSVC(missing="impute").fit(pl.DataFrame(X), y), expected)


def test_missing_values_are_refused_with_the_remedy():
    X = holes(ROWS)
    remedy = 'X contains NaN.*missing="impute"'
    with pytest.raises(ValueError, match=remedy):
        RelevanceSVC(missing="error").fit(X, LABELS)
    with pytest.raises(ValueError, match=remedy):
        RelevanceSVC(missing="error").fit(ROWS, LABELS).predict(X)
    with pytest.raises(ValueError, match="y contains NaN"):
        RelevanceSVC(missing="impute").fit(ROWS, np.where(LABELS == 0, np.nan, 1.0))


@pytest.mark.parametrize("missing", ["error", "impute"])
@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinities_are_refused(value, missing):
    X = ROWS.copy()
    X[3, 1] = value
    with pytest.raises(ValueError, match="X contains inf"):
        RelevanceSVC(missing=missing).fit(X, LABELS)
    with pytest.raises(ValueError, match="X contains inf"):
        RelevanceSVC(missing=missing).fit(ROWS, LABELS).predict(X)


# --- Many rows -----------------------------------------------------------------------------------


@LEAN
@pytest.mark.parametrize("classes", [2, 3])
def test_the_machines_are_fitted_to_all_rows(classes, ensemble):
    X, y = table(200, classes=classes)
    model = RelevanceSVC(ensemble=ensemble, tol=1e-6, calibration=None, **FEW).fit(X, y)
    n_members, n_machines = (3 if ensemble else 1), (1 if classes == 2 else 3)
    assert_array_equal(model.certificate_.status, ["converged"] * n_members * n_machines)
    assert model.fit_status_ == 0
    assert (model.certificate_.violation <= 1e-6).all()
    kernels, costs = np.atleast_1d(np.array(model.kernel_, dtype=object)), np.ravel(model.C_)
    codes = [y == 1] if classes == 2 else [y == label for label in range(3)]
    expected = [
        [SVC(kernel=k, C=C, tol=1e-8).fit(X, code).decision_function(X) for code in codes]
        for k, C in zip(kernels, costs, strict=True)
    ]
    expected = np.mean(expected, axis=0).T
    found = model._predictor_.hinge.decision_values(X) if ensemble else model.decision_function(X)
    assert_allclose(np.squeeze(found), np.squeeze(expected), atol=1e-4)


@pytest.mark.parametrize("seed", range(2))
def test_the_machines_of_the_path_are_a_start_for_those_of_all_rows(seed):
    X, y = table(300, seed=seed)
    model = RelevanceSVC(path_rows=280).fit(X, y)
    cold = [SVC(kernel=k, C=C).fit(X, y) for k, C in zip(model.kernel_, model.C_, strict=True)]
    assert model.certificate_.n_iter.sum() < 0.8 * sum(svc.n_iter_.sum() for svc in cold)


@LEAN
def test_weights_come_from_few_rows_and_scales_from_all(ensemble):
    X, y = table(200)
    model = RelevanceSVC(ensemble=ensemble, **FEW).fit(X, y)
    kernel = model.kernel_[0] if ensemble else model.kernel_
    assert_allclose(np.mean(kernel.weights * X.std(axis=0)), 1.0)
    errors = model.path_["loo_error"][~np.isnan(model.path_["loo_error"])]
    n_path = np.sum(60 * np.bincount(y) // 200)  # each class its part
    assert_allclose(errors * n_path, np.round(errors * n_path), atol=1e-9)
    full = RelevanceSVC(ensemble=ensemble).fit(X, y)
    assert (model.history_["value"][0] != full.history_["value"][0]).all()
    assert abs(model.score(X, y) - full.score(X, y)) < 0.1


def test_rows_are_picked_by_the_random_state():
    X, y = table(200)
    models = [RelevanceSVC(random_state=seed, **FEW).fit(X, y) for seed in (0, 0, 1)]
    states = RelevanceSVC(random_state=np.random.RandomState(0), **FEW)
    assert_identical(models[0], models[1])
    assert_identical(models[0], states.fit(X, y))
    assert models[0].history_["value"][0] != models[2].history_["value"][0]
    shuffled = np.random.default_rng(0).permutation(len(y))
    again = RelevanceSVC(random_state=0, **FEW).fit(X[shuffled], y[shuffled])
    assert_array_equal(again.feature_importances_, models[0].feature_importances_)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("rows", [{}, FEW], ids=["all", "few"])
def test_threads_do_not_change_the_answer(rows, classes):
    X, y = table(200, classes=classes)
    one, two = (RelevanceSVC(n_jobs=n, **rows).fit(X, y) for n in (None, 2))
    assert_identical(one, two)
    assert_array_equal(one.decision_function(X), two.decision_function(X))


def test_little_memory_gives_the_same():
    X, y = table(200)
    plain = RelevanceSVC(**FEW, tol=1e-6).fit(X, y)
    narrow = RelevanceSVC(**FEW, tol=1e-6, cache_size=0.02).fit(X, y)  # of 0.16 for all rows
    assert_allclose(narrow.decision_function(X), plain.decision_function(X), atol=1e-4)


@LEAN
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("rows", [{}, FEW], ids=["all", "few"])
def test_shapes_and_counts_of_what_is_fitted(rows, classes, ensemble):
    X, y = table(150, classes=classes)
    model = RelevanceSVC(ensemble=ensemble, max_iter=6, **rows).fit(X, y)
    members, kernels = (3, 2) if ensemble else (1, 1)
    machines = members * (1 if classes == 2 else 3)
    assert model.feature_weights_.shape == model.feature_importances_.shape == (4,)
    assert model.selected_features_.shape == (4,)
    assert model.selected_features_.dtype == bool
    assert model.feature_weights_.mean() == pytest.approx(1.0)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    if ensemble:
        assert [type(kernel) for kernel in model.kernel_] == [Laplacian, Laplacian, RBF]
        assert model.C_.shape == model.gamma_.shape == (3,)
    else:
        assert isinstance(model.C_, float)
        assert isinstance(model.gamma_, float)
        assert isinstance(model.kernel_, Laplacian)
    n_support = len(model.support_)
    assert model.dual_coef_.shape == (machines, n_support)
    assert model.intercept_.shape == model.margin_.shape == (machines,)
    assert {len(model.certificate_[name]) for name in ("gap", "violation", "status")} == {machines}
    assert_array_equal(model.support_vectors_, X[model.support_])
    assert_array_equal(model.n_support_, np.bincount(y[model.support_]))
    assert (np.diff(y[model.support_]) >= 0).all()
    assert model.shape_fit_ == X.shape
    assert model.n_features_in_ == 4
    assert len(pd.DataFrame(model.path_)) == 12 * members
    history = dict(model.history_)
    assert history.pop("weights").shape == (model.n_iter_, 4)
    assert len(pd.DataFrame(history)) == model.n_iter_ <= 6 * kernels
    per_member = machines // members
    solved = model.n_iter_ * (per_member + 1) + model.path_["solved"].sum() * per_member
    assert model.n_solves_ == solved + (machines if rows else 0)
    assert model.decision_function(X).shape == ((150,) if classes == 2 else (150, 3))
    norms = 1 / model.margin_**2
    own = np.repeat(np.array(model.kernel_, dtype=object), per_member)
    for norm, beta, kernel in zip(norms, model.dual_coef_, np.atleast_1d(own), strict=True):
        assert norm == pytest.approx(beta @ kernel(model.support_vectors_) @ beta, rel=1e-3)


# --- Warm start ----------------------------------------------------------------------------------


@LEAN
def test_warm_start_goes_on_from_the_learned_weights(ensemble):
    X, y = table(100)
    model = RelevanceSVC(ensemble=ensemble, max_iter=4, tol=1e-6, warm_start=True).fit(X, y)
    before = model.history_
    after = model.fit(X, y).history_
    for kernel in ("laplacian", "rbf") if ensemble else ("laplacian",):
        old, new = (h["value"][h["kernel"] == kernel] for h in (before, after))
        assert old.min() < old[0]
        assert new[0] == pytest.approx(old.min(), abs=1e-6)
        assert new.min() < old.min()
    cold = RelevanceSVC(ensemble=ensemble, max_iter=4, tol=1e-6).fit(X, y)
    assert_allclose(cold.fit(X, y).history_["value"], before["value"])


def test_warm_start_forgets_weights_of_other_columns():
    X, y = table()
    X[:, 3] = 1.0
    moved = X[:, [3, 0, 1, 2]]
    model = RelevanceSVC(warm_start=True).fit(X, y)
    assert_identical(model.fit(moved, y), RelevanceSVC().fit(moved, y))
    assert_identical(model.fit(X[:, :2], y), RelevanceSVC().fit(X[:, :2], y))


def test_warm_start_learns_a_new_kernel_from_the_start():
    X, y = table()
    model = RelevanceSVC(ensemble=False, warm_start=True).fit(X, y)
    model.set_params(kernel="rbf").fit(X, y)
    assert_identical(model, RelevanceSVC(ensemble=False, kernel="rbf").fit(X, y))


# --- What a fit tells ----------------------------------------------------------------------------


@LEAN
def test_a_callback_sees_each_evaluation_and_can_end_the_learning(ensemble):
    X, y = table(90)
    seen = []
    model = RelevanceSVC(ensemble=ensemble, callback=seen.append).fit(X, y)
    assert all(isinstance(step, Step) for step in seen)
    assert_array_equal([step.value for step in seen], model.history_["value"])
    ended = RelevanceSVC(ensemble=ensemble, callback=lambda step: True).fit(X, y)
    assert ended.n_iter_ == (2 if ensemble else 1)
    assert_allclose(ended.history_["weights"], 1.0)
    third = RelevanceSVC(ensemble=False, callback=lambda step: len(seen.append(step) or seen) > 2)
    seen.clear()
    third.fit(X, y)
    assert third.n_iter_ == 3
    best = third.history_["weights"][third.history_["value"].argmin()]
    assert_allclose(third.feature_importances_, best / best.sum())


def test_an_error_in_a_callback_ends_the_fit():
    def stop(step):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        RelevanceSVC(callback=stop).fit(ROWS, LABELS)


@LEAN
@pytest.mark.parametrize("rows", [{}, FEW], ids=["all", "few"])
def test_scikit_learn_callbacks_see_a_task_a_step(rows, ensemble):
    X, y = table(100)
    counter = TaskCounter()
    model = RelevanceSVC(ensemble=ensemble, max_iter=3, **rows).set_callbacks(counter).fit(X, y)
    assert sorted(counter.begun) == sorted(counter.ended)
    assert counter.begun[0] == counter.ended[-1] == ("fit", 0)
    assert counter.set_up == counter.torn_down == 1
    names, numbers = zip(*counter.begun[1:], strict=True)
    assert_array_equal(numbers, np.arange(len(numbers)))
    steps = ["laplacian: step"] * 3 + (["rbf: step"] * 3 if ensemble else [])
    widths = [f"{member}: width" for member in model.members_ for _ in range(3)]
    machines = ["machines"] * len(model.members_) if rows else []
    assert list(names) == [*steps, *widths, *machines, "halves"]


@pytest.mark.parametrize("verbose", [True, 1])
def test_verbose_prints_a_line_a_step(verbose, capsys):
    model = RelevanceSVC(verbose=verbose, max_iter=3).fit(ROWS, LABELS)
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert len(lines) == model.n_iter_ + 9
    assert all(line.startswith("[kernelwise.RelevanceSVC] ") for line in lines)
    for line, value in zip(lines[:3], model.history_["value"], strict=False):
        assert line.endswith(f": {value:.6g}")
    assert lines[1].split("] ")[1].startswith("laplacian: step 2:")
    assert re.search(r"energy: width 1 of 3: factor=0.3, \d+ steps, best score", out)
    assert err == ""


def test_verbose_says_of_widths_without_a_score_that_they_cannot_win(capsys):
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = (X[:, 0] > 0).astype(int)
    X[:, 0] += 3 * np.sign(X[:, 0])  # far apart: of most points it is clear that others are better
    model = RelevanceSVC(verbose=True, max_iter=1).fit(X, y)
    beaten = np.isnan(model.path_["score"].reshape(-1, 4)).all(axis=1)
    lines = [line for line in capsys.readouterr().out.splitlines() if "factor" in line]
    assert beaten.any()
    assert_array_equal([line.endswith("cannot win") for line in lines], beaten)


@pytest.mark.parametrize("verbose", ["auto", False, 0])
def test_a_short_fit_is_silent(verbose, capsys):
    RelevanceSVC(verbose=verbose).fit(ROWS, LABELS)
    assert capsys.readouterr() == ("", "")


def test_a_machine_that_does_not_converge_is_told_of(monkeypatch):
    """A limit of steps that no user can set: the warning must name the user's line all the same."""
    X, y = noisy(60)
    monkeypatch.setattr("kernelwise.svm.paths.solvers._FEWEST_SOFT", 2)
    monkeypatch.setattr("kernelwise.svm.paths.solvers._SOFT_STEPS", 0)
    with pytest.warns(ConvergenceWarning, match="did not converge") as told:
        model = RelevanceSVC(ensemble=False).fit(X, y)
    assert told[0].filename == __file__
    assert model.fit_status_ == 1
    assert not model.path_["converged"].any()


# --- Bad input -----------------------------------------------------------------------------------


def refuses(model, X=ROWS, y=LABELS, *, match, error=ValueError, **fit):
    """Assert that a fit ends in an error with these words, before any evaluation."""
    steps = []
    with pytest.raises(error, match=match):
        model.set_params(callback=steps.append).fit(X, y, **fit)
    assert steps == []


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        (ROWS, np.zeros(30), "number of classes.*greater than one"),
        (ROWS, LABELS[:-1], r"numbers of samples: \[30, 29\]"),
        (ROWS[:0], LABELS[:0], r"0 sample\(s\)"),
        (ROWS[:, :0], LABELS, r"0 feature\(s\)"),
        (ROWS[:, 0], LABELS, "Expected 2D array"),
        (ROWS * 1j, LABELS, "Complex data not supported"),
        (ROWS, ROWS[:, 0], "Unknown label type: continuous"),
        (ROWS, None, "requires y"),
        (
            pd.DataFrame({"a": ROWS[:, 0], "when": pd.date_range("2024-01-01", periods=30)}),
            LABELS,
            "column 'when' is of type datetime64.*TableEncoder",
        ),
    ],
)
def test_tables_and_labels(X, y, words):
    refuses(RelevanceSVC(), X, y, match=words)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("ensemble", value) for value in ("yes", 3, None)),
        *(("kernel", value) for value in ("gauss", "linear", None, RBF())),
        *(("standardize", value) for value in ("yes", None)),
        *(("missing", value) for value in ("mean", None)),
        *(("max_iter", value) for value in (0, -1, 1.5)),
        *(("weight_rows", value) for value in (9, 0.5, None)),
        *(("path_rows", value) for value in (9, 0.5, None)),
        *(("tol", value) for value in (0, -1e-3, np.nan)),
        *(("class_weight", value) for value in ("even", [1, 2], {0: 1.0, 7: 2.0}, {0: -1.0})),
        *(("cache_size", value) for value in (0, -1, "big")),
        *(("n_jobs", value) for value in (0, 1.5)),
        *(("verbose", value) for value in (-1, "loud", None)),
        ("warm_start", "yes"),
        ("random_state", "seed"),
    ],
)
def test_parameters_are_refused_by_name(name, value):
    refuses(RelevanceSVC(**{name: value}), match=name)


def test_a_callback_must_be_callable():
    with pytest.raises(ValueError, match="callback"):
        RelevanceSVC(callback=3).fit(ROWS, LABELS)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (np.ones(29), r"sample_weight.*\(29,\).*\(30,\)"),
        (np.zeros(30), "Sample weights must contain"),
        (-np.ones(30), "all samples have zero or negative weights"),
        (np.r_[np.nan, np.ones(29)], "sample_weight contains NaN"),
        (["heavy"] * 30, "sample_weight must be numbers"),
        (LABELS.astype(float), "class among the samples of positive weight"),
    ],
)
def test_sample_weights(weights, words):
    refuses(RelevanceSVC(), sample_weight=weights, match=words)


def test_sparse_rows_are_refused():
    refuses(RelevanceSVC(), sp.csr_array(ROWS), error=TypeError, match=r"X is sparse.*toarray")


def test_a_kernel_matrix_without_room_is_refused_with_what_to_do():
    refuses(RelevanceSVC(cache_size=0.001), match="kernel matrix of 30 rows.*cache_size")


def test_prediction():
    model = RelevanceSVC().fit(ROWS, LABELS)
    with pytest.raises(ValueError, match=r"X has 2 features.*expecting 3"):
        model.predict(ROWS[:, :2])
    with pytest.raises(TypeError, match=r"X is sparse.*toarray"):
        model.predict(sp.csr_array(ROWS))
    with pytest.raises(ValueError, match=r"\bX\b.*large.*scale"):
        model.predict(1e300 * ROWS)
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        model.predict(ROWS[:0])
    with pytest.raises(NotFittedError, match="RelevanceSVC instance is not fitted yet"):
        RelevanceSVC().predict(ROWS)
