"""AdaptiveKernelSVC(stop="margin"): the Kernel-Adatron line by line, and what its stop means."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris, make_classification

from kernelwise.kernels import RBF
from kernelwise.qp import c_svc
from kernelwise.svm import AdaptiveKernelSVC
from kernelwise.svm.paths.solvers import MarginAdatron
from tests.loop import loop
from tests.oracles import naive_kernel


def rows(n=40):
    """Return the rows of a table; the second is a copy of the first."""
    X, y = make_classification(n, 10, n_informative=5, n_redundant=0, random_state=1)
    X[1], y[1] = X[0], y[0]
    return X, y


def kernel_adatron(K, y, eta, tol, alpha=None, C=np.inf, most=10_000):
    """Run the printed algorithm; return alpha, the sweeps and the margin at the stop."""
    m = len(y)
    alpha = np.full(m, min(1.0, C)) if alpha is None else alpha.copy()  # 1. alpha_i = 1
    for sweeps in range(1, most + 1):  # noqa: B007 - it is returned
        z = np.zeros(m)
        for i in range(m):  # 2. FOR i = 1 TO m
            z[i] = sum(alpha[j] * y[j] * K[i, j] for j in range(m))
            gamma = y[i] * z[i]
            delta = eta * (1 - gamma)
            alpha[i] = 0.0 if alpha[i] + delta <= 0 else min(alpha[i] + delta, C)
        margin = 0.5 * (min(z[y > 0]) - max(z[y < 0]))
        if margin >= 1 - tol:  # 3. IF (margin = 1) THEN stop, ELSE go to step 2
            break
    return alpha, sweeps, margin


@loop(
    ("sigma", "eta", "C"),
    [(1.0, 1.0, np.inf), (3.0, 1.0, np.inf), (3.0, 0.5, np.inf), (2.0, 1.0, 0.7)],
)
def test_solver_is_the_printed_algorithm(sigma, eta, C):
    X, y = rows()
    K, codes = naive_kernel(RBF(0.5 / sigma**2), X), np.where(y == 1, 1.0, -1.0)
    most = 10_000 if np.isinf(C) else 20
    alpha, sweeps, _ = kernel_adatron(K, codes, eta, 0.01, C=C, most=most)
    qp = c_svc(K, codes, np.full(len(y), C), bias=False)
    solution = MarginAdatron(tol=0.01, eta=eta, max_iter=most).solve(qp)
    assert solution.n_iter == sweeps
    assert_allclose(solution.beta * codes, alpha, atol=1e-12)


def test_path_is_the_selection_procedure_of_the_paper():
    X, y = rows()
    widths = [0.3, 1.0, 1.5, 2.0, 2.5]
    model = AdaptiveKernelSVC(
        solver="adatron", stop="margin", tol=0.01, criterion="bound", widths=widths
    ).fit(X, y)
    codes, alpha = np.where(y == 1, 1.0, -1.0), None
    for point, sigma in enumerate(widths):
        K = naive_kernel(RBF(0.5 / sigma**2), X)
        alpha, sweeps, _ = kernel_adatron(K, codes, 1.0, 0.01, alpha)
        z = K @ (alpha * codes)
        assert model.path_["n_iter"][point] == sweeps
        assert_allclose(model.path_["bound"][point], alpha.sum() / len(y), rtol=1e-9)
        margin = 0.5 * (z[codes > 0].min() - z[codes < 0].max())
        assert_allclose(model.path_["functional_margin"][point], margin, rtol=1e-9)
    assert model.path_["converged"].all()


def test_sweeps_follow_the_order_of_the_table():
    X, y = rows(60)
    how = {"criterion": "bound", "widths": [2.0], "solver": "adatron", "stop": "margin"}
    given = AdaptiveKernelSVC(**how).fit(X, y)
    turned = AdaptiveKernelSVC(**how).fit(X[::-1], y[::-1])
    assert given.path_["n_iter"] != turned.path_["n_iter"]
    assert given.n_path_rows_ == len(y)  # copies are rows of their own


def test_functional_margin_of_solved_machines_is_one():
    X, y = rows()
    how = {"criterion": "bound", "widths": [1.0, 3.0], "tol": 1e-6}
    for solver in ("smo", "adatron"):
        path = AdaptiveKernelSVC(solver=solver, **how).fit(X, y).path_
        assert_allclose(path["functional_margin"], 1.0, atol=1e-5)


def test_several_classes_report_their_least_margin():
    X, y = load_iris(return_X_y=True)
    how = {"criterion": "bound", "widths": [0.05], "solver": "adatron"}
    X, first = np.unique(X, axis=0, return_index=True)
    path = AdaptiveKernelSVC(stop="margin", tol=0.05, **how).fit(X, y[first]).path_
    assert path["functional_margin"].shape == (1,)
    assert path["converged"].all()


def test_margin_of_one_is_not_yet_the_optimum():
    X, y = rows(120)
    how = {"criterion": "bound", "widths": [2.0, 4.0], "solver": "adatron", "tol": 0.01}
    soon = AdaptiveKernelSVC(stop="margin", **how).fit(X, y)
    later = AdaptiveKernelSVC(stop="tol", **how).fit(X, y)
    assert soon.path_["n_iter"].sum() < later.path_["n_iter"].sum()
    assert soon.certificate_.violation.max() > later.certificate_.violation.max()


@loop("how", [{}, {"solver": "adatron", "bias": True}])
def test_other_machines_are_refused(how):
    X, y = rows()
    with pytest.raises(ValueError, match="stop='margin' is for solver='adatron' without a bias"):
        AdaptiveKernelSVC(stop="margin", **how).fit(X, y)


def test_diverging_steps_are_refused():
    X, y = rows()
    with pytest.raises(ValueError, match="0 < eta < 2 / max K_ii"):
        AdaptiveKernelSVC(solver="adatron", stop="margin", eta=2.5).fit(X, y)


def test_held_out_points_have_no_functional_margin():
    X, y = rows()
    path = AdaptiveKernelSVC(criterion="cv", widths=2, C=1.0).fit(X, y).path_
    assert_array_equal(path["functional_margin"], np.nan)
