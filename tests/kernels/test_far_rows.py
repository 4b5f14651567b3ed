"""Distances of rows far from each other and from zero: the short ones must not be rounding."""

import numpy as np
from scipy.spatial.distance import cdist

from kernelwise.kernels import RBF, Laplacian, Matern32
from kernelwise.kernels.family import KernelFamily
from tests.loop import loop


def far_rows(d, size):
    """Return rows of huge size, some of them equal, some of them close together."""
    random = np.random.default_rng(d)
    X = random.normal(size=(60, d)) * size
    X[20:40] = X[:20]
    X[40:50] = X[:10] + random.normal(size=(10, d)) / np.sqrt(d)
    return X


@loop("d", [3, 600], ids=["tiles", "products"])
@loop("size", [1e3, 1e6, 1e9, 1e60])
@loop("kernel", [RBF(gamma=0.3), Matern32(gamma=0.3)], ids=["RBF", "Matern"])
def test_equal_and_close_rows_keep_their_distance(kernel, size, d):
    X = far_rows(d, size)
    exact = kernel.profile(kernel.gamma * cdist(X, X, "sqeuclidean"))
    for K in (
        kernel(X),
        kernel(X, X.copy()),
        KernelFamily(kernel, X, np.float64).gram(kernel, np.float64),
    ):
        np.testing.assert_allclose(K, exact, rtol=1e-7, atol=1e-7)
        np.testing.assert_allclose(K[np.arange(20), np.arange(20, 40)], 1, rtol=2e-9)


@loop("size", [1e3, 1e6, 1e9, 1e60])
@loop("with_category", [False, True])
def test_absolute_differences_of_equal_and_close_rows(size, with_category):
    X = far_rows(4, size)
    categorical = None
    distances = cdist(X, X, "cityblock")
    if with_category:
        X[:, 2] = np.arange(60) % 5
        categorical = np.arange(4) == 2
        distances = cdist(X[:, [0, 1, 3]], X[:, [0, 1, 3]], "cityblock")
        distances += X[:, 2][:, None] != X[:, 2]
    kernel = Laplacian(gamma=0.3, categorical=categorical)
    for K in (kernel(X), kernel(X, X.copy())):
        np.testing.assert_allclose(K, np.exp(-0.3 * distances), rtol=1e-7, atol=1e-7)
