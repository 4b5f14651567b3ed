"""RelevanceSVC on tables of thousands of rows or with categories: other parts, one interface."""

import pickle

import numpy as np
import onnxruntime
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, softmax
from sklearn.metrics import log_loss

from kernelwise import RelevanceSVC
from kernelwise.io import load, save, to_onnx
from kernelwise.svm.base.predictor import predictor_of
from kernelwise.svm.relevance.mixing import LARGER, LARGER_WITH_CATEGORIES
from tests.svm.relevance.test_relevance import table

SMALL = ["hinge", "kernel", "linear", "additive"]  # the parts of a small table


def mixed_table(n=700, seed=0):
    """Return a number and a category that matter, and a number that does not."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "kind": rng.choice(list("pqr"), n),
            "noise": rng.normal(size=n),
        }
    )
    score = 2 * frame["size"] + frame["kind"].map({"p": -2.0, "q": 0.0, "r": 2.0})
    return frame, (rng.random(n) < expit(score)).astype(int)


@pytest.fixture(scope="module", params=[2, 3])
def fitted(request):
    X, y = table(LARGER + 100, classes=request.param)
    return RelevanceSVC().fit(X[:LARGER], y[:LARGER]), X, y


def test_parts_change_with_the_number_of_rows(fitted):
    model, X, y = fitted
    assert model.parts_[0] == "joint"
    assert set(model.parts_) <= {"joint", "hinge", "kernel", "linear"}
    smaller = RelevanceSVC(max_iter=1, calibration=None).fit(X[: LARGER - 1], y[: LARGER - 1])
    assert smaller.parts_ == SMALL
    other = RelevanceSVC(max_iter=1, calibration=None, kernel="rbf").fit(X[:LARGER], y[:LARGER])
    assert other.parts_ == SMALL


def test_decisions_are_log_odds(fitted):
    model, X, y = fitted
    decisions, shares = model.decision_function(X), model.predict_proba(X)
    expected = softmax(decisions, axis=1) if decisions.ndim > 1 else expit(decisions)
    assert_allclose(shares if decisions.ndim > 1 else shares[:, 1], expected)
    assert_array_equal(model.predict(X), shares.argmax(axis=1))
    assert log_loss(y[LARGER:], shares[LARGER:]) < 0.7
    sets = model.predict_set(X[LARGER:])
    assert sets[np.arange(100), y[LARGER:]].mean() > 0.8


def test_attributes_describe_the_kernel_and_the_machine(fitted):
    model, X, _ = fitted
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert_array_equal(np.flatnonzero(model.selected_features_), [0, 1])
    assert_allclose(model.feature_weights_.mean(), 1)
    assert model.part_importances_.shape == (len(model.parts_), 4)
    assert model.members_ == ["evidence"]
    assert set(model.certificate_.status) == {"converged"}
    assert_array_equal(model.support_vectors_, X[model.support_])
    assert model.dual_coef_.shape == (len(model.margin_), len(model.support_))
    assert model.fit_status_ == 0


def test_models_are_stored_and_exported(fitted, tmp_path):
    model, X, _ = fitted
    for found in (pickle.loads(pickle.dumps(model)), load(save(model, tmp_path / "model.kw"))):
        assert_array_equal(found.decision_function(X), model.decision_function(X))
        assert_array_equal(found.predict_set(X), model.predict_set(X))
    assert all(len(part.left_out) == 0 for part in predictor_of(model).parts)
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    [decisions] = session.run(["decision"], {"X": X})
    # The model compares rows in float32, the graph in float64.
    assert_allclose(decisions, model.decision_function(X), atol=1e-4)
    with pytest.raises(ValueError, match="RelevanceSVC mixes the log-odds of several parts"):
        model.to_sklearn()


def test_categories_have_these_parts_from_500_rows_on():
    X, y = mixed_table()
    model = RelevanceSVC().fit(X, y)
    assert model.parts_[0] == "joint"
    assert_array_equal(model.selected_features_, [True, True, False])
    few = LARGER_WITH_CATEGORIES - 1
    assert RelevanceSVC(max_iter=2).fit(X[:few], y[:few]).parts_ == SMALL


def test_a_weight_of_two_is_a_row_given_twice():
    X, y = mixed_table(600)
    counts = np.where(np.arange(600) % 5 == 0, 2, 1)
    rows = np.random.default_rng(0).permutation(np.repeat(np.arange(600), counts))
    weighted = RelevanceSVC().fit(X, y, sample_weight=counts)
    repeated = RelevanceSVC().fit(X.iloc[rows], y[rows])
    assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-8)


def test_nothing_to_learn_and_a_rare_class():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(4000, 5)), (rng.random(4000) < 0.1).astype(int)
    model = RelevanceSVC().fit(X[:2500], y[:2500])
    share = y[2500:].mean()
    entropy = -share * np.log(share) - (1 - share) * np.log(1 - share)
    assert log_loss(y[2500:], model.predict_proba(X[2500:])) < 1.05 * entropy


@pytest.mark.parametrize("n_classes", [2, 3])
def test_pairs_of_columns_are_saved_and_exported(n_classes, tmp_path):
    rng = np.random.default_rng(0)
    n, effects = 3000, 2 * rng.normal(size=(200, 3, n_classes))
    person, kind = rng.integers(0, 200, n), rng.integers(0, 3, n)
    y = (effects[person, kind] + rng.gumbel(size=(n, n_classes))).argmax(axis=1)
    names = {"person": [f"p{each}" for each in person], "kind": [f"k{each}" for each in kind]}
    frame = pd.DataFrame(names).assign(noise=rng.normal(size=n))
    model = RelevanceSVC().fit(frame, y)
    assert model.parts_[0] == "pairs"
    assert_allclose(model.part_importances_.sum(axis=1), 1)
    new = frame[:100].copy()
    new.loc[0, "person"], new.loc[1, "kind"] = "never seen", "never seen"
    expected = model.decision_function(new)
    save(model, tmp_path / "model.kw")
    assert_array_equal(load(tmp_path / "model.kw").decision_function(new), expected)
    session = onnxruntime.InferenceSession(to_onnx(model, frame).SerializeToString())
    given = {name: column.to_numpy()[:, None] for name, column in new.items()}
    [decisions] = session.run(["decision"], given)
    assert_allclose(decisions, expected, atol=1e-4)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_levels_of_few_rows_are_used_saved_and_exported(n_classes, tmp_path):
    rng = np.random.default_rng(0)
    n, effects = 4000, 4 * rng.normal(size=(900, n_classes))
    person, weight = rng.integers(0, 900, n), rng.integers(1, 3, n).astype(float)
    y = (effects[person] + rng.gumbel(size=(n, n_classes))).argmax(axis=1)
    names = np.array([f"p{each}" for each in person], dtype=object)
    names[person == 7] = None
    frame = pd.DataFrame({"person": names, "noise": rng.normal(size=n)})
    X, y, weight, new, y_new = frame[:3000], y[:3000], weight[:3000], frame[3000:], y[3000:]
    model = RelevanceSVC().fit(X, y, weight)
    assert model.parts_[0] == "pairs"
    rate = np.bincount(y) / len(y)
    assert log_loss(y_new, model.predict_proba(new)) < 0.9 * log_loss(y_new, [rate] * len(new))
    again = RelevanceSVC().fit(X, y, weight)
    new = new[:100].copy()
    new.iloc[0, 0] = "never seen"
    expected = model.decision_function(new)
    assert_array_equal(again.decision_function(new), expected)
    save(model, tmp_path / "model.kw")
    assert_array_equal(load(tmp_path / "model.kw").decision_function(new), expected)
    known = new[new["person"].notna()]
    session = onnxruntime.InferenceSession(to_onnx(model, frame).SerializeToString())
    given = {name: column.to_numpy()[:, None] for name, column in known.items()}
    [decisions] = session.run(["decision"], given)
    assert_allclose(decisions, expected[new["person"].notna()], atol=1e-4)


@pytest.mark.parametrize("seed", [2, 6])
def test_a_pattern_that_a_wide_kernel_does_not_see_is_found(seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(6500, 20))
    y = np.floor(8 * X[:, :2]).sum(axis=1) % 2
    model = RelevanceSVC(random_state=0).fit(X[:4500], y[:4500])
    assert model.score(X[4500:], y[4500:]) > 0.8
    assert set(np.argsort(model.feature_weights_)[-2:]) == {0, 1}
