"""Feature measures, against the sums over all pairs that define them."""

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from kernelwise.discrimination import energy, log_relevance

# The pair sums of the oracle cancel to about 1/n of their terms: eps n is 1e-13 for what is here.
ATOL = 1e-12


def energy_by_pairs(X, y, sample_weight=None, categorical=False):
    """Compute the ratio as it is defined, from all pairs of rows."""
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
    w = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    distances = np.abs(X[:, None, :] - X[None, :, :])
    distances = np.where(categorical, (distances > 0).astype(float), distances)
    n = w.sum()

    def total(a, b):
        return np.einsum("i,j,ijk->k", w * a, w * b, distances)

    def mean(a, b):
        return total(a, b) / ((w @ a) * (w @ b))

    e, chance = 0, 0
    for label in np.unique(y[w > 0]):
        c, rest = y == label, y != label
        n_c = w @ c
        e = e + n_c / n * (2 * mean(c, rest) - mean(c, c) - mean(rest, rest))
        chance += n_c / n * (1 / n_c + 1 / (n - n_c))
    everything = np.ones(len(X), dtype=bool)
    null = total(everything, everything) / (n * (n - 1)) * chance
    return np.divide(e, null, out=np.zeros(X.shape[1]), where=np.ptp(X[w > 0], axis=0) > 0)


def problem(n_classes, *, n=60, seed=0):
    """Draw columns: telling, noise, ties, constant, a duplicate; classes of several sizes."""
    rng = np.random.default_rng(seed)
    y = np.minimum(rng.geometric(2 / (n_classes + 1), n) - 1, n_classes - 1)
    y[:n_classes] = np.arange(n_classes)
    noise = rng.standard_cauchy((n, 2))
    told = y + rng.normal(size=n)
    ties = rng.integers(0, 3, n)
    return np.column_stack([told, noise, ties, y % 2, np.full(n, 0.1), told]), y


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_equals_the_sums_over_all_pairs(n_classes, weighted):
    X, y = problem(n_classes)
    w = np.random.default_rng(1).uniform(0.1, 3, len(X)) if weighted else None
    ratio = energy(X, y, sample_weight=w)
    np.testing.assert_allclose(ratio, energy_by_pairs(X, y, w), rtol=0, atol=ATOL)
    assert ratio[-2] == 0
    assert ratio[-1] == ratio[0]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_categories_equal_the_sums_over_all_pairs(n_classes, weighted):
    X, y = problem(n_classes)
    X[:, 0] = y * 3 + np.arange(len(y)) % 2  # codes that tell the classes apart
    categorical = np.array([True, False, False, True, True, True, False])
    w = np.random.default_rng(1).uniform(0.1, 3, len(X)) if weighted else None
    ratio = energy(X, y, sample_weight=w, categorical=categorical)
    np.testing.assert_allclose(ratio, energy_by_pairs(X, y, w, categorical), rtol=0, atol=ATOL)
    assert ratio[-2] == 0  # a constant
    # Two levels are a column of zeros and ones.
    np.testing.assert_allclose(ratio[4], energy(X[:, [4]], y, sample_weight=w)[0], rtol=1e-12)


rows = st.tuples(st.integers(-3, 3), st.integers(0, 2), st.floats(0.25, 3))


@given(st.lists(rows, min_size=5, max_size=20))
def test_equals_the_sums_over_all_pairs_whatever_the_rows(table):
    x, y, w = (np.array(column) for column in zip(*table, strict=True))
    y[:2] = 0, 1
    ratio = energy(x[:, None], y, sample_weight=w)
    np.testing.assert_allclose(ratio, energy_by_pairs(x[:, None], y, w), rtol=0, atol=ATOL)
    assert ratio >= 0


def test_blocks_of_columns_give_what_the_columns_give_one_by_one(monkeypatch):
    X, y = problem(3, n=20)
    X = np.tile(X, 3) * np.arange(1, 22)
    alone = np.concatenate([energy(X[:, k : k + 1], y) for k in range(X.shape[1])])
    nine = 9 * len(X)  # 21 = 9 + 9 + 3 columns
    monkeypatch.setattr("kernelwise.discrimination.energy_distance._BLOCK", nine)
    np.testing.assert_array_equal(energy(X, y), alone)


def test_order_of_rows_and_names_of_classes_do_not_matter():
    X, y = problem(3)
    shuffled = np.random.default_rng(2).permutation(len(X))
    names = np.array(["pear", "apple", "fig"])[y]
    expected = energy(X, y)
    for rows, labels in [(X[shuffled], y[shuffled]), (X, names), (X, names.astype(object))]:
        np.testing.assert_allclose(energy(rows, labels), expected, rtol=0, atol=ATOL)


def test_layout_and_precision_of_the_input_do_not_matter_and_it_is_left_alone():
    X, y = problem(2)
    X = X.astype(np.float32)
    expected = energy(X.astype(np.float64), y)
    fortran = np.asfortranarray(X, dtype=np.float64)
    fortran.flags.writeable = False
    for rows in (X, fortran, X.tolist()):
        np.testing.assert_array_equal(energy(rows, y), expected)


@pytest.mark.parametrize("scale", [5e-324, 1e-310, 1e-250, 1e-3, -1.0, 3e4, 1e250, 5e307])
def test_scale_of_a_feature_does_not_matter(scale):
    X = np.array([[0, 3], [1, -2], [3, 2], [-3, 1], [2, 0.0]])  # any scale is exact on integers
    y = [0, 0, 1, 1, 2]
    scaled = X * scale  # 3 * 5e307 - (-3) * 5e307 overflows
    np.testing.assert_allclose(energy(scaled, y), energy(X, y), rtol=1e-14)


@pytest.mark.parametrize("shift", [-7.0, 1e8, 2.0**50])
def test_shift_of_a_feature_does_not_matter(shift):
    X, y = problem(3)
    X = np.round(X * 4) / 4  # quarters: adding the shift rounds nothing
    X[np.abs(X) > 1e3] = 1e3
    np.testing.assert_array_equal(energy(X + shift, y), energy(X, y))


def test_small_noise_on_a_large_offset_is_told_apart_as_well_as_rounding_lets():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(200, 1))
    y = (x[:, 0] + rng.normal(size=200) > 0).astype(int)
    # Rounding moves a row by 7.5e-9 at most, e by eight times that: 6e-8, and e is above 0.06.
    assert energy(1e8 + x, y) == pytest.approx(energy(x, y), rel=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_weights_are_copies(n_classes):
    X, y = problem(n_classes, n=30)
    w = np.random.default_rng(4).integers(0, 4, len(X))
    w[:n_classes] = 1
    copies = energy(np.repeat(X, w, axis=0), np.repeat(y, w))
    np.testing.assert_allclose(energy(X, y, sample_weight=w), copies, rtol=0, atol=ATOL)
    np.testing.assert_array_equal(energy(X, y, sample_weight=np.ones(len(X))), energy(X, y))


def test_class_without_weight_is_not_there():
    X, y = problem(3)
    expected = energy(X[y < 2], y[y < 2])
    np.testing.assert_array_equal(energy(X, y, sample_weight=(y < 2)), expected)
    np.testing.assert_array_equal(energy(X, y, sample_weight=np.where(y < 2, 1, 1e-310)), expected)


@pytest.mark.parametrize("scale", [1e-2, 1e290])
def test_weights_of_any_size_give_numbers(scale):
    X, y = problem(3)
    w = np.full(len(X), scale)
    if scale * len(X) > 1:
        assert np.isfinite(energy(X, y, sample_weight=w)).all()
    else:
        with pytest.raises(ValueError, match=r"sample_weight must sum to more than 1.* 0\.6"):
            energy(X, y, sample_weight=w)


@pytest.mark.parametrize("n_first", [1, 2, 3])
def test_mean_over_all_ways_to_deal_the_labels_out_is_one(n_first):
    x = np.array([[0.0], [1], [1], [4], [11], [-30]])
    ratios = [energy(x, np.isin(np.arange(6), first)) for first in combinations(range(6), n_first)]
    assert np.mean(ratios) == pytest.approx(1, rel=1e-13)


@pytest.mark.parametrize("n_classes", [2, 5])
def test_noise_gets_one(n_classes):
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(50, 4000)), np.arange(50) % n_classes
    ratio = energy(X, y)
    error = ratio.std(ddof=1) / np.sqrt(ratio.size)
    assert error < 0.02
    assert ratio.mean() == pytest.approx(1, abs=4 * error)


def test_what_tells_more_gets_more():
    rng = np.random.default_rng(6)
    y = np.arange(200) % 2
    X = rng.normal(size=(200, 4)) + np.outer(y, [0, 0.5, 1, 3])
    assert (np.diff(energy(X, y)) > 0).all()


ROWS = [[0.0, 1.0], [1.0, 2.0], [2.0, 4.0]]


@pytest.mark.parametrize(
    ("X", "y", "w", "message"),
    [
        (ROWS, [0, 1], None, "y must be 3 labels, one per row of X; got 2"),
        (ROWS, [[0, 1]] * 3, None, "y should be a 1d array"),
        (ROWS, [1, 1, 1], None, "y must have at least two classes"),
        (ROWS[:1], [1], None, "y must have at least two classes"),
        (ROWS, [0, 1, np.nan], None, "y contains NaN"),
        (ROWS, np.array(["a", "b", np.nan], dtype=object), None, "y contains NaN"),
        ([[0.0], [np.nan], [1.0]], [0, 1, 1], None, "X contains NaN"),
        ([[0.0], [np.inf], [1.0]], [0, 1, 1], None, "X contains infinity"),
        ([["a"], ["b"], ["c"]], [0, 1, 1], None, "X has columns that are not numbers"),
        (ROWS, [0, 1, 1], [1, 2], "sample_weight must be 3 numbers"),
        (ROWS, [0, 1, 1], 2.0, "sample_weight must be 3 numbers"),
        (ROWS, [0, 1, 1], ["a", "b", "c"], "sample_weight must be numbers"),
        (ROWS, [0, 1, 1], [1, 2, np.nan], "sample_weight must be finite"),
        (ROWS, [0, 1, 1], [1, 2, -1], "sample_weight must be finite and not negative"),
        (ROWS, [0, 1, 1], [1e308, 1e308, 1e308], "and so must its sum"),
        (ROWS, [0, 1, 1], [0.5, 0.25, 0.25], "sample_weight must sum to more than 1"),
        (ROWS, [0, 1, 1], [0, 1, 1], "y must have at least two classes"),
        (ROWS, [0, 1, 1], [1e-20, 1, 1], "y must have at least two classes"),
    ],
)
def test_bad_input_is_refused_by_name(X, y, w, message):
    with pytest.raises(ValueError, match=message):
        energy(X, y, sample_weight=w)


@pytest.mark.parametrize("categorical", [10**40, 1.5, [True], [0, 1], "ab", [[True, False]]])
def test_categories_are_one_boolean_per_feature(categorical):
    with pytest.raises(ValueError, match="categorical must be 2 booleans, one per column of X"):
        energy([[0, 1], [1, 0], [2, 2]], [0, 1, 1], categorical=categorical)


def test_sparse_rows_and_mixed_labels_are_refused():
    with pytest.raises(TypeError, match="X is sparse, and this model needs dense rows"):
        energy(sp.csr_array(ROWS), [0, 1, 1])
    with pytest.raises(TypeError, match="y mixes labels of several types"):
        energy(ROWS, np.array(["a", 1, 1], dtype=object))


def test_log_relevance_is_the_log_of_the_excess_with_factors_of_mean_one():
    logs = log_relevance([0.0, 1.0, 1.1, 2.0, 6.0])
    np.testing.assert_allclose(np.exp(logs).mean(), 1)
    d = np.log([0.1, 0.1, 0.1, 1, 5])
    np.testing.assert_allclose(logs, d - np.log(np.mean(np.exp(d))), rtol=1e-12)
    np.testing.assert_allclose(log_relevance([0.5, 1.5], 0.5), 0, atol=1e-15)
    assert np.isfinite(log_relevance([1e308, 1e308, 0])).all()


@pytest.mark.parametrize("ratio", [[], [[1.0, 2.0]], 3.0, [1.0, np.nan], [np.inf]])
def test_log_relevance_refuses_what_is_not_a_ratio_a_feature(ratio):
    with pytest.raises(ValueError, match="ratio must be finite numbers"):
        log_relevance(ratio)


@pytest.mark.parametrize("floor", [0.0, -1.0, np.nan, np.inf, 10**400])
def test_log_relevance_refuses_a_floor_that_is_not_positive(floor):
    with pytest.raises(ValueError, match="floor must be a positive number"):
        log_relevance([1.0, 2.0], floor)
