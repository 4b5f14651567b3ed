"""GeneralizedBiasSVC(solver="paper"): the construction of the paper, and what it must equal."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris

from kernelwise import SVC
from kernelwise.kernels import RBF
from kernelwise.qp import SeveralEqualities, c_svc
from kernelwise.svm.generalized_bias.construction import (
    Construction,
    independent_rows,
    solve_constructed,
)
from tests.loop import loop
from tests.svm.generalized_bias.oracles import PaperMachine
from tests.svm.generalized_bias.test_generalized_bias import (
    half_rbf,
    noisy,
    ones,
    trend,
    with_constant,
)

from .oracles import unpenalised

EXACT = 1e-9
SOLVERS = ("auto", "paper")


@loop("C", [0.3, 1.0, 30.0])
def test_machine_is_that_of_the_steps_of_the_paper(C):
    X, y = noisy()
    printed = PaperMachine(half_rbf, with_constant, X, y, C)
    model = unpenalised(trend, C=C, kernel=RBF(0.5), solver="paper", tol=EXACT).fit(X, y)
    new = noisy(seed=1)[0]
    assert_allclose(model.decision_function(X), printed.decisions(X), atol=2e-6)
    assert_allclose(model.decision_function(new), printed.decisions(new), atol=2e-6)


@loop("C", [0.1, 1.0, 10.0])
@loop(
    ("features", "fit_intercept"),
    [*((each, False) for each in (trend, with_constant, ones, None)), (trend, True), (None, True)],
)
def test_paper_equals_auto(C, features, fit_intercept):
    X, y = noisy(120)
    how = {"C": C, "kernel": RBF(0.5), "fit_intercept": fit_intercept, "tol": EXACT}
    auto, paper = (unpenalised(features, solver=s, **how).fit(X, y) for s in SOLVERS)
    new = noisy(seed=1)[0]
    assert_allclose(paper.decision_function(new), auto.decision_function(new), atol=1e-6)
    assert_allclose(paper.bias_coef_, auto.bias_coef_, atol=1e-6)
    assert_allclose(paper.intercept_, auto.intercept_, atol=1e-6)
    assert paper.certificate_.violation.max() < 1e-6


def test_several_classes_and_weights():
    X, y = load_iris(return_X_y=True)
    X = X + 0.3 * np.random.default_rng(0).normal(size=X.shape)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, size=len(y))
    how = {"bias_features": [0], "C": 0.5, "tol": EXACT, "class_weight": {0: 1.0, 1: 2.0, 2: 1.0}}
    auto, paper = (unpenalised(solver=s, **how).fit(X, y, weight) for s in SOLVERS)
    assert_allclose(paper.decision_function(X), auto.decision_function(X), atol=1e-6)


@loop("nodes", [[0, 1, 2], [5, 30, 17], []], ids=["first", "others", "virtual"])
def test_nodes_do_not_matter(nodes):
    X, y = noisy()
    qp, F = c_svc(half_rbf(X, X), y, np.ones(len(y))), with_constant(X)
    solver = SeveralEqualities(EXACT)
    found = solve_constructed(qp, F, solver, nodes=np.array(nodes, dtype=int))
    plain = solve_constructed(qp, F, solver)
    assert_allclose(found.beta, plain.beta, atol=1e-6)
    assert_allclose(found.nu, plain.nu, atol=1e-6)


def test_construction_has_the_properties_that_the_paper_names():
    X, _ = noisy()
    F, Phi = with_constant(X), half_rbf(X, X)
    made = Construction.of(Phi, F)
    assert_allclose(made.basis[made.nodes], np.eye(3), atol=1e-12)  # eq. 11
    assert_allclose(made.H[made.nodes], 0.0)  # eq. 14
    rest = np.setdiff1d(np.arange(len(X)), made.nodes)
    assert np.linalg.eigvalsh(made.H[np.ix_(rest, rest)]).min() > 0
    virtual = Construction.of(Phi, F, np.empty(0, dtype=int))
    assert_allclose(virtual.H, Phi)
    assert_allclose(virtual.basis, F)


def test_dependent_features_use_virtual_samples():
    X, y = noisy(120)

    def twice(X):
        return np.column_stack([X[:, 0], X[:, 0]])

    assert len(independent_rows(twice(X))) == 0
    assert len(independent_rows(trend(X))) == 2
    how = {"kernel": RBF(0.5), "tol": EXACT}
    paper = unpenalised(twice, solver="paper", **how).fit(X, y)
    once = unpenalised([0], solver="auto", **how).fit(X, y)
    assert_allclose(paper.decision_function(X), once.decision_function(X), atol=1e-6)


def test_regularization_is_the_gamma_of_the_paper():
    X, y = noisy(80)
    gamma = 0.01
    model = unpenalised(trend, regularization=gamma, C=123.0, kernel=RBF(0.5), tol=EXACT)
    model.fit(X, y)
    # Eq. 3: the mean slack plus gamma times the squared norm of the kernel part is least.
    K, F, new = half_rbf(X, X), with_constant(X), np.random.default_rng(0)

    def objective(beta, coef):
        slack = np.maximum(0, 1 - y * (K @ beta + F @ coef))
        return slack.mean() + gamma * beta @ K @ beta

    beta = np.zeros(len(y))
    beta[model.support_] = model.dual_coef_[0]
    coef = np.append(model.intercept_, model.bias_coef_[0])
    least = objective(beta, coef)
    for _ in range(50):
        away = objective(beta + 1e-3 * new.normal(size=len(y)), coef + 1e-3 * new.normal(size=3))
        assert away > least
    assert_allclose(model.C_, [1 / (2 * gamma * len(y))])
    same = unpenalised(trend, C=model.C_[0], kernel=RBF(0.5), tol=EXACT).fit(X, y)
    assert_allclose(model.decision_function(X), same.decision_function(X), atol=1e-7)


def test_regularization_counts_the_rows_of_each_machine():
    X, y = load_iris(return_X_y=True)
    X, y = X[:130], y[:130]
    model = unpenalised(regularization=0.05).fit(X, y)
    assert_allclose(model.C_, 1 / (2 * 0.05 * np.array([100, 80, 80])))
    pair = SVC(C=model.C_[1], gamma=model.kernel_.gamma).fit(X[y != 1], y[y != 1])
    assert_allclose(model.intercept_[1], -pair.intercept_[0], atol=1e-6)  # a pair counts its first


def test_penalty_is_refused():
    X, y = noisy()
    with pytest.raises(ValueError, match="solver='paper' has no penalty"):
        unpenalised(trend, solver="paper", bias_penalty=1.0).fit(X, y)


def test_a_slice_beyond_the_columns_is_refused():
    X, y = np.random.default_rng(0).normal(size=(12, 4)), np.arange(12) % 2
    with pytest.raises(ValueError, match=r"slice\(50, 60, None\) selects no column: X has 4"):
        unpenalised(slice(50, 60)).fit(X, y)
