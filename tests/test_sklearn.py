"""What stands between scikit-learn and the estimators: checks of tables, labels and weights."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.multiclass import OneVsOneClassifier
from sklearn.svm import LinearSVC
from sklearn.utils import compute_class_weight

from kernelwise import _sklearn
from kernelwise._sklearn import check_sample_weight, class_weights, validate_fit
from kernelwise.svm.base.multiclass import pairs_to_classes

X = np.arange(6.0).reshape(3, 2)
Y = np.array([0, 1, 1])


def test_a_plain_table_is_taken_as_it_is():
    model = BaseEstimator()
    model.feature_names_in_ = np.array(["a", "b"])
    rows, labels = validate_fit(model, X, Y)
    assert rows is X
    assert labels is Y
    assert vars(model) == {"n_features_in_": 2}


@pytest.mark.parametrize(
    ("rows", "labels"),
    [
        (X.tolist(), Y),
        (X.astype(np.float32), Y),
        (np.asfortranarray(X), Y),
        (X, Y.tolist()),
        (X, Y[:, None].ravel().astype(object)),
        (X * 1e200, Y),  # finite, but the sum of squares is not
    ],
    ids=["list", "float32", "columns", "labels", "objects", "large"],
)
def test_other_tables_are_converted_and_give_the_same(rows, labels):
    model = BaseEstimator()
    found, codes = validate_fit(model, rows, labels, dtype=np.float64, order="C")
    np.testing.assert_array_equal(found, rows)
    np.testing.assert_array_equal(codes, labels)
    assert found.dtype == np.float64
    assert found.flags.c_contiguous
    assert model.n_features_in_ == 2


@pytest.mark.parametrize(
    ("rows", "labels", "message"),
    [
        (np.where(X == 3, np.nan, X), Y, "contains NaN"),
        (np.where(X == 3, np.inf, X), Y, "infinity"),
        (np.where(X == 3, np.inf, -X), Y, "infinity"),
        (X, Y[:2], "inconsistent numbers of samples"),
        (X[:0], Y[:0], "0 sample"),
        (X[0], Y, "Expected 2D array"),
        (X, Y[:, None] * np.ones((1, 2), dtype=int), "1d array"),
        ([["a", "b"]] * 3, Y, "encode them first"),
    ],
)
def test_tables_that_are_wrong_are_refused(rows, labels, message):
    with pytest.raises(ValueError, match=message):
        validate_fit(BaseEstimator(), rows, labels, dtype=np.float64)


@pytest.mark.parametrize("weight", [None, 1, [1, 1, 1], np.ones(3, dtype=np.float32)])
def test_sample_weights_of_one(weight):
    found = check_sample_weight(weight, 3)
    np.testing.assert_array_equal(found, np.ones(3))
    assert found.dtype == np.float64


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, 2], r"sample_weight.shape == \(2,\), expected \(3,\)"),
        (np.ones((3, 1)), "must be 1D array or scalar"),
        ([1, np.nan, 1], "sample_weight contains NaN"),
        ([0, 0, 0], "at least one non-zero"),
        ([1, 1, -1], "Negative values"),
        (["a", "b", "c"], "sample_weight must be numbers"),
        (sp.csr_array(np.ones((3, 1))), "Sparse data was passed"),
    ],
)
def test_sample_weights_that_are_wrong_are_refused(weight, message):
    with pytest.raises((ValueError, TypeError), match=message):
        check_sample_weight(weight, 3, ensure_non_negative=True)


@pytest.mark.parametrize("class_weight", ["balanced", {2: 3.0, 5: 0.5}, {2: 3.0}, None])
def test_weights_of_classes_are_those_of_scikit_learn(class_weight):
    y = np.array([2, 5, 5, 7, 7, 7, 2, 5])
    found = class_weights(class_weight, np.unique(y), y, np.ones(8))
    expected = compute_class_weight(class_weight, classes=np.unique(y), y=y)
    np.testing.assert_allclose(found, expected, rtol=1e-15)


def test_balanced_weights_of_classes_count_the_sample_weights():
    y, counts = np.array([0, 0, 1, 2]), np.array([1.0, 2.0, 3.0, 4.0])
    found = class_weights("balanced", np.unique(y), y, counts)
    again = np.repeat(y, counts.astype(int))
    expected = compute_class_weight("balanced", classes=np.unique(y), y=again)
    np.testing.assert_allclose(found, expected, rtol=1e-15)


def test_scores_of_classes_are_those_of_scikit_learn():
    """Its public OneVsOneClassifier makes them of the same decision values."""
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(80, 3)), rng.integers(4, size=80)
    model = OneVsOneClassifier(LinearSVC()).fit(rows, labels)
    decisions = np.column_stack([each.decision_function(rows) for each in model.estimators_])
    # There the second class of a pair is the positive one, here the first.
    np.testing.assert_array_equal(pairs_to_classes(-decisions, 4), model.decision_function(rows))


@pytest.mark.parametrize("name", [*_sklearn._MODEL_SELECTION, "BaseSearchCV"])
def test_every_name_for_the_search_exists(name):
    assert callable(getattr(_sklearn, name))


def test_other_names_are_missing():
    assert not hasattr(_sklearn, "nothing")
