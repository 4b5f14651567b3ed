import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import mutual_info_score

from kernelwise.scale.bins import ColumnBins
from kernelwise.scale.scan import (
    Chance,
    best_columns,
    count_columns,
    count_pairs,
    own_information,
    pair_excess,
    scan_columns,
)


def table(n=1500, d=4, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform(size=(n, d)), rng.integers(0, n_classes, n), rng


def scan(X, y, is_category=None, count=None):
    is_category = np.zeros(X.shape[1], dtype=bool) if is_category is None else is_category
    count = np.ones(len(y)) if count is None else count
    return scan_columns(X, np.asarray(is_category), y, int(y.max()) + 1, count)


def slow_chance(y, cells, n_draws=400):
    """Return the mean of the information over permutations of the classes."""
    rng = np.random.default_rng(0)
    return np.mean([mutual_info_score(rng.permutation(y), cells) for _ in range(n_draws)])


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("n_cells", [5, 100, 1200])  # many rows per cell, few, and about one
def test_chance_is_the_mean_over_permutations(n_classes, n_cells):
    rng = np.random.default_rng(n_cells)
    y = np.minimum(rng.geometric(0.5, size=1500) - 1, n_classes - 1)
    cells = rng.integers(0, n_cells, 1500)
    chance = Chance(np.bincount(y, minlength=n_classes).astype(float))
    mean = (chance.lost(np.bincount(cells).astype(float)).sum() - chance.own_loss) / len(y)
    assert_allclose(mean, slow_chance(y, cells), rtol=0.02, atol=2e-4)


def test_information_is_the_textbook_one_minus_chance():
    X, _, rng = table()
    y = (X[:, 0] + 0.3 * rng.normal(size=len(X)) > 0.5).astype(int)
    bins = ColumnBins.of(X, np.zeros(4, dtype=bool), np.ones(len(y)), 12)
    places = bins.places(X)
    own = own_information(
        count_columns(places, y, np.ones(len(y)), (2, bins.n_places)), bins.starts
    )
    chance = Chance(np.bincount(y).astype(float))
    for j in range(4):
        lost = chance.lost(np.bincount(places[:, j] - bins.starts[j]).astype(float)).sum()
        mean = (lost - chance.own_loss) / len(y)
        assert_allclose(own[j], mutual_info_score(y, places[:, j]) - mean, atol=1e-12)


def test_counts_of_blocks_add_up():
    X, y, rng = table(n=500, n_classes=3)
    count = rng.integers(1, 4, 500).astype(float)
    bins = ColumnBins.of(X, np.zeros(4, dtype=bool), count, 12)
    places, shape = bins.places(X), (3, bins.n_places)
    for counted in (count_columns, count_pairs):
        whole = counted(places, y, count, shape)
        parts = sum(
            counted(places[own], y[own], count[own], shape)
            for own in (slice(0, 130), slice(130, 131), slice(131, 500))
        )
        assert_array_equal(whole, parts)
    singles, pairs = (counted(places, y, count, shape) for counted in (count_columns, count_pairs))
    assert_array_equal(singles, np.diagonal(pairs, axis1=1, axis2=2))


def test_a_pair_that_says_what_neither_column_says():
    X, _, _ = table(n=2000, d=6)
    y = ((X[:, 1] > 0.5) ^ (X[:, 4] > 0.5)).astype(int)
    found = scan(X, y)
    assert np.abs(found.own).max() < 0.01
    assert_array_equal(np.flatnonzero(found.excess > 0.3), [1, 4])
    assert found.excess[[0, 2, 3, 5]].max() < 0.05


def test_a_column_given_twice_has_no_excess():
    X, _, rng = table(n=4000)
    X[:, 1] = X[:, 0]
    y = (rng.random(4000) < X[:, 0]).astype(int)
    found = scan(X, y)
    assert found.own[:2].min() > 0.1
    assert found.excess[:2].max() < 0.01


@pytest.mark.parametrize("n_classes", [2, 5])
def test_nothing_is_found_in_noise(n_classes):
    n_found = 0
    for seed in range(10):
        X, y, rng = table(n=800, d=8, n_classes=n_classes, seed=seed)
        X[:, 6], X[:, 7] = rng.integers(0, 30, 800), rng.integers(0, 200, 800)
        found = scan(X, y, np.arange(8) >= 6)
        assert np.abs(found.own).max() < 0.03
        n_found += np.count_nonzero(found.excess)
    assert n_found <= 4  # of 80, where three deviations of the best of seven pairs are exceeded


def test_pairs_of_many_levels_are_not_taken_for_signal():
    _, y, rng = table(n=1500)
    X = rng.integers(0, 250, size=(1500, 2)).astype(float)
    assert scan(X, y, np.array([True, True])).excess.max() == 0


def test_weights_are_copies():
    X, y, rng = table(n=300)
    count = rng.integers(1, 4, 300)
    weighted, copied = (
        scan(X, y, count=count.astype(float)),
        scan(np.repeat(X, count, axis=0), np.repeat(y, count)),
    )
    assert_allclose(weighted.own, copied.own, atol=1e-12)
    assert_allclose(weighted.excess, copied.excess, atol=1e-12)


def test_constant_columns_and_a_missing_class_say_nothing():
    X, y, _ = table(n=200)
    X[:, 1] = 3.0
    found = scan_columns(X, np.zeros(4, dtype=bool), np.zeros(200, dtype=int), 3, np.ones(200))
    assert_allclose(found.relevance, 0, atol=1e-12)
    assert_allclose(scan(X, y).own[1], 0, atol=1e-12)


def test_of_many_columns_the_best_are_paired():
    own = np.arange(40.0)
    assert_array_equal(best_columns(own, 780), np.arange(40))
    assert_array_equal(best_columns(own, 400), np.arange(12, 40))
    X, _, _ = table(n=1000, d=40)
    y = ((X[:, 0] > 0.3) & (X[:, 1] > 0.5)).astype(int)
    found = scan(X, y)
    assert found.relevance.argsort()[-2:].tolist() in ([0, 1], [1, 0])


def test_excess_is_symmetric():
    X, y, _ = table(n=600)
    y = ((X[:, 1] > 0.5) ^ (X[:, 2] > 0.5)).astype(int)
    bins = ColumnBins.of(X, np.zeros(4, dtype=bool), np.ones(600), 12)
    places, shape = bins.places(X), (2, bins.n_places)
    excess = pair_excess(count_pairs(places, y, np.ones(600), shape), bins.starts, np.zeros(4))
    assert_array_equal(excess, excess.T)
    assert excess[1, 2] > 0.3
    assert_array_equal(np.diagonal(excess), np.zeros(4))
