"""Explanations of rows: Shapley values against an oracle, and the nearest training rows."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from kernelwise import SVC, RelevanceSVC
from kernelwise.evaluation import fit_table
from kernelwise.inspection import explain_rows
from kernelwise.inspection.row_pool import ModelReader
from kernelwise.io import load, save
from kernelwise.tabular import check_target

from .test_effects import hospital


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
def numbers():
    X = np.random.default_rng(0).normal(size=(120, 4))
    return X, np.where(X[:, 0] * X[:, 1] + X[:, 2] > 0, "yes", "no")


@pytest.fixture(scope="module")
def wide():
    X = np.random.default_rng(1).normal(size=(200, 12))
    y = X[:, 0] * X[:, 1] + X[:, 2] > 0
    return X, y, RelevanceSVC().fit(X, y)


def test_few_columns_are_exact(numbers):
    X, y = numbers
    model = RelevanceSVC().fit(X, y)
    found = explain_rows(model, X[:3], X_train=X[50:80], n_background=30)
    assert found.is_exact
    for row in range(3):
        expected = naive_shapley(model.decision_function, X[row], X[50:80])
        np.testing.assert_allclose(found.values[row, :, 0], expected, atol=1e-10)


def test_sum_is_the_output_minus_the_mean_of_the_background(wide, numbers, wine):
    X, _, model = wide
    cases = [(model, X[:5]), (RelevanceSVC().fit(*numbers), numbers[0][:5])]
    several = RelevanceSVC(ensemble=False).fit(*wine)
    cases.append((several, wine[0].iloc[::60]))
    for own, rows in cases:
        for output in ("decision", "probability"):
            found = explain_rows(own, rows, output=output)
            method = own.predict_proba if output == "probability" else own.decision_function
            expected = np.asarray(method(rows)).reshape(len(rows), -1)
            np.testing.assert_allclose(found.outputs, expected, atol=1e-12)
            background = ModelReader(own, output).pool(own._background_)
            base = background.decisions_of(np.arange(100)).mean(axis=0)
            np.testing.assert_allclose(found.base, base, atol=1e-12)
            np.testing.assert_allclose(total(found), expected - base, atol=1e-10)


def test_sampled_orders_come_close_to_the_truth(wide):
    X, _, model = wide
    exact = explain_rows(model, X[:4], max_columns=5)  # five columns, and the rest together
    assert exact.is_exact
    sampled = explain_rows(model, X[:4])
    assert not sampled.is_exact
    largest = np.argsort(-np.abs(exact.values).sum(axis=(0, 2)))[:3]
    assert set(largest) == {0, 1, 2}
    spread = np.abs(exact.values).max()
    np.testing.assert_allclose(
        sampled.values[:, largest], exact.values[:, largest], atol=0.1 * spread
    )


def test_additive_model_has_its_own_terms_exactly():
    """In an additive model every order of the columns gives the same value."""
    X = np.random.default_rng(2).normal(size=(150, 10))
    model = LogisticRegression().fit(X, X @ np.arange(10) > 0)
    found = explain_rows(model, X[:3], X_train=X, n_background=150)
    assert not found.is_exact
    expected = model.coef_[0] * (X[:3] - X.mean(axis=0))
    np.testing.assert_allclose(found.values[:, :, 0], expected, atol=1e-10)


def test_explanation_does_not_depend_on_other_rows(wide):
    X, _, model = wide
    together, alone = explain_rows(model, X[:5]), explain_rows(model, X[3:4])
    np.testing.assert_allclose(together.values[3], alone.values[0], atol=1e-12)
    np.testing.assert_array_equal(together.neighbors[3], alone.neighbors[0])


def test_only_the_columns_that_matter_get_values(wide):
    X, _, model = wide
    found = explain_rows(model, X[:2], max_columns=3)
    assert set(np.flatnonzero(found.values.any(axis=(0, 2)))) == {0, 1, 2}
    assert found.rest.any()
    whole = explain_rows(model, X[:2], max_columns=None)
    assert np.abs(whole.rest).max() <= 1e-10
    constant = np.column_stack([X, np.ones(200)])
    flat = RelevanceSVC().fit(constant, X[:, 0] > 0)
    assert not explain_rows(flat, constant[:2]).values[:, 12].any()


def test_table_of_the_command_line_is_explained_by_its_own_columns(tmp_path):
    frame = hospital()
    X, y = frame.drop(columns="outcome"), frame["outcome"].to_numpy()
    model = fit_table(frame, check_target(frame, "outcome"))
    loaded = load(save(model, tmp_path / "model.kw"))
    found = explain_rows(loaded, X.iloc[:6])
    assert found.column_names == tuple(X.columns)
    assert found.is_exact
    assert found.background == "100 training rows that the model keeps"
    np.testing.assert_allclose(found.outputs[:, 0], model.decision_function(X.iloc[:6]), atol=1e-12)
    np.testing.assert_allclose(total(found), found.outputs - found.base, atol=1e-10)
    assert found.shown[0].tolist()[:1] == [str(X["age"][0])]
    assert found.shown[0, 1] == "missing"
    assert found.shown[0, 4] == str(X["admitted"][0].date())
    for row in range(6):
        for label, numbers in enumerate(found.neighbors[row]):
            assert (y[numbers] == found.classes[label]).all()
    given = explain_rows(loaded, X.iloc[:6], X_train=X, y_train=y)
    assert given.background == "100 rows of X_train"
    own = [given.neighbors[k, int(y[k] == "sick"), 0] for k in range(6)]
    assert own == list(range(6))  # a training row is its own nearest neighbour
    assert given.distances[np.arange(6), (y[:6] == "sick").astype(int), 0].tolist() == [0.0] * 6
    assert (np.diff(given.distances, axis=2) >= 0).all()


def test_other_methods_and_models_need_a_table(numbers):
    X, y = numbers
    model = SVC().fit(X, y)
    with pytest.raises(ValueError, match="SVC keeps no training rows"):
        explain_rows(model, X[:2])
    found = explain_rows(model, X[:2], X_train=X)
    assert found.neighbors.shape == (2, 2, 3)
    assert (found.neighbors == -1).all()
    assert np.isnan(found.distances).all()
    with pytest.raises(ValueError, match="y_train has 'maybe', which is no class"):
        explain_rows(model, X[:2], X_train=X, y_train=np.where(y == "yes", "maybe", y))
    with pytest.raises(ValueError, match="y_train has 5 entries"):
        explain_rows(model, X[:2], X_train=X, y_train=y[:5])
    frame = hospital(150)
    scaled = fit_table(frame, check_target(frame, "outcome"), "svc")
    rows = frame.drop(columns="outcome")
    found = explain_rows(scaled, rows.iloc[:3], X_train=rows, y_train=frame["outcome"])
    assert found.column_names == tuple(rows.columns)
    np.testing.assert_allclose(total(found), found.outputs - found.base, atol=1e-10)


def test_values_speak_for_the_predicted_class(numbers, wine):
    X, y = numbers
    model = RelevanceSVC().fit(X, y)
    found = explain_rows(model, X[:20])
    assert (found.classes[found.predicted] == model.predict(X[:20])).all()
    signs = np.where(found.predicted == 1, 1.0, -1.0)[:, None]
    np.testing.assert_array_equal(found.towards(), found.values[:, :, 0] * signs)
    np.testing.assert_array_equal(found.towards(0), -found.towards(1))
    table = pd.DataFrame(found.table(3))
    assert table["contribution"].abs().is_monotonic_decreasing
    assert list(table.columns) == ["column", "value", "contribution"]
    several = RelevanceSVC().fit(*wine)
    found = explain_rows(several, wine[0].iloc[:4])
    np.testing.assert_array_equal(found.towards(2), found.values[:, :, 2])
    assert (found.classes[found.predicted] == several.predict(wine[0].iloc[:4])).all()


def test_progress_is_reported(wide):
    X, _, model = wide
    calls = []
    explain_rows(model, X[:3], callback=lambda done, of: calls.append((done, of)))
    assert calls == [(1, 3), (2, 3), (3, 3)]
