"""Trees of cells as a part."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelwise.kernels import RBF, Laplacian
from kernelwise.scale.cells import fit_cell
from kernelwise.svm.relevance.columns import ColumnLayout
from kernelwise.svm.relevance.parts.cell_rows import (
    CellColumns,
    CellSample,
    sample_share,
    weight_of_traces,
)
from kernelwise.svm.relevance.parts.cells import CellOptions, CellPlan, first_members
from kernelwise.svm.relevance.parts.evidence import EvidenceWeights
from kernelwise.svm.relevance.parts.metric import MetricColumns
from kernelwise.svm.relevance.parts.rows import PartRows

from .mixed_tables import mixed_rows

WEIGHTS = np.array([0.8, 0.8, 0.4, 0.0, 0.0, 0.6, 0.05])


def learned_of(rows, weights=WEIGHTS):
    return EvidenceWeights(MetricColumns.of(rows), weights, 0.1, ())


def fit(rows, **options):
    options = CellOptions(**({"cell_size": 300, "n_trees": 2} | options))
    sample = CellSample.of(rows, np.arange(len(rows)), seed=0, n_trees=options.n_trees)
    plan = CellPlan.of(rows, learned_of(rows), sample, options)
    choice = plan.judge()
    return None if choice is None else plan.fit(choice.members)


def error(decisions, rows):
    if decisions.shape[1] == 1:
        return (np.sign(decisions[:, 0]) != rows.codes[:, 0]).mean()
    return (decisions.argmax(axis=1) != rows.classes).mean()


@pytest.mark.parametrize("n_classes", [2, 4])
def test_left_out_decisions_tell_the_error_on_new_rows(n_classes):
    rows, new = mixed_rows(1200, n_classes), mixed_rows(2000, n_classes, seed=1)
    part = fit(rows)
    assert part.name == "cells"
    assert part.left_out.shape == rows.codes.shape
    assert len(part.members) == len(part.forest.trees) == 2
    on_new = error(part.decision_values(new.X), new)
    assert on_new < 0.5 * error(np.tile(rows.codes.mean(axis=0), (2000, 1)), new)
    assert abs(error(part.left_out, rows) - on_new) < 0.04


def test_one_cell_is_the_exact_machine():
    rows, new = mixed_rows(250), mixed_rows(50, seed=1)
    part = fit(rows, cell_size=250, n_trees=1)
    X = part.columns.apply(rows.X)
    (member,) = part.members
    exact = fit_cell(X, rows.codes, rows.price, member)
    expected = member.kernel(part.columns.apply(new.X), X) @ exact.coef + exact.intercept
    rounding = 2.0**-22 * np.abs(exact.coef).sum()  # coefficients and kernel values are float32
    assert_allclose(part.decision_values(new.X), expected, atol=rounding)


def test_threads_do_not_change_the_part():
    rows = mixed_rows(900)
    one, two = (fit(rows, threads=threads) for threads in (1, 2))
    assert_array_equal(one.left_out, two.left_out)
    assert_array_equal(one.decision_values(rows.X), two.decision_values(rows.X))


def test_importances_are_the_shares_of_the_columns_in_the_distance():
    part = fit(mixed_rows(600))
    assert_allclose(part.importances.sum(), 1)
    assert part.importances[[0, 1, 2, 5]].min() > part.importances[[3, 4, 6]].max()


def test_rows_of_a_group_do_not_tell_its_class():
    # Each row has a near copy, of its own class, in its group; the classes are chance.
    rng = np.random.default_rng(0)
    rows = mixed_rows(400)
    X = np.repeat(rows.X, 2, axis=0)
    X[:, :3] += 1e-3 * rng.normal(size=(800, 3))
    classes = np.repeat(rng.integers(0, 2, 400), 2)
    pairs = replace(rows, X=X, classes=classes, count=np.ones(800), price=np.ones(800))
    alone, together = (
        error(fit(replace(pairs, groups=groups)).left_out, pairs)
        for groups in (None, np.repeat(np.arange(400), 2))
    )
    assert alone < 0.3
    assert together > 0.42


def members_of(learned):
    return first_members(learned, CellColumns.of(learned))


def test_kernels_to_begin_with():
    rows = mixed_rows(100)
    (only,) = members_of(learned_of(rows))
    assert isinstance(only.kernel, Laplacian)
    numbers = replace(rows, X=rows.X[:, :3], layout=ColumnLayout.plain(3))
    first, second = members_of(learned_of(numbers, WEIGHTS[:3]))
    assert isinstance(first.kernel, Laplacian)
    assert isinstance(second.kernel, RBF)
    assert_array_equal(second.kernel.weights, WEIGHTS[:3])


def test_columns_with_a_trace_of_the_weight_are_not_compared():
    rows = mixed_rows(200)
    part = fit(rows)
    compared = WEIGHTS > 0.05  # which is less than a fiftieth of the sum
    assert_array_equal(part.columns.columns, np.flatnonzero(compared))
    whole = learned_of(rows).columns.apply(rows.X)
    assert_array_equal(part.columns.apply(rows.X), whole[:, compared])


@pytest.mark.parametrize(
    ("weights", "largest"),
    [
        ([1.0, 0.01, 0.01, 0.0], 0.01),
        ([1.0, 0.01, 0.01, 0.01], 0.0),  # together they are more than a trace
        ([1.0, 0.001, 0.01, 0.012], 0.01),
        ([0.0, 0.0], 0.0),
        ([2.0], 0.0),
    ],
)
def test_traces_have_a_fiftieth_of_the_weight_together(weights, largest):
    assert weight_of_traces(np.array(weights)) == largest


@pytest.mark.parametrize(
    ("n", "d", "with_numbers", "with_categories"),
    [
        (20_000, 20, 5000, 50_000),
        (60_000, 20, 15_000, 50_000),
        (10**6, 20, 50_000, 50_000),
        (10**6, 250, 20_000, 20_000),
        (10**6, 10_000, 10_000, 10_000),
    ],
)
def test_tables_of_numbers_learn_from_fewer_rows(n, d, with_numbers, with_categories):
    assert sample_share(n, d, has_categories=False) == with_numbers / n
    assert sample_share(n, d, has_categories=True) == with_categories / n


def test_a_fit_without_weights_has_no_cells():
    rows = mixed_rows(100)
    sample = CellSample.of(rows, np.arange(100), seed=0, n_trees=3)
    assert CellPlan.of(rows, learned_of(rows, 0 * WEIGHTS), sample) is None


@pytest.mark.parametrize("done", [0, 1])
def test_a_fit_that_stops_has_the_first_trees(done):
    rows = mixed_rows(600)
    n_cells = len(fit(rows, n_trees=1).forest.trees[0].intercepts)
    asked = iter(range(10**6))
    part = fit(rows, stops=lambda: next(asked) >= n_cells * done + 1)
    if done == 0:
        assert part is None
    else:
        whole = fit(rows)
        assert len(part.forest.trees) == len(part.members) == 1
        first = part.forest.trees[0]
        assert_array_equal(first.coef, whole.forest.trees[0].coef)


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("n", [60, 15_000, 120_000])
def test_samples_follow_the_numbers_of_the_rows(n, grouped):
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 40, n) if grouped else None
    layout, classes = ColumnLayout.plain(1), np.zeros(n, dtype=int)
    rows = PartRows(np.zeros((n, 1)), layout, classes, 2, np.ones(n), np.ones(n), groups)
    numbers, order = np.arange(n) + 7, rng.permutation(n)
    sample = CellSample.of(rows, numbers, 3, 2)
    other = CellSample.of(rows.part(order), numbers[order], 3, 2)
    assert_array_equal(other.fold, sample.fold[order])
    assert_array_equal(np.sort(order[other.some]), sample.some)
    assert set(sample.judged) <= set(sample.some)
    assert (sample.fold[sample.judged] >= 0).all()
    assert len(sample.some) == pytest.approx(min(n, max(5000, n // 4)), rel=0.02)
    if not grouped:
        assert_array_equal(np.flatnonzero(sample.fold >= 0), sample.judged)
        n_judged = {60: 60, 15_000: 2500, 120_000: 15_000}[n]  # half of the sample
        assert len(sample.judged) == pytest.approx(n_judged, rel=0.05)
    else:
        assert all(len(np.unique(sample.fold[groups == group])) == 1 for group in set(groups))
        assert 0.1 * len(sample.some) < len(sample.judged)
