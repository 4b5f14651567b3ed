"""The dual objective against other solvers of the same machine."""

import numpy as np
import pytest
from sklearn.svm import SVC

from kernelwise.criteria import DualObjective
from kernelwise.kernels import RBF, Linear
from kernelwise.qp import SMO
from tests.criteria.cone import squared_slack_machine
from tests.loop import loop

TIGHT = SMO(tol=1e-8)


def rows(n=80, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = np.where(X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.7 * rng.normal(size=n) > 0.4, 1.0, -1.0)
    return X, y, rng.uniform(0.3, 3.0, size=n)


@loop("C", [0.1, 1.0, 10.0, 1000.0])
@loop("kernel", [RBF(gamma=0.3), Linear(gamma=0.5)])
def test_hinge_is_the_dual_objective_of_scikit_learn(kernel, C):
    X, y, weights = rows()
    K = kernel(X).astype(np.float32).astype(np.float64)  # LIBSVM keeps its rows in float32
    peer = SVC(kernel="precomputed", C=C, tol=1e-7).fit(K, y, sample_weight=weights)
    beta = np.zeros(len(y))
    beta[peer.support_] = peer.dual_coef_[0]
    value = DualObjective(C=C, solver=TIGHT).evaluate(K, y, weights=weights).value
    assert value == pytest.approx(np.abs(beta).sum() - 0.5 * beta @ K @ beta, rel=1e-6)


def test_columns_of_codes_are_machines_of_scikit_learn():
    X, y, _ = rows()
    K = RBF(gamma=0.3)(X)
    Y = np.column_stack([y, np.where(X[:, 2] > 0.8, 0.0, np.where(X[:, 3] > 0, 1.0, -1.0))])
    expected = 0.0
    for column in Y.T:
        inside = np.flatnonzero(column)
        block = K[np.ix_(inside, inside)]
        peer = SVC(kernel="precomputed", C=2.0, tol=1e-7).fit(block, column[inside])
        beta = np.zeros(len(inside))
        beta[peer.support_] = peer.dual_coef_[0]
        expected += np.abs(beta).sum() - 0.5 * beta @ block @ beta
    value = DualObjective(C=2.0, solver=TIGHT).evaluate(K, Y).value
    assert value == pytest.approx(expected, rel=1e-6)


@loop("C", [0.1, 1.0, 100.0])
@loop("weighted", [False, True])
def test_squared_slack_is_the_least_primal_objective(C, weighted):
    X, y, weights = rows()
    weights = weights if weighted else np.ones(len(y))
    criterion = DualObjective(C=C, slack="squared", solver=TIGHT)
    value = criterion.evaluate(X @ X.T, y, weights=weights).value
    assert value == pytest.approx(squared_slack_machine(X, y, C * weights), rel=1e-7)


def test_hinge_by_hand():
    # Margin 1 at w = 1: the objective is 1/2 while C allows alpha = 1/2, and 2 C - 2 C^2 below.
    X, y = np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0])
    for C, value, by_C in ((10.0, 0.5, 0.0), (0.5, 0.5, 0.0), (0.2, 0.32, 1.2)):
        found = DualObjective(C=C, solver=TIGHT).evaluate(X @ X.T, y)
        assert found.value == pytest.approx(value, abs=1e-12)
        assert found.by_C == pytest.approx(by_C, abs=1e-12)


def test_squared_slack_by_hand():
    # alpha = 1 / (2 + 1 / C), and the objective is alpha.
    X, y = np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0])
    found = DualObjective(C=4.0, slack="squared", solver=TIGHT).evaluate(X @ X.T, y)
    alpha = 1 / 2.25
    assert found.value == pytest.approx(alpha, abs=1e-12)
    expected = -0.5 * alpha**2 * np.array([[1.0, -1.0], [-1.0, 1.0]])
    np.testing.assert_allclose(found.cotangent.block(0, 2), expected, rtol=0, atol=1e-12)
    assert found.by_C == pytest.approx(alpha**2 / 16, abs=1e-12)


def test_constant_kernel_leaves_the_smaller_class_misclassified():
    # Nothing but the bias: twice the cost of the smaller class.
    y, weights = np.array([1.0, 1.0, 1.0, -1.0, -1.0]), np.array([1.0, 2.0, 3.0, 0.5, 1.0])
    found = DualObjective(C=2.0, solver=TIGHT).evaluate(np.ones((5, 5)), y, weights=weights)
    assert found.value == pytest.approx(2 * 2.0 * 1.5, rel=1e-12)
    assert found.by_C == pytest.approx(2 * 1.5, rel=1e-9)


def test_cotangent_lives_on_the_support_vectors():
    X, y, _ = rows()
    found = DualObjective(C=1.0, solver=TIGHT).evaluate(RBF(gamma=0.3)(X), y)
    beta = found.machines[0].beta
    np.testing.assert_array_equal(found.cotangent.rows, np.flatnonzero(beta))
    assert 0 < len(found.cotangent.rows) < len(y)
    support = beta[found.cotangent.rows]
    block = found.cotangent.block(0, len(support))
    np.testing.assert_allclose(block, -0.5 * np.outer(support, support), rtol=1e-12)


@loop("slack", ["hinge", "squared"])
def test_hard_margin_has_no_cost_to_differentiate_by(slack):
    X, y = np.array([[-1.0, 3.0], [2.0, 1.0], [3.0, 0.0]]), np.array([-1.0, 1.0, 1.0])
    found = DualObjective(C=np.inf, slack=slack, solver=TIGHT).evaluate(X @ X.T, y)
    assert found.value == pytest.approx(2 / 13, rel=1e-9)  # half of 1 / margin^2
    assert found.by_C == 0


@loop("slack", ["hinge", "squared"])
def test_one_class_alone_costs_nothing(slack):
    found = DualObjective(slack=slack).evaluate(np.eye(3), np.ones(3))
    assert found.value == 0
    assert found.by_C == 0
    gradient = RBF().vjp(np.eye(3), found.cotangent)
    assert gradient["gamma"] == 0
    np.testing.assert_array_equal(gradient["weights"], np.zeros(3))
