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

from kernelwise.transform import RelevanceSelector
from tests.loop import loop


def table(n=150, d=8, seed=0):
    """Return rows of which the columns 2 and 5 count, together only; all have unlike scales."""
    X = np.random.default_rng(seed).normal(size=(n, d))
    return X * np.logspace(-2, 2, d) + np.arange(d), (X[:, 2] * X[:, 5] > 0).astype(int)


X, Y = table()
WAYS = [{}, {"test": "fdr"}, {"test": "fwer", "alpha": 0.05}]


def kept(selector):
    return selector.get_support(indices=True).tolist()


# --- What is kept --------------------------------------------------------------------------------


@loop("options", WAYS)
@loop("seed", range(2))
def test_columns_that_count_together_are_kept(options, seed):
    found = kept(RelevanceSelector(**options).fit(*table(250, 10, seed)))
    assert {2, 5} <= set(found)
    assert len(found) <= 3


@loop("options", WAYS)
def test_numbers_as_the_target(options):
    X, _ = table(300)
    score = (X - X.mean(axis=0)) / X.std(axis=0)
    noise = 0.3 * np.random.default_rng(1).normal(size=300)
    found = kept(RelevanceSelector(**options).fit(X, 2 * score[:, 0] + score[:, 3] ** 2 + noise))
    assert {0, 3} <= set(found)
    assert len(found) < 6


def test_task_decides_on_whole_numbers():
    y = np.round(20 * X[:, 0] / np.std(X[:, 0])) + 100.0
    automatic, classes, numbers = (
        RelevanceSelector(task=task).fit(X, np.floor(y / 40)).feature_importances_
        for task in ("auto", "classification", "regression")
    )
    assert_array_equal(automatic, classes)
    assert np.abs(numbers - classes).max() > 1e-3
    found = kept(RelevanceSelector(task="regression").fit(X, y))
    assert 0 in found
    assert len(found) <= 2


def test_real_columns_are_kept_and_noise_is_not():
    rows, y = load_breast_cancer(return_X_y=True)
    rows, y = rows[:200], y[:200]
    noise = np.random.default_rng(0).normal(size=rows.shape)
    real, other = np.split(RelevanceSelector().fit(np.hstack([rows, noise]), y).get_support(), 2)
    assert real.sum() >= 5
    assert other.sum() <= 4


def test_without_anything_to_learn_nothing_is_dropped_and_nothing_found():
    y = np.random.default_rng(3).permutation(np.arange(150) % 2)
    assert kept(RelevanceSelector().fit(X, y)) == list(range(8))
    assert kept(RelevanceSelector(test="fwer", alpha=0.01).fit(X, y)) == []


def test_a_strong_column_does_not_hide_a_weak_one():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(1000, 6))
    rows[:, 3] = rng.random(1000) < 0.1
    odds = rows[:, :4] @ [2, 0.8, 0.4, 1.2]
    y = rng.random(1000) < 1 / (1 + np.exp(-odds))
    selector = RelevanceSelector(test="fdr").fit(rows, y)
    assert kept(selector) == [0, 1, 2, 3]
    assert selector.pvalues_[[0, 1]].max() < 1e-6


@loop("count", [1, 2, 5, 8])
def test_max_features_is_the_most_that_is_kept(count):
    selector = RelevanceSelector(max_features=count).fit(X, Y)
    assert 1 <= len(kept(selector)) <= count
    importances = selector.feature_importances_
    assert_allclose(importances.sum(), 1)
    assert not importances[~selector.get_support()].any()


@loop("options", WAYS)
def test_constant_columns_are_not_kept(options):
    wide = np.insert(X, [0, 4], [7.0, -1e6], axis=1)
    selector = RelevanceSelector(**options).fit(wide, Y)
    assert {3, 7} <= set(kept(selector)) <= set(range(1, 10)) - {5}
    assert_array_equal(selector.feature_importances_[[0, 5]], 0.0)


@loop("options", WAYS)
def test_a_column_that_is_alone_is_kept(options):
    y = X[:, 0] > X[:, 0].mean()
    for rows in (X[:, :1], np.insert(np.ones((150, 2)), 1, X[:, 0], axis=1)):
        assert_array_equal(RelevanceSelector(**options).fit_transform(rows, y), X[:, :1])


@loop("options", WAYS)
def test_groups_are_kept_or_dropped_together(options):
    groups = [[1, 2], [5, 6]]
    found = set(kept(RelevanceSelector(feature_groups=groups, **options).fit(*table(250))))
    assert {1, 2, 5, 6} <= found
    assert len(found) <= 6


@loop("options", WAYS)
def test_categories_and_gaps(options):
    rng = np.random.default_rng(0)
    city = rng.choice(["Oslo", "Rome", "Lima", "Bonn"], 240)
    frame = pd.DataFrame(rng.normal(size=(240, 5)), columns=list("abcde"))
    frame["city"] = city
    frame.loc[rng.random(240) < 0.3, "b"] = np.nan
    y = np.isin(city, ["Rome", "Lima"]) ^ (rng.random(240) < 0.1)
    selector = RelevanceSelector(**options).fit(frame, np.where(y, "yes", "no"))
    assert "city" in selector.get_feature_names_out()
    out = selector.transform(frame)
    assert list(out["city"]) == list(city)
    gaps = RelevanceSelector(**options).fit(frame, frame["b"].isna() ^ (rng.random(240) < 0.1))
    assert "b" in gaps.get_feature_names_out()
    assert gaps.transform(frame)["b"].isna().any()


@loop("options", WAYS)
def test_weights_of_zero_are_rows_that_are_absent(options):
    counted = np.random.default_rng(0).random(len(Y)) < 0.8
    weighted = RelevanceSelector(**options).fit(X, Y, sample_weight=3.0 * counted)
    absent = RelevanceSelector(**options).fit(X[counted], Y[counted])
    if options:  # weights of the test are relative
        assert_allclose(weighted.pvalues_, absent.pvalues_, rtol=1e-6)
    assert kept(weighted) == kept(absent)


@loop("options", WAYS)
def test_names_of_classes_and_threads_do_not_matter(options):
    plain = RelevanceSelector(**options).fit(X, Y)
    named = RelevanceSelector(n_jobs=2, **options).fit(X, np.array(["no", "yes"])[Y])
    assert_array_equal(named.feature_importances_, plain.feature_importances_)
    assert kept(named) == kept(plain)


# --- The table that comes out --------------------------------------------------------------------


def test_transform_and_its_inverse():
    selector = RelevanceSelector(test="fwer").fit(X, Y)
    own = kept(selector)
    out = selector.transform(X)
    assert_array_equal(out, X[:, own])
    back = selector.inverse_transform(out)
    assert_array_equal(back[:, own], out)
    assert_array_equal(np.delete(back, own, axis=1), 0.0)


@loop("name, library", [("pandas", pd), ("polars", pl)])
def test_frames_in_and_out(name, library):
    frame = library.DataFrame(dict(zip("abcdefgh", X.T, strict=True)))
    for selector in (RelevanceSelector(), RelevanceSelector().set_output(transform=name)):
        out = selector.fit(frame, Y).transform(frame)
        assert isinstance(out, library.DataFrame)
        assert {"c", "f"} <= set(out.columns) == set(selector.get_feature_names_out())
        assert_array_equal(out.to_numpy(), X[:, selector.get_support()])
        with pytest.raises(ValueError, match="feature names should match"):
            selector.transform(frame[list("hgfedcba")])


# --- In use --------------------------------------------------------------------------------------


def test_it_helps_what_follows():
    rows, y = table(600, 20)
    plain = DecisionTreeClassifier(random_state=0)
    piped = make_pipeline(RelevanceSelector(), clone(plain)).fit(rows[:200], y[:200])
    alone = plain.fit(rows[:200], y[:200])
    assert piped.score(rows[200:], y[200:]) > max(0.85, 0.05 + alone.score(rows[200:], y[200:]))


def test_search_over_the_count():
    y = (X[:, 2] - 2 > 0).astype(int)
    pipeline = make_pipeline(RelevanceSelector(), DecisionTreeClassifier())
    grid = {"relevanceselector__max_features": [1, None]}
    search = GridSearchCV(pipeline, grid, cv=2).fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_score_ > 0.9


def test_sample_weight_is_routed():
    weights = np.random.default_rng(0).uniform(0.1, 3.0, len(Y))
    with sklearn.config_context(enable_metadata_routing=True):
        asking = RelevanceSelector(test="fdr").set_fit_request(sample_weight=True)
        last = LogisticRegression().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(asking, last).fit(X, Y, sample_weight=weights)
    plain = RelevanceSelector(test="fdr").fit(X, Y, sample_weight=weights)
    assert_array_equal(pipeline[0].pvalues_, plain.pvalues_)
    unweighted = RelevanceSelector(test="fdr").fit(X, Y).pvalues_
    assert np.abs(np.log(plain.pvalues_ / unweighted)).max() > 0.1


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


@loop(
    "rows, y, words",
    [
        (with_value(np.inf), Y, "X contains inf"),
        (X, np.zeros(150), "number of classes.*greater than one"),
        (X, Y[:-1], r"numbers of samples: \[150, 149\]"),
        (X[:, 0], Y, "Expected 2D array"),
        (X, None, "requires y"),
    ],
)
def test_tables_and_labels(rows, y, words):
    for options in WAYS:
        with pytest.raises(ValueError, match=words):
            RelevanceSelector(**options).fit(rows, y)


@loop(
    "name, value",
    [
        *(("max_features", value) for value in (0, -1, 0.5)),
        *(("test", value) for value in ("bonferroni", True)),
        *(("alpha", value) for value in (0, 1, np.nan)),
        *(("task", value) for value in ("numbers", None)),
        *(("n_jobs", value) for value in (0, 1.5)),
        ("random_state", "seed"),
    ],
)
def test_parameters_are_refused_by_name(name, value):
    with pytest.raises(ValueError, match=name):
        RelevanceSelector(**{name: value}).fit(X, Y)


def test_one_rule_decides_what_is_kept():
    with pytest.raises(ValueError, match="max_features and test both decide"):
        RelevanceSelector(max_features=2, test="fdr").fit(X, Y)


@loop(
    "weights, words",
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
