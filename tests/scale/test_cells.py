"""The machines of one cell, against other solvers of the same problem."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelwise.kernels import RBF, Laplacian
from kernelwise.qp import SMO, c_svc
from kernelwise.qp.squared_hinge import squared_hinge
from kernelwise.scale.cells import CellSettings, fit_cell


def problem(n=120, k=1, seed=0):
    """Return rows, codes of one or several machines, and prices."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    score = np.sin(2 * X[:, :1]) + X[:, 1:2] + 0.5 * rng.normal(size=(n, 1))
    if k == 1:
        codes = np.sign(score)
    else:
        classes = np.searchsorted(np.quantile(score, np.arange(1, k) / k), score[:, 0])
        codes = np.where(classes[:, None] == np.arange(k), 1.0, -1.0)
    return X, codes, rng.uniform(0.5, 2, n)


def decide(cell, kernel, X, new):
    return kernel(new, X) @ cell.coef + cell.intercept


@pytest.mark.parametrize("kernel", [RBF(0.5), Laplacian(0.4)], ids=["rbf", "laplacian"])
@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_squared_hinge_is_the_linear_machine_of_the_kernel(kernel, k, C):
    X, codes, price = problem(k=k)
    cell = fit_cell(X, codes, price, CellSettings(kernel, C, tol=1e-9))
    Z = np.linalg.cholesky(kernel(X) + 1e-13 * np.eye(len(X)))  # rows with these dot products
    for j in range(k):
        exact = squared_hinge(Z, codes[:, j], C * price)
        assert_allclose(cell.coef[:, j], exact.alpha * codes[:, j], atol=1e-6 * C)
        assert_allclose(cell.intercept[j], exact.intercept, atol=1e-6)


def test_hinge_is_the_exact_machine():
    X, codes, price = problem()
    kernel = RBF(0.5)
    cell = fit_cell(X, codes, price, CellSettings(kernel, 3.0, loss="hinge", tol=1e-9))
    exact = SMO(tol=1e-9).solve(c_svc(kernel(X), codes[:, 0], 3.0 * price))
    assert_allclose(cell.coef[:, 0], exact.beta, atol=1e-9)
    assert_allclose(cell.intercept, exact.nu, atol=1e-9)


def test_single_precision_is_near_double():
    X, codes, price = problem(600)
    X = X.astype(np.float32)
    settings = CellSettings(RBF(0.5), 3.0)
    single, double = (fit_cell(rows, codes, price, settings) for rows in (X, X.astype(float)))
    new = problem(50, seed=1)[0]
    assert_allclose(decide(single, RBF(0.5), X, new), decide(double, RBF(0.5), X, new), atol=4e-3)


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_weights_are_copies(loss):
    X, codes, _ = problem(80)
    copies = np.random.default_rng(3).integers(1, 4, len(X))
    settings = CellSettings(RBF(0.5), 2.0, loss=loss, tol=1e-9)
    weighted = fit_cell(X, codes, copies.astype(float), settings)
    repeated = np.repeat(np.arange(len(X)), copies)
    copied = fit_cell(X[repeated], codes[repeated], np.ones(len(repeated)), settings)
    new = problem(50, seed=1)[0]
    assert_allclose(
        decide(weighted, RBF(0.5), X, new),
        decide(copied, RBF(0.5), X[repeated], new),
        atol=1e-6,
    )


def test_one_class_is_a_constant():
    X, codes, price = problem(40, k=3)
    own = codes[:, 0] > 0
    cell = fit_cell(X[own], codes[own], price[own], CellSettings(RBF(), 1.0), np.ones(own.sum()))
    assert not cell.coef.any()
    assert_array_equal(cell.intercept, [1, -1, -1])
    assert_array_equal(cell.left_out, codes[own])


def test_a_class_that_is_absent_leaves_the_other_machines():
    X, codes, price = problem(60, k=3)
    own = codes[:, 0] < 0
    cell = fit_cell(X[own], codes[own], price[own], CellSettings(RBF(), 1.0))
    assert cell.intercept[0] == -1
    assert not cell.coef[:, 0].any()
    # The other two machines are one problem with the codes turned.
    assert_allclose(cell.coef[:, 1], -cell.coef[:, 2], atol=1e-4)


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_left_out_decisions_are_those_of_machines_without_the_row(share):
    X, codes, price = problem(60)
    kernel = RBF(0.5)
    settings = CellSettings(kernel, 0.3, tol=1e-10)  # most rows are inside the margin
    cell = fit_cell(X, codes, price, settings, np.full(60, share))
    expected = np.empty(60)
    for i in range(60):
        own = np.arange(60) != i if share == 1 else np.ones(60, dtype=bool)
        less = price.copy()
        less[i] *= 1 - share
        other = fit_cell(X[own], codes[own], less[own], settings)
        expected[i] = decide(other, kernel, X[own], X[i : i + 1])[0, 0]
    # Exact but where another row changes its side of the margin, which moves it a little.
    gaps = np.abs(cell.left_out[:, 0] - expected)
    assert np.median(gaps) < 1e-7
    assert gaps.max() < 0.03


def test_no_share_left_out_is_the_decision():
    X, codes, price = problem(60)
    cell = fit_cell(X, codes, price, CellSettings(RBF(0.5), 5.0, tol=1e-10), np.zeros(60))
    assert_allclose(cell.left_out, decide(cell, RBF(0.5), X, X), atol=1e-7)


def test_the_hinge_has_no_left_out_decisions():
    X, codes, price = problem(20)
    with pytest.raises(ValueError, match="squared hinge"):
        fit_cell(X, codes, price, CellSettings(RBF(), 1.0, loss="hinge"), np.ones(20))
