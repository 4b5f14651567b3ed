"""FeatureDiscriminationScaler: the factors, the table that comes out, and models after it."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from kernelwise import FeatureDiscriminationScaler, RelevanceSelector, discrimination
from kernelwise.discrimination import log_scales
from kernelwise.svm import SVC
from tests.loop import loop

X = np.random.default_rng(0).normal(size=(60, 4))
Y = np.digitize(X[:, 1] + 0.3 * X[:, 2], [-0.5, 0.5])
TWO = (Y > 0).astype(int)


@loop("name", ["fisher", "separation", "efficiency", "energy"])
def test_importances_and_factors(name):
    weights = np.random.default_rng(1).integers(0, 3, len(Y))
    settings = {"eta": 3.0, "eta_units": "raw", "normalization": "trace"}
    scaler = FeatureDiscriminationScaler(name, **settings).fit(X, Y, sample_weight=weights)
    q = getattr(discrimination, name)(X, Y, sample_weight=weights)
    assert_array_equal(scaler.importances_, q)
    assert_array_equal(scaler.scale_, np.exp(log_scales(q, **settings)))
    assert_array_equal(scaler.transform(X), X * scaler.scale_)
    assert_allclose(scaler.inverse_transform(scaler.transform(X)), X, rtol=1e-15)


def test_the_default_is_fisher_in_units_of_the_data_with_inverse_normalisation():
    scaler = FeatureDiscriminationScaler().fit(X, Y)
    assert_array_equal(scaler.scale_, np.exp(log_scales(discrimination.fisher(X, Y), 1.0)))
    assert scaler.scale_.argmax() == 1
    assert np.mean(scaler.scale_**2) == pytest.approx(1)


def test_without_eta_or_importance_nothing_changes():
    assert_array_equal(FeatureDiscriminationScaler(eta=0).fit_transform(X, Y), X)
    assert_array_equal(FeatureDiscriminationScaler(None, eta=9.0).fit_transform(X), X)


def test_known_importances_need_no_classes():
    scaler = FeatureDiscriminationScaler([0.0, 1.0, 0.0, 0.5]).fit(X)
    assert_array_equal(scaler.importances_, [0, 1, 0, 0.5])
    target = X[:, 0]  # not classes: then a model of numbers may follow
    assert make_pipeline(FeatureDiscriminationScaler(None), Ridge()).fit(X, TWO).score(X, TWO) > 0
    with pytest.raises(ValueError, match="Unknown label type"):
        FeatureDiscriminationScaler().fit(X, target)
    with pytest.raises(ValueError, match="requires y"):
        FeatureDiscriminationScaler().fit(X)


def test_function():
    scaler = FeatureDiscriminationScaler(lambda X, y: np.abs(np.corrcoef(X.T, y)[-1, :-1]))
    assert scaler.fit(X, TWO).importances_.argmax() == 1


def test_missing_values_stay_where_they_are():
    rows = X.copy()
    rows[np.random.default_rng(0).uniform(size=X.shape) < 0.1] = np.nan
    scaler = FeatureDiscriminationScaler().fit(rows, Y)
    assert_array_equal(scaler.importances_, discrimination.fisher(rows, Y))
    assert_array_equal(np.isnan(scaler.transform(rows)), np.isnan(rows))
    model = make_pipeline(FeatureDiscriminationScaler(), HistGradientBoostingClassifier(max_iter=3))
    assert model.fit(rows, Y).predict(rows).shape == Y.shape
    with pytest.raises(ValueError, match="X contains NaN"):
        FeatureDiscriminationScaler("energy").fit(rows, Y)


def test_weights_are_copies():
    counts = np.random.default_rng(0).integers(0, 3, len(Y))
    weighted = FeatureDiscriminationScaler().fit(X, Y, sample_weight=counts)
    copied = FeatureDiscriminationScaler().fit(np.repeat(X, counts, axis=0), np.repeat(Y, counts))
    assert_allclose(weighted.scale_, copied.scale_, rtol=1e-12)


# --- The table that comes out --------------------------------------------------------------------


@loop(("name", "library"), [("pandas", pd), ("polars", pl)])
def test_frames_in_and_out(name, library):
    frame = library.DataFrame(dict(zip("abcd", X.T, strict=True)))
    scaler = FeatureDiscriminationScaler().set_output(transform=name).fit(frame, Y)
    out = scaler.transform(frame)
    assert isinstance(out, library.DataFrame)
    assert list(out.columns) == list("abcd") == list(scaler.get_feature_names_out())
    assert_array_equal(out.to_numpy(), X * scaler.scale_)


def test_single_precision_stays():
    rows = X.astype(np.float32)
    scaler = FeatureDiscriminationScaler().fit(rows, Y)
    assert scaler.transform(rows).dtype == np.float32
    assert scaler.scale_.dtype == np.float64


def test_clone_and_pickle():
    scaler = FeatureDiscriminationScaler([1, 2, 3, 4], eta=2.0).fit(X, Y)
    assert_array_equal(pickle.loads(pickle.dumps(scaler)).transform(X), scaler.transform(X))
    copied = clone(scaler)
    assert copied.get_params() == scaler.get_params()
    assert not hasattr(copied, "scale_")


# --- In use --------------------------------------------------------------------------------------


def test_a_linear_machine_on_scaled_columns_is_the_weighted_machine():
    scaler = FeatureDiscriminationScaler(eta=3.0).fit(X, TWO)
    piped = make_pipeline(scaler, SVC(kernel="linear", tol=1e-8)).fit(X, TWO)
    # x'A^-1 z is the linear kernel with the weights 1/a, the squared factors.
    weighted = SVC(kernel="linear", feature_weights=scaler.scale_**2, tol=1e-8).fit(X, TWO)
    # Decisions are exact to tol times the norm of a row; 1e-6 is above that.
    assert_allclose(piped.decision_function(X), weighted.decision_function(X), atol=1e-6)


def test_a_least_squares_machine_on_scaled_columns_is_the_weighted_one():
    scaler = FeatureDiscriminationScaler(eta=3.0).fit(X, TWO)
    piped = make_pipeline(scaler, RidgeClassifier(alpha=5.0)).fit(X, TWO)
    # min sum (x'w + b - y)^2 + alpha sum_k a_k w_k^2, by its normal equations, centred.
    centred, target = X - X.mean(axis=0), 2.0 * TWO - 1
    w = np.linalg.solve(
        centred.T @ centred + 5.0 * np.diag(scaler.scale_**-2), centred.T @ (target - target.mean())
    )
    expected = centred @ w + target.mean()
    assert_allclose(piped.decision_function(X), expected, rtol=1e-9, atol=1e-12)


def test_it_helps_among_noise():
    rng = np.random.default_rng(0)
    rows = np.hstack([rng.normal(size=(1000, 3)), rng.normal(size=(1000, 100))])
    y = rows[:, :3].sum(axis=1) > 0
    plain = RidgeClassifier().fit(rows[:120], y[:120])
    piped = make_pipeline(FeatureDiscriminationScaler(eta=8.0), RidgeClassifier())
    piped.fit(rows[:120], y[:120])
    assert piped.score(rows[120:], y[120:]) > 0.05 + plain.score(rows[120:], y[120:])


def test_search_over_eta():
    pipeline = make_pipeline(FeatureDiscriminationScaler(), LogisticRegression())
    grid = {
        "featurediscriminationscaler__eta": [0, 1, 4],
        "featurediscriminationscaler__importance": ["separation", "energy", None],
    }
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, TWO)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_sample_weight_is_routed():
    weights = np.random.default_rng(0).uniform(0.1, 3.0, len(Y))
    with sklearn.config_context(enable_metadata_routing=True):
        asking = FeatureDiscriminationScaler().set_fit_request(sample_weight=True)
        last = LogisticRegression().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(asking, last).fit(X, Y, sample_weight=weights)
    plain = FeatureDiscriminationScaler().fit(X, Y, sample_weight=weights)
    assert_array_equal(pipeline[0].scale_, plain.scale_)


# --- Bad input -----------------------------------------------------------------------------------


@loop(
    ("name", "value"),
    [
        *(("importance", value) for value in ("gini", 3, [1.0, 2.0])),
        *(("eta", value) for value in (-1, np.nan, np.inf, "cv")),
        ("eta_units", "sigma"),
        ("normalization", "max"),
    ],
)
def test_parameters_are_refused_by_name(name, value):
    with pytest.raises(ValueError, match=name):
        FeatureDiscriminationScaler(**{name: value}).fit(X, Y)


@loop(
    ("rows", "y", "words"),
    [
        (np.where(X > 2, np.inf, X), Y, "X contains inf"),
        (X, np.zeros(60), "y must have at least two classes"),
        (X, Y[:-1], r"numbers of samples: \[60, 59\]"),
        (pd.DataFrame({"a": X[:, 0], "b": ["x", "y"] * 30}), Y, "X.*not numbers.*OneHotEncoder"),
    ],
)
def test_tables_and_labels(rows, y, words):
    with pytest.raises(ValueError, match=words):
        FeatureDiscriminationScaler().fit(rows, y)


def test_what_cannot_be_transformed():
    with pytest.raises(NotFittedError):
        FeatureDiscriminationScaler().transform(X)
    with pytest.raises(TypeError, match="needs dense rows"):
        FeatureDiscriminationScaler().fit(sp.csr_array(X), Y)
    with pytest.raises(ValueError, match=r"X has 3 features.*expecting 4"):
        FeatureDiscriminationScaler().fit(X, Y).transform(X[:, :3])


@loop("transformer", [FeatureDiscriminationScaler, RelevanceSelector])
@loop("weights", [["a"] * 12, "abc"])
def test_text_as_sample_weights_is_named(transformer, weights):
    X, y = np.random.default_rng(0).normal(size=(12, 2)), np.arange(12) % 2
    with pytest.raises(ValueError, match="sample_weight must be numbers, one per row"):
        transformer().fit(X, y, sample_weight=weights)
