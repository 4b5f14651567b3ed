"""A fit that fails or is interrupted leaves the estimator as it was."""

import threading

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import NotFittedError

from kernelwise import (
    SVC,
    AdaptiveKernelSVC,
    DualObjectiveSVC,
    FeatureDiscriminationSVC,
    GeneralizedBiasSVC,
    MarginRadiusSVC,
    RelevanceSVC,
)

X, Y = load_iris(return_X_y=True)


class InterruptedFitError(Exception):
    """Stands for Ctrl-C."""


def interrupt(event):
    raise InterruptedFitError


WITH_CALLBACK = [SVC, AdaptiveKernelSVC, DualObjectiveSVC, GeneralizedBiasSVC, RelevanceSVC]
ALL = [*WITH_CALLBACK, FeatureDiscriminationSVC, MarginRadiusSVC]


@pytest.mark.parametrize("kind", WITH_CALLBACK)
def test_an_interrupted_first_fit_leaves_the_estimator_unfitted(kind):
    model = kind(callback=interrupt)
    with pytest.raises(InterruptedFitError):
        model.fit(X, Y)
    assert sorted(vars(model)) == sorted(model.get_params())
    with pytest.raises(NotFittedError):
        model.predict(X)


@pytest.mark.parametrize("kind", WITH_CALLBACK)
def test_an_interrupted_second_fit_keeps_the_first_model(kind):
    model = kind().fit(X, Y)
    before, expected = dict(vars(model)), model.decision_function(X)
    model.set_params(callback=interrupt)
    with pytest.raises(InterruptedFitError):
        model.fit(X[:, :2], Y)
    assert {**vars(model), "callback": None} == {**before, "callback": None}
    assert_array_equal(model.decision_function(X), expected)


@pytest.mark.parametrize("kind", ALL)
def test_refused_input_keeps_the_first_model(kind):
    model = kind().fit(X, Y)
    before = dict(vars(model))
    with pytest.raises(ValueError, match="greater than one"):
        model.fit(X[:, :3], np.zeros(len(X), dtype=int))
    assert vars(model) == before


def test_nothing_of_an_earlier_fit_stays():
    import pandas as pd

    model = SVC(kernel="linear").fit(pd.DataFrame(X, columns=list("abcd")), Y)
    model.fit(X, Y)
    assert not hasattr(model, "feature_names_in_")


def test_two_threads_end_with_one_of_the_two_models():
    A, a = load_breast_cancer(return_X_y=True)
    wide, narrow = SVC().fit(A, a), SVC().fit(X, Y)
    model = SVC()
    tables = [(A, a), (X, Y)]
    for _ in range(10):
        threads = [threading.Thread(target=model.fit, args=table) for table in tables]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        rows, expected = (A, wide) if model.n_features_in_ == A.shape[1] else (X, narrow)
        assert_array_equal(model.decision_function(rows), expected.decision_function(rows))
