"""A fit that fails or is interrupted leaves the estimator as it was."""

import threading

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import NotFittedError
from threadpoolctl import threadpool_limits

from kernelwise import (
    SVC,
    AdaptiveKernelSVC,
    DualObjectiveSVC,
    EmpiricalKernelMap,
    FeatureDiscriminationScaler,
    FeatureDiscriminationSVC,
    GeneralizedBiasSVC,
    GeodesicNeighborFeatures,
    MarginRadiusSVC,
    RelevanceSelector,
    RelevanceSVC,
    SVCSearchCV,
    TopicFeatures,
)
from kernelwise.app.tabular import TableEncoder
from tests.loop import loop

X, Y = load_iris(return_X_y=True)
SETTING_AS_THEY_GO = [
    EmpiricalKernelMap(n_components=3),
    FeatureDiscriminationScaler(),
    GeodesicNeighborFeatures(),
    RelevanceSelector(),
    SVCSearchCV(SVC(), {"C": [1.0]}, cv=2),
    TableEncoder(),
    TopicFeatures(2, random_state=0),
]


class InterruptedFitError(Exception):
    """Stands for Ctrl-C."""


def interrupt(event):
    raise InterruptedFitError


WITH_CALLBACK = [SVC, AdaptiveKernelSVC, DualObjectiveSVC, GeneralizedBiasSVC]
ALL = [*WITH_CALLBACK, FeatureDiscriminationSVC, MarginRadiusSVC, RelevanceSVC]


@loop("kind", WITH_CALLBACK)
def test_an_interrupted_first_fit_leaves_the_estimator_unfitted(kind):
    model = kind(callback=interrupt)
    with pytest.raises(InterruptedFitError):
        model.fit(X, Y)
    assert sorted(vars(model)) == sorted(model.get_params())
    with pytest.raises(NotFittedError):
        model.predict(X)


@loop("kind", WITH_CALLBACK)
def test_an_interrupted_second_fit_keeps_the_first_model(kind):
    model = kind().fit(X, Y)
    before, expected = dict(vars(model)), model.decision_function(X)
    model.set_params(callback=interrupt)
    with pytest.raises(InterruptedFitError):
        model.fit(X[:, :2], Y)
    assert {**vars(model), "callback": None} == {**before, "callback": None}
    assert_array_equal(model.decision_function(X), expected)


@loop("kind", ALL)
def test_refused_input_keeps_the_first_model(kind):
    model = kind().fit(X, Y)
    before = dict(vars(model))
    with pytest.raises(ValueError, match="greater than one"):
        model.fit(X[:, :3], np.zeros(len(X), dtype=int))
    assert vars(model) == before


@loop("given", SETTING_AS_THEY_GO, ids=lambda model: type(model).__name__)
def test_a_transformer_or_search_that_fails_late_keeps_the_first_model(given):
    rows = pd.DataFrame(X, columns=list("abcd"))
    model = clone(given).fit(rows, Y)
    before = dict(vars(model))
    seen = []

    def fail_late(draft, name, value):
        object.__setattr__(draft, name, value)
        if name.endswith("_"):
            seen.append(name)
            raise InterruptedFitError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(model), "__setattr__", fail_late)
        with pytest.raises(InterruptedFitError):
            model.fit(rows[["a", "b"]], Y)
    assert seen, "the fit sets attributes as it goes"
    assert vars(model) == before


def test_nothing_of_an_earlier_fit_stays():
    model = SVC(kernel="linear").fit(pd.DataFrame(X, columns=list("abcd")), Y)
    model.fit(X, Y)
    assert not hasattr(model, "feature_names_in_")


@loop("kind", ALL)
def test_the_threads_of_blas_leave_no_trace(kind):
    A, a = load_breast_cancer(return_X_y=True)
    decisions = []
    for threads in (1, 2):
        with threadpool_limits(threads, "blas"):
            model = kind().fit(A, a)
            decisions.append(model.decision_function(A))
    assert_array_equal(*decisions)


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
