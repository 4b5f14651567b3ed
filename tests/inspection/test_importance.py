"""What columns are worth: the loss on held-out rows when they are shuffled."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.svm import SVC

from kernelwise import RelevanceSVC
from kernelwise.app.inspection import held_out_importance
from kernelwise.app.inspection.refit import refit


def linear(n=120, seed=0, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, 2 * X[:, 0] + 0.5 * X[:, 1] + noise * rng.normal(size=n)


def test_loss_is_that_of_every_exchange_with_another_row():
    """Shuffles come close to the mean over all pairs of rows, by its definition."""
    X, y = linear()
    label = np.where(y > 0, "b", "a")
    regressor, classifier = LinearRegression().fit(X, y), LogisticRegression().fit(X, label)

    def squared(rows, own):
        return np.mean((regressor.predict(rows) - y[own]) ** 2)

    def logarithmic(rows, own):
        places = (label[own] == "b").astype(int)
        return -np.mean(np.log(classifier.predict_proba(rows)[np.arange(len(rows)), places]))

    left, right = (axis.ravel() for axis in np.mgrid[: len(X), : len(X)])
    for model, target, loss in ((regressor, y, squared), (classifier, label, logarithmic)):
        found = held_out_importance(model, X, target, cv="prefit", n_repeats=200)
        plain = loss(X, np.arange(len(X)))
        for column in range(3):
            rows = X[left]
            rows[:, column] = X[right, column]
            grown = loss(rows, left)
            expected = np.sqrt(grown) - np.sqrt(plain) if model is regressor else grown - plain
            assert found.loss[column] == pytest.approx(expected, rel=0.05, abs=0.002)
        assert found.base == pytest.approx(np.sqrt(plain) if model is regressor else plain)
        assert found.n_rows == 120


def test_intervals_hold_what_new_rows_cost():
    """The interval of a fitted model covers the cost on endless rows in about 95 of 100 tables."""
    X, y = linear()
    model = LinearRegression().fit(X, y)
    true, own = np.array([2.0, 0.5, 0.0]), model.coef_
    plain = 1 + model.intercept_**2 + np.sum((true - own) ** 2)  # E (y - f(x))^2, for x ~ N(0, 1)
    costs = np.sqrt(plain - (true - own) ** 2 + true**2 + own**2) - np.sqrt(plain)
    inside = np.zeros(3)
    for seed in range(200):
        found = held_out_importance(model, *linear(80, seed=seed + 2), cv="prefit", n_repeats=20)
        inside += (found.low <= costs) & (costs <= found.high)
    assert (inside[:2] >= 0.9 * 200).all()


def test_columns_of_a_table_are_shuffled_as_they_are(hospital, hospital_model):
    found = held_out_importance(hospital_model, *hospital, n_repeats=2)
    assert found.metric == "log loss"
    assert found.n_rows == 200
    assert found.feature_names == tuple(hospital[0].columns)
    matters = dict(zip(found.feature_names, found.matters, strict=True))
    assert matters["age"]
    assert matters["ward"]
    assert not matters["smoker"]
    np.testing.assert_allclose(found.shares.sum(), 1)
    table = found.table()
    assert list(table) == ["column", "loss", "low", "high", "share"]
    assert table["column"][0] == "age"
    assert (table["low"] <= table["loss"]).all()
    assert (table["loss"] <= table["high"]).all()


def test_numbers_are_in_units_of_the_target(shaped):
    X, _, model = shaped
    f = 10 * (X[:, 1] - X[:, 2] ** 2)
    y = f + 3 * np.random.default_rng(1).normal(size=len(X))
    found = held_out_importance(model, X, y, n_repeats=3)
    assert found.metric == "root mean squared error"
    assert found.matters.tolist() == [False, True, True, False]
    assert 5 < found.loss[1] < 15
    plain = held_out_importance(LinearRegression().fit(X, f), X, f)
    grown = held_out_importance(LinearRegression().fit(X, 7 * f), X, 7 * f)
    for name in ("base", "loss", "low", "high"):
        np.testing.assert_allclose(getattr(grown, name), 7 * getattr(plain, name))
    several = held_out_importance(LinearRegression().fit(X, X[:, :2]), X, X[:, :2])
    assert several.matters.tolist() == [True, True, False, False]


def test_rows_are_held_out_from_what_is_fitted():
    seen = []

    class Spy(Ridge):
        def fit(self, X, y):
            seen.append(X[:, 0].copy())
            return super().fit(X, y)

        def predict(self, X):
            assert len(seen) == 1 or not set(X[:, 0]) & set(seen[-1])
            return super().predict(X)

    X, y = linear(300)
    model = Spy().fit(X, y)
    calls = []
    folds = held_out_importance(model, X, y, callback=lambda *own: calls.append(own))
    assert [len(own) for own in seen[1:]] == [200, 200, 200]
    assert calls == [(1, 3), (2, 3), (3, 3)]
    assert folds.n_rows == 300
    seen[1:] = []
    assert held_out_importance(model, X, y, cv=[(np.arange(100), np.arange(100, 150))]).n_rows == 50
    seen[1:] = []
    X, y = linear(2500)
    assert held_out_importance(model, X, y).n_rows == 750
    assert [len(own) for own in seen[1:]] == [1750]


def test_other_models_and_wide_tables():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 60))
    y = X[:, 0] > 0
    errors = held_out_importance(SVC(kernel="linear").fit(X[:, :3], y), X[:, :3], y)
    assert errors.metric == "error rate"
    assert errors.shares is None
    assert "share" not in errors.table()
    assert errors.matters[0]
    forest = RandomForestRegressor(5, random_state=0).fit(X, X[:, 0])
    part = held_out_importance(forest, X, X[:, 0], n_repeats=1)
    known = np.isfinite(part.loss)
    assert known.sum() == 50
    assert part.shares[known].min() >= part.shares[~known].max()
    assert np.isnan(part.table()["loss"][50:]).all()
    again = held_out_importance(forest, X, X[:, 0], n_repeats=1)
    np.testing.assert_array_equal(part.loss, again.loss)


def test_bad_arguments_are_named():
    X, y = linear(60)
    model = LinearRegression().fit(X, y)
    for change, message in (
        ({"cv": "fitted"}, "'cv' parameter"),
        ({"n_repeats": 0}, "'n_repeats' parameter"),
        ({"y": y[:5]}, "inconsistent numbers of samples"),
    ):
        with pytest.raises(ValueError, match=message):
            held_out_importance(**({"model": model, "X": X, "y": y} | change))
    with pytest.raises(ValueError, match="not fitted"):
        held_out_importance(clone(model), X, y)


def test_clones_print_no_progress():
    X, y = linear(30)
    assert refit(RelevanceSVC(), X, y > 0, np.arange(30)).verbose is False
    assert refit(RelevanceSVC(verbose=True), X, y > 0, np.arange(30)).verbose is True
