"""The training rows that a RelevanceSVC keeps for explanations."""

import numpy as np
import pandas as pd
import pytest

from kernelwise import RelevanceSVC
from kernelwise.io import load, save
from kernelwise.svm.relevance.explaining import (
    background_rows,
    known_rows,
    reader_of_encoded_rows,
)


def table(n, seed=0):
    """Return numbers with gaps and a category, and two classes."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))
    X["city"] = rng.choice(list("uvw"), n)
    X.loc[::7, "b"] = np.nan
    return X, np.where(X["a"] + (X["city"] == "u") > 0.3, "yes", "no")


@pytest.fixture(scope="module", params=[(150, {}), (600, {}), (150, {"ensemble": False})])
def fitted(request):
    n, options = request.param
    X, y = table(n)
    return RelevanceSVC(**options).fit(X, y), X, y


def test_kept_rows_are_training_rows_with_their_classes(fitted, tmp_path):
    model, X, y = fitted
    encoded = model.columns_.apply(X)
    for own in (model, load(save(model, tmp_path / "model.kw"))):
        for rows in (background_rows(own), known_rows(own)):
            np.testing.assert_array_equal(rows.X, encoded[rows.numbers])
            np.testing.assert_array_equal(own.classes_[rows.classes], y[rows.numbers])
        assert len(background_rows(own).X) == 100
        assert len(np.unique(known_rows(own).numbers)) == len(known_rows(own).numbers)
        assert set(own.support_) <= set(known_rows(own).numbers)


def test_classes_of_the_background_have_their_shares(fitted):
    model, _, y = fitted
    share = background_rows(model).classes.mean()
    assert abs(share - np.mean(y == "yes")) <= 0.01


def test_a_weight_of_two_is_a_row_given_twice():
    X, y = table(150)
    weight = 1.0 + (np.arange(150) % 2)
    twice = np.repeat(np.arange(150), weight.astype(int))
    mixed = np.random.default_rng(0).permutation(twice)
    weighted = background_rows(RelevanceSVC().fit(X, y, sample_weight=weight))
    repeated = background_rows(RelevanceSVC().fit(X.iloc[mixed], y[mixed]))
    np.testing.assert_array_equal(weighted.X, repeated.X)


def test_support_vectors_stand_in_for_models_that_kept_no_rows(fitted):
    model, _, _ = fitted
    own = dict(vars(model))
    own.pop("_background_")
    older = RelevanceSVC()
    vars(older).update(own)
    np.testing.assert_array_equal(background_rows(older).numbers, older.support_)
    older.support_vectors_ = older.support_vectors_[:0]
    assert background_rows(older) is None
    assert known_rows(older) is None


def test_reader_of_encoded_rows_is_the_same_classifier(fitted):
    model, X, _ = fitted
    reader, encoded = reader_of_encoded_rows(model), model.columns_.apply(X)
    np.testing.assert_array_equal(reader.predict_proba(encoded), model.predict_proba(X))
    np.testing.assert_array_equal(reader.decision_function(encoded), model.decision_function(X))
    assert hasattr(model, "columns_")
