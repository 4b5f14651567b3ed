"""What stands between scikit-learn and the estimators: checks of tables, labels and weights."""

import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.multiclass import OneVsOneClassifier
from sklearn.svm import LinearSVC
from sklearn.utils import _safe_indexing, compute_class_weight

from kernelwise._sklearn import check_sample_weight, class_weights, indexed, validate_fit
from kernelwise.svm.base.multiclass import pairs_to_classes
from tests.loop import loop

X = np.arange(6.0).reshape(3, 2)
Y = np.array([0, 1, 1])


def test_a_plain_table_is_taken_as_it_is():
    model = BaseEstimator()
    model.feature_names_in_ = np.array(["a", "b"])
    rows, labels = validate_fit(model, X, Y)
    assert rows is X
    assert labels is Y
    assert vars(model) == {"n_features_in_": 2}


@loop(
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


@loop(
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


@loop("weight", [None, 1, [1, 1, 1], np.ones(3, dtype=np.float32)])
def test_sample_weights_of_one(weight):
    found = check_sample_weight(weight, 3)
    np.testing.assert_array_equal(found, np.ones(3))
    assert found.dtype == np.float64


@loop(
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


@loop("class_weight", ["balanced", {2: 3.0, 5: 0.5}, {2: 3.0}, None])
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


WITHOUT_PRIVATE_NAMES = """
import sys
import numpy as np
import sklearn.callback, sklearn.utils
# Modules of scikit-learn that need these names, and that are imported below
import sklearn.compose, sklearn.ensemble, sklearn.linear_model, sklearn.model_selection

del sklearn.utils._safe_indexing
sys.modules["sklearn.callback._callback_support"] = None

from kernelwise import SVC, SVCSearchCV, _sklearn
from kernelwise.app.evaluation import evaluate_model

X = np.random.default_rng(0).normal(size=(40, 3))
y = (X[:, 0] > 0).astype(int)
assert _sklearn.safe_indexing is _sklearn.indexed
assert SVCSearchCV(SVC(), {"C": [1.0, 10.0]}).fit(X, y).best_score_ > 0.8
assert evaluate_model(SVC().fit(X, y), X, y, against={}, cv=2).best.mean("accuracy") > 0.7
"""


def test_nothing_depends_on_private_names():
    code = WITHOUT_PRIVATE_NAMES
    if find_spec("sklearn.callback") is None:  # before scikit-learn 1.9
        code = code.replace("sklearn.callback, ", "")
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


@loop("axis", [0, 1])
@loop("kind", [np.asarray, sp.csr_array, pd.DataFrame, pl.DataFrame])
def test_rows_and_columns_are_taken_as_scikit_learn_takes_them(kind, axis):
    X = kind(np.arange(12.0).reshape(4, 3))
    found, expected = indexed(X, np.array([2, 0]), axis), _safe_indexing(X, [2, 0], axis=axis)
    dense = [
        each.toarray() if sp.issparse(each) else np.asarray(each) for each in (found, expected)
    ]
    np.testing.assert_array_equal(*dense)


def test_rows_of_a_list_are_taken_in_the_given_order():
    assert indexed(["a", "b", "c"], np.array([2, 0])) == ["c", "a"]
