"""Tiles that are used where they are made, and squares in fixed point, against plain NumPy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelwise import _native
from kernelwise.kernels import RBF, Laplacian, LazyGram
from tests.loop import loop

WIDTH = 1 / 65535  # of a step of fixed point
KERNELS = {"rbf": RBF(gamma=0.1), "laplacian": Laplacian(gamma=0.1)}


def with_categories(d):
    """Return a kernel of which every third feature is a category, and one has no weight."""
    return Laplacian(0.1, np.arange(1, d + 1) % 4 / 2, categorical=np.arange(d) % 3 == 1)


def normal_rows(n, d, scale=1.0):
    return scale * np.random.default_rng(n + d).normal(size=(n, d))


def tiles_of(kernel, X):
    return LazyGram(kernel, X).tiles(np.arange(len(X)))


@loop("name", KERNELS)
@loop(("n", "d"), [(1, 1), (7, 3), (33, 1), (97, 40), (301, 70)])
@loop("precise", [False, True])
def test_products_are_those_of_the_whole_matrix(name, n, d, precise):
    X = normal_rows(n, d)
    kernel, rng = KERNELS[name], np.random.default_rng(0)
    left, columns = rng.permutation(n)[: n // 2 + 1], rng.permutation(n)[: 2 * n // 3 + 1]
    change, out = rng.normal(size=len(left)), rng.normal(size=n)
    expected = out.copy()
    expected[columns] += kernel(X)[np.ix_(columns, left)] @ change
    tiles_of(kernel, X).add_products(left, change, columns, out, precise=precise)
    assert_allclose(out, expected, atol=1e-13 * n if precise else 3e-7 * np.sqrt(n) * (1 + d))


@loop("name", KERNELS)
@loop(("n", "d"), [(1, 1), (7, 3), (8, 2), (33, 1), (97, 40), (301, 70), (2003, 6)])
def test_mutual_products_use_every_kernel_value_in_both_directions(name, n, d):
    X = normal_rows(n + 5, d)
    kernel, rng = KERNELS[name], np.random.default_rng(0)
    which = rng.permutation(n + 5)[:n]
    change, out = rng.normal(size=n), rng.normal(size=n + 5)
    expected = out.copy()
    expected[which] += kernel(X)[np.ix_(which, which)] @ change
    by_parts = out.copy()
    tiles = tiles_of(kernel, X)
    tiles.add_mutual_products(which, change, out)
    assert_allclose(out, expected, atol=1e-13 * n)
    rows, weights = tiles._precise
    for first, last in ((0, n // 3), (n // 3, n - 1), (n - 1, n)):
        sides = which, change, first, last
        _native.add_mutual_products(name == "rbf", rows, weights, *sides, by_parts)
    assert_allclose(by_parts, expected, atol=1e-13 * n)


@loop("name", KERNELS)
def test_rows_far_from_the_centre_that_are_close_together_keep_their_distance(name):
    X = normal_rows(200, 5)
    X[::2] += 12.0  # |x|^2 of 70 in units of t, where float32 rounds distances by 1e-5
    X[1::4] = X[::4][: len(X[1::4])] + 1e-3
    kernel, out = KERNELS[name], np.zeros(200)
    everything = np.arange(200)
    tiles_of(kernel, X).add_products(everything, np.ones(200), everything, out, precise=False)
    assert_allclose(out, kernel(X).sum(axis=1), rtol=2e-6)


@loop("d", [2, 3, 11])
@loop("precise", [False, True])
def test_categories_count_where_they_differ(d, precise):
    rng, kernel = np.random.default_rng(d), with_categories(d)
    X = np.round(2 * rng.normal(size=(70, d)))
    everything, change, out = np.arange(70), rng.normal(size=70), np.zeros(70)
    tiles = tiles_of(kernel, X)
    tiles.add_products(everything, change, everything, out, precise=precise)
    assert_allclose(out, kernel(X) @ change, atol=1e-12 if precise else 1e-5)
    mutual = np.zeros(70)
    tiles.add_mutual_products(everything, change, mutual)
    assert_allclose(mutual, kernel(X) @ change, atol=1e-12)
    K = np.zeros((70, 70), dtype=np.float64 if precise else np.uint16)
    tiles.fill_square(everything, 0, K)
    unit, error = (1, 1e-14) if precise else (WIDTH, 0.51 * WIDTH)
    assert_allclose(K * unit, kernel(X), atol=error)


def test_many_threads_give_the_same_products():
    X, everything = normal_rows(500, 6), np.arange(500)
    out = np.zeros((2, 500))
    for row, threads in zip(out, (1, 3), strict=True):
        tiles = LazyGram(RBF(), X, threads).tiles(everything)
        tiles.add_products(everything, X[:, 0], everything, row, precise=False)
    assert_array_equal(*out)


@loop("name", KERNELS)
@loop("n", [1, 9, 40, 131])
@loop("dtype", [np.float32, np.float64])
def test_a_square_that_grows_is_rounded_and_symmetric(name, n, dtype):
    X = normal_rows(n, 7, scale=1.0 if dtype == np.float32 else 40.0)
    kernel, tiles = KERNELS[name], tiles_of(KERNELS[name], X)
    which = np.random.default_rng(1).permutation(n)
    space = np.full((n, n + 5), 7, dtype=np.uint16)
    K = space[:, :n]
    for start, stop in ((0, n // 3), (n // 3, n // 2), (n // 2, n)):
        tiles.fill_square(which[:stop], start, K[:stop, :stop])
    assert_allclose(K * WIDTH, kernel(X)[np.ix_(which, which)], atol=0.51 * WIDTH)
    assert_array_equal(K, K.T)
    assert (space[:, n:] == 7).all()  # nothing is written beyond the columns


@loop("n", [1, 16, 50, 97])
@loop("share", [0.0, 0.3, 0.9, 1.0])
def test_squeezing_keeps_rows_and_columns(n, share):
    rng = np.random.default_rng(n)
    space = rng.integers(0, 65536, size=(n, n + 3)).astype(np.uint16)
    before, kept = space.copy(), np.flatnonzero(rng.random(n) < share)
    _native.squeeze_square(space[:, :n], kept)
    assert_array_equal(space[: len(kept), : len(kept)], before[np.ix_(kept, kept)])
    assert_array_equal(space[:, n:], before[:, n:])


def test_rows_to_keep_must_ascend():
    with pytest.raises(ValueError, match="ascend"):
        _native.squeeze_square(np.zeros((4, 4), np.uint16), np.array([2, 1]))


@loop("n", [2, 17, 64, 200])
@loop("epsilon", [None, 0.3])
def test_steps_on_words_solve_the_rounded_problem(n, epsilon):
    X = normal_rows(n, 3)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    kink = None if epsilon is None else np.full(n, epsilon)
    K = np.round(RBF(gamma=0.5)(X) * 65535).astype(np.uint16)
    lo, hi = np.minimum(0, y) * 3, np.maximum(0, y) * 3
    b, g = np.zeros(n), -y.copy()
    limits = 1e-4, 100_000, 1e12, kink
    violation, steps, ended = _native.solve_square(K, b, g, lo, hi, *limits)
    while ended == _native.UNFINISHED:
        violation, more, ended = _native.solve_square(K, b, g, lo, hi, *limits)
        steps += more
    assert ended == _native.CONVERGED
    assert violation <= 1e-4
    assert steps > 0
    assert (b >= lo).all()
    assert (b <= hi).all()
    assert abs(b.sum()) < 1e-12 * n
    true = (K * WIDTH) @ b - y
    least, most = _native.reach(b, true, lo, hi, kink)
    assert most - least <= 2e-4
    free = (b > lo) & (b < hi)
    assert_allclose(g[free], true[free], atol=1e-4)
