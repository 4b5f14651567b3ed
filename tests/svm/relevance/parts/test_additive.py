from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelwise.svm.relevance.columns import ColumnLayout
from kernelwise.svm.relevance.parts.additive import (
    RIDGES,
    AdditiveColumns,
    choose_ridge,
    fit_additive,
)
from kernelwise.svm.relevance.parts.logistic import log_losses, targets_of
from kernelwise.svm.relevance.parts.rows import PartRows

from .mixed_tables import log_loss, mixed_rows, rare_class


def additive_rows(m=1500, seed=0):
    """Return rows of a staircase, a category and noise, with the true log-odds."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(m, 3)), rng.integers(0, 5, m), rng.integers(0, 40, m)])
    f = 2 * (np.abs(X[:, 0]) < 0.7) - 1 + 1.5 * (X[:, 3] == 2) - 0.5
    y = (rng.random(m) < 1 / (1 + np.exp(-f))).astype(int)
    layout = ColumnLayout(np.arange(5) >= 3, np.arange(5), np.arange(5), 5)
    return PartRows(X, layout, y, 2, np.ones(m), np.ones(m)), f


def test_the_curve_and_the_levels_are_found():
    rows, _ = additive_rows(4000)
    part = fit_additive(rows)
    new, f = additive_rows(seed=1)
    found = part.decision_values(new.X)
    assert found.shape == (len(new), 1)
    assert np.corrcoef(found[:, 0], f)[0, 1] > 0.93
    assert log_loss(found, new) < log_loss(f[:, None], new) + 0.02
    assert part.importances[[0, 3]].min() > 2.5 * part.importances[[1, 2, 4]].max()
    assert_allclose(part.importances.sum(), 1)


def test_leave_one_out_decisions_are_as_good_as_on_new_rows():
    new, losses = additive_rows(4000, seed=9)[0], []
    for seed in range(6):
        rows, _ = additive_rows(600, seed)
        part = fit_additive(rows)
        on_rows = part.left_out, part.decision_values(rows.X)
        fresh = log_loss(part.decision_values(new.X), new)
        losses.append([fresh, *(log_loss(each, rows) for each in on_rows)])
    fresh, left_out, seen = np.mean(losses, axis=0)
    assert abs(left_out - fresh) < 0.015
    assert seen < left_out - 0.05


@pytest.mark.parametrize("of_noise", [1.0, 0.01])
def test_the_ridge_is_the_best_of_those_tried(of_noise):
    rows = mixed_rows(200)
    relevance = np.ones(rows.X.shape[1])
    relevance[-1] = of_noise
    part = fit_additive(rows, relevance)
    design, targets = part.columns.design(rows.X), targets_of(rows)
    factors = part.columns.of_features(relevance)
    ridge, _ = choose_ridge(design, targets, rows, factors)
    assert part.ridge == ridge
    assert ridge in RIDGES
    # Around the base rate leaving out is exact: fits of the quadratic model without each row.
    Z, [target] = design.rows(np.arange(200)), targets
    losses = []
    for ridge in RIDGES:
        out, p = np.empty(200), target.base_rate
        for i in range(200):
            kept = np.arange(200) != i
            H = p * (1 - p) * Z[kept].T @ Z[kept]
            H += np.diag(np.append(0, ridge / factors))
            step = np.linalg.solve(H, Z[kept].T @ (target.positive - p)[kept])
            out[i] = np.log(p / (1 - p)) + Z[i] @ step
        losses.append(log_losses(out[:, None], target)[0])
    assert part.ridge == RIDGES[int(np.argmin(losses))]


def test_weights_are_copies():
    rows = mixed_rows(220, count=np.random.default_rng(0).integers(1, 4, 220))
    copies = np.repeat(np.arange(220), rows.count.astype(int))
    ones = np.ones(len(copies))
    many = replace(rows.part(copies), count=ones, price=ones, groups=copies)
    few, many_part = fit_additive(rows), fit_additive(many)
    assert few.ridge == many_part.ridge
    assert_allclose(few.decision_values(rows.X), many_part.decision_values(rows.X), atol=1e-3)
    # A row is left out with its copies.
    assert_allclose(few.left_out[copies], many_part.left_out, atol=1e-2)


def test_prices_move_the_decisions_to_a_class():
    rows = mixed_rows(200)
    dear = replace(rows, price=np.where(rows.classes == 1, 5.0, 1.0))
    plain, moved = (fit_additive(each).decision_values(rows.X).mean() for each in (rows, dear))
    assert moved > plain + 0.5


@pytest.mark.parametrize("n_classes", [3, 4])
def test_several_classes_are_one_against_the_others(n_classes):
    rows = mixed_rows(400, n_classes)
    part = fit_additive(rows)
    assert part.left_out.shape == (400, n_classes)
    accuracy = np.mean(part.left_out.argmax(axis=1) == rows.classes)
    assert accuracy > np.bincount(rows.classes).max() / 400 + 0.05


def test_a_rare_class_and_tables_without_signal():
    rng = np.random.default_rng(0)
    for rows in (
        rare_class(mixed_rows(300)),
        replace(mixed_rows(300), classes=rng.integers(0, 2, 300)),
    ):
        part = fit_additive(rows)
        share = np.mean(rows.classes == 1)
        entropy = -share * np.log(share) - (1 - share) * np.log(1 - share)
        assert np.isfinite(part.left_out).all()
        assert log_loss(part.left_out, rows) < entropy + 0.03


def test_unseen_codes_add_nothing_and_constant_columns_do_not_matter():
    rows = mixed_rows(200)
    part = fit_additive(rows)
    X = rows.X[:3].copy()
    X[:, 6] = 12
    effects = part.columns.effects(part.columns.design(X), part.coefficients[:, 0])
    assert_array_equal(effects[:, 6], 0)
    assert part.importances[4] == 0
    X = rows.X.copy()
    X[:, 4] = 99
    assert_allclose(part.decision_values(X), part.decision_values(rows.X))


def test_the_same_rows_give_the_same_part():
    first, second = fit_additive(mixed_rows(100)), fit_additive(mixed_rows(100))
    assert_array_equal(first.coefficients, second.coefficients)


def test_columns_of_hundreds_of_levels_take_little_memory():
    import tracemalloc

    rng = np.random.default_rng(0)
    X = rng.integers(0, 400, size=(20_000, 3)).astype(float)
    layout = ColumnLayout(np.ones(3, dtype=bool), np.arange(3), np.arange(3), 3)
    rows = PartRows(X, layout, rng.integers(0, 2, 20_000), 2, np.ones(20_000), np.ones(20_000))
    tracemalloc.start()
    fit_additive(rows)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 9e7  # one-hot columns would have 2.4e7 entries


@pytest.mark.parametrize("d", [300, 1200])
def test_very_many_columns_have_fewer_bins(d):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, d))
    y = (X[:, 0] + 0.5 * rng.normal(size=400) > 0).astype(int)
    rows = PartRows(X, ColumnLayout.plain(d), y, 2, np.ones(400), np.ones(400))
    part = fit_additive(rows)
    assert len(part.coefficients) <= 1 + max(1300, d)
    assert part.importances.argmax() == 0


def test_categories_with_few_levels_leave_their_room_to_others():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 3, 900), rng.integers(0, 4, 900), np.arange(900) % 400])
    layout = ColumnLayout(np.ones(3, dtype=bool), np.arange(3), np.arange(3), 3)
    ones = np.ones(900)
    rows = PartRows(X.astype(float), layout, rng.integers(0, 2, 900), 2, ones, ones)
    assert fit_additive(rows).columns.bins.starts[-1] == 3 + 4 + 400 + 3  # and one for unknown ones
    few = rows.part(np.arange(0, 900, 2))
    assert fit_additive(few).columns.bins.starts[-1] <= 225 + 3


def test_an_invalid_value_that_blas_reports_is_no_warning():
    # OpenBLAS reports what lies beside its operands, rarely; here the report is real.
    rows, _ = additive_rows(150)
    design = AdditiveColumns.of(rows).design(rows.X)
    spoiled = replace(design, dense=np.where(np.arange(150)[:, None] == 7, np.inf, design.dense))
    found = spoiled.product(np.zeros((design.shape[1], 1)))
    assert_array_equal(np.flatnonzero(np.isnan(found)), [7])
