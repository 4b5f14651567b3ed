"""Explanations of rows: Shapley values against an oracle."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPRegressor

from kernelwise import SVC
from kernelwise.app.inspection import explain_rows


def naive_shapley(f, x, background):
    """Return the values by their definition: the mean over all orders of the columns."""
    d = len(x)
    values = np.zeros(d)
    orders = list(permutations(range(d)))
    for order in orders:
        rows = background.copy()
        for column in order:
            before = f(rows).mean()
            rows[:, column] = x[column]
            values[column] += f(rows).mean() - before
    return values / len(orders)


def total(found):
    return found.values.sum(axis=1) + found.rest


@pytest.fixture(scope="module")
def wide():
    """Return rows and a model of twelve columns of which three matter."""
    X = np.random.default_rng(1).normal(size=(150, 12))
    f = X[:, 0] * X[:, 1] + X[:, 2]
    model = SVC(gamma=0.05, C=10.0).fit(np.column_stack([X[:, :3], 0 * X[:, 3:]]), f > 0)
    return X, model


def test_few_columns_are_exact(shaped):
    X, classifier, regressor = shaped
    for model, f in ((classifier, classifier.decision_function), (regressor, regressor.predict)):
        found = explain_rows(model, X[:2], X[50:70])
        assert found.is_exact
        for row in range(2):
            expected = naive_shapley(f, X[row], X[50:70])
            np.testing.assert_allclose(found.values[row, :, 0], expected, rtol=1e-6, atol=1e-8)


def test_sum_is_the_output_minus_the_mean_of_the_background(wide, shaped, wine, wine_model):
    cases = [
        (shaped[2], shaped[0], "prediction"),
        (shaped[1], shaped[0], "probability"),
        (wide[1], wide[0], "decision"),
        (wine_model, wine[0], "decision"),
        (wine_model, wine[0], "probability"),
    ]
    methods = {"prediction": "predict", "probability": "predict_proba"}
    for model, X, output in cases:
        found = explain_rows(model, X[:2], X[:40], output=output)
        method = getattr(model, methods.get(output, "decision_function"))
        expected = np.asarray(method(X[:2])).reshape(2, -1)
        base = np.asarray(method(X[:40])).reshape(40, -1).mean(axis=0)
        np.testing.assert_allclose(found.outputs, expected, rtol=1e-5, atol=1e-5)  # of float32
        np.testing.assert_allclose(found.base, base, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(total(found), found.outputs - found.base, atol=1e-10)


def test_sampled_orders_come_close_to_the_truth():
    X = np.random.default_rng(1).normal(size=(150, 12))
    network = MLPRegressor(hidden_layer_sizes=(10,), random_state=0, max_iter=2000, tol=1e-3)
    model = network.fit(X, X[:, 0] * X[:, 1] + X[:, 2])
    exact = explain_rows(model, X[:3], X, max_columns=5)  # five columns, and the rest together
    sampled = explain_rows(model, X[:3], X)
    assert exact.is_exact
    assert not sampled.is_exact
    largest = np.argsort(-np.abs(exact.values).sum(axis=(0, 2)))[:3]
    assert set(largest) == {0, 1, 2}
    spread = np.abs(exact.values).max()
    np.testing.assert_allclose(
        sampled.values[:, largest], exact.values[:, largest], atol=0.15 * spread
    )


def test_additive_model_has_its_terms_exactly():
    """In an additive model every order of the columns gives the same value."""
    X = np.random.default_rng(2).normal(size=(150, 10))
    model = LogisticRegression().fit(X, X @ np.arange(10) > 0)
    found = explain_rows(model, X[:3], X, n_background=150)
    assert not found.is_exact
    expected = model.coef_[0] * (X[:3] - X.mean(axis=0))
    np.testing.assert_allclose(found.values[:, :, 0], expected, atol=1e-10)


def test_explanation_does_not_depend_on_other_rows(wide):
    X, model = wide
    together, alone = explain_rows(model, X[:5], X), explain_rows(model, X[3:4], X)
    np.testing.assert_allclose(together.values[3], alone.values[0], atol=1e-12)


def test_only_the_columns_that_matter_get_values(wide):
    X, model = wide
    found = explain_rows(model, X[:2], X, max_columns=2)
    own = np.flatnonzero(found.values.any(axis=(0, 2)))
    assert len(own) == 2
    assert found.rest.any()
    assert (found.shown != "").any(axis=0).sum() == 2
    whole = explain_rows(model, X[:2], X, max_columns=None)
    assert np.abs(whole.rest).max() <= 1e-10


def test_columns_of_a_table_are_explained_as_they_are(hospital, hospital_model):
    X = hospital[0]
    found = explain_rows(hospital_model, X.iloc[:4], X, n_background=30, max_columns=5)
    assert found.column_names == tuple(X.columns)
    assert found.is_exact
    expected = hospital_model.decision_function(X.iloc[:4])
    np.testing.assert_allclose(found.outputs[:, 0], expected, rtol=1e-6)
    np.testing.assert_allclose(total(found), found.outputs - found.base, rtol=1e-6, atol=1e-8)
    shown = dict(zip(found.column_names, found.shown[0], strict=True))
    known = {"age": str(X["age"][0]), "pressure": "missing", "ward": X["ward"][0]}
    known["admitted"] = str(X["admitted"][0].date())
    assert all(shown[name] in ("", word) for name, word in known.items())
    assert shown["age"] == known["age"]


def test_values_speak_for_the_predicted_class(shaped, wine, wine_model):
    X, model, regressor = shaped
    found = explain_rows(model, X[:10], X)
    assert (found.classes[found.predicted] == model.predict(X[:10])).all()
    signs = np.where(found.predicted == 1, 1.0, -1.0)[:, None]
    np.testing.assert_array_equal(found.towards(), found.values[:, :, 0] * signs)
    np.testing.assert_array_equal(found.towards(0), -found.towards(1))
    table = pd.DataFrame(found.table(3))
    assert table["contribution"].abs().is_monotonic_decreasing
    assert list(table.columns) == ["column", "value", "contribution"]
    several = explain_rows(wine_model, wine[0].iloc[:2], wine[0], n_background=20)
    np.testing.assert_array_equal(several.towards(2), several.values[:, :, 2])
    assert (several.predicted == wine_model.predict(wine[0].iloc[:2])).all()
    numbers = explain_rows(regressor, X[:2], X)
    np.testing.assert_array_equal(numbers.towards(), numbers.values[:, :, 0])


def test_progress_is_reported_and_bad_arguments_are_named(wide):
    X, model = wide
    calls = []
    explain_rows(model, X[:3], X, callback=lambda done, of: calls.append((done, of)))
    assert calls == [(1, 3), (2, 3), (3, 3)]
    with pytest.raises(ValueError, match="'X_train' parameter of explain_rows must be a table"):
        explain_rows(model, X[:3], None)
    with pytest.raises(ValueError, match="n_background"):
        explain_rows(model, X[:3], X, n_background=0)
