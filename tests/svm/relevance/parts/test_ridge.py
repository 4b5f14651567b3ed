"""Ridge machines: their equations, and leave-one-out decisions against real refits."""

from dataclasses import replace

import numpy as np
import pytest

from kernelwise.kernels import Laplacian
from kernelwise.svm.relevance.parts.ridge import (
    CHOICE_ROWS,
    balanced_price,
    choose_ridge,
    fit_ridge,
    least_log_loss,
    several_rows,
    solve_ridge,
)

from .problems import counts, part_rows

GROUPS = np.array([0, 1, 0, 2, 2, 2, *range(3, 37)])


def refit(K, rows, price, C, kept):
    """Solve the machine of some rows by the plain equations; return decisions on all rows."""
    m = len(kept)
    A = np.ones((m + 1, m + 1))
    A[:m, :m] = K[np.ix_(kept, kept)] + np.diag(1 / (C * price[kept]))
    A[m, m] = 0
    right = np.vstack([rows.codes[kept], np.zeros(rows.codes.shape[1])])
    solved = np.linalg.solve(A, right)
    return K[:, kept] @ solved[:m] + solved[m]


def machine(n_classes=2, **how):
    rows = part_rows(n_classes=n_classes, **how)
    return Laplacian(gamma=0.4)(rows.X), rows, balanced_price(rows)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_every_class_has_the_same_price(n_classes):
    rows = part_rows(n_classes=n_classes, count=counts())
    totals = np.bincount(rows.classes, balanced_price(rows))
    np.testing.assert_allclose(totals, rows.count.sum() / n_classes)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("count", [None, counts()])
def test_leave_one_out_decisions_are_those_of_refits_without_the_row_and_its_copies(
    n_classes, count
):
    K, rows, price = machine(n_classes, count=count)
    left_out = solve_ridge(K, rows, price, 2.0).left_out
    for i in (0, 7, 39):
        kept = np.delete(np.arange(40), i)
        np.testing.assert_allclose(left_out[i], refit(K, rows, price, 2.0, kept)[i], atol=1e-9)


def test_one_copy_is_left_out_where_the_rows_say_so():
    K, rows, price = machine(count=counts(), copy=1.0)
    left_out = solve_ridge(K, rows, price, 2.0).left_out
    for i in (0, 7, 39):
        fewer = price * np.where(np.arange(40) == i, 1 - 1 / rows.count, 1)
        kept = np.flatnonzero(fewer)
        np.testing.assert_allclose(left_out[i], refit(K, rows, fewer, 2.0, kept)[i], atol=1e-9)


def test_the_rows_of_a_group_are_left_out_together():
    K, rows, price = machine(groups=GROUPS)
    left_out = solve_ridge(K, rows, price, 2.0).left_out
    for group in (0, 1, 2):
        inside = group == GROUPS
        decisions = refit(K, rows, price, 2.0, np.flatnonzero(~inside))
        np.testing.assert_allclose(left_out[inside], decisions[inside], atol=1e-9)


def test_groups_of_several_rows():
    assert [rows.tolist() for rows in several_rows(GROUPS)] == [[0, 2], [3, 4, 5]]
    assert several_rows(None) == []


def test_an_enormous_weight_does_not_break_the_factorisation():
    K, rows, price = machine(count=np.where(np.arange(40) == 3, 1e14, 1.0))
    assert np.isfinite(solve_ridge(K, rows, price, 10.0).left_out).all()


def test_log_loss_prefers_decisions_that_rank():
    rows = part_rows()
    good = rows.codes + np.random.default_rng(0).normal(size=rows.codes.shape)
    noise = np.random.default_rng(1).normal(size=rows.codes.shape)
    assert least_log_loss([noise, good, -good], rows) == 1


def test_above_500_rows_C_is_chosen_on_some_and_the_machine_solved_on_all():
    m = CHOICE_ROWS + 60
    rows = part_rows(m)
    K = Laplacian(gamma=0.4)(rows.X)
    C, solution = choose_ridge(K, rows, (0.1, 10.0), np.random.RandomState(0))
    again = solve_ridge(K, rows, balanced_price(rows), C)
    np.testing.assert_array_equal(solution.left_out, again.left_out)
    assert C in (0.1, 10.0)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_part_decides_new_rows_as_its_training_rows(n_classes):
    rows = part_rows(60, n_classes=n_classes, noise=0.4)
    part = fit_ridge(rows, "laplacian", 1.0, np.random.RandomState(0))
    decisions = part.decision_values(rows.X)
    # f = y - b / (C p) on the training rows
    price = balanced_price(rows)
    np.testing.assert_allclose(
        decisions, rows.codes - part.coef / (part.C * price)[:, None], atol=1e-8
    )
    assert part.importances.sum() == pytest.approx(1)
    assert part.importances.argmax() == 0
    assert np.mean(np.sign(part.left_out) == rows.codes) > 0.7


def test_the_part_ignores_constant_columns_and_survives_a_table_of_them():
    rows = part_rows(30)
    rows.X[:, 1] = 3.0
    part = fit_ridge(rows, "laplacian", 1.0, np.random.RandomState(0))
    assert part.importances[1] == 0
    rows = replace(rows, X=np.ones_like(rows.X))
    part = fit_ridge(rows, "laplacian", 1.0, np.random.RandomState(0))
    assert np.isfinite(part.left_out).all()
    np.testing.assert_allclose(part.decision_values(rows.X), 0, atol=1e-9)
