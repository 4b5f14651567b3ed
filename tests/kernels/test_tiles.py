"""Matrices made tile by tile: every shape of the last tile, and the exponential in them."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from kernelwise._native import exp_of_minus_rows, laplace
from kernelwise.kernels import RBF, Laplacian, LazyGram
from kernelwise.kernels.fill import WIDEST
from tests.loop import loop

TYPES = {np.float32: 3e-7, np.float64: 4e-16}  # with the largest error of an entry
both_types = loop("dtype", TYPES)
EDGES = [1, 7, 8, 9, 16, 31, 33, 129]  # numbers of rows about the edges of lanes and tiles


def plain(X, Y, gamma):
    return np.exp(-gamma * ((X[:, None] - Y[None]) ** 2).sum(axis=2))


@both_types
@loop("n", EDGES)
@loop("m", [1, 8, 17, 33])
def test_tiles_of_every_shape(n, m, dtype):
    rng = np.random.default_rng(n * m)
    X, Y = rng.normal(size=(n, 3)).astype(dtype), rng.normal(size=(m, 3)).astype(dtype)
    expected = plain(X.astype(np.longdouble), Y.astype(np.longdouble), 0.2)
    found = RBF(0.2)(X, Y)
    assert found.dtype == dtype
    assert_allclose(found, expected, rtol=0, atol=4 * TYPES[dtype])


@both_types
@loop("n", EDGES)
@loop("m", [1, 8, 17, 33])
@loop("n_codes", [0, 2])
@loop("far", [0.0, 1e9])
def test_tiles_of_absolute_differences(n, m, n_codes, far, dtype):
    rng = np.random.default_rng(n * m)
    X, Y = (rng.normal(size=(k, 3 + n_codes)) for k in (n, m))
    for Z in (X, Y):
        Z[:, 3:] = rng.integers(3, size=(len(Z), n_codes))
        Z[::2, 0] += far  # far from the others, and close to each other
    X, Y = X.astype(dtype), Y.astype(dtype)
    terms = np.abs(X.astype(np.longdouble)[:, None] - Y[None])
    terms[..., 3:] = terms[..., 3:] != 0
    is_code = np.arange(3 + n_codes) >= 3
    found = Laplacian(0.2, categorical=is_code if n_codes else None)(X, Y)
    assert found.dtype == dtype
    error = 4 * TYPES[dtype] + 0.2 * far * np.finfo(float).eps  # of rows that are scaled
    assert_allclose(found, np.exp(-0.2 * terms.sum(axis=2)), rtol=0, atol=error)


@both_types
@loop("d", [1, 2, 31, 32, 33, 40, 100, 520])
@loop("n", [1, 31, 130])
def test_matrices_of_absolute_differences_are_symmetric(n, d, dtype):
    X = np.random.default_rng(n).normal(size=(n, d))
    K = LazyGram(Laplacian(0.3 / d), X).dense(dtype)
    expected = np.exp(-0.3 / d * np.array([np.abs(x - X).sum(axis=1) for x in X]))
    assert_allclose(K, expected, rtol=0, atol=1e-6 if dtype == np.float32 else 2e-15)
    assert_array_equal(K, K.T)


@both_types
@loop("d", [1, 2, 40, WIDEST - 2, WIDEST])
@loop("n", [1, 31, 130])
def test_matrices_are_symmetric(n, d, dtype):
    X = np.random.default_rng(n).normal(size=(n, d))
    K = LazyGram(RBF(0.3 / d), X).dense(dtype)
    assert_allclose(K, plain(X, X, 0.3 / d), rtol=0, atol=1e-6 if dtype == np.float32 else 2e-15)
    if d < WIDEST:  # wider ones are made by products of matrices, which round by place
        assert_array_equal(K, K.T)


@loop(("dtype", "kernel"), [(np.float32, RBF(1e-3)), (np.float64, Laplacian(1e-3))])
def test_columns_that_are_not_packed_at_once(dtype, kernel):
    n = 8_600_000 // 400 // np.dtype(dtype).itemsize  # a little more than are packed at once
    X = np.random.default_rng(0).normal(size=(n, 400)).astype(dtype)
    whole, some = LazyGram(kernel, X).dense(dtype), np.linspace(0, n - 1, 60).astype(int)
    assert_allclose(whole[some], kernel(X[some], X), rtol=0, atol=8 * TYPES[dtype])
    assert_array_equal(whole[:, some], whole[some].T)


@both_types
@loop("threads", [1, 3])
@loop("kernel", [RBF(0.1), Laplacian(0.1)])
def test_rows_that_come_later_are_those_of_the_whole(dtype, threads, kernel):
    X = np.random.default_rng(0).normal(size=(300, 5))
    whole = LazyGram(kernel, X).dense(dtype)
    K, reader = np.full((300, 300), np.nan, dtype), LazyGram(kernel, X, threads).open(dtype)
    for start, stop in ((0, 1), (1, 40), (40, 171), (171, 300)):
        reader.fill(K, start, stop)
    np.fill_diagonal(K, 1)
    assert_array_equal(K, whole)


@both_types
@loop("kernel", [RBF(0.1), Laplacian(0.1)])
def test_nothing_is_written_beyond_the_rows_that_are_asked_for(dtype, kernel):
    X = np.random.default_rng(0).normal(size=(100, 5))
    K = np.full((100, 100), np.nan, dtype)
    LazyGram(kernel, X).open(dtype).fill(K, 0, 37)
    assert np.isfinite(K[:37]).all()
    assert np.isnan(K[37:]).all()


@both_types
@loop("length", [1, 5, 16, 100_003])
def test_the_exponential(length, dtype):
    most = 50 if dtype == np.float32 else 500
    t = np.linspace(0, most, length).astype(dtype)[None]
    found = t.copy()
    exp_of_minus_rows(found)
    expected = np.exp(-t.astype(np.longdouble))
    assert np.abs(found / expected - 1).max() < (1e-7 if dtype == np.float32 else 3e-16)


@both_types
def test_the_exponential_stays_within_one_and_the_least_number(dtype):
    found = np.array([[-1e-3, 0.0, 1e4, np.inf]], dtype)
    exp_of_minus_rows(found)
    least = np.exp(-60.0 if dtype == np.float32 else -600.0)
    assert_allclose(found, [[1, 1, least, least]], rtol=1e-6)


def clusters(spread, rng):
    """Return rows in groups far from the centre, each of close ones."""
    centres = rng.normal(size=(9, 20))
    centres *= np.sqrt(spread) / np.linalg.norm(centres, axis=1, keepdims=True)
    return np.repeat(centres, 17, axis=0) + 0.2 * rng.normal(size=(153, 20))


def test_the_kernel_of_a_distance_in_float32():
    t = np.append(np.linspace(0, 60, 200_001), [61, 1e6]).astype(np.float32)
    K = np.empty((1, len(t)), np.float32)
    zero = np.zeros((1, 2), np.float32)
    laplace(zero, np.column_stack([t, t]), np.zeros(0), False, K, 0, 1, 0)  # |0 - t| is exact
    found, exact = K[0, :-2].astype(np.longdouble), np.exp(-t[:-2].astype(np.longdouble))
    # Roundings of numbers near one, of log2(e), and of the exponent t log2(e).
    assert (np.abs(found - exact) <= (1.1e-7 + 7.5e-8 * t[:-2]) * exact).all()
    assert np.abs(found - exact).max() < 1e-7
    assert_array_equal(K[0, -2:], K[0, -3])


@loop("spread", [10.0, 40.0, 100.0, 400.0])
def test_far_rows_that_are_close_together(spread):
    """Of |x|^2 + |z|^2 - 2 xz float32 would leave an error of 1e-4 here."""
    X = clusters(spread, np.random.default_rng(0))
    K = LazyGram(RBF(1.0), X).dense(np.float32)
    assert K.dtype == np.float32
    assert_array_equal(K, K.T)
    wide = X.astype(np.longdouble)
    assert (plain(wide, wide, 1.0) > 0.01).mean() > 0.1  # there are such rows
    assert_allclose(K, plain(wide, wide, 1.0), rtol=0, atol=1.2e-5)
    assert_allclose(RBF(1.0)(X[:50].astype(np.float32), X.astype(np.float32)), K[:50], atol=3e-5)


def test_equal_far_rows_have_the_kernel_one():
    X = np.repeat(clusters(400.0, np.random.default_rng(1))[::17], 40, axis=0)
    K = LazyGram(RBF(1.0), X).dense(np.float32)
    same = np.arange(9).repeat(40)
    assert (K[same[:, None] == same] == 1).all()


@both_types
@loop("kernel", [RBF, Laplacian], ids=lambda kernel: kernel.__name__)
def test_weights_next_to_nothing_are_nothing(kernel, dtype):
    """Sums of subnormal numbers take a processor many times as long as those of zeros."""
    X = np.random.default_rng(2).normal(size=(40, 6))
    tiny = np.array([1e-300, 1e-45, 1e-40, 1e-33, 1e-31, 1.0])
    own = kernel(1.0, tiny)
    left, right = own.term.sides(own, X, X, dtype)
    least = np.finfo(dtype).tiny
    for side in (left, right):
        assert ((side == 0) | (np.abs(side) > least)).all()
    if kernel is RBF:  # nor are their products
        assert ((left == 0) | (left.astype(np.longdouble) ** 2 > least)).all()
    assert_allclose(own(X), kernel(1.0, tiny * (tiny == 1))(X), rtol=1e-12)
