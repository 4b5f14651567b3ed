"""RelevanceSVC and RelevanceSVR as estimators: weights, groups, columns, gaps, limits, errors."""

import gc
import pickle
import weakref
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectFromModel
from sklearn.model_selection import GroupKFold, cross_val_predict, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelwise import RelevanceSVC, RelevanceSVR
from kernelwise.svm.relevance import classifier, regressor

from .tables import mixed_frame

BOTH = [RelevanceSVC, RelevanceSVR]
both = pytest.mark.parametrize("kind", BOTH)


def problem(kind, n=90, seed=0, n_classes=2):
    """Return a table of numbers, gaps and categories, and a target that column a decides."""
    frame = mixed_frame(n, seed)
    rng = np.random.default_rng(seed + 100)
    z = 2 * frame["a"] + (frame["words"] == "level 01") + 0.5 * rng.normal(size=n)
    if kind is RelevanceSVR:
        return frame, z.to_numpy()
    return frame, np.digitize(z, np.quantile(z, np.arange(1, n_classes) / n_classes))


def decisions(model, X):
    """Return what a model says of rows: log-odds or predictions."""
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


@cache
def fitted(kind):
    """Return the model of `problem`, which no test changes."""
    return kind().fit(*problem(kind))


# --- What is learned -------------------------------------------------------------------------


@both
def test_what_is_fitted_has_the_shapes_that_the_documentation_promises(kind):
    frame, y = problem(kind, n_classes=3)
    model = kind().fit(frame, y)
    assert_array_equal(model.feature_names_in_, frame.columns)
    assert model.n_features_in_ == 5
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert model.feature_importances_.argmax() == 0
    assert_array_equal(model.selected_features_, model.feature_importances_ > 0)
    path = pd.DataFrame(model.path_)
    assert path.columns.tolist() == ["member", "n_features", "loss", "weight"]
    assert path["weight"].sum() == pytest.approx(1)
    if kind is RelevanceSVR:
        assert model.predict(frame).shape == model.loo_predictions_.shape == (90,)
        assert model.score(frame, y) > 0.8
        return
    assert model.mixture_weights_.sum() == pytest.approx(1)
    assert (model.mixture_weights_ >= 0).all()
    assert len(model.parts_) == len(model.mixture_weights_)
    P = model.predict_proba(frame)
    assert P.shape == model.decision_function(frame).shape == (90, 3)
    assert_allclose(P.sum(axis=1), 1)
    assert_array_equal(model.predict(frame), P.argmax(axis=1))
    assert_allclose(np.exp(model.predict_log_proba(frame)), P)
    sizes = [model.predict_set(frame, level).sum() for level in (0.5, 0.9, 0.99)]
    assert sizes == sorted(sizes)
    assert model.score(frame, y) > 0.7


@both
def test_columns_that_matter_are_kept_and_noise_is_not(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(350, 20))
    t = X[:, 3] * X[:, 17]
    y = t + 0.1 * rng.normal(size=350) if kind is RelevanceSVR else (t > 0).astype(int)
    model = kind().fit(X[:250], y[:250])
    kept = np.flatnonzero(model.selected_features_)
    assert {3, 17} <= set(kept)
    assert len(kept) < 10
    assert model.feature_importances_[[3, 17]].sum() > 0.95
    assert model.score(X[250:], y[250:]) > 0.8
    small = kind(max_features=len(kept)).fit(X[:250][:, kept], y[:250])
    assert len(pickle.dumps(model)) < 1.5 * len(pickle.dumps(small))


@both
def test_a_fit_is_the_same_every_time_and_in_threads(kind):
    frame, y = problem(kind)
    first = decisions(fitted(kind), frame)
    for params in ({"random_state": 0}, {"n_jobs": 2}):
        assert_array_equal(decisions(kind(**params).fit(frame, y), frame), first)
    one, other = (
        decisions(kind(random_state=np.random.RandomState(3)).fit(frame, y), frame)
        for _ in range(2)
    )
    assert_array_equal(one, other)
    assert (one != first).any()


@both
def test_shift_scale_and_layout_of_numbers_do_not_matter(kind):
    frame, y = problem(kind)
    X = frame[["a", "b"]].to_numpy()
    model = kind().fit(X, y)
    expected = decisions(model, X)
    for same in (np.asfortranarray(X), X.tolist()):
        assert_array_equal(decisions(kind().fit(same, y), same), expected)
        assert_array_equal(decisions(model, same), expected)
    moved = X * [4.0, 0.25] + [64.0, -2.0]
    assert_allclose(decisions(kind().fit(moved, y), moved), expected, atol=1e-2)


def test_labels_are_names_only():
    frame, y = problem(RelevanceSVC, n_classes=3)
    expected = RelevanceSVC().fit(frame, y)
    names = np.array(["never", "often", "sometimes"])
    model = RelevanceSVC().fit(frame, names[y])
    assert_array_equal(model.classes_, names)
    assert_array_equal(model.predict(frame), names[expected.predict(frame)])
    assert_array_equal(model.decision_function(frame), expected.decision_function(frame))


# --- Weights and groups ----------------------------------------------------------------------


@both
def test_rows_of_weight_zero_are_absent_and_equal_weights_are_none(kind):
    frame, y = problem(kind)
    weight = (np.arange(90) % 4 > 0).astype(float)
    kept = weight > 0
    expected = kind().fit(frame[kept], y[kept])
    model = kind().fit(frame, y, sample_weight=weight)
    assert_array_equal(decisions(model, frame), decisions(expected, frame))
    threes = kind().fit(frame[kept], y[kept], sample_weight=np.full(kept.sum(), 0.25))
    assert_allclose(decisions(threes, frame), decisions(expected, frame), atol=1e-4)
    if kind is RelevanceSVR:
        assert_array_equal(np.isnan(model.loo_predictions_), ~kept)


@both
def test_heavy_rows_decide_where_rows_disagree(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 2))
    heavy = X[:, 1] > 0  # where rows disagree, those of weight nine decide
    t = np.where(heavy, 1.0, -1.0) * X[:, 0]
    X[:, 1] = rng.normal(size=150)
    y = t + 0.1 * rng.normal(size=150) if kind is RelevanceSVR else (t > 0).astype(int)
    weight = np.where(heavy, 9.0, 1.0)
    model = kind().fit(X, y, sample_weight=weight)
    grid = np.column_stack([np.linspace(-1.5, 1.5, 7), np.zeros(7)])
    assert np.corrcoef(decisions(model, grid), grid[:, 0])[0, 1] > 0.9
    plain = kind().fit(X, y)
    slopes = [np.polyfit(grid[:, 0], decisions(own, grid), 1)[0] for own in (plain, model)]
    assert slopes[0] < 0.6 * slopes[1]


def test_class_weights_move_decisions_and_not_probabilities():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = (X[:, 0] + rng.normal(size=300) > 1.6).astype(int)
    plain = RelevanceSVC().fit(X, y)
    balanced = RelevanceSVC(class_weight="balanced").fit(X, y)
    expected = 300 / (2 * np.bincount(y))
    assert_allclose(balanced.class_weight_, expected)
    assert balanced.predict(X).mean() > plain.predict(X).mean() + 0.1
    assert balanced.predict_proba(X)[:, 1].mean() == pytest.approx(y.mean(), abs=0.03)
    odds = balanced.decision_function(X) - np.log(expected[1] / expected[0])
    assert_allclose(balanced.predict_proba(X)[:, 1], 1 / (1 + np.exp(-odds)))
    given = RelevanceSVC(class_weight={0: expected[0], 1: expected[1]}).fit(X, y)
    assert_allclose(given.decision_function(X), balanced.decision_function(X))


@both
def test_groups_are_left_out_whole(kind):
    """Visits of a patient have the patient's target, which tells nothing of other patients."""
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(40), 4)
    X = rng.normal(size=(40, 3))[patient] + 0.01 * rng.normal(size=(160, 3))
    y = rng.normal(size=40)[patient]
    y = y if kind is RelevanceSVR else (y > 0).astype(int)
    alone, together = kind().fit(X, y), kind().fit(X, y, groups=patient)
    if kind is RelevanceSVR:
        assert np.mean((alone.loo_predictions_ - y) ** 2) < 0.3 * y.var()
        assert np.mean((together.loo_predictions_ - y) ** 2) > 0.8 * y.var()
    else:
        assert np.abs(alone.decision_function(X)).mean() > 2
        assert np.abs(together.decision_function(X)).mean() < 1
        assert np.nanmin(together.path_["loss"]) > 0.6
    with pytest.raises(ValueError, match="groups"):
        kind().fit(X, y, groups=patient[:-1])


# --- Columns ---------------------------------------------------------------------------------


@both
def test_columns_of_a_group_are_kept_or_dropped_together(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 12))
    t = X[:, 0] + X[:, 1]
    y = t + 0.1 * rng.normal(size=200) if kind is RelevanceSVR else (t > 0).astype(int)
    groups = np.arange(12) // 2
    model = kind(feature_groups=groups, max_features=2).fit(X, y)
    kept = model.selected_features_
    assert kept[:2].all()
    assert kept.sum() in (2, 4)
    assert_array_equal(kept[::2], kept[1::2])
    shares = model.feature_importances_
    assert_allclose(shares[::2], shares[1::2])
    assert kind(max_features=1).fit(X, y).selected_features_.sum() == 1


@both
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_may_lack_dropped_columns_and_hold_the_others_in_any_order(kind, library):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(150, 8)), columns=list("abcdefgh"))
    frame["word"] = rng.choice(["x", "y"], 150)
    t = 2 * frame["c"] * frame["f"]
    y = t.to_numpy() if kind is RelevanceSVR else (t > 0).to_numpy().astype(int)

    def convert(part):
        if library == "pyarrow":
            return pa.Table.from_pandas(part, preserve_index=False)
        return part if library == "pandas" else pl.DataFrame(part.to_dict("list"))

    expected = kind(max_features=2).fit(frame, y)
    assert_array_equal(np.flatnonzero(expected.selected_features_), [2, 5])
    try:
        model = kind(max_features=2).fit(convert(frame), y)
    except TypeError:
        pytest.fail(f"tables of {library} are refused")
    assert_array_equal(decisions(model, convert(frame)), decisions(expected, frame))
    for names in (["f", "c"], ["a", "f", "c"]):
        found = decisions(model, convert(frame[names]))
        assert_array_equal(found, decisions(expected, frame))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(convert(frame[["a", "c"]]))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(convert(frame.rename(columns={"a": "other"})))


@both
def test_gaps_constant_columns_and_unseen_levels(kind):
    frame, y = problem(kind)
    frame["never"], frame["constant"] = np.nan, 3.0
    frame["empty"] = pd.Series([None] * 90, dtype=object)
    model = kind().fit(frame, y)
    assert_array_equal(model.feature_importances_[-3:], 0)
    new = frame.assign(words="unseen", a=np.nan, few=None, constant=-7.0, never=1.0, empty="?")
    assert np.isfinite(decisions(model, new)).all()
    X = frame[["a", "gaps"]].to_numpy(copy=True)
    X[:, 1] = np.nan
    assert np.isfinite(decisions(kind().fit(X, y), X)).all()
    assert np.isfinite(decisions(kind().fit(np.zeros((90, 2)), y), np.ones((4, 2)))).all()


@both
@pytest.mark.parametrize("library", ["pandas", "time zone", "polars"])
def test_dates_as_they_are_are_days(kind, library):
    rng = np.random.default_rng(0)
    days = rng.integers(19_000, 20_000, 120).astype(float)
    days[::9] = np.nan
    t = np.nan_to_num(days, nan=19_500) - 19_500
    y = t / 100 + 0.1 * rng.normal(size=120) if kind is RelevanceSVR else (t > 0).astype(int)
    frame = pd.DataFrame({"day": days, "x": rng.normal(size=120)})
    dates = pd.to_datetime(frame["day"], unit="D")
    dated = frame.assign(day=dates.dt.tz_localize("UTC") if library == "time zone" else dates)
    dated = pl.from_pandas(dated) if library == "polars" else dated
    expected = decisions(kind().fit(frame, y), frame)
    model = kind(columns="as is").fit(dated, y)
    assert_allclose(decisions(model, dated), expected, rtol=1e-5, atol=1e-6)


@both
def test_a_gap_can_matter(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    gap = rng.random(200) < 0.4
    X[gap, 1] = np.nan
    y = gap + 0.1 * rng.normal(size=200) if kind is RelevanceSVR else gap.astype(int)
    model = kind().fit(X, y)
    assert model.score(X, y) > 0.9
    assert model.feature_importances_.argmax() == 1


@both
def test_small_and_narrow_tables(kind):
    rng = np.random.default_rng(0)
    for n, d in ((20, 1), (20, 6), (9, 40), (60, 1)):
        X = rng.normal(size=(n, d))
        y = X[:, 0] if kind is RelevanceSVR else (X[:, 0] > np.median(X[:, 0])).astype(int)
        model = kind().fit(X, y)
        assert np.isfinite(decisions(model, X)).all(), (n, d)
        assert model.score(X, y) > 0.8, (n, d)
    X, y = np.arange(4.0)[:, None], np.array([0, 0, 1, 1])
    assert np.isfinite(decisions(kind().fit(X, y), X)).all()
    equal = np.repeat([[0.0], [1.0]], 20, axis=0)
    assert kind().fit(equal, equal[:, 0].astype(int)).score(equal, equal[:, 0]) == pytest.approx(1)


def test_classes_of_one_row_are_learned_beside_others():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] > 0).astype(int)
    y[0] = 2
    model = RelevanceSVC().fit(X, y)
    assert model.predict_proba(X).shape == (60, 3)
    assert model.predict_proba(X)[:, 2].max() < 0.5


# --- Numbers ---------------------------------------------------------------------------------


def test_several_targets_are_those_of_single_fits():
    frame, y = problem(RelevanceSVR)
    Y = np.column_stack([y, np.exp(y / 2), np.full(90, 3.0)])
    model = RelevanceSVR().fit(frame, Y)
    assert model.predict(frame).shape == model.loo_predictions_.shape == (90, 3)
    low, high = model.predict_interval(frame)
    assert low.shape == high.shape == (90, 3)
    for k in range(2):
        single = RelevanceSVR().fit(frame, Y[:, k])
        assert_allclose(model.predict(frame)[:, k], single.predict(frame), rtol=1e-5, atol=1e-5)
        assert_allclose(low[:, k], single.predict_interval(frame)[0], rtol=1e-5, atol=1e-5)
    assert_allclose(model.predict(frame)[:, 2], 3)
    assert_allclose(high[:, 2] - low[:, 2], 0, atol=1e-3)


def test_the_unit_of_a_target_does_not_matter():
    frame, y = problem(RelevanceSVR)
    expected = RelevanceSVR().fit(frame, y)
    for scale, shift in ((1e6, 0.0), (1e-6, 1e-3), (1.0, 1e6)):
        model = RelevanceSVR().fit(frame, scale * y + shift)
        found = (model.predict(frame) - shift) / scale
        assert_allclose(found, expected.predict(frame), atol=0.02 * y.std())
        low, _ = model.predict_interval(frame)
        wanted, _ = expected.predict_interval(frame)
        assert_allclose((low - shift) / scale, wanted, atol=0.1 * y.std())


# --- Limits and the user's environment -------------------------------------------------------


@both
def test_effort_averages_models_and_time_ends_it(kind):
    frame, y = problem(kind)
    two = kind(effort=2).fit(frame, y)
    assert_array_equal(np.unique(two.path_["member"]), [0, 1])
    model = kind(effort=10**6, max_time=1e-3).fit(frame, y)
    assert_array_equal(np.unique(model.path_["member"]), [0])
    assert_array_equal(decisions(model, frame), decisions(fitted(kind), frame))
    assert (decisions(two, frame) != decisions(model, frame)).any()
    arrived = pickle.loads(pickle.dumps(two))
    assert_array_equal(decisions(arrived, frame), decisions(two, frame))


@both
def test_fits_are_silent_and_leave_input_and_parameters_alone(kind, capfd, recwarn):
    frame, y = problem(kind)
    before, model = pickle.dumps((frame, y)), kind()
    params = model.get_params()
    assert model.fit(frame, y) is model
    model.predict(frame)
    assert pickle.dumps((frame, y)) == before
    assert model.get_params() == params
    assert capfd.readouterr() == ("", "")
    assert not list(recwarn)
    kind(verbose=True).fit(frame, y)
    assert "fold 1" in "".join(capfd.readouterr())


@both
def test_a_fitted_model_does_not_keep_the_table_alive(kind):
    frame, y = problem(kind)
    frame["wide"] = 0.0
    X = frame.to_numpy(dtype=object)
    model, table, rows = kind(), weakref.ref(frame), weakref.ref(X)
    model.fit(frame, y)
    other = kind().fit(X, y)
    del frame, X
    gc.collect()
    assert table() is None
    assert rows() is None
    assert model.n_features_in_ == other.n_features_in_ == 6


@both
def test_a_fit_that_fails_or_is_interrupted_keeps_the_model(kind, monkeypatch):
    frame, y = problem(kind)
    model = fitted(kind)
    before = dict(vars(model))
    module = classifier if kind is RelevanceSVC else regressor
    name = "fit_classes" if kind is RelevanceSVC else "ensemble_of"
    for error in (KeyboardInterrupt, MemoryError):

        def stop(*args, error=error):
            raise error

        monkeypatch.setattr(module, name, stop)
        with pytest.raises(error):
            model.fit(frame[["a"]], y)
        assert vars(model) == before
        new = kind()
        with pytest.raises(error):
            new.fit(frame, y)
        with pytest.raises(NotFittedError):
            new.predict(frame)
        assert sorted(vars(new)) == sorted(new.get_params())
    monkeypatch.undo()
    with pytest.raises(ValueError, match="inconsistent"):
        model.fit(frame, y[:-1])
    assert vars(model) == before


@both
def test_clone(kind):
    copied = clone(fitted(kind))
    assert copied.get_params() == kind().get_params()
    assert not hasattr(copied, "path_")


# --- Tools of scikit-learn -------------------------------------------------------------------


@both
def test_pipelines_output_of_frames_and_selection_from_the_model(kind):
    frame, y = problem(kind)
    numbers = frame[["a", "b", "few"]]
    scaler = StandardScaler().set_output(transform="pandas")
    pipeline = make_pipeline(scaler, kind()).fit(numbers, y)
    assert_array_equal(pipeline[-1].feature_names_in_, numbers.columns)
    selected = SelectFromModel(kind(), threshold="mean").set_output(transform="pandas")
    selected.fit(numbers, y)
    assert selected.transform(numbers).columns.tolist() == ["a"]


@both
def test_weights_and_groups_are_routed(kind):
    frame, y = problem(kind)
    weight, groups = np.random.default_rng(0).uniform(0.5, 2, 90), np.arange(90) // 3
    with sklearn.config_context(enable_metadata_routing=True):
        model = kind().set_fit_request(sample_weight=True, groups=True)
        model.set_score_request(sample_weight=True)
        params = {"sample_weight": weight, "groups": groups}
        pipeline = make_pipeline(model).fit(frame, y, **params)
        scores = cross_validate(model, frame, y, cv=GroupKFold(2), params=params)["test_score"]
        assert len(scores) == 2
        assert cross_val_predict(model, frame, y, cv=GroupKFold(2), params=params).shape == (90,)
    expected = kind().fit(frame, y, **params)
    assert_array_equal(decisions(pipeline, frame), decisions(expected, frame))


# --- Bad input -------------------------------------------------------------------------------


@both
def test_bad_tables_and_weights_are_refused_with_the_remedy(kind):
    frame, y = problem(kind)
    infinite = frame.copy()
    infinite.loc[3, "a"] = np.inf
    model = fitted(kind)
    for words, error, fit in (
        ("column 'a' has infinite values.*by NaN", ValueError, lambda: kind().fit(infinite, y)),
        ("column 'a' has infinite values", ValueError, lambda: model.predict(infinite)),
        ("toarray", TypeError, lambda: kind().fit(sp.csr_array(np.eye(90)), y)),
        (r"0 sample\(s\)", ValueError, lambda: kind().fit(frame[:0], y[:0])),
        (r"0 sample\(s\)", ValueError, lambda: model.predict(frame[:0])),
        ("inconsistent|samples", ValueError, lambda: kind().fit(frame, y[:-1])),
        ("y contains NaN|NaN", ValueError, lambda: kind().fit(frame, np.full(90, np.nan))),
        ("requires y", ValueError, lambda: kind().fit(frame, None)),
        ("[Nn]egative", ValueError, lambda: kind().fit(frame, y, sample_weight=-np.ones(90))),
        ("sample_weight|weights", ValueError, lambda: kind().fit(frame, y, np.zeros(90))),
        ("sample_weight", ValueError, lambda: kind().fit(frame, y, np.ones(5))),
        ("is of type .*TableEncoder", ValueError, lambda: kind().fit(
            frame.assign(b=1j * np.arange(90)), y)),
    ):  # fmt: skip
        with pytest.raises(error, match=words):
            fit()


def test_targets_that_do_not_fit_are_refused():
    frame, y = problem(RelevanceSVC)
    with pytest.raises(ValueError, match=r"classes.*greater than one"):
        RelevanceSVC().fit(frame, np.zeros(90))
    with pytest.raises(ValueError, match="class"):
        RelevanceSVC().fit(frame, y, sample_weight=y.astype(float))
    with pytest.raises(ValueError, match="continuous"):
        RelevanceSVC().fit(frame, frame["a"])
    with pytest.raises(ValueError, match="infinity"):
        RelevanceSVR().fit(frame, np.full(90, np.inf))
    with pytest.raises(ValueError, match="minimum of 3"):
        RelevanceSVR().fit(frame[:2], [0.0, 1.0])
    constant = RelevanceSVR().fit(frame, np.full(90, 2.5))
    assert_allclose(constant.predict(frame), 2.5)
    low, high = constant.predict_interval(frame)
    assert (low <= 2.5 + 1e-6).all()
    assert (high >= 2.5 - 1e-6).all()


@both
def test_parameters_are_refused_by_name(kind):
    frame, y = problem(kind)
    wrong = {
        "categorical_features": ["no such column"],
        "columns": "guess",
        "feature_groups": [["no such column"]],
        "max_features": 0,
        "effort": 0,
        "max_time": 0.0,
        "n_jobs": 0,
        "verbose": "loud",
        "random_state": "seed",
    }
    if kind is RelevanceSVC:
        wrong["class_weight"] = "even"
    assert wrong.keys() == kind().get_params().keys()
    for name, value in wrong.items():
        with pytest.raises(ValueError, match=name):
            kind(**{name: value}).fit(frame, y)
    model = fitted(kind)
    method = model.predict_interval if kind is RelevanceSVR else model.predict_set
    for level in (0.0, 1.0, np.nan):
        with pytest.raises(ValueError, match="confidence_level must be between 0 and 1"):
            method(frame, level)


def test_very_many_classes_have_no_machines():
    rng = np.random.default_rng(0)
    y = np.arange(318) % 53
    X = 4 * rng.normal(size=(53, 4))[y] + 0.1 * rng.normal(size=(318, 4))
    model = RelevanceSVC().fit(X, y)
    assert {part.split()[0] for part in model.parts_} == {"linear", "additive", "joint"}
    assert model.score(X, y) > 0.98
