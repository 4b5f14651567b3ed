"""MarginRadiusSVC(C="cv"): the cost of the lowest loss on held-out rows."""

import numpy as np
from numpy.testing import assert_allclose
from scipy.special import expit
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import StandardScaler

from kernelwise import MarginRadiusSVC
from kernelwise.svm.base.held_out import held_out_loss, lowest
from kernelwise.svm.base.left_out import deal_task
from kernelwise.svm.margin_radius.choice import COSTS
from tests.svm.problems import task_of


def cancer(n=120, d=8):
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X[:n, :d]), y[:n]


def test_the_path_has_the_losses_of_separate_fits():
    X, y = cancer()
    model = MarginRadiusSVC(tol=1e-6).fit(X, y)
    codes = np.where(y == 1, 1.0, -1.0)
    low, high = X.min(axis=0), X.max(axis=0)  # the ranges are those of all rows
    losses = []
    for C in COSTS:
        lost = 0.0
        for fold in deal_task(task_of(X, y), 5):
            kept = np.setdiff1d(np.arange(len(y)), fold)
            # Two rows without influence keep the ranges: their weight is next to nothing.
            rows = np.vstack([X[kept], low, high])
            weights = np.append(np.ones(len(kept)), [1e-12, 1e-12])
            own = MarginRadiusSVC(C=C, tol=1e-6).fit(rows, [*y[kept], 0, 1], weights)
            margins = codes[fold] * own.decision_function(X[fold])
            lost += ((margins <= 0) + expit(-5 * margins)).sum()
        losses.append(lost / len(y))
    assert_allclose(model.path_["loss"], losses, atol=2e-2)
    assert COSTS[lowest(model.path_["loss"])] == model.C_


def test_the_chosen_cost_is_used():
    for X, y in (cancer(), load_iris(return_X_y=True)):
        model = MarginRadiusSVC().fit(X, y)
        given = MarginRadiusSVC(C=model.C_).fit(X, y)
        assert given.path_ is None
        assert_allclose(model.coef_, given.coef_, rtol=1e-6, atol=1e-9)


def test_a_class_of_one_row_is_in_no_fold():
    X = np.arange(4.0)[:, None]
    model = MarginRadiusSVC().fit(X, [0, 0, 0, 1])
    assert np.isfinite(model.path_["loss"]).all()
    assert MarginRadiusSVC().fit(X[:2], [0, 1]).C_ == 1.0


def test_losses_count_leads_of_several_classes_and_rows_of_pairs():
    Y = np.array([[1.0, -1.0, -1.0], [-1.0, 1.0, -1.0]])
    decisions = np.array([[0.5, 0.1, -1.0], [0.3, 0.1, 0.0]])
    expected = (expit(-5 * 0.2) + 3 * (1 + expit(5 * 0.1))) / 4
    assert_allclose(held_out_loss(Y, decisions, np.array([1.0, 3.0])), expected)
    pairs = np.array([[1.0, 0.0], [0.0, -1.0]])
    values = np.array([[2.0, 9.0], [9.0, 1.0]])
    expected = (expit(-10.0) + 1 + expit(5.0)) / 2
    assert_allclose(held_out_loss(pairs, values, np.ones(2)), expected)
