"""Cells: the solve against a dense one, left-out decisions against refits, trees, samples."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelwise import RelevanceSVC, RelevanceSVR
from kernelwise.svm.relevance.cells import Known, Plan, fit_squared, solve
from kernelwise.svm.relevance.columns.encoding import ColumnEncoding
from kernelwise.svm.relevance.columns.options import ColumnOptions
from kernelwise.svm.relevance.prior import equal_prior
from kernelwise.svm.relevance.rows import ModelColumns
from kernelwise.svm.relevance.settings import Settings
from kernelwise.svm.relevance.table import sample_of
from kernelwise.svm.relevance.trees import coordinates, grow

SETTINGS = Settings(exact_rows=60, shared=20, cell=30, trees=1, sample=80)


def problem(n=200, noise=0.1, seed=0):
    """Return rows of three numbers, targets, weights of the loss and a prior."""
    rng = np.random.default_rng(seed)
    X, weight = rng.normal(size=(n, 3)), rng.uniform(0.5, 2, size=n)
    encoding = ColumnEncoding.of(X, ["a", "b", "c"], np.ones(n), ColumnOptions())
    rows = ModelColumns.of(encoding, X, np.ones(n), SETTINGS).rows(X)
    T = np.column_stack([X[:, 0] * X[:, 1], np.sin(2 * X[:, 2])]) + 0.2 * rng.normal(size=(n, 2))
    return rows, T, weight, replace(equal_prior(rows, np.arange(3), rng), noise=noise)


def covariance(rows, other, prior):
    root, others = (prior.root(each).astype(np.float64) for each in (rows, other))
    return prior.kernel(rows, other).astype(np.float64) + root @ others.T


def fitted(rows, T, weight, prior, settings, **options):
    return fit_squared(rows, T, weight, prior, np.random.default_rng(1), settings, **options)


def without_each(C, noise, T):
    """Refit without each row, and decide it."""
    others = [np.delete(np.arange(len(T)), i) for i in range(len(T))]
    A = C + np.diag(noise)
    return [
        C[i, own] @ np.linalg.solve(A[np.ix_(own, own)], T[own]) for i, own in enumerate(others)
    ]


def test_a_small_table_is_solved_exactly():
    for noise, tolerance in ((0.1, 1e-4), (1e-3, 1e-4)):  # in float32, and in float64
        rows, T, weight, prior = problem(60, noise)
        model = fitted(rows, T, weight, prior, SETTINGS)
        C = covariance(rows, rows, prior)
        alpha = np.linalg.solve(C + np.diag(noise / weight), T)
        assert_allclose(model.decide(rows), C @ alpha, atol=tolerance)
        expected = without_each(C, noise / weight, T)
        assert_allclose(model.left_out, expected, atol=10 * tolerance)
        assert model.near is None
        assert fitted(rows, T, weight, prior, SETTINGS, left_out=False).left_out is None


def test_cells_are_a_dense_solve_of_their_covariance():
    for noise in (0.1, 1e-3):
        rows, T, weight, prior = problem(noise=noise)
        model = fitted(rows, T, weight, prior, SETTINGS)
        (plan,) = Plan.all(rows, len(rows), prior, np.random.default_rng(1), SETTINGS)
        ((tree, cells),) = model.trees
        cell = tree.route(coordinates(rows, prior))
        C, near = covariance(rows, rows, prior), plan.landmarks.near
        Phi = covariance(rows, near, prior) @ plan.landmarks.inverse.T
        C = np.where(cell[:, None] == cell, C, Phi @ Phi.T)
        alpha = np.linalg.solve(C + np.diag(noise / weight), T)
        assert_allclose(model.decide(rows), C @ alpha, atol=2e-3)
        expected = without_each(C, noise / weight, T)
        assert_allclose(model.left_out, expected, atol=2e-3)
        assert len(cells) > 4


def test_one_cell_with_landmarks_is_the_exact_solve():
    rows, T, weight, prior = problem()
    exact = fitted(rows, T, weight, prior, replace(SETTINGS, exact_rows=200))
    one = fitted(rows, T, weight, prior, replace(SETTINGS, cell=200, sample=200))
    assert len(one.trees[0][1]) == 1
    assert_allclose(one.decide(rows), exact.decide(rows), atol=1e-3)
    assert_allclose(one.left_out, exact.left_out, atol=1e-3)


def test_trees_send_rows_to_their_cells():
    rows, T, weight, prior = problem(500)
    model = fitted(rows, T, weight, prior, replace(SETTINGS, trees=2, sample=1000))
    assert len(model.trees) == 2
    for tree, cells in model.trees:
        cell = tree.route(coordinates(rows, prior))
        assert tree.n_cells == len(cells) > 500 / SETTINGS.cell
        for number, own in enumerate(cells):
            assert 0 < len(own.rows) <= SETTINGS.cell
            assert_array_equal(own.rows.Z, rows.Z[cell == number])


def test_threads_regions_and_the_order_of_wanted_rows_do_not_change_the_solve():
    rows, T, weight, prior = problem()
    expected = fitted(rows, T, weight, prior, SETTINGS)
    again = fitted(rows, T, weight, prior, SETTINGS, threads=3)
    assert_array_equal(again.left_out, expected.left_out)
    assert_array_equal(again.decide(rows), expected.decide(rows))
    wanted = np.arange(200) % 3 == 0
    known = Known(rows, T, weight, np.arange(200), wanted)
    plans = Plan.all(rows, 200, prior, np.random.default_rng(1), SETTINGS)
    assert_allclose(solve(plans, known).left_out, expected.left_out[wanted], atol=1e-6)


def test_equal_rows_fill_several_cells():
    rows, T, weight, prior = problem(100)
    equal = rows.part(np.zeros(100, dtype=int))
    _, cells = grow(coordinates(equal, prior), 30, np.random.default_rng(0))
    assert max(map(len, cells)) <= 30
    model = fitted(equal, T, weight, prior, SETTINGS)
    mean = T[: len(model.trees[0][1][0].rows)].mean(axis=0)
    assert_allclose(model.decide(equal.part([0]))[0], mean, atol=0.3)
    assert np.isfinite(model.left_out).all()


def test_rows_of_large_weight_are_met():
    rows, T, weight, prior = problem()
    weight[:3] = 1e5
    model = fitted(rows, T, weight, prior, SETTINGS)
    assert_allclose(model.decide(rows.part(np.arange(3))), T[:3], atol=0.05)


def test_a_sample_has_rows_of_every_class_and_says_how_many_they_stand_for():
    classes = np.repeat([0, 1, 3], [9000, 20, 980])
    own, stands_for = sample_of(classes, 1000)
    counts = np.bincount(classes[own])
    assert_array_equal(own, np.unique(own))
    assert counts[1] == 20
    assert len(own) == pytest.approx(1000, abs=3)
    assert stands_for.min() == 1
    total = np.bincount(classes[own], stands_for)
    assert_allclose(total / total[1], np.bincount(classes) / 20)
    assert_array_equal(sample_of(classes, 10_000)[0], np.arange(10_000))


class SmallSVC(RelevanceSVC):
    """With a small sample."""

    _settings = replace(SETTINGS, sample=300, learning=120, cell=60, validation=150, shared=50)


class SmallSVR(RelevanceSVR):
    """With a small sample."""

    _settings = SmallSVC._settings


def test_cells_learn_from_all_rows_and_the_rest_from_a_sample():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(3000, 3))
    f = np.sin(6 * X[:, 0]) * np.sin(6 * X[:, 1])
    weight = np.ones(3000)
    weight[2500:] = 0
    target = f + 0.1 * rng.normal(size=3000)
    model = SmallSVR().fit(X, target, weight)
    known = np.isfinite(model.loo_predictions_)
    assert known.sum() == 300
    assert not known[2500:].any()
    few = SmallSVR().fit(X[known], target[known])
    assert model.score(X[2500:], f[2500:]) > max(0.9, few.score(X[2500:], f[2500:]))
    names = np.array(["no", "yes"])[(f > 0).astype(int)]
    for labels, groups in ((names, None), (np.digitize(f, [-0.3, 0.3]), np.arange(3000) // 2)):
        model = SmallSVC().fit(X, labels, weight, groups)
        few = SmallSVC().fit(X[:300], labels[:300])
        assert any(part.startswith("cells") for part in model.parts_)
        score = model.score(X[2500:], labels[2500:])
        assert score > max(0.85, few.score(X[2500:], labels[2500:]))
