"""A fitted model is evaluated by clones on unseen rows."""

import sys

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.fixes import parse_version

from kernelwise import SVC
from kernelwise.app.evaluation import evaluate_model
from kernelwise.app.tabular import TableEncoder

from ..loop import loop

X, Y = load_iris(return_X_y=True, as_frame=True)
OTHERS = {"guess": DummyClassifier()}


@pytest.fixture(scope="module")
def model():
    return make_pipeline(StandardScaler(), SVC()).fit(X, Y)


def test_scores_are_those_of_cross_validation(model):
    found = evaluate_model(model, X, Y, against=OTHERS, cv=3, repeats=2, seed=1)
    folds = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=1)
    expected = cross_val_score(model, X, Y, cv=folds)
    np.testing.assert_allclose(found.best.values["accuracy"], expected)
    assert found.best.label == "SVC"
    assert [each.label for each in found.scores] == ["SVC", "guess"]
    assert len(found.held_out.rows) == len(X)
    assert found.target.name == "target"
    assert found.weights == ()
    assert found.test_ratio == 1 / 2


def test_yardsticks_encode_the_columns_themselves(model):
    told = []
    frame = X.assign(colour=np.where(Y == 0, "red", "blue"))
    table = make_pipeline(TableEncoder(), StandardScaler(), SVC()).fit(frame, Y)
    found = evaluate_model(table, frame, Y, test_size=0.3, progress=lambda *a: told.append(a))
    assert [each.method for each in found.scores] == ["SVC", "svc", "guessing", "forest"]
    assert not any(each.failure for each in found.scores)
    assert found.scores[1].mean("accuracy") == found.best.mean("accuracy")
    assert {each.name: each.kind for each in found.columns}["colour"] == "boolean"
    assert "0 or 1" in {each.why for each in found.columns}
    assert told[-1] == (4, 4, "")


def test_repeats_are_for_folds(model):
    found = evaluate_model(model, X, Y, against=OTHERS, test_size=0.5, repeats=2)
    assert (found.n_splits, len(found.held_out.rows)) == (1, 75)


@loop("kind", ["array", "list", "polars"])
def test_rows_may_come_in_several_kinds(kind):
    rows = {"array": X.to_numpy(), "list": X.to_numpy().tolist(), "polars": pl.from_pandas(X)}[kind]
    model = SVC().fit(rows, Y.to_numpy())
    found = evaluate_model(model, rows, Y.to_numpy(), cv=2)
    assert found.best.mean("accuracy") > 0.9
    assert found.target.name == "target"
    assert found.columns[0].name == (X.columns[0] if kind == "polars" else "x0")
    assert {each.why for each in found.columns} == {"given to the model as it is"}


def test_rows_without_a_class_are_left_out(model):
    y = Y.map({0: "a", 1: "b", 2: "c"})
    y[:5] = None
    found = evaluate_model(model, X, y, against=OTHERS, cv=2)
    assert sum(found.target.counts) == len(X) - 5
    assert "5 rows without a class are left out" in found.notes


class Refuses(ClassifierMixin, BaseEstimator):
    """Fits all rows, but no part of them."""

    def fit(self, X, y):
        if len(X) < 150:
            raise ValueError("too few rows")
        self.classes_ = np.unique(y)
        return self


@loop(
    ("rows", "options", "error", "words"),
    [
        (X, {"against": {"SVC": SVC()}}, ValueError, "give a label"),
        (sp.csr_array(X), {}, TypeError, "X is sparse"),
        (X[:20], {}, ValueError, "inconsistent"),
        (X, {"cv": 1}, ValueError, "at least 2 folds"),
    ],
    ids=["same name", "sparse", "other length", "one fold"],
)
def test_bad_input_is_refused(model, rows, options, error, words):
    with pytest.raises(error, match=words):
        evaluate_model(model, rows, Y, **options)


def test_models_that_cannot_be_judged_are_refused():
    with pytest.raises(NotFittedError):
        evaluate_model(SVC(), X, Y)
    with pytest.raises(ValueError, match="a part of the rows: Refuses: too few rows"):
        evaluate_model(Refuses().fit(X, Y), X, Y, against=OTHERS)


@pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.9"),
    reason="scikit-learn before 1.9 fails by itself where pandas is hidden as in this test",
)
def test_missing_pandas_is_named(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="evaluate_model needs pandas"):
        evaluate_model(model, X.to_numpy(), Y.to_numpy())


@loop("wrong", [None, Y.to_numpy(), np.zeros((150, 2, 2))])
def test_rows_that_are_no_table_are_refused(model, wrong):
    with pytest.raises(ValueError, match="X must be a table of rows and columns; got"):
        evaluate_model(model, wrong, Y)
