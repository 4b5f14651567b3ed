"""The machines of one cell, against other solvers of the same problem."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelwise.kernels import RBF, Laplacian
from kernelwise.qp import SMO, c_svc
from kernelwise.qp.squared_hinge import squared_hinge
from kernelwise.scale.cells import CellSettings, HeldOut, fit_cell


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


def test_a_tolerance_that_float32_cannot_keep_has_the_ridge_as_well():
    X, codes, price = problem(60)
    fine, coarse = (
        fit_cell(X.astype(dtype), codes, price, CellSettings(RBF(), 2.0, tol=1e-8))
        for dtype in (np.float64, np.float32)
    )
    assert_allclose(coarse.coef, fine.coef, atol=1e-4)


def test_one_class_is_a_constant():
    X, codes, price = problem(40, k=3)
    own = codes[:, 0] > 0
    cell = fit_cell(
        X[own],
        codes[own],
        price[own],
        CellSettings(RBF(), 1.0),
        HeldOut(np.arange(own.sum()), np.ones(own.sum())),
    )
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


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
@pytest.mark.parametrize("share", [1.0, 0.5])
def test_left_out_decisions_are_those_of_machines_without_the_fold(share, loss):
    X, codes, price = problem(60, k=3)
    kernel, fold = RBF(0.5), np.arange(60) % 4
    settings = CellSettings(kernel, 3.0, loss=loss, tol=1e-9)
    cell = fit_cell(X, codes, price, settings, HeldOut(fold, np.full(60, share)))
    for number in range(4):
        own = fold == number
        less = np.where(own, (1 - share) * price, price)
        kept = less > 0
        other = fit_cell(X[kept], codes[kept], less[kept], settings)
        expected = decide(other, kernel, X[kept], X[own])
        assert_allclose(cell.left_out[own], expected, atol=1e-6)
    plain = fit_cell(X, codes, price, settings)
    assert_array_equal(plain.coef, cell.coef)
    assert plain.left_out is None


def test_a_fold_without_which_one_class_is_left_gets_that_class():
    X, codes, price = problem(30)
    fold = (codes[:, 0] > 0).astype(int)
    cell = fit_cell(X, codes, price, CellSettings(RBF(), 1.0), HeldOut(fold, np.ones(30)))
    assert_array_equal(cell.left_out, -codes)
    cell = fit_cell(X, codes, price, CellSettings(RBF(), 1.0), HeldOut(0 * fold, np.ones(30)))
    assert_array_equal(cell.left_out, 0 * codes)
