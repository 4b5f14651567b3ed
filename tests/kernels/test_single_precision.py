"""Gradients in float32: as good as float64's for descending, also where rows lie far apart."""

import numpy as np
from numpy.testing import assert_allclose

from kernelwise.kernels import (
    RBF,
    Cotangent,
    Laplacian,
    LazyGram,
    Linear,
    Matern32,
    Matern52,
    Polynomial,
)
from tests.loop import loop

KERNELS = [RBF, Laplacian, Matern32, Matern52, Linear, Polynomial]


@loop("rank", [1, 2, 4])
@loop("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_float32_gradients_are_close(kernel, rank):
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(500, 12)), rng.uniform(0.5, 2, 12)
    cotangent = Cotangent(rng.normal(size=(500, rank)), rng.normal(size=rank))
    exact = kernel(0.1, weights).vjp(X, cotangent)
    single = kernel(0.1, weights).vjp(X, cotangent, dtype=np.float32)
    assert exact.keys() == single.keys()
    for name, value in exact.items():
        size = np.abs(value).max()
        assert_allclose(single[name], value, atol=3e-5 * size, err_msg=name)


@loop("gamma", [1.0, 5.0])
def test_rows_far_apart_leave_no_rounding_of_their_own_terms(gamma):
    """All but the diagonal of K is tiny here; what a row adds with itself is zero, not rounding."""
    X = np.random.default_rng(1).uniform(-1, 1, size=(200, 30))
    cotangent = Cotangent(np.random.default_rng(2).normal(size=(200, 1)))
    exact = RBF(gamma).vjp(X, cotangent)["weights"]
    single = RBF(gamma).vjp(X, cotangent, dtype=np.float32)["weights"]
    assert_allclose(single, exact, atol=1e-4 * np.abs(exact).max())


@loop("kernel", [RBF(), Laplacian()])
@loop("far", [45.0, 90.0, 95.0, 200.0])
def test_kernel_of_far_rows_is_no_subnormal_number(kernel, far):
    # Products with such numbers take up to a hundred times as long.
    away = np.sqrt(far) if isinstance(kernel, RBF) else far
    X = np.array([[0.0], [away], [-away]], dtype=np.float32)
    for K in (kernel(X), LazyGram(kernel, X.astype(np.float64)).dense(np.float32)):
        # With room for two small factors.
        assert ((K == 0) | (K > 1e-28)).all()
        assert_allclose(K, np.eye(3), atol=1e-17)
