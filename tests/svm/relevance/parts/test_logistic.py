from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import block_diag
from scipy.optimize import minimize
from scipy.special import expit

from kernelwise.svm.relevance.parts.additive import AdditiveColumns
from kernelwise.svm.relevance.parts.design import Steps, matrix_product, step_matrix
from kernelwise.svm.relevance.parts.logistic import (
    LeftOut,
    Target,
    fit_logistic,
    group_members,
    quadratic_left_out,
    targets_of,
)

from .mixed_tables import mixed_rows


def problem(m=120, **kwargs):
    rows = mixed_rows(m, **kwargs)
    design = AdditiveColumns.of(rows).design(rows.X)
    penalty = np.full(design.shape[1], 2.0)
    penalty[0] = 0
    return rows, design, penalty


def whole(design):
    return design.rows(np.arange(design.shape[0]))


def slow_fit(Z, target, penalty):
    """Return the minimum by another method."""
    sign = 2 * target.positive - 1

    def objective(b):
        f = Z @ b
        loss = target.price @ np.logaddexp(0, -sign * f) + 0.5 * penalty @ b**2
        return loss, penalty * b - Z.T @ (target.price * sign * expit(-sign * f))

    return minimize(objective, np.zeros(Z.shape[1]), jac=True, tol=1e-12).x


def test_products_are_those_of_the_columns_themselves():
    rows, design, _ = problem()
    Z, rng = whole(design), np.random.default_rng(0)
    weights, Q = rng.random(len(rows)), rng.normal(size=(design.shape[1],) * 2)
    Q = Q + Q.T
    assert_allclose(design.gram(weights), Z.T @ (weights[:, None] * Z), rtol=1e-4, atol=1e-4)
    assert_allclose(design.product(Q[:, :3]), Z @ Q[:, :3], rtol=1e-4, atol=1e-4)
    assert_allclose(design.adjoint(weights), Z.T @ weights, rtol=1e-4, atol=1e-4)
    assert_allclose(design.forms(Q), np.einsum("ij,jk,ik->i", Z, Q, Z), rtol=1e-4, atol=1e-3)


def test_steps_are_the_ones_that_are_documented():
    rows, design, _ = problem()
    columns = AdditiveColumns.of(rows)
    cuts = columns.bins.cuts_of(0)
    expected = (rows.X[:, :1] > cuts) * 2 / np.sqrt(len(cuts))
    q = design.dense.shape[1]
    assert_allclose(whole(design)[:, q : q + len(cuts)], expected)


@pytest.mark.parametrize("shape", [(), (3,)])
def test_steps_of_features_with_any_numbers_of_bins(shape):
    sizes, is_category = [3, 1, 4, 3, 2], np.array([False, False, True, False, False])
    steps, rng = Steps(np.cumsum([0, *sizes]), is_category), np.random.default_rng(0)
    of_each = zip(sizes, is_category, strict=True)
    T = block_diag(*(np.eye(n) if level else step_matrix(n) for n, level in of_each))
    c, s = rng.normal(size=(steps.n_columns, *shape)), rng.normal(size=(13, *shape))
    assert steps.widths.tolist() == [2, 0, 4, 2, 1]
    assert_allclose(steps.at_places(c), T @ c, atol=1e-12)
    assert_allclose(steps.of_columns(s), T.T @ s, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_newton_steps_reach_the_minimum(weighted):
    count = np.random.default_rng(3).integers(1, 4, 120) if weighted else None
    rows, design, penalty = problem(count=count)
    [target] = targets_of(rows)
    found = fit_logistic(design, target, penalty, np.zeros(len(penalty)), 12, rows)
    expected = slow_fit(whole(design), target, penalty)
    assert_allclose(found.decisions, whole(design) @ expected, atol=2e-3)
    assert_allclose(found.decisions, whole(design) @ found.coefficients, atol=1e-4)


def test_a_step_never_raises_the_objective():
    rows, design, penalty = problem(signal=20.0)
    [target] = targets_of(rows)
    b = np.random.default_rng(0).normal(size=len(penalty)) * 5
    values = [target.loss(whole(design) @ b) + 0.5 * penalty @ b**2]
    for _ in range(6):
        b = fit_logistic(design, target, 0.01 * penalty, b, 1, rows).coefficients
        values.append(target.loss(whole(design) @ b) + 0.005 * penalty @ b**2)
    assert (np.diff(values) <= 1e-6 * np.abs(values[0])).all()


def refitted(rows, design, target, penalty, lost):
    """Return the decisions on each set of rows of fits in which these rows lose weight."""
    Z, out = whole(design), np.empty(len(rows))
    for members, weight in lost:
        price = target.price.copy()
        price[members] -= weight
        out[members] = Z[members] @ slow_fit(Z, Target(target.positive, price), penalty)
    return out


def leave_one_out(rows):
    return [([i], rows.price[i] * rows.left_out_share[i]) for i in range(len(rows))]


@pytest.mark.parametrize("copy", [np.inf, 1.0])
def test_leave_one_out_is_close_to_fits_without_each_row(copy):
    count = np.random.default_rng(3).integers(1, 4, 80)
    rows, design, penalty = problem(m=80, count=count, copy=copy)
    [target] = targets_of(rows)
    found = fit_logistic(design, target, penalty, np.zeros(len(penalty)), 8, rows)
    expected = refitted(rows, design, target, penalty, leave_one_out(rows))
    moved = expected - found.decisions
    assert np.abs(moved).max() > 0.3
    assert_allclose(found.left_out, expected, atol=0.25 * np.abs(moved).max())
    assert np.corrcoef(found.left_out - found.decisions, moved)[0, 1] > 0.97


def test_groups_are_left_out_together():
    groups = np.random.default_rng(2).integers(0, 20, 80)
    rows, design, penalty = problem(m=80, groups=groups)
    [target] = targets_of(rows)
    found = fit_logistic(design, target, penalty, np.zeros(len(penalty)), 8, rows)
    lost = [(members, rows.price[members]) for members in group_members(groups)]
    expected = refitted(rows, design, target, penalty, lost)
    alone = fit_logistic(
        design, target, penalty, np.zeros(len(penalty)), 8, replace(rows, groups=None)
    )
    error = np.abs(found.left_out - expected).mean()
    assert error < 0.2 * np.abs(alone.left_out - expected).mean()
    assert error < 0.2 * np.abs(found.decisions - expected).mean()


@pytest.mark.parametrize("grouped", [False, True])
def test_quadratic_models_are_left_out_exactly(grouped):
    rng = np.random.default_rng(0)
    count = rng.integers(1, 4, 30).astype(float)
    groups = rng.integers(0, 8, 30) if grouped else np.arange(30)
    rows = mixed_rows(30, count=count, groups=groups if grouped else None)
    at = LeftOut(rng.normal(size=30), rng.normal(size=30), rng.uniform(0.1, 0.25, size=30), count)
    weight, ridge = count * at.variance, 0.7
    Phi = rng.normal(size=(30, 5))
    sizes, V = np.linalg.eigh(Phi.T @ (weight[:, None] * Phi))
    U, scales = Phi @ V, 1 / (sizes + ridge)[:, None]
    coefficients = scales * (U.T @ (count * at.residual))[:, None]
    found = quadratic_left_out(U, at, coefficients, scales, rows)[:, 0]
    for members in group_members(groups):
        kept = np.setdiff1d(np.arange(30), members)
        H = Phi[kept].T @ (weight[kept, None] * Phi[kept]) + ridge * np.eye(5)
        b = np.linalg.solve(H, Phi[kept].T @ (count * at.residual)[kept])
        assert_allclose(found[members], at.decisions[members] + Phi[members] @ b, atol=1e-9)


def test_products_report_no_invalid_values():
    A = np.full((2, 5), np.inf, dtype=np.float32)
    with np.errstate(all="raise"):
        assert np.isnan(matrix_product(A, np.zeros((5, 1), dtype=np.float32))).all()
