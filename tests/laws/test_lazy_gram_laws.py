"""The lazy matrix of every kernel reads as the kernel evaluates."""

from itertools import pairwise

import numpy as np

from kernelwise.kernels import RBF, LazyGram
from tests.laws.registry import (
    KERNELS,
    both_types,
    every_kernel,
    every_stationary_kernel,
    rows_for,
)
from tests.loop import loop


def read_all(gram, dtype, pieces=(5,)):
    """Read all rows in pieces, as a solver does; the diagonal is the solver's own."""
    n = gram.shape[0]
    K, reader = np.full((n, n), np.nan, dtype=dtype), gram.open(dtype)
    edges = [0, *pieces, n]
    for start, stop in pairwise(edges):
        reader.fill(K, start, stop)
    K[np.arange(n), np.arange(n)] = gram.diag()
    return K


@every_kernel
@both_types
def test_lazy_blocks_are_those_of_the_matrix(kernel, dtype):
    X = rows_for(kernel, n=30, dtype=dtype)
    gram, K = LazyGram(kernel, X), kernel(X.astype(np.float64))
    rows, columns = np.array([7, 0, 29, 3]), np.array([3, 1, 29, 12, 0])
    block = gram.block(rows, columns)
    assert block.dtype == np.float64
    np.testing.assert_allclose(block, K[np.ix_(rows, columns)], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(gram.block(rows, np.array([5])), K[rows][:, [5]], rtol=1e-12)
    np.testing.assert_allclose(gram.diag(), np.diagonal(K), rtol=1e-6)


@every_kernel
def test_the_size_is_that_of_the_diagonal(kernel):
    X = rows_for(kernel, n=30)
    diagonal = kernel.diag(X)
    np.testing.assert_allclose(LazyGram(kernel, X).size, np.abs(diagonal).max(), rtol=1e-12)
    if kernel.has_unit_diagonal:
        np.testing.assert_array_equal(diagonal, np.ones(30))


@every_kernel
def test_lazy_product_with_a_vector(kernel):
    X = rows_for(kernel, n=30)
    b = np.random.default_rng(0).normal(size=30)
    b[::3] = 0
    gram = LazyGram(kernel, X)
    np.testing.assert_allclose(gram.matvec(b), kernel(X) @ b, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(gram.matvec(np.zeros(30)), np.zeros(30))


@every_kernel
@both_types
def test_rows_read_after_swaps_stand_in_the_new_order(kernel, dtype):
    n = 30
    X = rows_for(kernel, n=n)
    reader, order = LazyGram(kernel, X).open(dtype), np.arange(n)
    K = np.full((n, n), np.nan, dtype=dtype)
    reader.fill(K, 0, 4)
    for a, b in (([4, 5, 6], [20, 11, 29]), ([5, 7], [4, 20])):
        a, b = np.array(a), np.array(b)
        reader.swap(a, b)
        order[np.concatenate([a, b])] = order[np.concatenate([b, a])]
        K[:4, np.concatenate([a, b])] = K[:4, np.concatenate([b, a])]
    reader.fill(K, 4, n)
    K[np.arange(n), np.arange(n)] = LazyGram(kernel, X).diag()[order]
    tol = 1e-12 if dtype == np.float64 else 1e-5
    np.testing.assert_allclose(K, kernel(X)[np.ix_(order, order)], rtol=tol, atol=tol)


# Wide rows, of which a reader copies what stands below the diagonal, and narrow ones.
@loop("d", [5, 60])
@loop("name", ["rbf", "laplacian", "matern52", "linear", "function", "sum"])
@both_types
def test_threads_read_the_same_rows(name, d, dtype):
    kernel = KERNELS[name]
    if name == "sum":
        kernel = kernel.with_params(left__weights=None)
    X = np.random.default_rng(0).normal(size=(700, d)) / np.sqrt(d)
    one, two = (read_all(LazyGram(kernel, X, threads), dtype, pieces=(300,)) for threads in (1, 3))
    np.testing.assert_array_equal(one, two)
    tol = 1e-12 if dtype == np.float64 else 1e-5
    np.testing.assert_allclose(one, kernel(X), rtol=tol, atol=tol)


def test_threads_multiply_the_same():
    X, b = np.random.default_rng(0).normal(size=(2100, 3)), np.ones(2100)
    one, two = (LazyGram(RBF(), X, threads).matvec(b) for threads in (1, 2))
    np.testing.assert_array_equal(one, two)


@every_stationary_kernel
def test_rows_read_in_float32_of_two_distant_clusters(kernel):
    X = rows_for(kernel, n=20)
    X[::2] += 1e4
    K = read_all(LazyGram(kernel, X), np.float32)
    np.testing.assert_allclose(K, kernel(X), rtol=0, atol=1e-5)
