"""Gradients of distances by tiles: every shape of the last tile, given matrices, some rows."""

import numpy as np
from numpy.testing import assert_allclose

from kernelwise.kernels import RBF, Cotangent, Laplacian, LazyGram, Matern32
from tests.loop import loop

TYPES = {np.float32: 2e-5, np.float64: 1e-11}  # with the largest error, relative to all terms
both_types = loop("dtype", TYPES)
KERNELS = [RBF, Laplacian, Matern32]
every_kernel = loop("kernel", KERNELS, ids=lambda kernel: kernel.__name__)


def terms(kernel, X):
    """Return what weights multiply in a distance, one matrix a feature."""
    difference = X[:, None] - X[None]
    return np.abs(difference) if kernel is Laplacian else difference**2


def plain_gradient(kernel, X, dK):
    """Return the gradient by weights, and the size of what it adds up."""
    own = kernel(0.3, np.ones(X.shape[1]))
    t = 0.3 * terms(kernel, X).sum(axis=2)
    parts = 0.3 * (dK * own.slope(t))[:, :, None] * terms(kernel, X)
    return parts.sum(axis=(0, 1)), np.abs(parts).sum(axis=(0, 1)).max() + 1e-300


def assert_gradient(kernel, X, cotangent, dK, dtype, K=None):
    found = kernel(0.3, np.ones(X.shape[1])).vjp(X, cotangent, dtype=dtype, K=K)["weights"]
    expected, size = plain_gradient(kernel, X, dK)
    assert_allclose(found, expected, rtol=0, atol=TYPES[dtype] * size)


@both_types
@every_kernel
@loop("n", [1, 2, 8, 15, 16, 17, 33, 64, 127, 129, 160, 255, 257, 390])
def test_every_number_of_rows(n, kernel, dtype):
    rng = np.random.default_rng(n)
    X, u = rng.normal(size=(n, 3)), rng.normal(size=(n, 1))
    assert_gradient(kernel, X, Cotangent(u, np.array([-0.5])), -0.5 * u * u.T, dtype)


@both_types
@every_kernel
@loop("d", [1, 2, 4, 7, 8, 9, 17, 40])
@loop("rank", [0, 1, 3])
def test_every_number_of_features_and_factors(d, rank, kernel, dtype):
    rng = np.random.default_rng(d)
    X, U, scale = rng.normal(size=(70, d)), rng.normal(size=(70, rank)), rng.normal(size=rank)
    assert_gradient(kernel, X, Cotangent(U, scale), (U * scale) @ U.T, dtype)


@both_types
@every_kernel
def test_a_dense_cotangent(kernel, dtype):
    rng = np.random.default_rng(0)
    X, dense = rng.normal(size=(300, 5)), rng.normal(size=(300, 300))
    assert_gradient(kernel, X, Cotangent.of(dense), (dense + dense.T) / 2, dtype)


@both_types
@every_kernel
@loop("stored", TYPES)
@loop("some", [False, True])
def test_a_matrix_that_is_there_gives_the_same(some, stored, kernel, dtype):
    """Of all rows or of some; in another type it is as good as the coarser one."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 6))
    rows = np.flatnonzero(rng.random(300) < 0.5) if some else np.arange(300)
    u = rng.normal(size=(len(rows), 1))
    cotangent = Cotangent(u, np.array([-0.5]), rows=rows if some else None)
    own = kernel(0.3, np.ones(6))
    found = own.vjp(X, cotangent, dtype=dtype, K=LazyGram(own, X).dense(stored))["weights"]
    expected, size = plain_gradient(kernel, X[rows], -0.5 * u * u.T)
    assert_allclose(found, expected, rtol=0, atol=max(TYPES[dtype], TYPES[stored]) * size)


def test_rows_beyond_float32_are_contracted_in_float64():
    """Squares of 1e20 in a feature without weight have no place in float32."""
    rng = np.random.default_rng(2)
    X, u = rng.normal(size=(40, 2)), rng.normal(size=(40, 1))
    X[:, 1] *= 1e20
    kernel = RBF(0.3, [1.0, 0.0])
    single, double = (kernel.vjp(X, u * u.T, dtype=dtype)["weights"] for dtype in TYPES)
    assert_allclose(single, double, rtol=1e-12)
    assert np.isfinite(single).all()


@both_types
@every_kernel
def test_the_order_of_a_matrix_in_memory_does_not_matter(kernel, dtype):
    rng = np.random.default_rng(3)
    X, u = rng.normal(size=(200, 4)), rng.normal(size=(200, 1))
    own, dK = kernel(0.3, np.ones(4)), Cotangent(u)
    K = LazyGram(own, X).dense(dtype)
    found = [own.vjp(X, dK, dtype=dtype, K=each)["weights"] for each in (K, np.asfortranarray(K))]
    assert_allclose(*found, rtol=1e-12)
    wide = np.empty((200, 400), dtype)
    wide[:, ::2] = K
    assert_allclose(own.vjp(X, dK, dtype=dtype, K=wide[:, ::2])["weights"], found[0], rtol=1e-12)
