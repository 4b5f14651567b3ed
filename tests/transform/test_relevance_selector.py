"""RelevanceSelector: which columns are kept, and how the table comes out."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from kernelwise import RelevanceSVC
from kernelwise.transform import RelevanceSelector


def table(n=150, d=8, seed=0):
    """Return rows of which the columns 2 and 5 count, together only; all have unlike scales."""
    X = np.random.default_rng(seed).normal(size=(n, d))
    return X * np.logspace(-2, 2, d) + np.arange(d), (X[:, 2] * X[:, 5] > 0).astype(int)


X, Y = table()
SETTINGS = [
    {},
    {"ensemble": False},
    {"kernel": "rbf"},
    {"kernel": "rbf", "ensemble": False, "standardize": False},
    {"max_iter": 3, "tol": 1e-6, "n_jobs": 2},
]


def three(n=150):
    score = np.random.default_rng(1).normal(size=(n, 5))
    return score, np.digitize(score[:, 1] + score[:, 3], [-0.7, 0.7])


# --- What is kept --------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [(X, Y), three()], ids=["two classes", "three classes"])
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_importances_are_those_of_the_classifier(settings, rows):
    weights = np.random.default_rng(0).uniform(0, 2, 150).round(1)
    selector = RelevanceSelector(**settings).fit(*rows, sample_weight=weights)
    model = RelevanceSVC(**settings).fit(*rows, sample_weight=weights)
    assert_array_equal(selector.feature_importances_, model.feature_importances_)
    assert_array_equal(selector.selected_features_, model.selected_features_)
    assert_array_equal(selector.get_support(), model.selected_features_)
    assert selector.n_iter_ == model.n_iter_


def test_importances_of_few_rows_are_those_of_the_classifier():
    few = RelevanceSelector(max_rows=40).fit(X, Y)
    model = RelevanceSVC(weight_rows=40).fit(X, Y)
    assert_array_equal(few.feature_importances_, model.feature_importances_)
    other = RelevanceSelector(max_rows=40, random_state=1).fit(X, Y)
    assert (few.feature_importances_ != other.feature_importances_).any()
    assert (few.feature_importances_ != RelevanceSelector().fit(X, Y).feature_importances_).any()


@pytest.mark.parametrize("seed", range(3))
def test_columns_that_count_together_are_kept(seed):
    rows, y = table(200, 12, seed)
    selector = RelevanceSelector().fit(rows, y)
    assert_array_equal(selector.get_support(indices=True), [2, 5])


def test_real_columns_are_kept_and_noise_is_not():
    rows, y = load_breast_cancer(return_X_y=True)
    rows, y = rows[:200], y[:200]
    noise = np.random.default_rng(0).normal(size=rows.shape)
    selector = RelevanceSelector().fit(np.hstack([rows, noise]), y)
    real, other = np.split(selector.get_support(), 2)
    assert real.sum() >= 5
    assert other.sum() <= 4
    assert selector.feature_importances_[:30].sum() > 0.7


@pytest.mark.parametrize("count", [1, 2, 5, 8])
def test_max_features_is_an_exact_count_of_the_largest(count):
    selector = RelevanceSelector(max_features=count).fit(X, Y)
    kept = selector.get_support()
    assert kept.sum() == count == selector.transform(X).shape[1]
    importances = selector.feature_importances_
    assert count == 8 or importances[kept].min() > importances[~kept].max()
    assert_array_equal(importances, RelevanceSelector().fit(X, Y).feature_importances_)


def test_max_features_is_exact_among_equals():
    same = np.tile(X[:, :1], 4)
    selector = RelevanceSelector(max_features=3).fit(same, Y)
    assert selector.get_support().sum() == 3
    assert_allclose(selector.feature_importances_, 0.25, rtol=1e-3)


def test_constant_columns_are_not_kept():
    wide = np.insert(X, [0, 4], [7.0, -1e6], axis=1)
    selector = RelevanceSelector().fit(wide, Y)
    assert_array_equal(selector.get_support(indices=True), [3, 7])
    assert_array_equal(selector.feature_importances_[[0, 5]], 0.0)


def test_a_column_that_is_alone_is_kept():
    y = X[:, 0] > X[:, 0].mean()
    for rows in (X[:, :1], np.insert(np.ones((150, 2)), 1, X[:, 0], axis=1)):
        selector = RelevanceSelector().fit(rows, y)
        assert_array_equal(selector.transform(rows), X[:, :1])


def test_shift_scale_and_order_do_not_matter():
    plain = RelevanceSelector(tol=1e-8).fit(X, Y)
    rows = np.random.default_rng(0).permutation(len(Y))
    columns = np.random.default_rng(1).permutation(X.shape[1])
    moved = (X * np.logspace(4, -4, 8))[np.ix_(rows, columns)]
    other = RelevanceSelector(tol=1e-8).fit(moved, Y[rows])
    assert_allclose(other.feature_importances_, plain.feature_importances_[columns], atol=1e-6)


def test_weights_of_zero_are_rows_that_are_absent():
    counts = np.random.default_rng(0).integers(0, 3, len(Y))
    weighted = RelevanceSelector().fit(X, Y, sample_weight=counts)
    repeated = RelevanceSelector().fit(np.repeat(X, counts, axis=0), np.repeat(Y, counts))
    assert_array_equal(weighted.feature_importances_, repeated.feature_importances_)


def test_labels_are_names_only():
    named = RelevanceSelector().fit(X, np.array(["no", "yes"])[Y])
    assert_array_equal(
        named.feature_importances_, RelevanceSelector().fit(X, Y).feature_importances_
    )


# --- The table that comes out --------------------------------------------------------------------


def test_transform_and_its_inverse():
    selector = RelevanceSelector()
    out = selector.fit_transform(X, Y)
    assert_array_equal(out, X[:, [2, 5]])
    back = selector.inverse_transform(out)
    assert_array_equal(back[:, [2, 5]], out)
    assert_array_equal(np.delete(back, [2, 5], axis=1), 0.0)


@pytest.mark.parametrize(("name", "library"), [("pandas", pd), ("polars", pl)])
def test_frames_in_and_out(name, library):
    frame = library.DataFrame(dict(zip("abcdefgh", X.T, strict=True)))
    selector = RelevanceSelector().set_output(transform=name).fit(frame, Y)
    out = selector.transform(frame)
    assert isinstance(out, library.DataFrame)
    assert list(out.columns) == ["c", "f"]
    assert_array_equal(out.to_numpy(), X[:, [2, 5]])
    assert_array_equal(selector.feature_names_in_, list("abcdefgh"))
    assert_array_equal(selector.get_feature_names_out(), ["c", "f"])
    with pytest.raises(ValueError, match="feature names should match"):
        selector.transform(frame[list("hgfedcba")])


def test_missing_values_stay_where_they_are():
    rows = X.copy()
    rows[np.random.default_rng(0).uniform(size=X.shape) < 0.05] = np.nan
    rows[::10] = np.where(np.arange(8) == 2, rows[::10], np.nan)  # enough gaps for marks
    rows[5::10, 2] = np.nan
    selector = RelevanceSelector().fit(rows, Y)
    assert_array_equal(selector.transform(rows), rows[:, [2, 5]])
    assert np.isnan(selector.transform(rows)).any()
    medians = np.nanmedian(rows, axis=0)
    filled = np.hstack([np.where(np.isnan(rows), medians, rows), 2.0 * np.isnan(rows)])
    shares = RelevanceSelector().fit(filled, Y).feature_importances_.reshape(2, -1).sum(axis=0)
    assert_allclose(selector.feature_importances_, shares, atol=1e-12)
    wide = np.insert(rows, 1, np.nan, axis=1)
    assert RelevanceSelector().fit(wide, Y).feature_importances_[1] == 0


# --- In use --------------------------------------------------------------------------------------


def test_it_helps_what_follows():
    rows, y = table(600, 20)
    plain = DecisionTreeClassifier(random_state=0)
    piped = make_pipeline(RelevanceSelector(), clone(plain)).fit(rows[:200], y[:200])
    alone = plain.fit(rows[:200], y[:200])
    assert piped.score(rows[200:], y[200:]) > max(0.85, 0.05 + alone.score(rows[200:], y[200:]))


def test_search_over_the_count():
    y = (X[:, 2] - 2 > 0).astype(int)
    pipeline = make_pipeline(RelevanceSelector(ensemble=False), DecisionTreeClassifier())
    grid = {"relevanceselector__max_features": [1, 4, None]}
    search = GridSearchCV(pipeline, grid, cv=2).fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_score_ > 0.9


def test_sample_weight_is_routed():
    weights = np.random.default_rng(0).uniform(0.1, 3.0, len(Y))
    with sklearn.config_context(enable_metadata_routing=True):
        asking = RelevanceSelector().set_fit_request(sample_weight=True)
        last = LogisticRegression().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(asking, last).fit(X, Y, sample_weight=weights)
    plain = RelevanceSelector().fit(X, Y, sample_weight=weights)
    assert_array_equal(pipeline[0].feature_importances_, plain.feature_importances_)


def test_clone_and_pickle():
    selector = RelevanceSelector(max_features=3, random_state=7).fit(X, Y)
    arrived = pickle.loads(pickle.dumps(selector))
    assert_array_equal(arrived.transform(X), selector.transform(X))
    copied = clone(selector)
    assert copied.get_params() == selector.get_params()
    assert not hasattr(copied, "selected_features_")


# --- Bad input -----------------------------------------------------------------------------------


def with_value(value):
    out = X.copy()
    out[3, 1] = value
    return out


@pytest.mark.parametrize(
    ("rows", "y", "words"),
    [
        (with_value(np.inf), Y, "X contains inf"),
        (1e300 * X, Y, r"\bX\b.*too large or too small.*scale them"),
        (X, np.zeros(150), "number of classes.*greater than one"),
        (X, Y[:-1], r"numbers of samples: \[150, 149\]"),
        (X[:, 0], Y, "Expected 2D array"),
        (X, X[:, 0], "Unknown label type: continuous"),
        (X, None, "requires y"),
        (
            pd.DataFrame({"a": X[:, 0], "when": pd.date_range("2024-01-01", periods=150)}),
            Y,
            "column 'when' is of type datetime64.*TableEncoder",
        ),
    ],
)
def test_tables_and_labels(rows, y, words):
    with pytest.raises(ValueError, match=words):
        RelevanceSelector().fit(rows, y)


def test_missing_values_are_refused_on_demand():
    with pytest.raises(ValueError, match=r'X contains NaN.*missing="impute"'):
        RelevanceSelector(missing="error").fit(with_value(np.nan), Y)


def test_infinities_are_refused_beside_missing_values():
    with pytest.raises(ValueError, match="X contains inf"):
        RelevanceSelector(missing="impute").fit(with_value(np.inf), Y)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("max_features", value) for value in (0, -1, 0.5, 9)),
        *(("ensemble", value) for value in ("yes", None)),
        *(("kernel", value) for value in ("linear", None)),
        *(("missing", value) for value in ("mean", None)),
        *(("max_iter", value) for value in (0, 1.5)),
        *(("max_rows", value) for value in (9, None)),
        *(("tol", value) for value in (0, np.nan)),
        *(("n_jobs", value) for value in (0, 1.5)),
        ("standardize", "yes"),
        ("random_state", "seed"),
    ],
)
def test_parameters_are_refused_by_name(name, value):
    with pytest.raises(ValueError, match=name):
        RelevanceSelector(**{name: value}).fit(X, Y)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (np.ones(149), r"sample_weight.*\(149,\).*\(150,\)"),
        (np.zeros(150), "Sample weights must contain"),
        (-np.ones(150), "Negative values.*sample_weight"),
        (Y.astype(float), "class among the samples of positive weight"),
    ],
)
def test_sample_weights(weights, words):
    with pytest.raises(ValueError, match=words):
        RelevanceSelector().fit(X, Y, sample_weight=weights)


def test_what_cannot_be_transformed():
    with pytest.raises(NotFittedError, match="RelevanceSelector instance is not fitted yet"):
        RelevanceSelector().transform(X)
    with pytest.raises(TypeError, match=r"X is sparse.*toarray"):
        RelevanceSelector().fit(sp.csr_array(X), Y)
    selector = RelevanceSelector().fit(X, Y)
    with pytest.raises(ValueError, match=r"X has 3 features.*expecting 8"):
        selector.transform(X[:, :3])
    strict = RelevanceSelector(missing="error").fit(X, Y)
    with pytest.raises(ValueError, match=r"X contains NaN"):
        strict.transform(with_value(np.nan))
