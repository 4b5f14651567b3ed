"""RelevanceSVC in the tools for inspection that its users have: scikit-learn's and shap."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.inspection import DecisionBoundaryDisplay, permutation_importance
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV

from kernelwise import RelevanceSVC
from kernelwise.inspection import column_effects, explain_rows


@pytest.fixture(scope="module")
def numbers():
    X = np.random.default_rng(0).normal(size=(150, 4))
    y = np.where(X[:, 0] * X[:, 1] + X[:, 2] > 0, "yes", "no")
    return X, y, RelevanceSVC().fit(X, y)


@pytest.fixture(scope="module")
def words():
    """Return a table with a category and gaps, of which the category decides most."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"city": rng.choice(["u", "v", "w"], 200), "size": rng.normal(size=200)})
    X["noise"] = rng.normal(size=200)
    y = (X["city"] == "u") & (X["size"] > -1)
    X.loc[::9, "noise"] = np.nan
    return X, y.to_numpy(), RelevanceSVC().fit(X, y)


@pytest.fixture(scope="module")
def shap():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of shap's own imports
        return pytest.importorskip("shap", reason="of the extra peers, for it brings a compiler")


def test_values_of_shap_are_ours(shap, numbers):
    X, _, model = numbers
    theirs = shap.Explainer(model.decision_function, X[:50], algorithm="exact")(X[:3])
    ours = explain_rows(model, X[:3], X_train=X[:50], n_background=50)
    np.testing.assert_allclose(ours.values[:, :, 0], theirs.values, atol=1e-10)
    np.testing.assert_allclose(ours.base[0], theirs.base_values, atol=1e-10)


def test_shap_takes_probabilities_and_data_frames(shap, numbers):
    X, y, _ = numbers
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = RelevanceSVC().fit(frame, y)
    found = shap.Explainer(model.predict_proba, frame[:30], algorithm="permutation")(frame[:2])
    assert found.feature_names == list("abcd")
    total = found.base_values + found.values.sum(axis=1)
    np.testing.assert_allclose(total, model.predict_proba(frame[:2]), atol=1e-8)


def test_tables_as_shap_makes_them_are_read(words):
    """shap recombines the values of a table as an array of objects, and names its columns."""
    X, _, model = words
    recombined = pd.DataFrame(X.to_numpy(dtype=object), columns=X.columns)
    np.testing.assert_array_equal(model.predict_proba(recombined), model.predict_proba(X))


def test_decision_boundary_display(numbers):
    X, y, _ = numbers
    model = RelevanceSVC().fit(X[:, :2], y)
    for method in ("predict_proba", "decision_function", "predict"):
        display = DecisionBoundaryDisplay.from_estimator(
            model, X[:, :2], response_method=method, grid_resolution=10
        )
        assert display.response.shape == (10, 10)


def test_tuned_threshold(numbers):
    X, _, _ = numbers
    rare = X[:, 0] + 0.5 * np.random.default_rng(2).normal(size=len(X)) > 1.2
    tuned = TunedThresholdClassifierCV(RelevanceSVC(), scoring="balanced_accuracy", cv=3)
    tuned.fit(X, rare)
    assert 0 < tuned.best_threshold_ < 0.5
    plain = RelevanceSVC().fit(X, rare)
    assert balanced_accuracy_score(rare, tuned.predict(X)) > balanced_accuracy_score(
        rare, plain.predict(X)
    )
    fixed = FixedThresholdClassifier(RelevanceSVC(), threshold=0.2).fit(X, rare)
    assert fixed.predict(X).mean() > plain.predict(X).mean()
    found = explain_rows(tuned, X[:2], X_train=X)
    np.testing.assert_allclose(
        found.values.sum(axis=1) + found.rest, found.outputs - found.base, atol=1e-10
    )
    assert column_effects(tuned, X).effects[0].direction() == "rises"


def test_permutation_importance_of_words_and_gaps(words):
    X, y, model = words
    found = permutation_importance(model, X, y, n_repeats=3, random_state=0, scoring="accuracy")
    assert np.argmax(found.importances_mean) == 0
    assert found.importances_mean[2] < 0.05
    log_loss = permutation_importance(model, X, y, n_repeats=2, scoring="neg_log_loss")
    assert log_loss.importances_mean[0] > 0.1
