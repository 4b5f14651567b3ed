"""SVRSearchCV: the results of GridSearchCV over an SVR, from less work."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import scale

from kernelwise import SVC, SVR, SVRSearchCV
from kernelwise.svm.search.evaluate import Evaluator
from tests.loop import loop

GRID = {"C": [0.1, 1.0, 10.0], "gamma": [0.01, 0.1], "epsilon": [0.05, 0.3]}
TOL = 1e-7


def table():
    X, y = load_diabetes(return_X_y=True)
    return scale(X)[:150], scale(y)[:150]


@loop("scoring", [None, "neg_mean_absolute_error", ["r2", "neg_root_mean_squared_error"]])
@loop("weighted", [False, True])
def test_results_are_those_of_a_grid_search(scoring, weighted):
    X, y = table()
    weight = {"sample_weight": np.linspace(0, 2, len(y))} if weighted else {}
    options = {"cv": 3, "scoring": scoring, "return_train_score": True}
    options["refit"] = "r2" if isinstance(scoring, list) else True
    ours = SVRSearchCV(SVR(tol=TOL), GRID, **options).fit(X, y, **weight)
    plain = GridSearchCV(SVR(tol=TOL), GRID, **options).fit(X, y, **weight)
    assert ours.best_params_ == plain.best_params_
    for name, values in plain.cv_results_.items():
        if "score" in name and "time" not in name and "rank" not in name:
            assert_allclose(ours.cv_results_[name], values, atol=1e-5)
    assert_allclose(ours.predict(X), plain.predict(X), atol=1e-6)
    assert_allclose(ours.score(X, y), plain.score(X, y), atol=1e-6)


@loop("case", ["several targets", "precomputed", "scale", "a function"])
def test_rows_and_targets_of_all_kinds(case):
    X, y = table()
    grid, model = {"C": [0.1, 1.0, 10.0]}, SVR(tol=TOL, gamma=0.1)
    if case == "several targets":
        y = np.column_stack([y, X[:, 0] ** 2])
    elif case == "precomputed":
        X, model = rbf_kernel(X, gamma=0.1), SVR(tol=TOL, kernel="precomputed")
    elif case == "scale":
        model = SVR(tol=TOL)
    else:
        model = SVR(tol=TOL, kernel=rbf_kernel)
    ours, plain = (search(model, grid, cv=3).fit(X, y) for search in (SVRSearchCV, GridSearchCV))
    for name in ("mean_test_score", "split0_test_score"):
        assert_allclose(ours.cv_results_[name], plain.cv_results_[name], atol=1e-5)
    assert_allclose(ours.predict(X), plain.predict(X), atol=1e-6)


def test_the_folds_share_one_kernel_matrix(monkeypatch):
    X, y = table()
    fitted = []
    monkeypatch.setattr(Evaluator, "_fit_each", lambda *_: fitted.append(1))
    SVRSearchCV(SVR(calibration="loo"), GRID, cv=3).fit(X, y)
    assert fitted == []


def test_only_the_best_is_calibrated_and_only_an_svr_is_searched():
    X, y = table()
    search = SVRSearchCV(SVR(calibration="loo"), {"C": [0.1, 1.0]}, cv=3)
    low, high = search.fit(X, y).predict_interval(X)
    assert (low < high).all()
    assert_array_equal(search.best_estimator_.predict_interval(X)[0], low)
    default = SVRSearchCV(cv=3).fit(X, y)
    assert len(default.cv_results_["params"]) == 49
    assert not hasattr(SVRSearchCV(SVR()), "decision_function")
    with pytest.raises(TypeError, match=r"must be a kernelwise\.SVR; got SVC"):
        SVRSearchCV(SVC()).fit(X, y)
