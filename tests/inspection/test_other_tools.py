"""RelevanceSVC in the tools for inspection that its users have: scikit-learn's and shap."""

import numpy as np
import pandas as pd
import pytest
from sklearn.inspection import DecisionBoundaryDisplay, permutation_importance
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV

from kernelwise import RelevanceSVC
from kernelwise.app.inspection import column_effects, explain_rows


@pytest.fixture(scope="module")
def words():
    """Return a table with a category and gaps, of which the category decides most."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"city": rng.choice(["u", "v", "w"], 150), "size": rng.normal(size=150)})
    X["noise"] = rng.normal(size=150)
    y = (X["city"] == "u") & (X["size"] > -1)
    X.loc[::9, "noise"] = np.nan
    return X, y.to_numpy(), RelevanceSVC().fit(X, y)


def test_values_of_shap_are_ours(shaped):
    shap = pytest.importorskip("shap", reason="of the extra peers, for it brings a compiler")
    X, model, _ = shaped
    theirs = shap.Explainer(model.decision_function, X[:50], algorithm="exact")(X[:3])
    ours = explain_rows(model, X[:3], X[:50], n_background=50)
    np.testing.assert_allclose(ours.values[:, :, 0], theirs.values, atol=1e-8)
    np.testing.assert_allclose(ours.base[0], theirs.base_values, atol=1e-8)


def test_tables_as_shap_makes_them_are_read(words):
    """shap recombines the values of a table as an array of objects, and names its columns."""
    X, _, model = words
    recombined = pd.DataFrame(X.to_numpy(dtype=object), columns=X.columns)
    np.testing.assert_array_equal(model.predict_proba(recombined), model.predict_proba(X))


def test_decision_boundary_display(shaped):
    X, y = shaped[0][:, 1:3], shaped[1].predict(shaped[0])
    model = RelevanceSVC().fit(X, y)
    for method in ("predict_proba", "decision_function", "predict"):
        display = DecisionBoundaryDisplay.from_estimator(
            model, X, response_method=method, grid_resolution=10
        )
        assert display.response.shape == (10, 10)


def test_thresholds():
    X = np.random.default_rng(0).normal(size=(120, 3))
    rare = X[:, 0] + 0.5 * np.random.default_rng(2).normal(size=len(X)) > 1.2
    tuned = TunedThresholdClassifierCV(RelevanceSVC(), scoring="balanced_accuracy", cv=2)
    tuned.fit(X, rare)
    plain = RelevanceSVC().fit(X, rare)
    assert 0 < tuned.best_threshold_ < 0.5
    found, usual = (balanced_accuracy_score(rare, own.predict(X)) for own in (tuned, plain))
    assert found >= usual
    fixed = FixedThresholdClassifier(RelevanceSVC(), threshold=0.2).fit(X, rare)
    assert fixed.predict(X).mean() > plain.predict(X).mean()
    reasons = explain_rows(tuned, X[:2], X, n_background=20)
    total = reasons.values.sum(axis=1) + reasons.rest
    np.testing.assert_allclose(total, reasons.outputs - reasons.base, atol=1e-8)
    assert column_effects(tuned, X).effects[0].direction() == "rises"


def test_permutation_importance_of_words_and_gaps(words):
    X, y, model = words
    found = permutation_importance(model, X, y, n_repeats=2, scoring="neg_log_loss", random_state=0)
    assert np.argmax(found.importances_mean) == 0
    assert found.importances_mean[0] > 0.1
    assert abs(found.importances_mean[2]) < 0.05
