"""The path: folds, stages, what is dropped and what stays."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelwise.svm.relevance.losses import LogLoss, SquaredLoss
from kernelwise.svm.relevance.path import Path, best_two, deal, screen, splits, stage_sizes
from kernelwise.svm.relevance.target import Target

from .tables import LEVELS, SETTINGS, model_rows, number_rows

# Fewer evaluations: what is tested is the walk, not how well the prior is learned.
QUICK = replace(SETTINGS, evaluations=12, warm_evaluations=6, rank_evaluations=20)


def walked(X, y, groups=None, max_features=None, settings=QUICK, told=None):
    """Walk along the path of classes, or of numbers."""
    rows, one = number_rows(X), np.ones(len(y))
    if y.dtype.kind == "f":
        loss = SquaredLoss(y, (Target.of(y, one),), one, settings)
    else:
        loss = LogLoss(y, int(y.max()) + 1, one, settings)
    varying = np.flatnonzero(np.ptp(X, axis=0) > 0)
    rng = np.random.default_rng(0)
    return Path(rows, loss, varying, groups, rng, settings, max_features, told).walk()


def kept_by(result):
    """Return the columns of the stage of largest weight."""
    return set(result.finals[int(np.argmax(result.weights))].kept.tolist())


def test_stages_shrink_to_thirds_then_halves():
    assert stage_sizes(5, SETTINGS) == [5]
    assert stage_sizes(6, SETTINGS) == [6, 3, 2]
    assert stage_sizes(20, SETTINGS) == [20, 7, 4, 2]
    assert stage_sizes(100, SETTINGS) == [100, 34, 12, 6, 3, 2]


def test_folds_are_balanced_and_keep_groups_together():
    rng = np.random.default_rng(0)
    labels = rng.choice([0, 0, 0, 1], 200)
    fold = deal(labels, None, 3, rng)
    for label in (0, 1):
        assert np.ptp(np.bincount(fold[labels == label])) <= 1
    groups = rng.integers(0, 40, 200)
    fold = deal(labels, groups, 3, rng)
    assert all(len(set(fold[groups == g])) == 1 for g in range(40))
    assert np.ptp(np.bincount(fold)) <= 10
    for n, n_splits, n_own in ((300, 3, 200), (3000, 2, 1500), (5000, 1, 5000 / 3)):
        found = splits(np.zeros(n, int), np.arange(n) // 2, rng, SETTINGS)
        assert len(found) == n_splits
        for split in found:
            assert not set(split.own // 2) & set(split.held // 2)
        assert len(found[0].own) == pytest.approx(n_own, rel=0.01)
        held = np.concatenate([split.held for split in found])
        assert len(np.unique(held)) == len(held) == min(n, SETTINGS.validation)


def test_the_columns_of_an_exclusive_or_are_found_among_noise():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 20))
    y = (X[:, 4] * X[:, 11] > 0).astype(int)
    result = walked(X, y)
    assert kept_by(result) == {4, 11}
    assert_array_equal(result.sizes, [20, 7, 4, 2])
    assert result.losses[-1] < 0.8 * result.losses[0]
    t = np.where(y, 1.0, -1.0) + 0.3 * rng.normal(size=300)
    assert kept_by(walked(X, t)) == {4, 11}


def test_columns_that_all_matter_stay_and_far_stages_are_given_up():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 8))
    told = []
    result = walked(X, (X.sum(axis=1) > 0).astype(int), told=told.append)
    assert kept_by(result) == set(range(8))
    assert np.isnan(result.losses[-1])
    assert_array_equal(result.weights[1:], 0)
    assert not any("2 columns" in text for text in told if text.startswith("fold 2"))


def test_nothing_is_dropped_where_nothing_is_learned():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(150, 6)), rng.integers(0, 2, 150)
    assert kept_by(walked(X, y)) == set(range(6))
    assert kept_by(walked(X, rng.normal(size=150))) == set(range(6))


def test_no_more_columns_than_asked_for():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 9))
    y = (X[:, [1, 3, 5, 7]].sum(axis=1) > 0).astype(int)
    for most in (1, 4):
        result = walked(X, y, max_features=most)
        assert result.sizes[0] == most
        assert all(len(prior.kept) <= most for prior in result.finals.values())
        assert kept_by(result) <= {1, 3, 5, 7}
    few = (X[:, 1] > 0).astype(int)
    assert kept_by(walked(X[:, :2], few, max_features=1)) == {1}
    assert walked(X[:, :2], few, max_features=50).sizes == [2]


def test_weights_of_stages_follow_from_their_held_out_losses():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(240, 12))
    y = (X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=240) > 0).astype(int)
    result = walked(X, y)
    alive = ~np.isnan(result.losses)
    total = 240 * result.losses + 4 * (np.arange(len(alive)) > 0)
    expected = np.where(alive, np.exp(-(total - np.nanmin(total)) / 2), 0)
    floor = max(0.1 * expected.max(), np.sort(expected)[-3])
    expected = np.maximum(expected - floor, 0)
    np.testing.assert_allclose(result.weights, expected / expected.sum(), rtol=1e-6)
    assert sorted(result.seen) == list(range(240))
    assert set(result.finals) == set(np.flatnonzero(result.weights))


def test_path_screens_columns_of_wide_tables():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(150, 40))).add_prefix("x")
    frame["word"] = LEVELS[rng.integers(0, 3, 150)]
    t = frame["x3"] + 1.5 * np.square(frame["x7"]) + 2.0 * (frame["word"] == LEVELS[1])
    rows = model_rows(frame)
    T = ((t - t.mean()) / t.std()).to_numpy()[:, None]
    few = replace(SETTINGS, ranked=6)
    found = screen(rows, T, np.arange(41), few)
    assert len(found) == 6
    assert {3, 7, 40} <= set(found)
    assert_array_equal(screen(rows, T, np.arange(6), few), np.arange(6))


def test_weights_of_stages_change_without_jumps():
    assert_array_equal(best_two(np.array([1.0])), [0.9])
    assert_allclose(best_two(np.array([0.05, 1.0, 0.3])), [0, 0.9, 0.2])
    assert_allclose(best_two(np.array([0.5, 1.0, 0.3])), [0.2, 0.7, 0])
    assert_array_equal(best_two(np.ones(3)), [1, 0, 0])
    before, after = (best_two(np.array([1.0, 0.1 + e, 0.02])) for e in (-1e-9, 1e-9))
    assert_allclose(before, after, atol=1e-8)
