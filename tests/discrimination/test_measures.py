"""Fisher's ratio, separation and efficiency: by hand, and against loops over plain lists."""

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from kernelwise.discrimination import efficiency, fisher, separation

MEASURES = [fisher, separation, efficiency]
NOTHING = {fisher: 0.0, separation: -1.0, efficiency: 0.0}  # what a feature that says nothing gets
RTOL = 1e-12  # a variance of some ten numbers around 1 keeps 13 digits

# First class, second class, and what the three measures are, worked out on paper.
BY_HAND = {
    "apart": ([0, 1, 2], [4, 5, 6], 12, 1 / 3, 1),
    "touching, the closed interval holds two rows": ([0, 2, 4], [4, 6, 8], 3, 0, 2 / 3),
    "overlapping": ([0, 1, 5], [3, 4, 8], 27 / 28, -1 / 4, 1 / 2),
    "constant": ([7, 7, 7], [7, 7, 7], 0, -1, 0),
    "constant in each class": ([1, 1, 1], [2, 2, 2], 10 * 12, 1, 1),
    "the same in each class": ([1, 2, 3], [3, 1, 2], 0, -1, 0),
    "equal means, one class constant": ([1, 1, 1], [0, 1, 2], 0, 0, 1 / 3),
    "one class inside the other": ([0, 0, 9], [3, 3, 3], 0, 0, 1 / 2),
}
X = np.array([[*first, *second] for first, second, *_ in BY_HAND.values()], dtype=float).T
Y = np.repeat([0, 1], 3)


def lists(x, y, w, label):
    """Return the observed values of a class, each as often as its weight says."""
    rows = zip(x, y, w, strict=True)
    return [v for v, c, times in rows if c == label and v == v for _ in range(times)]


def of_lists(measure, P, N):
    if not P or not N:
        return NOTHING[measure]
    a, b = max(min(P), min(N)), min(max(P), max(N))
    if measure is separation:
        return (a - b) / (max(P + N) - min(P + N)) if max(P + N) > min(P + N) else -1.0
    if measure is efficiency:
        return 1 - sum(a <= f <= b for f in P + N) / len(P + N)
    gap, within = (np.mean(P) - np.mean(N)) ** 2, np.var(P) + np.var(N)
    if min(P) == max(P) and min(N) == max(N):
        return np.inf if P[0] != N[0] else 0.0
    return gap / within


def by_lists(measure, X, y, w=None):
    """Compute a measure with loops over pairs, features and rows."""
    w = np.ones(len(X), dtype=int) if w is None else w
    labels = sorted({c for c, times in zip(y, w, strict=True) if times})
    pairs = []
    for p, n in combinations(labels, 2):
        q = [of_lists(measure, lists(x, y, w, p), lists(x, y, w, n)) for x in np.transpose(X)]
        largest = max((v for v in q if v < np.inf), default=0)
        pairs.append([v if v < np.inf else 10 * largest or 1.0 for v in q])
    return np.mean(pairs, axis=0)


def problem(n_classes, *, n=60, missing=0.0, seed=0):
    rng = np.random.default_rng(seed)
    y = np.minimum(rng.geometric(2 / (n_classes + 1), n) - 1, n_classes - 1)
    y[:n_classes] = np.arange(n_classes)
    told = y + rng.normal(size=n)
    parted = y + rng.uniform(0, 0.9, n)
    X = np.column_stack([told, parted, rng.integers(0, 3, n), y % 2, np.full(n, 0.1), told])
    X[rng.uniform(size=X.shape) < missing] = np.nan
    return X, y


@pytest.mark.parametrize("case", range(len(BY_HAND)), ids=list(BY_HAND))
@pytest.mark.parametrize("which", range(3), ids=["fisher", "separation", "efficiency"])
def test_by_hand(which, case):
    expected = list(BY_HAND.values())[case][2 + which]
    assert MEASURES[which](X, Y)[case] == pytest.approx(expected, rel=1e-15, abs=1e-15)


def test_a_ratio_over_nothing_where_no_other_is_positive():
    alone = np.array([[0.1, 3], [0.1, 3], [0.3, 3], [0.3, 3]])
    assert_array_equal(fisher(alone, [0, 0, 1, 1]), [1, 0])
    assert_array_equal(fisher(alone[:, :1], [0, 0, 1, 1]), [1])


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("n_classes", [2, 3, 6])
@pytest.mark.parametrize("measure", MEASURES)
def test_equals_the_loops(measure, n_classes, missing):
    rows, y = problem(n_classes, missing=missing)
    q = measure(rows, y)
    assert q.shape == (6,)
    assert_allclose(q, by_lists(measure, rows, y), rtol=RTOL, atol=1e-15)
    if not missing:
        assert q[4] == NOTHING[measure]
        assert q[5] == q[0]


values = st.one_of(st.integers(-3, 3), st.just(np.nan))
table = st.tuples(values, values, st.integers(0, 2), st.integers(0, 3))


@pytest.mark.parametrize("measure", MEASURES)
@given(rows=st.lists(table, min_size=2, max_size=15))
def test_equals_the_loops_whatever_the_rows(measure, rows):
    *columns, y, w = (np.array(column) for column in zip(*rows, strict=True))
    y[:2], w[:2] = (0, 1), 1
    rows = np.column_stack(columns).astype(float)
    q = measure(rows, y, sample_weight=w)
    assert_allclose(q, by_lists(measure, rows, y, w), rtol=RTOL, atol=1e-15)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("measure", MEASURES)
def test_weights_are_copies(measure, n_classes):
    rows, y = problem(n_classes, missing=0.1)
    w = np.random.default_rng(1).integers(0, 4, len(y))
    w[:n_classes] = 1
    copies = measure(np.repeat(rows, w, axis=0), np.repeat(y, w))
    assert_allclose(measure(rows, y, sample_weight=w), copies, rtol=RTOL, atol=1e-15)
    assert_allclose(measure(rows, y, sample_weight=w * 1e290), copies, rtol=RTOL, atol=1e-15)
    assert_allclose(measure(rows, y, sample_weight=w * 1e-290), copies, rtol=RTOL, atol=1e-15)


@pytest.mark.parametrize("measure", MEASURES)
def test_class_without_weight_is_not_there(measure):
    rows, y = problem(3)
    expected = measure(rows[y < 2], y[y < 2])
    assert_array_equal(measure(rows, y, sample_weight=y < 2), expected)


@pytest.mark.parametrize("measure", MEASURES)
def test_several_classes_are_the_mean_over_pairs(measure):
    rows, y = problem(4)
    pairs = [np.isin(y, pair) for pair in combinations(range(4), 2)]
    expected = np.mean([measure(rows[p], y[p]) for p in pairs], axis=0)
    assert_allclose(measure(rows, y), expected, rtol=RTOL)


@pytest.mark.parametrize("measure", MEASURES)
def test_missing_values_are_rows_that_are_not_there_for_that_feature(measure):
    rows, y = problem(2, missing=0.3)
    for k in (0, 1, 2, 5):  # a cap depends on the other features
        seen = ~np.isnan(rows[:, k])
        alone = measure(rows[seen, k : k + 1], y[seen])
        assert_allclose(measure(rows, y)[k], alone[0], rtol=RTOL)


@pytest.mark.parametrize("measure", MEASURES)
def test_feature_that_a_class_has_no_value_of_says_nothing(measure):
    rows, y = X[:, :3].copy(), Y
    rows[y == 1, 0] = np.nan
    rows[:, 1] = np.nan
    assert_array_equal(measure(rows, y)[:2], NOTHING[measure])
    assert measure(rows, y)[2] == pytest.approx(measure(X, Y)[2])


@pytest.mark.parametrize("scale", [5e-324, 1e-310, 1e-250, 1e-3, -1.0, 3e4, 1e250, 5e306])
@pytest.mark.parametrize("measure", MEASURES)
def test_scale_of_a_feature_does_not_matter(measure, scale):
    assert_allclose(measure(X * scale, Y), measure(X, Y), rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("shift", [-7.0, 1e8, 2.0**50])
@pytest.mark.parametrize("measure", MEASURES)
def test_shift_of_a_feature_does_not_matter(measure, shift):
    assert_array_equal(measure(X + shift, Y), measure(X, Y))  # on integers the shift is exact


@pytest.mark.parametrize("measure", MEASURES)
def test_order_of_rows_names_of_classes_and_layout_do_not_matter(measure):
    rows, y = problem(3)
    order = np.random.default_rng(2).permutation(len(y))
    names = np.array(["pear", "apple", "fig"])[y]
    fixed = np.asfortranarray(rows)
    fixed.flags.writeable = False
    for other, labels in [(rows[order], y[order]), (rows, names), (fixed, y), (rows.tolist(), y)]:
        assert_allclose(measure(other, labels), measure(rows, y), rtol=RTOL)


ROWS = [[0.0, 1.0], [1.0, 2.0], [2.0, 4.0]]


@pytest.mark.parametrize(
    ("rows", "y", "w", "message"),
    [
        (ROWS, [0, 1], None, "y must be 3 labels, one per row of X; got 2"),
        (ROWS, [1, 1, 1], None, "y must have at least two classes"),
        (ROWS, [0, 1, np.nan], None, "y contains NaN"),
        ([[0.0], [np.inf], [1.0]], [0, 1, 1], None, "X contains infinity"),
        ([["a"], ["b"], ["c"]], [0, 1, 1], None, "X has columns that are not numbers"),
        (ROWS, [0, 1, 1], [1, 2], "sample_weight must be 3 numbers"),
        (ROWS, [0, 1, 1], [1, 2, -1], "sample_weight must be finite and not negative"),
        (ROWS, [0, 1, 1], [0, 0, 0], "sample_weight must not be zero for every row"),
        (ROWS, [0, 1, 1], [0, 1, 1], "y must have at least two classes"),
    ],
)
@pytest.mark.parametrize("measure", MEASURES)
def test_bad_input_is_refused_by_name(measure, rows, y, w, message):
    with pytest.raises(ValueError, match=message):
        measure(rows, y, sample_weight=w)


@pytest.mark.parametrize("measure", MEASURES)
def test_sparse_rows_are_refused(measure):
    with pytest.raises(TypeError, match="X is sparse, and this model needs dense rows"):
        measure(sp.csr_array(ROWS), [0, 1, 1])
