"""Support vector machines in cells, at given parameters."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.multiclass import OneVsRestClassifier

from kernelwise import SVC, CellSVC, load, save
from kernelwise.io import to_onnx
from kernelwise.kernels import Laplacian, Matern32
from kernelwise.qp import SMO
from kernelwise.scale import cells


def table(n=1200, n_classes=2, seed=0):
    return make_classification(
        n, 6, n_informative=4, n_classes=n_classes, flip_y=0.05, random_state=seed
    )


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", Matern32(0.2)], ids=str)
def test_one_cell_is_the_exact_machine(kernel):
    X, y = table(400)
    weight = np.random.default_rng(1).integers(0, 3, 400).astype(float)
    options = {"C": 5.0, "kernel": kernel, "class_weight": "balanced", "tol": 1e-9}
    exact = SVC(**options).fit(X, y, weight)
    model = CellSVC(**options).fit(X, y, weight)
    assert_array_equal(model.n_cells_, [1])
    assert_allclose(model.decision_function(X), exact.decision_function(X), atol=1e-6)
    assert_array_equal(model.support_, np.sort(exact.support_))
    assert_array_equal(model.n_support_, exact.n_support_)


def test_one_cell_of_several_classes_is_one_machine_against_the_rest_each():
    X, y = table(400, n_classes=3)
    exact = OneVsRestClassifier(SVC(C=2.0, gamma=0.2, tol=1e-9)).fit(X, y)
    model = CellSVC(C=2.0, gamma=0.2, tol=1e-9).fit(X, y)
    assert_allclose(model.decision_function(X), exact.decision_function(X), atol=1e-6)
    assert_array_equal(model.predict(X), exact.predict(X))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_many_cells_decide_about_as_well(n_classes):
    X, y = table(4000, n_classes)
    new, truth = X[3000:], y[3000:]
    exact = SVC(C=3.0, gamma=0.2).fit(X[:3000], y[:3000])
    model = CellSVC(C=3.0, gamma=0.2, cell_size=500).fit(X[:3000], y[:3000])
    assert len(model.n_cells_) == 3
    assert (model.n_cells_ >= 6).all()
    assert model.score(new, truth) > exact.score(new, truth) - 0.02


def test_threads_do_not_change_the_decisions():
    X, y = table(2000)
    one = CellSVC(cell_size=200, random_state=3).fit(X, y)
    two = CellSVC(cell_size=200, random_state=3, n_jobs=2).fit(X, y)
    other = CellSVC(cell_size=200, random_state=4).fit(X, y)
    assert_array_equal(one.decision_function(X), two.decision_function(X))
    assert not np.array_equal(one.decision_function(X), other.decision_function(X))


def test_rows_of_weight_zero_are_absent():
    X, y = table(900)
    weight = np.ones(900)
    weight[::3] = 0
    with_zeros = CellSVC(cell_size=1000).fit(X, y, weight)
    without = CellSVC(cell_size=1000).fit(X[weight > 0], y[weight > 0])
    assert_allclose(with_zeros.decision_function(X), without.decision_function(X), atol=1e-9)
    assert not (with_zeros.support_ % 3 == 0).any()


@pytest.mark.parametrize("calibration", ["loo", "halves"])
def test_probabilities(calibration):
    X, y = table(2500, n_classes=3)
    model = CellSVC(C=3.0, gamma=0.2, cell_size=400, calibration=calibration).fit(X, y)
    new, truth = X[:1500], y[:1500]
    shares = model.predict_proba(new)
    assert_allclose(shares.sum(axis=1), 1)
    assert model.calibration_.n_rows == 2500
    sure = shares.max(axis=1) > 0.9
    assert np.mean(model.classes_[shares.argmax(axis=1)][sure] == truth[sure]) > 0.9


def test_model_files_hold_cells_and_exports_refuse_them(tmp_path):
    X, y = table(600)
    model = CellSVC(cell_size=100, calibration="loo").fit(X, y)
    loaded = load(save(model, tmp_path / "cells.kw"))
    assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    with pytest.raises(ValueError, match="no object for trees of cells"):
        model.to_sklearn()
    with pytest.raises(ValueError, match="CellSVC cannot be exported to ONNX"):
        to_onnx(model)
    with pytest.raises(AttributeError, match="not for an average"):
        _ = model.slack_bound_


def test_what_has_no_cells_is_refused():
    X, y = table(100)
    with pytest.raises(ValueError, match="'kernel' parameter of CellSVC"):
        CellSVC(kernel="sigmoid").fit(X, y)
    with pytest.raises(ValueError, match="'kernel' parameter of CellSVC"):
        CellSVC(kernel=Laplacian() + Laplacian()).fit(X, y)


def test_cells_that_do_not_converge_are_told(monkeypatch):
    monkeypatch.setattr(cells, "_solver", lambda tol: SMO(tol=tol, max_iter=1))
    X, y = table(300)
    with pytest.warns(ConvergenceWarning, match=r"of \d+ cells did not converge"):
        model = CellSVC(cell_size=100, n_trees=1).fit(X, y)
    assert model.fit_status_ == 1
