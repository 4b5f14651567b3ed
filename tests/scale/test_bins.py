import numpy as np
import pytest
from numpy.testing import assert_array_equal

from kernelwise.scale.bins import ColumnBins

NUMBERS = np.array([False])


def bins_of(values, n_bins, count=None):
    values = np.asarray(values, dtype=float)
    count = np.ones(len(values)) if count is None else np.asarray(count, dtype=float)
    return ColumnBins.of(values[:, None], NUMBERS, count, n_bins)


def test_bins_have_equal_weight():
    x = np.random.default_rng(0).permutation(1200).astype(float)
    places = bins_of(x, 12).places(x[:, None])
    assert_array_equal(np.bincount(places[:, 0]), np.full(12, 100))


def test_few_values_have_a_bin_each():
    bins = bins_of([3, 1, 1, 2, 3], 12)
    assert_array_equal(bins.cuts, [1.5, 2.5])
    assert_array_equal(bins.places(np.array([[0.0], [1.5], [1.6], [9.0]])), [[0], [0], [1], [2]])


def test_a_constant_column_has_one_bin():
    bins = bins_of([7.0] * 5, 12)
    assert bins.n_places == 1
    assert_array_equal(bins.places(np.array([[-1.0], [7.0]])), [[0], [0]])


def test_a_value_of_most_rows_leaves_fewer_bins_and_no_empty_one():
    x = np.append(np.zeros(900), np.arange(1, 101))
    bins = bins_of(x, 12)
    counts = np.bincount(bins.places(x[:, None])[:, 0], minlength=bins.n_places)
    assert bins.n_places == 3
    assert (counts > 0).all()


@pytest.mark.parametrize("n_bins", [4, 16])
def test_weights_are_copies(n_bins):
    rng = np.random.default_rng(1)
    x, count = rng.normal(size=80).round(1), rng.integers(1, 5, 80)
    weighted, copied = bins_of(x, n_bins, count), bins_of(np.repeat(x, count), n_bins)
    assert_array_equal(weighted.cuts, copied.cuts)


def test_levels_have_a_place_each_and_unknown_codes_share_one():
    X = np.array([[0.5, 2], [1.5, 0], [2.5, 2]])
    bins = ColumnBins.of(X, np.array([False, True]), np.ones(3), 12)
    assert_array_equal(bins.starts, [0, 3, 7])
    assert_array_equal(bins.places(X), [[0, 5], [1, 3], [2, 5]])
    assert_array_equal(bins.places(np.array([[0.0, 3], [0.0, 99], [0.0, -1]]))[:, 1], [6, 6, 6])


def test_the_rarest_of_many_codes_share_a_place():
    X = np.repeat(np.arange(6.0), [1, 5, 2, 4, 1, 3])[:, None]
    bins = ColumnBins.of(X, np.array([True]), np.ones(16), 12, max_levels=3)
    new = np.array([[0.0], [1], [2], [3], [4], [5], [6]])
    assert_array_equal(bins.places(new)[:, 0], [3, 0, 3, 1, 3, 2, 3])
    assert bins.n_places == 4


def test_a_part_of_the_columns():
    rng = np.random.default_rng(2)
    X = np.column_stack([rng.normal(size=50), rng.integers(0, 8, 50), rng.normal(size=50)])
    bins = ColumnBins.of(X, np.array([False, True, False]), np.ones(50), 5, max_levels=4)
    part = bins.part(np.array([1, 2]))
    shift = part.starts[:-1] - bins.starts[1:3]
    assert_array_equal(part.places(X[:, 1:]), bins.places(X)[:, 1:] + shift)
